//! Locations on SQLite: a log that is only appended to, one row a commit, and in memory what is in no chunk yet.
//!
//! The log is the truth. What is kept in memory beside it, the [`Tail`](tail::Tail) that waits to be packed and the
//! [`Present`](present::Present) of devices ahead of its tables, changes only after a commit and is made anew from the
//! log when the store is opened.

mod compact;
mod erase;
mod facts;
mod feed;
mod ingest;
mod last;
mod live;
mod log_row;
mod present;
mod replay;
mod save;
mod skim;
mod standing;
mod tail;
#[cfg(all(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]
mod tests;
mod trim;

pub(crate) use compact::compact;
pub(crate) use erase::note_erased;
pub(crate) use feed::{end, events, list};
pub(crate) use ingest::ingest;
pub(crate) use last::find_last;
pub(crate) use live::Live;
pub(crate) use log_row::{COLUMNS as LOG_COLUMNS, LogRow};
pub(crate) use present::hear;
pub(crate) use replay::{replay, set_aside};
pub(crate) use save::save_all;
pub(crate) use skim::{read as read_log, skim};
pub(crate) use tail::Owner;
pub(crate) use trim::trim;
