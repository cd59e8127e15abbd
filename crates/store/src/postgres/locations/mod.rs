//! Locations on PostgreSQL: a log of rows that several nodes write, and whose key rejects duplicates.
//!
//! A batch takes three round trips, however many devices it has: each statement handles the whole batch, with one array
//! per column as its parameters.

mod append;
mod candidate;
mod compact;
mod contact;
mod device_state;
mod erase;
mod feed;
mod ingest;
mod known;
mod log;
mod log_row;
mod recent;
mod skim;
mod trim;

pub(crate) use log::PostgresLog;
pub(crate) use log_row::{COLUMNS as LOG_COLUMNS, checked as checked_log_row};
