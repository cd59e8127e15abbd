//! The daily limit of a device's messages, with a reserve for critical alerts.

use super::SuppressedReason;

/// Messages of one device by one channel on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The daily limit; `None` for no limit.
    pub limit: Option<u32>,
    /// How many of `limit` are reserved for critical alerts.
    pub reserve: u32,
    /// Messages sent or being sent.
    pub used: u32,
}

impl Quota {
    /// Why the next message is suppressed, if it is.
    pub fn refuses(self, critical: bool) -> Option<SuppressedReason> {
        let limit = self.limit?;
        if self.used >= limit {
            Some(SuppressedReason::Limit)
        } else if !critical && self.used >= limit.saturating_sub(self.reserve) {
            Some(SuppressedReason::CriticalReserve)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use SuppressedReason::{CriticalReserve, Limit};

    #[test]
    fn the_last_ones_are_for_critical_alerts() {
        let check = |limit, reserve, used, critical, expect| {
            assert_eq!(
                Quota { limit, reserve, used }.refuses(critical),
                expect,
                "{limit:?} {reserve} {used}"
            );
        };
        check(None, 5, 1_000_000, false, None);
        check(Some(0), 0, 0, true, Some(Limit));
        check(Some(3), 0, 2, false, None);
        check(Some(3), 0, 3, false, Some(Limit));
        check(Some(3), 1, 1, false, None);
        check(Some(3), 1, 2, false, Some(CriticalReserve));
        check(Some(3), 1, 2, true, None);
        check(Some(3), 9, 0, false, Some(CriticalReserve));
        check(Some(3), 9, 3, true, Some(Limit));
        check(Some(1), 0, 7, true, Some(Limit));
    }
}
