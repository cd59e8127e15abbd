//! Which of many geofences a place lies in, found by a tree of boxes.

use rstar::RTree;
use rstar::primitives::{GeomWithData, Rectangle};

use super::shape::Bounds;
use super::{Place, Region, Shape};
use crate::id::GeofenceId;

type Entry = GeomWithData<Rectangle<[f64; 2]>, usize>;

/// Geofences, ready to be asked about places.
#[derive(Debug, Default)]
pub struct FenceIndex {
    regions: Vec<(GeofenceId, Region)>,
    tree: RTree<Entry>,
}

impl FenceIndex {
    /// Makes the index of these.
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

    /// The geofences a place lies in, ascending.
    pub fn containing(&self, place: Place) -> Vec<GeofenceId> {
        let point = [place.longitude.as_degrees(), place.latitude.as_degrees()];
        let mut near: Vec<usize> = self.tree.locate_all_at_point(point).map(|entry| entry.data).collect();
        near.sort_unstable();
        near.dedup();
        let regions = near.into_iter().filter_map(|number| self.regions.get(number));
        let mut inside: Vec<GeofenceId> =
            regions.filter(|(_, region)| region.contains(place)).map(|(id, _)| *id).collect();
        inside.sort_unstable();
        inside
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.regions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }
}

/// A box and its likes a turn to either side, as far as they reach the earth's longitudes.
fn turns([west, south, east, north]: Bounds) -> impl Iterator<Item = Bounds> {
    let turned = [-360.0, 0.0, 360.0].map(|by| [west + by, south, east + by, north]);
    turned.into_iter().filter(|[west, _, east, _]| *west <= 180.0 && *east >= -180.0)
}
