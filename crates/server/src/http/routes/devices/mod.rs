//! Devices: trackers, their licences and limits.

pub mod commands;
pub mod conversation;
mod decoding;
pub mod device_files;
pub mod device_photo;
pub mod input;
pub mod many;
pub mod read;
pub mod tracker_models;
pub mod view;
pub mod watch_list;
pub mod write;

pub(super) use read::{find_device, find_device_id, reply_device};
