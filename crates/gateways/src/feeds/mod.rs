//! The feeds, a folder each.

pub mod cloudloop;
pub mod directip;
pub mod garmin;
pub mod globalstar;
pub mod mapped;
pub mod orbcomm;
pub mod osmand;
pub mod overland;
pub mod owntracks;
pub mod rockblock;
pub(crate) mod settings;
pub mod sigfox;
pub mod spot;
pub mod zoleo;
