//! What was done for a plan, when, and what it cost.

use serde::{Deserialize, Serialize};

use crate::day::Date;
use crate::id::{AccountId, DeviceId, MaintenancePlanId, MaintenanceRecordId, UserId};
use crate::time::Timestamp;

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Thousandths of the currency's unit.
    pub thousandths: u64,
    /// Code of ISO 4217: three capital letters.
    pub currency: String,
}

/// What a user says when the work of a plan was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceDone {
    /// When it was done: the beginning of the next cycle. Not before the beginning of the present one.
    pub at: Timestamp,
    /// Reading of the odometer in metres; `None` to compute it from the last one and the timeline.
    pub odometer_m: Option<u64>,
    /// Reading of the hour meter in seconds; `None` to compute it.
    pub hour_meter_s: Option<u64>,
    /// Free text.
    pub note: Option<String>,
    /// What was paid.
    pub cost: Option<Cost>,
    /// The fixed date of the next cycle.
    pub next_date: Option<Date>,
}

/// A finished cycle of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceRecord {
    /// Assigned by the service; later records have larger ids.
    pub id: MaintenanceRecordId,
    /// The account of the plan.
    pub account: AccountId,
    /// The plan that was done.
    pub plan: MaintenancePlanId,
    /// The device of the plan.
    pub device: DeviceId,
    /// Number of the cycle that ended, from 1.
    pub cycle: i64,
    /// When the cycle began.
    pub began: Timestamp,
    /// When it was done.
    pub at: Timestamp,
    /// Metres of trips in the cycle.
    pub distance_m: u64,
    /// Seconds with the engine on in the cycle.
    pub engine_s: u64,
    /// Reading of the odometer in metres.
    pub odometer_m: Option<u64>,
    /// Reading of the hour meter in seconds.
    pub hour_meter_s: Option<u64>,
    /// Free text.
    pub note: Option<String>,
    /// What was paid.
    pub cost: Option<Cost>,
    /// The user who reported it; `None` if since deleted, or if the operator did.
    pub user: Option<UserId>,
    /// When it was stored.
    pub creation: Timestamp,
}

impl Cost {
    /// Greatest amount, in whole units.
    pub const MAX: u32 = 1_000_000_000;
}

impl MaintenanceRecord {
    /// Maximum number of records of a plan.
    pub const PER_PLAN_MAX: u32 = 1_000;
}
