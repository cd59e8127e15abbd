//! Devices, their files and photos, and commands to them.

pub mod command;
pub mod conversation;
pub mod device;
pub mod device_file;
pub mod device_photo;
pub mod image;
pub mod new_devices;
pub mod reporting_interval;
pub mod watch_list;
