//! Who drove: the one function that decides it for timelines, lists, totals, reports and rules.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{AssignmentSettings, DriverTag};
use crate::id::DriverId;
use crate::timeline::{SegmentKind, StoredSegment};

/// How it is known who drove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DriverSource {
    /// A user said so.
    Manual,
    /// The device reported the driver's key tag.
    Tag,
    /// The driver was assigned to the device when the trip began.
    Assignment,
}

/// Who drove during a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentDriver {
    /// The driver; `None` if a user gave a name only, or if the driver was deleted.
    pub id: Option<DriverId>,
    /// The name of the driver, or the name that a user gave.
    pub name: String,
    /// How this is known.
    pub source: DriverSource,
}

/// What is known of the drivers of an account, as far as it concerns some segments of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriverLookup {
    /// Names of drivers. A driver that is missing was deleted.
    pub names: HashMap<DriverId, String>,
    /// Who has which key tag.
    pub tags: HashMap<DriverTag, DriverId>,
    /// The assignments to the device, each with its driver.
    pub assignments: Vec<(AssignmentSettings, DriverId)>,
}

impl DriverSource {
    /// Every source, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Manual, Self::Tag, Self::Assignment];

    /// The name of the source in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Tag => "tag",
            Self::Assignment => "assignment",
        }
    }
}

impl DriverLookup {
    /// Sets who drove. The label follows the driver whom a user chose: it has the present name, or the last name without the
    /// driver.
    pub fn apply(&self, segment: &mut StoredSegment) {
        segment.driver = self.resolve(segment);
        if segment.labels.driver.is_some()
            && let Some(driver) = &segment.driver
        {
            segment.labels.driver = Some(driver.name.clone());
            segment.labels.driver_id = driver.id;
        }
    }

    /// Who drove during a segment: whom a user named, or else whoever has the reported tag, or else who was assigned when
    /// the trip began. Stops and gaps have a driver only by hand.
    ///
    /// A trip whose driver was deleted keeps the driver's name. Otherwise the next owner of the same tag would take over
    /// the trips of the former one.
    pub fn resolve(&self, segment: &StoredSegment) -> Option<SegmentDriver> {
        let labels = &segment.labels;
        if let Some(text) = &labels.driver {
            let known = labels.driver_id.and_then(|id| self.known(id, DriverSource::Manual));
            let text_alone = || SegmentDriver { id: None, name: text.clone(), source: DriverSource::Manual };
            return Some(known.unwrap_or_else(text_alone));
        }
        if segment.segment.kind != SegmentKind::Trip {
            return None;
        }
        self.former(segment).or_else(|| self.by_tag(segment)).or_else(|| self.by_assignment(segment))
    }

    fn former(&self, segment: &StoredSegment) -> Option<SegmentDriver> {
        let driver = segment.driver.as_ref()?;
        let is_deleted = driver.id.is_none_or(|id| !self.names.contains_key(&id));
        let is_former = driver.source != DriverSource::Manual && is_deleted;
        is_former.then(|| SegmentDriver { id: None, ..driver.clone() })
    }

    fn by_tag(&self, segment: &StoredSegment) -> Option<SegmentDriver> {
        let tag: DriverTag = segment.segment.driver_tag.as_deref()?.parse().ok()?;
        self.known(*self.tags.get(&tag)?, DriverSource::Tag)
    }

    fn by_assignment(&self, segment: &StoredSegment) -> Option<SegmentDriver> {
        let begins = segment.segment.from;
        let (_, driver) = self
            .assignments
            .iter()
            .find(|(assignment, _)| assignment.device == segment.device && assignment.contains(begins))?;
        self.known(*driver, DriverSource::Assignment)
    }

    fn known(&self, id: DriverId, source: DriverSource) -> Option<SegmentDriver> {
        self.names.get(&id).map(|name| SegmentDriver { id: Some(id), name: name.clone(), source })
    }
}

#[cfg(test)]
mod tests;
