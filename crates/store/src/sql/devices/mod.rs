//! Devices: how they are read, how they change, and what their expiry does.

mod api;
mod change;
pub(crate) mod checksum;
mod create;
mod delete;
pub(crate) mod expiry;
mod heard;
pub(crate) mod read;
mod replace;
mod row;

#[cfg(feature = "testing")]
pub use create::without_lock::create_device_without_lock;
pub(crate) use heard::hear;
