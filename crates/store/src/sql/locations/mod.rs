//! Locations: stored once each, listed by time and by arrival, and the last one that can be trusted.
//!
//! They arrive in a log, whose commit is what a sender waits for, and move from there into packed chunks.

mod api;
mod chunk;
mod compact;
mod delete;
mod feed;
mod gather;
mod ingest;
mod last;
mod of_group;
mod read;
mod recent;
mod row;
mod standing;

pub(crate) use chunk::{
    Changes, FULL as CHUNK_FULL, Key as Place, apply, known_in_chunks, newest_packed, plan_merge,
};
pub(crate) use compact::FEW_WAIT_MS;
pub(crate) use feed::{events, note_trimmed, trimmed_to};
pub(crate) use gather::{Gatherer, Submission};
pub(crate) use last::{find_last, last_points, put_last_points};
pub(crate) use of_group::last_of_group;
pub(crate) use row::unreadable_readings;
pub(crate) use standing::{Standing, facts_of, first_results, standings};
