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
    regions: Vec<Prepared>,
    tree: RTree<Entry>,
}

#[derive(Debug)]
struct Prepared {
    id: GeofenceId,
    region: Region,
    /// CPU steps of testing a position.
    steps: u64,
}

/// The geofences that contain a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The geofences by their numbers in the index.
    pub inside: FenceBits,
    /// Geofences that were tested exactly.
    pub tested: usize,
    /// CPU steps that the tests took.
    pub steps: u64,
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
            let steps = region.steps();
            regions.push(Prepared { id, region, steps });
        }
        Self { regions, tree: RTree::bulk_load(entries) }
    }

    /// The geofences that contain a position, ascending by id.
    pub fn containing(&self, position: Position) -> Vec<GeofenceId> {
        let regions = self.near(position).into_iter().filter_map(|number| self.regions.get(number));
        let mut inside: Vec<GeofenceId> =
            regions.filter(|fence| fence.region.contains(position)).map(|fence| fence.id).collect();
        inside.sort_unstable();
        inside
    }

    /// The same with the CPU steps that it took to find them.
    pub fn containing_with_steps(&self, position: Position) -> (Vec<GeofenceId>, u64) {
        let mut steps = 1;
        let mut inside = Vec::new();
        for fence in self.near(position).into_iter().filter_map(|number| self.regions.get(number)) {
            steps += 1 + fence.steps;
            if fence.region.contains(position) {
                inside.push(fence.id);
            }
        }
        inside.sort_unstable();
        (inside, steps)
    }

    /// The geofences that contain a position, and the steps that it took to find them.
    pub fn locate(&self, position: Position) -> Located {
        let near = self.near(position);
        let mut steps = 0;
        let contains = |number: &&usize| {
            self.regions.get(**number).is_some_and(|fence| {
                steps += 1 + fence.steps;
                fence.region.contains(position)
            })
        };
        let inside = near.iter().filter(contains).copied().collect();
        Located { inside, tested: near.len(), steps }
    }

    /// Bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        self.regions.iter().map(|fence| size_of::<Prepared>() + fence.region.bytes()).sum()
    }

    /// CPU steps of locating a position that is near every geofence.
    pub fn steps_max(&self) -> u64 {
        self.regions.iter().map(|fence| 1 + fence.steps).sum()
    }

    /// Candidates: the geofences whose bounding box contains the position, by number.
    fn near(&self, position: Position) -> Vec<usize> {
        let point = [position.longitude.as_degrees(), position.latitude.as_degrees()];
        let mut near: Vec<usize> = self.tree.locate_all_at_point(point).map(|entry| entry.data).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// These geofences as bits, without those that are not in the index.
    pub fn bits(&self, geofences: &[GeofenceId]) -> FenceBits {
        let numbers: HashMap<GeofenceId, usize> =
            self.regions.iter().enumerate().map(|(number, fence)| (fence.id, number)).collect();
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
