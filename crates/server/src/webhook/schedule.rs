//! How long to wait before a message is sent again.

use perigee_core::webhook::WINDOW_MS;

/// Waits after each attempt, in seconds; the last one again and again, until the window of 72 hours is over.
const WAITS_S: [i64; 9] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800];
/// The longest rest a receiver can ask for, in milliseconds.
const REST_MAX_MS: i64 = 24 * 60 * 60 * 1000;

/// Milliseconds to wait after this many attempts have failed. `chance` from 0 to under 1 spreads them by a fifth either
/// way, so that messages that failed together do not come back together.
pub(super) fn wait_ms(failed: u32, chance: f64) -> i64 {
    let place = usize::try_from(failed.saturating_sub(1)).unwrap_or(usize::MAX).min(WAITS_S.len() - 1);
    let wait = WAITS_S[place] * 1000;
    let fifth = wait / 5;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a few hours at the most"
    )]
    let spread = (chance * (2 * fifth) as f64) as i64;
    wait - fifth + spread
}

/// What `Retry-After` asks for, in milliseconds: seconds, or an instant as HTTP writes it.
pub(super) fn rest_ms(retry_after: &str, now_ms: i64) -> Option<i64> {
    let text = retry_after.trim();
    let rest = if let Ok(seconds) = text.parse::<u32>() {
        i64::from(seconds) * 1000
    } else {
        jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond().saturating_sub(now_ms)
    };
    Some(rest.clamp(0, REST_MAX_MS.min(WINDOW_MS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_fill_the_window() {
        assert_eq!((wait_ms(1, 0.0), wait_ms(1, 0.5), wait_ms(2, 0.5)), (4_000, 5_000, 30_000));
        let (mut waited, mut attempts, mut longest) = (0, 0, 0);
        while waited < WINDOW_MS {
            attempts += 1;
            let wait = wait_ms(attempts, 0.5);
            assert!(wait >= longest);
            longest = wait;
            waited += wait;
        }
        assert!((12..=20).contains(&attempts), "{attempts} attempts in 72 hours");
        assert!(wait_ms(u32::MAX, 0.999) <= 34_560_000);
    }

    #[test]
    fn a_receiver_asks_for_rest_in_seconds_or_by_date() {
        let now = 1_767_225_600_000; // 2026-01-01T00:00:00Z
        assert_eq!(rest_ms("120", now), Some(120_000));
        assert_eq!(rest_ms(" 0 ", now), Some(0));
        assert_eq!(rest_ms("Thu, 01 Jan 2026 00:01:00 GMT", now), Some(60_000));
        assert_eq!(rest_ms("Wed, 01 Jan 2020 00:01:00 GMT", now), Some(0));
        assert_eq!(rest_ms("4000000000", now), Some(86_400_000), "within reason");
        for nonsense in ["", "soon", "-5", "1.5", "99999999999"] {
            assert_eq!(rest_ms(nonsense, now), None, "{nonsense}");
        }
    }
}
