//! A maintenance plan: what is due after which distance, engine hours or time, counted from when it was last done.

use serde::{Deserialize, Serialize};

use super::DueState;
use crate::day::Date;
use crate::id::{AccountId, DeviceId, GroupId, MaintenancePlanId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A maintenance plan of a device, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenancePlan {
    /// Assigned by the service; never changes.
    pub id: MaintenancePlanId,
    /// The account it belongs to.
    pub account: AccountId,
    /// The device that is maintained; never changes.
    pub device: DeviceId,
    /// Counts the changes of the settings. Each time it is done is one, because the cycle begins anew.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: MaintenanceSettings,
    /// Number of times that it was done.
    pub cycle: i64,
    /// The most serious alert of the present cycle. Each is raised once.
    pub announced: DueState,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// A plan, and how much the device was used in the present cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceStatus {
    /// The plan.
    pub plan: MaintenancePlan,
    /// What the timeline of the device says about the time since the cycle began.
    pub usage: Usage,
}

/// The settings of a plan that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceSettings {
    /// What is to be done, for example "Oil change".
    pub name: String,
    /// After what it is due; the first that is reached counts.
    pub limits: MaintenanceLimits,
    /// How long before it is due it counts as due soon.
    pub warning: MaintenanceWarning,
    /// When it was last done, with the readings of then.
    pub start: CycleStart,
    /// Free text for people.
    pub notes: Option<String>,
}

/// What makes a plan due. A plan without any limit is never due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceLimits {
    /// Metres since the cycle began.
    pub distance_m: Option<u64>,
    /// Seconds with the engine on since the cycle began.
    pub engine_s: Option<u64>,
    /// Time of the calendar since the cycle began.
    pub period: Option<Period>,
    /// A fixed date, on which it is due.
    pub date: Option<Date>,
}

/// A length of time in the calendar of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Period {
    /// This many dates.
    Days(u32),
    /// This many months. If the last one is too short, its last date.
    Months(u32),
}

/// How long before a plan is due it counts as due soon; `None` for not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceWarning {
    /// Metres left.
    pub distance_m: Option<u64>,
    /// Seconds with the engine on that are left.
    pub engine_s: Option<u64>,
    /// Dates left.
    pub days: Option<u32>,
}

/// The beginning of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleStart {
    /// When it was last done.
    pub at: Timestamp,
    /// What the odometer showed then, in metres.
    pub odometer_m: Option<u64>,
    /// What the hour meter of the engine showed then, in seconds.
    pub hour_meter_s: Option<u64>,
}

/// How much a device was used since an instant, by its timeline: the distance of its trips, and the time with the
/// engine on in trips and stops. Segments that the instant divides count in part, as in totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Metres of trips.
    pub distance_m: u64,
    /// Seconds with the engine on.
    pub engine_s: u64,
    /// Whether not all segments are added up yet, which the background job goes on with.
    pub is_partial: bool,
}

/// Which plans to list; all conditions must be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceFilter {
    /// Only plans of this device.
    pub device: Option<DeviceId>,
    /// Only plans of devices in this group.
    pub group: Option<GroupId>,
}

impl MaintenancePlan {
    /// Maximum number of plans of a device.
    pub const PER_DEVICE_MAX: u32 = 50;
    /// Maximum number of plans of an account.
    pub const PER_ACCOUNT_MAX: u32 = 20_000;
}

impl MaintenanceLimits {
    /// Whether nothing makes the plan due.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl MaintenanceSettings {
    /// Longest distance between two times, in kilometres.
    pub const DISTANCE_MAX_KM: u32 = 10_000_000;
    /// Most engine hours between two times.
    pub const HOURS_MAX: u32 = 1_000_000;
    /// Most dates between two times.
    pub const DAYS_MAX: u32 = 36_500;
    /// Most months between two times.
    pub const MONTHS_MAX: u32 = 1_200;
    /// Greatest reading of an odometer in kilometres, and of an hour meter in hours.
    pub const READING_MAX: u32 = 100_000_000;

    /// Whether a plan can become due earlier or later by this change.
    pub fn is_due_otherwise(&self, before: &Self) -> bool {
        let due = |settings: &Self| (settings.limits, settings.warning, settings.start);
        due(self) != due(before)
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 13] {
        let days = |limits: &MaintenanceLimits| match limits.period {
            Some(Period::Days(days)) => Some(days),
            _ => None,
        };
        let months = |limits: &MaintenanceLimits| match limits.period {
            Some(Period::Months(months)) => Some(months),
            _ => None,
        };
        let (limits, old) = (&self.limits, &before.limits);
        let (warning, earlier) = (&self.warning, &before.warning);
        [
            ("name", self.name != before.name),
            ("distance", limits.distance_m != old.distance_m),
            ("engineHours", limits.engine_s != old.engine_s),
            ("days", days(limits) != days(old)),
            ("months", months(limits) != months(old)),
            ("date", limits.date != old.date),
            ("soonDistance", warning.distance_m != earlier.distance_m),
            ("soonEngineHours", warning.engine_s != earlier.engine_s),
            ("soonDays", warning.days != earlier.days),
            ("lastDone", self.start.at != before.start.at),
            ("odometer", self.start.odometer_m != before.start.odometer_m),
            ("hourMeter", self.start.hour_meter_s != before.start.hour_meter_s),
            ("notes", self.notes != before.notes),
        ]
    }
}
