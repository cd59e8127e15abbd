//! The overview report: what an account's devices did in a day or a week, mailed to its owners.

mod figures;
mod journey;
mod period;
mod settings;

pub use figures::{DeviceCounts, DeviceFigures, Figures, GroupFigures, Overview, Summary};
pub use journey::Journey;
pub use period::{Mark, Period};
pub use settings::{
    Frequency, OverviewRecipient, OverviewSettings, OverviewTask, StoredOverview, UnknownFrequency,
};
