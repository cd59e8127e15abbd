//! How long to wait before the next attempt, and when to give up.

use super::Channel;

/// The longest wait between two attempts, whatever the other side asks for.
pub const LONGEST_WAIT_S: i64 = 6 * 3_600;

/// A mail server that greylists wants minutes; RFC 5321 (4.5.4.1) half an hour and more after that.
const EMAIL_WAITS_S: [i64; 7] = [30, 120, 600, 1_800, 3_600, 7_200, 14_400];
const SMS_WAITS_S: [i64; 6] = [5, 15, 60, 180, 600, 900];

/// How long after it was written a message is still worth sending: mail as long as RFC 5321 has it tried, an SMS
/// while somebody may still act on it.
pub const fn give_up_after_s(channel: Channel) -> i64 {
    match channel {
        Channel::Email => 4 * 86_400 + 12 * 3_600,
        Channel::Sms => 4 * 3_600,
    }
}

/// How long to wait after so many attempts that certainly failed. `chance` between 0 and 1 spreads the attempts of
/// many messages that failed together.
pub fn retry_wait_s(channel: Channel, attempts: u32, asked: Option<u32>, chance: f64) -> i64 {
    let waits: &[i64] = match channel {
        Channel::Email => &EMAIL_WAITS_S,
        Channel::Sms => &SMS_WAITS_S,
    };
    let place = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let wait = waits.get(place).or(waits.last()).copied().unwrap_or(LONGEST_WAIT_S);
    // A fifth to either side, in whole per mille so that no rounding is left to chance.
    let spread = 800 + (chance.clamp(0.0, 1.0) * 400.0).round() as i64;
    let spread = (wait * spread / 1_000).max(1);
    spread.max(asked.map_or(0, i64::from)).min(LONGEST_WAIT_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_spread() {
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 0.5), 30);
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 0.0), 24);
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 1.0), 36);
        assert_eq!(retry_wait_s(Channel::Email, 99, None, 0.5), 14_400);
        assert_eq!(retry_wait_s(Channel::Email, 1, Some(300), 0.5), 300);
        assert_eq!(retry_wait_s(Channel::Email, 1, Some(u32::MAX), 0.5), LONGEST_WAIT_S);
        assert_eq!(retry_wait_s(Channel::Sms, 0, None, f64::NAN), 4);
        let email: i64 = (1..30).map(|attempt| retry_wait_s(Channel::Email, attempt, None, 0.5)).sum();
        assert!(email > give_up_after_s(Channel::Email) / 2, "thirty attempts last for days");
    }
}
