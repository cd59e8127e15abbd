//! Rules: what raises alerts, and whom it judges.

mod api;
mod change;
mod read;

pub(super) use change::{begin_anew, bump};
pub(super) use read::{all, keep_rules};
