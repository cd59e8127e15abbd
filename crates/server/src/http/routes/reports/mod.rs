//! Totals of timelines, and reports.

mod input;
pub mod kinds;
mod period;
pub mod run;
mod stream;
pub mod totals;
