//! Locations: stored once each, listed by time and by arrival, and the last one that can be trusted.
//!
//! They arrive in a log, whose commit is what a sender waits for, and move from there into packed chunks. The log is
//! each engine's own; what is written once for both is here.

mod admission;
mod api;
mod chunk;
mod delete;
mod everywhere;
mod group_commit;
mod last;
mod log;
mod merge;
mod of_devices;
mod packed;
mod pending_location;
mod read;
mod row;
mod submission_queue;
mod tiers;
mod window;

pub(crate) use admission::{Admission, first_results};
pub(crate) use chunk::{
    Changes, FULL as CHUNK_FULL, Key as Place, apply, known_in_chunks, newest_packed, plan_merge,
};
pub(crate) use delete::{alone, holds_before, renew_last, retire_some};
pub(crate) use last::{find_last, last_points, put_last_points};
pub(crate) use log::{
    FEW_WAIT_MS, end, event_of, events, note_trimmed, number_column, read_log, skim, trimmed_to,
};
pub(crate) use of_devices::last_of_devices;
pub(crate) use pending_location::PendingLocation;
pub(crate) use row::{
    LAST_COLUMNS, checked_last, last_checksum, last_point, point_from_row, unpack_or_note,
    unreadable_readings,
};
pub(crate) use submission_queue::{Submission, SubmissionQueues};
pub(crate) use window::Window;
