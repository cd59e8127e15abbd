//! Assignments of drivers to devices by calendar.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, AssignmentId, DeviceId, DriverId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// An assignment of a driver to a device, as stored. No two assignments of a device overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Assigned by the service; never changes.
    pub id: AssignmentId,
    /// The account it belongs to.
    pub account: AccountId,
    /// The driver, which never changes.
    pub driver: DriverId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: AssignmentSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of an assignment that a client can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignmentSettings {
    /// The device that the person drives.
    pub device: DeviceId,
    /// The beginning, which belongs to it.
    pub from: Timestamp,
    /// The end, which does not belong to it; `None` while it is open.
    pub to: Option<Timestamp>,
}

impl Assignment {
    /// Maximum number of assignments of an account.
    pub const COUNT_MAX: u32 = 100_000;
}

impl AssignmentSettings {
    /// The end, or the end of time.
    pub fn end(&self) -> Timestamp {
        self.to.unwrap_or(Timestamp::MAX)
    }

    /// Whether it ends after it begins.
    pub fn is_in_order(&self) -> bool {
        self.from < self.end()
    }

    /// Whether an instant belongs to it.
    pub fn contains(&self, instant: Timestamp) -> bool {
        self.from <= instant && instant < self.end()
    }

    /// Whether both are of one device and have an instant in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.device == other.device && self.from < other.end() && other.from < self.end()
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("deviceId", self.device != before.device),
            ("from", self.from != before.from),
            ("to", self.to != before.to),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assignment() -> impl Strategy<Value = AssignmentSettings> {
        (0_i64..2, 0_i64..12, proptest::option::of(1_i64..6)).prop_map(|(device, from, length)| {
            AssignmentSettings {
                device: DeviceId::from_i64(device),
                from: Timestamp::from_millis(from),
                to: length.map(|length| Timestamp::from_millis(from + length)),
            }
        })
    }

    proptest! {
        #[test]
        fn two_overlap_if_an_instant_belongs_to_both(one in assignment(), other in assignment()) {
            let both = |at: i64| {
                let at = Timestamp::from_millis(at);
                one.contains(at) && other.contains(at)
            };
            let expected = one.device == other.device && (0..40).any(both);
            prop_assert_eq!(one.overlaps(&other), expected);
            prop_assert_eq!(other.overlaps(&one), expected);
            prop_assert!(one.is_in_order() && one.overlaps(&one));
        }
    }
}
