//! Rules: their conditions, and the devices they apply to.

mod api;
mod change;
mod read;
pub(crate) mod rule_engine;
pub(in crate::sql) mod trip_rules;

pub(super) use change::{bump_revision, start_generation};
pub(super) use read::{all, find, keep_rules};
