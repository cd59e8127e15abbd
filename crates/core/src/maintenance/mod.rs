//! Maintenance of devices: plans that become due by distance, engine hours or date, and records of what was done.

mod due;
mod plan;
mod record;
#[cfg(test)]
mod tests;

pub use due::{Due, DueState, Measure};
pub use plan::{
    CycleStart, MaintenanceFilter, MaintenanceLimits, MaintenancePlan, MaintenanceSettings,
    MaintenanceStatus, MaintenanceWarning, Period, Usage,
};
pub use record::{Cost, MaintenanceDone, MaintenanceRecord};
