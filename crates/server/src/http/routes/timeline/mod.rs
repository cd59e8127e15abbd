//! Timelines of devices: trips, stops and gaps.

pub mod edits;
pub mod labels;
pub mod read;
pub mod settings;
pub mod trips;
pub mod view;
pub mod visits;
