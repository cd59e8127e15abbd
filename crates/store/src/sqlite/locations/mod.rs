//! Locations on SQLite: an append-only log with one row per commit and account. Locations in no chunk yet are also in
//! memory.
//!
//! The log is the source of truth. What is kept in memory beside it, the
//! [`UnpackedLocations`](unpacked::UnpackedLocations) and the write-behind
//! [`DeviceStates`](device_state::DeviceStates), changes only after a commit and is replayed from the log when the
//! store is opened.

mod admission;
mod compact;
mod device_cache;
mod device_state;
mod erase;
mod feed;
mod ingest;
mod last;
mod log;
mod log_row;
mod memory;
mod replay;
mod save;
mod skim;
#[cfg(all(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]
mod tests;
mod trim;
mod unpacked;

#[cfg(all(test, feature = "testing"))]
pub(super) use admission::read_visible;
pub(crate) use log_row::{COLUMNS as LOG_COLUMNS, LogRow};
pub(crate) use memory::LocationMemory;
pub(crate) use replay::{quarantine_rows, replay};
