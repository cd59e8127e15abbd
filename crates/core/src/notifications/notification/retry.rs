//! When a message is retried, and when it is given up.

use super::Channel;
use crate::backoff::wait_ms;

/// The longest wait between two attempts in seconds, whatever the other side asks for.
pub const LONGEST_WAIT_S: i64 = 6 * 3_600;

/// Seconds after which a message is given up.
pub fn give_up_after_s(channel: Channel) -> i64 {
    channel.kind().retry.give_up_after_s
}

/// Seconds to wait after `attempts` failed attempts. `asked` is what the other side requested. `chance`, from 0 to
/// 1,000, is a random number for the jitter; see [`crate::backoff`].
pub fn retry_wait_s(channel: Channel, attempts: u32, asked: Option<u32>, chance: u16) -> i64 {
    let spread = (wait_ms(&channel.kind().retry.waits_s, attempts, chance) / 1_000).max(1);
    spread.max(asked.map_or(0, i64::from)).min(LONGEST_WAIT_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_spread() {
        assert_eq!(retry_wait_s(Channel::EMAIL, 1, None, 500), 30);
        assert_eq!(retry_wait_s(Channel::EMAIL, 1, None, 0), 24);
        assert_eq!(retry_wait_s(Channel::EMAIL, 1, None, 1_000), 36);
        assert_eq!(retry_wait_s(Channel::EMAIL, 99, None, 500), 14_400);
        assert_eq!(retry_wait_s(Channel::EMAIL, 1, Some(300), 500), 300);
        assert_eq!(retry_wait_s(Channel::EMAIL, 1, Some(u32::MAX), 500), LONGEST_WAIT_S);
        assert_eq!(retry_wait_s(Channel::SMS, 0, None, u16::MAX), 6);
        let email: i64 = (1..30).map(|attempt| retry_wait_s(Channel::EMAIL, attempt, None, 500)).sum();
        assert!(email > give_up_after_s(Channel::EMAIL) / 2, "thirty attempts last for days");
    }
}
