//! Locations: stored without duplicates, listed by time and by arrival, and the last location of each device.
//!
//! They are appended to a log, whose commit the submitter waits for, and move from there into packed chunks. Each
//! engine has its own log ([`LocationLog`]) and, if it keeps state in memory, its own [`Memory`]; the code that both
//! share is here.

mod admission;
mod api;
mod arrival;
mod chunk;
mod chunk_row;
mod delete;
mod device_names;
mod duplicate;
pub(crate) mod geofences;
mod group_commit;
mod log;
mod memory;
mod merge;
mod named;
mod pending_location;
pub(crate) mod reads;
mod row;
pub(crate) mod state_row;
mod submission_queue;
mod tiers;
mod trim;

pub(crate) use admission::{Admission, first_results};
pub(crate) use arrival::{Arrival, Arrivals, Ingested, LastPositions, arrivals, last_positions};
pub(crate) use chunk::{Changes, LocationKey, apply, newest_packed, plan_merge};
pub(crate) use delete::{holds_before, renew_last, retire_some};
pub(crate) use device_names::DeviceNames;
pub(crate) use duplicate::{Gap, known_from_chunk, known_in_chunks};
pub(in crate::sql) use group_commit::{retry_while_locked, submit, submit_together};
pub(crate) use log::{LocationLog, PACK_AFTER_MS, save_trimmed_to, trimmed_to};
pub(crate) use memory::{ChangeGuard, DeviceMemory, LastInMemory, Memory, exclude_changes};
#[cfg(feature = "testing")]
pub use named::without_check::submit_locations_without_check;
pub(crate) use pending_location::PendingLocation;
pub(crate) use reads::last::{find_last, find_last_visible, last_points};
pub(crate) use reads::of_devices::last_of_devices;
pub(in crate::sql) use reads::read::read_part;
pub(crate) use reads::window::Window;
pub(crate) use row::{
    LAST_COLUMNS, check_last, checked_last, last_checksum, point_from_row, unpack_or_note,
    unreadable_readings,
};
pub(crate) use submission_queue::{Attached, Submission, SubmissionQueue};
pub(crate) use trim::{TrimBounds, Trimmed};
