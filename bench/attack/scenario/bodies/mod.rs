//! Bodies of requests that are costly to receive or to parse.

pub(crate) mod bulk_devices;
pub(crate) mod decode_bombs;
pub(crate) mod endless_bodies;
pub(crate) mod json_patch;
pub(crate) mod packed_bodies;
pub(crate) mod templates;
pub(crate) mod unfinished;
