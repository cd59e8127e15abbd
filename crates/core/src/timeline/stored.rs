//! A segment as it is stored: with an id that does not change, and with labels.

use serde::{Deserialize, Serialize};

use super::Segment;
use crate::drivers::SegmentDriver;
use crate::id::{AccountId, DeviceId, DriverId, SegmentId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A stored trip, stop or gap.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSegment {
    /// The account of the device.
    pub account: AccountId,
    /// The device whose timeline contains it.
    pub device: DeviceId,
    /// Stays the same as long as the newly derived segment overlaps the stored one.
    pub id: SegmentId,
    /// Everything that is derived from locations.
    pub segment: Segment,
    /// Whether it is the latest segment of the device, which new locations may extend.
    pub is_open: bool,
    /// Set by users.
    pub labels: SegmentLabels,
    /// Who drove, as [`DriverLookup`](crate::drivers::DriverLookup) decides it.
    pub driver: Option<SegmentDriver>,
    /// Counts the changes of the labels; later derivations do not change it.
    pub revision: Revision,
    /// When anything of the segment last changed.
    pub updated_at: Timestamp,
    /// Number of the last change: each change in the account has a higher number than all before.
    pub change: i64,
}

/// What users say about a segment. A new derivation keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentLabels {
    /// Shown in lists; at most [`SegmentLabels::NAME_MAX`] characters.
    pub name: Option<String>,
    /// `business`, `private` or another word; at most [`SegmentLabels::NAME_MAX`] characters.
    pub purpose: Option<String>,
    /// Free text; at most [`SegmentLabels::NOTE_MAX`] characters.
    pub note: Option<String>,
    /// Name of the driver; at most [`SegmentLabels::NAME_MAX`] characters. Takes precedence over the driver tag.
    pub driver: Option<String>,
    /// The driver that a user chose. Only together with `driver`, which has the name.
    #[serde(default)]
    pub driver_id: Option<DriverId>,
}

impl SegmentLabels {
    /// Maximum number of characters of a name, a purpose or a driver.
    pub const NAME_MAX: usize = 100;
    /// Maximum number of characters of a note.
    pub const NOTE_MAX: usize = 2_000;

    /// Whether no label is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// JSON names of the members that differ.
    pub fn changes_since(&self, old: &Self) -> Vec<&'static str> {
        let members = [
            ("name", self.name != old.name),
            ("purpose", self.purpose != old.purpose),
            ("note", self.note != old.note),
            ("driver", (&self.driver, self.driver_id) != (&old.driver, old.driver_id)),
        ];
        members.into_iter().filter_map(|(member, differs)| differs.then_some(member)).collect()
    }
}
