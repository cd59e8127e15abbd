//! Alerts: deduplicated, listed by time, acknowledged and ended.

mod api;
mod change;
pub(crate) mod checksum;
mod read;
mod store;

pub(super) use read::{find_many, of_ids};
pub(crate) use store::{raise, raise_all};
