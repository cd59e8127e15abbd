//! Locations: where devices were.

pub mod delete;
pub mod features;
pub mod feed;
pub mod geofences;
pub mod input;
pub mod last;
pub mod places;
pub mod read;
pub mod view;
pub mod write;

pub(super) use input::{latitude, longitude};
