//! Back-off between attempts to deliver a message.

use perigee_core::backoff;

/// Seconds to wait after each attempt; the last value repeats until the window of 72 hours is over.
const WAITS_S: [i64; 9] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800];

/// Milliseconds to wait after this many failed attempts, with a random variation of a fifth.
pub(super) fn wait_ms(failed: u32) -> i64 {
    backoff::wait_ms(&WAITS_S, failed, rand::random_range(0..=1_000))
}

#[cfg(test)]
mod tests {
    use perigee_core::webhooks::webhook::WINDOW_MS;

    use super::*;

    #[test]
    fn waits_fill_the_window() {
        let (mut waited, mut attempts) = (0, 0);
        while waited < WINDOW_MS {
            attempts += 1;
            waited += backoff::wait_ms(&WAITS_S, attempts, 500);
        }
        assert!((12..=20).contains(&attempts), "{attempts} attempts in 72 hours");
        assert!((4_000..=6_000).contains(&wait_ms(1)));
    }
}
