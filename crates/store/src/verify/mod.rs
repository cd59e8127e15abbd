//! Checking a whole store for damage, and mending what is damaged.
//!
//! Every row with a checksum is compared with it and every packed row is unpacked to its end; the database checks
//! itself beside that. What is wrong is told row by row: whose it is and what it held.

mod chunk;
mod database;
mod fill;
mod log;
mod repair;
mod repair_row;
mod report;
mod rows;
mod run;
mod source;

pub(crate) use fill::fill_checksums;
pub use repair::{Repaired, repair};
pub use report::{Progress, Report};
pub use run::verify;
pub(crate) use run::verify_file;
