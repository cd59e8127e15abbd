//! Verifying a whole store, and repairing damaged rows.
//!
//! Every row is compared with its checksum, every packed row is unpacked to its end, and the database runs its own
//! checks. Damage is reported row by row: its owner, and what it held.

mod chunk;
mod database;
mod log;
mod repair;
mod repair_row;
mod report;
mod rows;
mod run;
mod source;

pub use repair::{Repaired, repair};
pub use report::{Progress, Report};
pub use run::verify;
pub(crate) use run::verify_file;
