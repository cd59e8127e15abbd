//! Geofences: areas, circles and corridors on the earth, and finding those that contain a position.
//!
//! Edges of areas are straight lines in longitude and latitude, as in GeoJSON, and take the shorter way around the
//! earth: an area may cross the antimeridian. A ring that goes once around the earth encloses the pole of its
//! hemisphere. Corridors and circles are measured on the sphere, where antimeridian and poles are nothing special.

mod fence;
mod index;
mod ring;
mod shape;
mod sweep;
#[cfg(test)]
mod tests;
mod validity;

pub use fence::{Geofence, GeofenceSettings};
pub use index::{FenceBits, FenceIndex, Located};
pub use shape::{Area, Position, Region, Shape};
pub use validity::ShapeError;
