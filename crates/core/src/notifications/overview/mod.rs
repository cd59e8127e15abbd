//! The overview report: the activity of an account's devices in a day or a week, mailed to its owners.

mod period;
mod settings;
mod totals;

pub use period::{Period, ReportedUntil};
pub use settings::{
    Frequency, OverviewRecipient, OverviewSettings, OverviewTask, StoredOverview, UnknownFrequency,
};
pub use totals::{DeviceActivity, DeviceCounts, GroupTotals, Overview, OverviewBuilder, Totals};
