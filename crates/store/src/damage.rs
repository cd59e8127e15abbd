//! Damaged rows: those that cannot be read, or whose content is not what was written.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;
use serde::Serialize;

/// Rows recorded at most, so that a badly damaged store does not fill memory.
const RECORDED_MAX: usize = 10_000;

/// The tables whose rows are checked one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Locations in the order of their arrival.
    LocationLog,
    /// Packed locations of a device.
    LocationChunk,
    /// The last location of each device.
    LastLocation,
    /// The state of each device.
    DeviceState,
    /// Alerts of devices and rules.
    Alert,
    /// Devices and their settings.
    Device,
    /// The rule state of each device.
    RuleTrail,
    /// A saved state of a rule at an earlier time.
    RuleCheckpoint,
    /// Any other, or the database as a whole.
    Other,
}

impl Table {
    pub(crate) const ALL: [Self; 9] = [
        Self::LocationLog,
        Self::LocationChunk,
        Self::LastLocation,
        Self::DeviceState,
        Self::Alert,
        Self::Device,
        Self::RuleTrail,
        Self::RuleCheckpoint,
        Self::Other,
    ];

    /// The name of the table in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LocationLog => "location_log",
            Self::LocationChunk => "location_chunk",
            Self::LastLocation => "last_location",
            Self::DeviceState => "device_live",
            Self::Alert => "alert",
            Self::Device => "device",
            Self::RuleTrail => "rule_trail",
            Self::RuleCheckpoint => "rule_checkpoint",
            Self::Other => "database",
        }
    }
}

/// A damaged row: its owner, its content and its problem, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Damaged {
    /// The table of the row.
    pub table: Table,
    /// The account of the row, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The device of the row; `None` if it holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceId>,
    /// The first and last log number of its locations, or the id of the row twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<(i64, i64)>,
    /// The time span of its locations, or the time of receipt twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<(Timestamp, Timestamp)>,
    /// How many locations it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What does not match, for the operator.
    pub reason: String,
}

impl Damaged {
    /// A damaged row without known details yet.
    pub(crate) fn new(table: Table, reason: impl fmt::Display) -> Self {
        Self {
            table,
            account: None,
            device: None,
            numbers: None,
            times: None,
            count: None,
            reason: reason.to_string(),
        }
    }

    pub(crate) fn of(self, account: AccountId, device: Option<DeviceId>) -> Self {
        Self { account: Some(account), device, ..self }
    }

    pub(crate) fn with_numbers(self, first: i64, last: i64) -> Self {
        Self { numbers: Some((first, last)), ..self }
    }

    pub(crate) fn with_times(self, first: Timestamp, last: Timestamp) -> Self {
        Self { times: Some((first, last)), ..self }
    }

    pub(crate) fn with_count(self, count: i64) -> Self {
        Self { count: u64::try_from(count).ok(), ..self }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.table.name())?;
        if let Some((first, last)) = self.numbers {
            if first == last { write!(out, " {first}")? } else { write!(out, " {first} to {last}")? }
        }
        if let Some(account) = self.account {
            write!(out, ", account {account}")?;
        }
        if let Some(device) = self.device {
            write!(out, ", device {device}")?;
        }
        if let Some(count) = self.count {
            write!(out, ", {count} locations")?;
        }
        if let Some((first, last)) = self.times {
            if first == last { write!(out, ", {first}")? } else { write!(out, ", {first} to {last}")? }
        }
        write!(out, ": {}", self.reason)
    }
}

/// Identifies a row, so that it is recorded once.
type Key = (Table, Option<i64>, Option<i64>, Option<(i64, i64)>);

/// The damaged rows that an open store has found.
#[derive(Debug, Default)]
pub(crate) struct Damage(Mutex<BTreeSet<Key>>);

impl Damage {
    /// Records a row that was skipped, and logs it the first time.
    pub(crate) fn note(&self, row: &Damaged) {
        let id = |id: Option<AccountId>| id.map(AccountId::as_i64);
        let key = (row.table, id(row.account), row.device.map(DeviceId::as_i64), row.numbers);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < RECORDED_MAX && known.insert(key) {
            drop(known);
            tracing::error!(
                row = %row,
                "a damaged row of the store was skipped; run perigee verify to see all of them, then perigee repair"
            );
        }
    }

    /// How many rows were recorded.
    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.0.lock().unwrap_or_else(PoisonError::into_inner).len()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_described_with_its_owner_and_recorded_once() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        let account = AccountId::from_i64(1);
        let row = Damaged::new(Table::LocationLog, "no")
            .of(account, None)
            .with_numbers(3, 5)
            .with_times(at, at)
            .with_count(3);
        let expected = format!("location_log 3 to 5, account {account}, 3 locations, {at}: no");
        assert_eq!(row.to_string(), expected);
        let damage = Damage::default();
        damage.note(&row);
        damage.note(&row);
        damage.note(&Damaged::new(Table::Other, "malformed"));
        assert_eq!(damage.count(), 2);
    }
}
