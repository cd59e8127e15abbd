//! The day's messages of a device: how many there are, and who may have the next.

use super::SuppressedReason;

/// A device's messages of one channel on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The most; none for no limit.
    pub limit: Option<u32>,
    /// How many of them are kept for critical alerts.
    pub reserve: u32,
    /// Sent or under way.
    pub used: u32,
}

impl Quota {
    /// Why there is none left, if there is none.
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
