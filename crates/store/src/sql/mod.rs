//! The SQL of the domain, written once for both engines.
//!
//! Every change locks its account first, then looks for a request already answered, checks, and writes the rows,
//! their events and their audit entry in the same transaction.

pub(crate) mod accounts;
mod alerts;
mod api_keys;
mod api_usage;
pub(crate) mod audit;
pub(crate) mod column;
mod credentials;
pub(crate) mod devices;
mod directory;
pub(crate) mod events;
mod groups;
mod history;
pub(crate) mod idempotency;
mod identity;
mod ids;
mod license_check;
mod licenses;
mod locations;
mod logins;
mod members;
mod notes;
mod passwords;
mod query;
mod scope;
pub(crate) mod search;
mod sessions;
mod shares;
mod signing_keys;
mod table_lock;
mod totp;
mod upkeep;
mod user_rows;
mod users;

pub(crate) use events::draw_numbers;
pub(crate) use locations::{
    CHUNK_FULL, Changes, FEW_WAIT_MS, Gatherer, Place, Standing, Submission, apply, facts_of, first_results,
    known_in_chunks, last_points, newest_packed, note_trimmed, plan_merge, put_last_points, standings,
    trimmed_to, unreadable_readings,
};
pub(crate) use query::{for_ids, insert_many};
pub(crate) use scope::{devices_in_sight, existing_devices};
