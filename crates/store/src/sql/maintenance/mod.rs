//! Maintenance plans: their settings, the sums of timelines that make them due, their alerts, and records of what was done.

mod api;
mod change;
mod done;
mod evaluate;
mod read;
mod row;
mod usage;

pub(in crate::sql) use usage::{retired, timelines_changed};
