//! How long things are kept: locations as the device says, or else its account, or else for ever; records as the
//! operator says.

use crate::time::Timestamp;

/// The most days that can be set: a hundred years.
pub const RETENTION_DAYS_MAX: u32 = 36_500;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How long the operator keeps records, in milliseconds; none is for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordRetention {
    /// Entries of the audit log, from when they were written.
    pub audits_ms: Option<i64>,
    /// Alerts, from when they were received. One whose rule still holds is kept.
    pub alerts_ms: Option<i64>,
    /// Episodes of rules, from when they ended.
    pub occurrences_ms: Option<i64>,
}

/// How many records were deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedRecords {
    /// Entries of the audit log.
    pub audits: u64,
    /// Alerts.
    pub alerts: u64,
    /// Episodes of rules.
    pub occurrences: u64,
}

/// The days that count for a device, longer or shorter than its account's; none is for ever.
pub const fn retention_days(account: Option<u32>, device: Option<u32>) -> Option<u32> {
    if device.is_some() { device } else { account }
}

/// The instant before which locations go that are kept for so many days.
///
/// It is a midnight in UTC and moves once a day, so that the packed locations on both sides of it are taken apart once
/// a day as well. Locations are therefore kept for up to a day more, and never for less.
pub fn retention_cut(days: u32, now: Timestamp) -> Timestamp {
    let midnight = now.as_millis().div_euclid(DAY_MS) * DAY_MS;
    Timestamp::from_millis(midnight - i64::from(days) * DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_the_last_word() {
        let check = |account, device, expect| assert_eq!(retention_days(account, device), expect);
        check(None, None, None);
        check(Some(30), None, Some(30));
        check(None, Some(7), Some(7));
        check(Some(30), Some(365), Some(365));
        check(Some(30), Some(7), Some(7));
    }

    #[test]
    fn the_cut_is_a_midnight_so_many_days_ago() {
        let check = |days, now: &str, expect: &str| {
            assert_eq!(retention_cut(days, now.parse().unwrap()).to_string(), expect, "{days} days at {now}");
        };
        check(1, "2026-03-10T00:00:00Z", "2026-03-09T00:00:00Z");
        check(1, "2026-03-10T23:59:59.999Z", "2026-03-09T00:00:00Z");
        check(30, "2026-03-10T12:00:00Z", "2026-02-08T00:00:00Z");
        check(36_500, "2026-03-10T12:00:00Z", "1926-04-04T00:00:00Z");
        check(1, "1969-12-31T12:00:00Z", "1969-12-30T00:00:00Z");
        check(u32::MAX, "2026-03-10T12:00:00Z", "0001-01-01T00:00:00Z");
    }
}
