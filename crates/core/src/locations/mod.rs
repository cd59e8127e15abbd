//! Locations, and the places and areas on Earth that they are compared with.

pub mod geofence;
pub mod location;
pub mod place;
pub mod sphere;
