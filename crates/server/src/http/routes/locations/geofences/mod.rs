//! Geofences: named areas, circles and corridors, as GeoJSON features.

mod geometry;
pub mod handlers;
pub mod view;
