//! Derives the timelines of devices: trips, stops and gaps.
//!
//! A round of an account reads a part of its location log and marks the devices in it with the fix times of their new
//! locations; marks and cursor are committed together. Marked devices are then derived from their histories, from the last
//! anchor before those times to the first later one that is found again. Segments, events and the removal of the mark are
//! committed together, so that after a crash the marks show what has not been derived.

mod derive;
mod engine;
mod round;

pub use engine::TimelineEngine;
