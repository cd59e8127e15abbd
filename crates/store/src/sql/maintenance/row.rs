//! Rows of plans.

use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, AlertId, DeviceId, MaintenancePlanId};
use perigee_core::maintenance::{DueState, MaintenancePlan, MaintenanceSettings, MaintenanceStatus, Usage};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::Row;
use crate::sql::column;

/// The columns of [`PlanRow`] in a statement over `maintenance_plan p`.
pub(super) const COLUMNS: &str = "p.account_id, p.id, p.device_id, p.revision, p.settings, p.cycle, p.kept_to, p.kept_m, \
     p.kept_engine_s, p.summed_to, p.summed_m, p.summed_engine_s, p.announced, p.soon_alert_id, p.due_alert_id, \
     p.creation, p.last_modified";

/// Sums of the timeline from the beginning of the cycle up to an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) to: Timestamp,
    pub(super) distance_m: u64,
    pub(super) engine_s: u64,
}

/// A plan with what the store keeps to examine it.
#[derive(Clone, Debug)]
pub(super) struct PlanRow {
    pub(super) plan: MaintenancePlan,
    /// The sums up to the instant before which segments may have been deleted by age.
    pub(super) kept: Sums,
    /// The sums up to a later instant.
    pub(super) summed: Sums,
    pub(super) soon_alert: Option<AlertId>,
    pub(super) due_alert: Option<AlertId>,
}

impl Sums {
    /// Nothing since this instant.
    pub(super) const fn none(to: Timestamp) -> Self {
        Self { to, distance_m: 0, engine_s: 0 }
    }

    pub(super) const fn usage(self, is_partial: bool) -> Usage {
        Usage { distance_m: self.distance_m, engine_s: self.engine_s, is_partial }
    }
}

impl PlanRow {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let name = row.str("announced")?;
        let announced = DueState::ALL.into_iter().find(|state| state.name() == name);
        let alert = |column: &str| Ok::<_, StoreError>(row.opt_i64(column)?.map(AlertId::from_i64));
        Ok(Self {
            plan: MaintenancePlan {
                id: MaintenancePlanId::from_i64(row.i64("id")?),
                account: AccountId::from_i64(row.i64("account_id")?),
                device: DeviceId::from_i64(row.i64("device_id")?),
                revision: Revision(row.i64("revision")?),
                settings: column::json(row, "settings")?,
                cycle: row.i64("cycle")?,
                announced: announced.ok_or_else(|| column::unreadable("announced", "unknown state"))?,
                creation: row.timestamp("creation")?,
                last_modified: row.timestamp("last_modified")?,
            },
            kept: Sums {
                to: row.timestamp("kept_to")?,
                distance_m: row.int("kept_m")?,
                engine_s: row.int("kept_engine_s")?,
            },
            summed: Sums {
                to: row.timestamp("summed_to")?,
                distance_m: row.int("summed_m")?,
                engine_s: row.int("summed_engine_s")?,
            },
            soon_alert: alert("soon_alert_id")?,
            due_alert: alert("due_alert_id")?,
        })
    }

    pub(super) fn status(self, usage: Usage) -> MaintenanceStatus {
        MaintenanceStatus { plan: self.plan, usage }
    }
}

pub(super) fn text(settings: &MaintenanceSettings) -> Result<String> {
    serde_json::to_string(settings).map_err(|cause| StoreError::Internal(cause.into()))
}

/// A sum as a column holds it.
pub(super) fn number(sum: u64) -> i64 {
    i64::try_from(sum).unwrap_or(i64::MAX)
}
