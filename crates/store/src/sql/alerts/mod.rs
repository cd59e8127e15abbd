//! Alerts: deduplicated, listed by time, acknowledged and ended.

pub(crate) mod alert_search;
mod api;
mod change;
pub(crate) mod checksum;
pub(crate) mod emergencies;
mod notes;
mod read;
pub(crate) mod sos_notices;
pub(crate) mod sos_outbox;
mod store;

pub(super) use change::add_later_fix;
pub(super) use notes::add_service_note;
pub(super) use read::{find_many, of_ids};
pub(crate) use store::{NewAlert, raise, raise_all};
