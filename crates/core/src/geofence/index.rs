//! Finds the geofences that contain a position, with an R-tree of bounding boxes.

use std::collections::HashMap;

use rstar::RTree;
use rstar::primitives::{GeomWithData, Rectangle};

use super::shape::Bounds;
use super::{Position, Region, Shape};
use crate::id::GeofenceId;

type Entry = GeomWithData<Rectangle<[f64; 2]>, usize>;

/// A set of geofences of one index, one bit per geofence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FenceBits(Vec<u64>);

impl FenceBits {
    /// Whether one geofence is in both sets.
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

impl FromIterator<usize> for FenceBits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut bits = Vec::new();
        for number in numbers {
            let word = number / 64;
            if bits.len() <= word {
                bits.resize(word + 1, 0);
            }
            if let Some(word) = bits.get_mut(word) {
                *word |= 1 << (number % 64);
            }
        }
        Self(bits)
    }
}

/// Geofences prepared for lookups by position.
#[derive(Debug, Default)]
pub struct FenceIndex {
    regions: Vec<(GeofenceId, Region)>,
    tree: RTree<Entry>,
}

impl FenceIndex {
    /// Builds the index of these geofences.
    pub fn new<'s>(fences: impl IntoIterator<Item = (GeofenceId, &'s Shape)>) -> Self {
        let mut regions = Vec::new();
        let mut entries = Vec::new();
        for (number, (id, shape)) in fences.into_iter().enumerate() {
            let region = shape.region();
            let boxes = region.bounds();
            entries.extend(boxes.into_iter().flat_map(turns).map(|[west, south, east, north]| {
                Entry::new(Rectangle::from_corners([west, south], [east, north]), number)
            }));
            regions.push((id, region));
        }
        Self { regions, tree: RTree::bulk_load(entries) }
    }

    /// The geofences that contain a position, ascending by id.
    pub fn containing(&self, place: Position) -> Vec<GeofenceId> {
        let regions = self.near(place).into_iter().filter_map(|number| self.regions.get(number));
        let mut inside: Vec<GeofenceId> =
            regions.filter(|(_, region)| region.contains(place)).map(|(id, _)| *id).collect();
        inside.sort_unstable();
        inside
    }

    /// The geofences that contain a position, as bits, and how many candidates were tested exactly.
    pub fn locate(&self, place: Position) -> (FenceBits, usize) {
        let near = self.near(place);
        let contains = |number: &&usize| self.regions.get(**number).is_some_and(|(_, at)| at.contains(place));
        (near.iter().filter(contains).copied().collect(), near.len())
    }

    /// Candidates: the geofences whose bounding box contains the position, by number.
    fn near(&self, place: Position) -> Vec<usize> {
        let point = [place.longitude.as_degrees(), place.latitude.as_degrees()];
        let mut near: Vec<usize> = self.tree.locate_all_at_point(point).map(|entry| entry.data).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// These geofences as bits, without those that are not in the index.
    pub fn bits(&self, geofences: &[GeofenceId]) -> FenceBits {
        let numbers: HashMap<GeofenceId, usize> =
            self.regions.iter().enumerate().map(|(number, (id, _))| (*id, number)).collect();
        geofences.iter().filter_map(|id| numbers.get(id).copied()).collect()
    }

    /// The number of geofences in the index.
    pub fn len(&self) -> usize {
        self.regions.len()
    }

    /// Whether the index has no geofence.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }
}

/// A bounding box and its copies 360 degrees to either side, as far as they reach valid longitudes.
fn turns([west, south, east, north]: Bounds) -> impl Iterator<Item = Bounds> {
    let turned = [-360.0, 0.0, 360.0].map(|by| [west + by, south, east + by, north]);
    turned.into_iter().filter(|[west, _, east, _]| *west <= 180.0 && *east >= -180.0)
}
