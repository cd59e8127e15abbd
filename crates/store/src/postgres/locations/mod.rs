//! Locations on PostgreSQL: a log that several nodes write, with one packed row for each device and commit.
//!
//! A batch takes two round trips, one with the begin and one with the commit, and a third if some of it is late,
//! however many devices it has: each statement handles the whole batch, with one array per column as its parameters.

mod compact;
mod contact;
mod convert;
mod erase;
mod feed;
mod ingest;
mod known;
mod last;
mod late;
mod licenses;
mod log;
mod log_row;
mod new_rows;
mod numbers;
mod packed_gaps;
mod recent;
mod seen_states;
mod settle;
mod skim;
mod trim;

pub(crate) use convert::{PACKED_SINCE, pack_rows};
pub(crate) use log::PostgresLog;
pub(crate) use log_row::{COLUMNS as LOG_COLUMNS, LogRow};
pub(super) use numbers::ANNOUNCE;
