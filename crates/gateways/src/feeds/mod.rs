//! The feeds, a folder each.

pub mod osmand;
