//! Drivers: people who drive devices, the key tags that identify them, and their assignments to devices.

mod assignment;
mod driver;
mod resolve;
mod tag;

pub use assignment::{Assignment, AssignmentSettings};
pub use driver::{Driver, DriverFilter, DriverSettings};
pub use resolve::{DriverLookup, DriverSource, SegmentDriver};
pub use tag::{DriverTag, ParseDriverTagError};
