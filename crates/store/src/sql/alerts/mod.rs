//! Alerts: deduplicated, listed by time, acknowledged and ended.

mod api;
mod change;
pub(crate) mod checksum;
mod notes;
mod read;
mod store;

pub(super) use change::add_later_fix;
pub(super) use read::{find_many, of_ids};
pub(crate) use store::{NewAlert, raise, raise_all};
