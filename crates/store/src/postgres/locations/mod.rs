//! Locations on PostgreSQL: a log of rows that several nodes write, and that tells duplicates by its key.
//!
//! A batch takes three round trips, however many devices it is of: each statement handles the whole batch, its values
//! given as one list per column.

mod append;
mod candidate;
mod compact;
mod erase;
mod feed;
mod hear;
mod ingest;
mod known;
mod log_row;
mod recent;
mod settle;
mod skim;
mod trim;

pub(crate) use compact::compact;
pub(crate) use erase::{erase, holds_before};
pub(crate) use feed::{end, events, list};
pub(crate) use hear::hear;
pub(crate) use ingest::ingest;
pub(crate) use log_row::{COLUMNS as LOG_COLUMNS, checked as checked_log_row};
pub(crate) use recent::within as recent;
pub(crate) use skim::{read as read_log, skim};
pub(crate) use trim::trim;
