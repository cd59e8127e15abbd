//! Saved reports, and the runs of their schedules.

mod api;
mod claim;
mod finish;
mod runs;
mod saved;

#[cfg(feature = "testing")]
pub use finish::finish_report_unmarked;
