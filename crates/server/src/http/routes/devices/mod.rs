//! Devices: trackers, their licences and limits.

mod decoding;
pub mod input;
pub mod read;
pub mod view;
pub mod write;

pub(super) use read::{find_device, find_device_id, reply_device};
