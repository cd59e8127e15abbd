//! When a message is retried, and when it is given up.

use super::Channel;
use crate::backoff::wait_ms;

/// The longest wait between two attempts in seconds, whatever the other side asks for.
pub const LONGEST_WAIT_S: i64 = 6 * 3_600;

/// Waits in seconds. A greylisting mail server needs minutes; RFC 5321 (4.5.4.1) asks for 30 minutes and more after
/// that.
const EMAIL_WAITS_S: [i64; 7] = [30, 120, 600, 1_800, 3_600, 7_200, 14_400];
const SMS_WAITS_S: [i64; 6] = [5, 15, 60, 180, 600, 900];

/// Seconds after which a message is given up: e-mail after about the 4 to 5 days of RFC 5321, an SMS while somebody
/// can still act on it.
pub const fn give_up_after_s(channel: Channel) -> i64 {
    match channel {
        Channel::Email => 4 * 86_400 + 12 * 3_600,
        Channel::Sms => 4 * 3_600,
    }
}

/// Seconds to wait after `attempts` failed attempts. `asked` is what the other side asked for. `chance`, from 0 to
/// 1,000, is a random number for the jitter; see [`crate::backoff`].
pub fn retry_wait_s(channel: Channel, attempts: u32, asked: Option<u32>, chance: u16) -> i64 {
    let waits: &[i64] = match channel {
        Channel::Email => &EMAIL_WAITS_S,
        Channel::Sms => &SMS_WAITS_S,
    };
    let spread = (wait_ms(waits, attempts, chance) / 1_000).max(1);
    spread.max(asked.map_or(0, i64::from)).min(LONGEST_WAIT_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_spread() {
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 500), 30);
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 0), 24);
        assert_eq!(retry_wait_s(Channel::Email, 1, None, 1_000), 36);
        assert_eq!(retry_wait_s(Channel::Email, 99, None, 500), 14_400);
        assert_eq!(retry_wait_s(Channel::Email, 1, Some(300), 500), 300);
        assert_eq!(retry_wait_s(Channel::Email, 1, Some(u32::MAX), 500), LONGEST_WAIT_S);
        assert_eq!(retry_wait_s(Channel::Sms, 0, None, u16::MAX), 6);
        let email: i64 = (1..30).map(|attempt| retry_wait_s(Channel::Email, attempt, None, 500)).sum();
        assert!(email > give_up_after_s(Channel::Email) / 2, "thirty attempts last for days");
    }
}
