//! Reports: reads the rows of a report from the store in batches, and writes them as a document.
//!
//! A report holds one batch of segments, the totals of one page of devices, and one line of sums for each device or group.

mod batch;
mod devices;
mod drivers;
mod plan;
mod report;
mod source;
mod visits;
mod wanted;

pub use devices::{DevicePages, ReportDevice};
pub use drivers::{DriverSums, add_drivers, driver_names};
pub use plan::{Plan, Selection};
pub use report::{Report, ReportError, ReportParts};
pub use source::sum_by_group;
pub use visits::{MeasuredVisit, VisitReader, fence_index};
pub use wanted::{ReadReport, Wanted};
