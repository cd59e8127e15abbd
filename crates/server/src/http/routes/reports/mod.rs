//! Totals of timelines, and reports.

mod input;
pub mod kinds;
mod period;
pub mod run;
pub mod saved;
pub mod schedule;
mod stream;
pub mod totals;
