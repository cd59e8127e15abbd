//! Geofences: areas, circles and corridors on the earth, and which of many a place lies in.
//!
//! Edges of areas are straight in longitude and latitude, as GeoJSON has them, and go the shorter way round: an area
//! may cross the antimeridian. A ring that goes once round the earth encloses the pole of its hemisphere. Corridors
//! and circles are measured on the sphere, so that neither knows of antimeridian or poles.

mod fence;
mod index;
mod ring;
mod shape;
#[cfg(test)]
mod tests;
mod validity;

pub use fence::{Geofence, GeofenceSettings};
pub use index::{FenceBits, FenceIndex};
pub use shape::{Area, Place, Region, Shape};
pub use validity::ShapeError;
