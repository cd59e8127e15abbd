//! Retention: locations by the number of days of the device, or else of its account, or else forever; records by the
//! operator's settings.

use crate::time::Timestamp;

/// The most days that can be set, about a hundred years.
pub const RETENTION_DAYS_MAX: u32 = 36_500;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How long records are kept, in milliseconds, set by the operator; `None` is forever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordRetention {
    /// Entries of the audit log, by when they were written.
    pub audits_ms: Option<i64>,
    /// Alerts, by when they were received. An alert whose rule is still true is kept.
    pub alerts_ms: Option<i64>,
    /// Occurrences of rules, by when they ended.
    pub occurrences_ms: Option<i64>,
    /// Raw messages and files of devices, by when they were received.
    pub messages_ms: Option<i64>,
    /// The same for raw messages that stored nothing new, if that is shorter.
    pub unused_messages_ms: Option<i64>,
}

/// How many records were deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedRecords {
    /// Entries of the audit log.
    pub audits: u64,
    /// Alerts with their notifications.
    pub alerts: u64,
    /// Occurrences of rules that had ended.
    pub occurrences: u64,
    /// Raw messages of trackers and satellite networks.
    pub messages: u64,
    /// Photos and other files of devices.
    pub files: u64,
}

/// The days that apply to a device: its own number, longer or shorter, overrides the account's. `None` is forever.
pub const fn retention_days(account: Option<u32>, device: Option<u32>) -> Option<u32> {
    if device.is_some() { device } else { account }
}

/// Locations before this instant are deleted if they are kept for `days` days.
///
/// It is a midnight in UTC and moves once a day, so that the chunk that contains it is rewritten only once a day.
/// Locations are therefore kept up to a day longer, never shorter.
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
