//! Timelines: leases of the accounts whose logs are followed, marks of locations that are not considered yet, and derived
//! segments, which are replaced in one transaction with their events.

mod api;
mod changes;
pub(in crate::sql) mod drivers;
mod edits;
mod follow;
mod label;
mod mark;
mod pending;
mod read;
mod reconcile;
mod removed;
mod row;
mod save;
mod settings;
pub(in crate::sql) mod totals;

pub(crate) use follow::followed_to;
pub(crate) use mark::{changed, retired};
pub(in crate::sql) use read::{find_many, last_trip_before, trips_from};
pub(crate) use settings::regrouped;
