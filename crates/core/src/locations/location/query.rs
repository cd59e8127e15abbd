//! Queries over several devices: last locations in an area, and the location feed.

use super::{Latitude, Longitude, StoredLocation};
use crate::id::{DeviceId, GroupId};
use crate::time::Timestamp;

/// An area between two meridians and two parallels, edges included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The western edge; when it is greater than `east`, the area crosses the antimeridian.
    pub west: Longitude,
    /// The southern edge, not above `north`.
    pub south: Latitude,
    /// The eastern edge; see `west`.
    pub east: Longitude,
    /// The northern edge, not below `south`.
    pub north: Latitude,
}

impl Area {
    /// Whether a position lies within the area.
    pub fn contains(&self, latitude: Latitude, longitude: Longitude) -> bool {
        let across = if self.west <= self.east {
            (self.west..=self.east).contains(&longitude)
        } else {
            longitude >= self.west || longitude <= self.east
        };
        across && (self.south..=self.north).contains(&latitude)
    }
}

/// Which last locations are listed; an absent filter admits all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastFilter {
    /// Only devices in this group.
    pub group: Option<GroupId>,
    /// Only positions within this area.
    pub area: Option<Area>,
    /// Only locations received at this instant or later.
    pub since: Option<Timestamp>,
}

impl LastFilter {
    /// Whether a location passes the filters on time and area. The store applies the filter on the group.
    pub fn admits(&self, received_at: Timestamp, latitude: Latitude, longitude: Longitude) -> bool {
        self.since.is_none_or(|since| received_at >= since)
            && self.area.is_none_or(|area| area.contains(latitude, longitude))
    }
}

/// A part of the location feed: locations in the order in which they arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// The locations, each with its device.
    pub items: Vec<(DeviceId, StoredLocation)>,
    /// The log number to continue after, also when there are no items yet.
    pub next: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(west: f64, south: f64, east: f64, north: f64) -> Area {
        Area {
            west: Longitude::from_degrees(west).unwrap(),
            south: Latitude::from_degrees(south).unwrap(),
            east: Longitude::from_degrees(east).unwrap(),
            north: Latitude::from_degrees(north).unwrap(),
        }
    }

    #[test]
    fn an_area_has_its_edges_and_may_cross_the_antimeridian() {
        let within = |area: Area, latitude, longitude| {
            area.contains(
                Latitude::from_degrees(latitude).unwrap(),
                Longitude::from_degrees(longitude).unwrap(),
            )
        };
        let plain = area(-10.0, -5.0, 10.0, 5.0);
        assert!(within(plain, 0.0, 0.0) && within(plain, 5.0, -10.0) && within(plain, -5.0, 10.0));
        assert!(!within(plain, 5.1, 0.0) && !within(plain, 0.0, 10.1) && !within(plain, 0.0, 180.0));
        let fiji = area(177.0, -20.0, -178.0, -15.0);
        assert!(within(fiji, -17.0, 179.0) && within(fiji, -17.0, 180.0) && within(fiji, -17.0, -178.0));
        assert!(!within(fiji, -17.0, -177.9) && !within(fiji, -17.0, 176.9) && !within(fiji, 0.0, 179.0));
    }
}
