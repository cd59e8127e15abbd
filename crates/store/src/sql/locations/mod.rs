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

pub(crate) use feed::events;
pub(crate) use gather::Gatherer;
pub(crate) use last::find_last;
pub(crate) use of_group::last_of_group;
