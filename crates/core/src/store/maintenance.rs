//! Maintenance plans: changes and reads, records of what was done, and the examination of plans that may be due.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::id::{AccountId, DeviceId, MaintenancePlanId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::maintenance::{
    MaintenanceDone, MaintenanceFilter, MaintenanceRecord, MaintenanceSettings, MaintenanceStatus,
};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// The result of examining plans of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlansEvaluated {
    /// Number of plans that were examined.
    pub plans: usize,
    /// Number of alerts that were raised.
    pub alerts: usize,
    /// Whether more plans of the account have to be examined now.
    pub more: bool,
}

/// Plans of maintenance.
#[async_trait]
pub trait MaintenancePlans: Send + Sync {
    /// Creates a plan for a visible device. Refused beyond the maximum of the device or the account.
    async fn create_maintenance_plan(
        &self,
        actor: &Actor,
        device: DeviceId,
        settings: MaintenanceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<MaintenanceStatus>>;

    /// Finds a plan of a visible device, with the usage of the device in the present cycle.
    async fn find_maintenance_plan(
        &self,
        scope: Scope,
        id: MaintenancePlanId,
    ) -> Result<Option<MaintenanceStatus>>;

    /// Lists plans of visible devices, by id.
    async fn list_maintenance_plans(
        &self,
        scope: Scope,
        filter: &MaintenanceFilter,
        page: PageRequest,
    ) -> Result<Page<MaintenanceStatus>>;

    /// Replaces the settings of a plan. If it is less urgent with the new ones, its alerts end and are raised again later.
    async fn replace_maintenance_plan(
        &self,
        actor: &Actor,
        id: MaintenancePlanId,
        seen: Revision,
        settings: MaintenanceSettings,
    ) -> Result<MaintenanceStatus>;

    /// Deletes a plan with its records. Its alerts end.
    async fn delete_maintenance_plan(
        &self,
        actor: &Actor,
        id: MaintenancePlanId,
        seen: Option<Revision>,
    ) -> Result<()>;

    /// Ends the present cycle of a plan with a record, and begins the next one. Its alerts end. Refused beyond the maximum
    /// of records.
    async fn finish_maintenance(
        &self,
        actor: &Actor,
        id: MaintenancePlanId,
        seen: Revision,
        done: MaintenanceDone,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<MaintenanceRecord>>;

    /// Lists the records of a plan of a visible device, oldest first.
    async fn list_maintenance_records(
        &self,
        scope: Scope,
        id: MaintenancePlanId,
        page: PageRequest,
    ) -> Result<Page<MaintenanceRecord>>;

    /// Lists up to `limit` accounts with plans that have to be examined now.
    async fn accounts_with_due_maintenance(&self, limit: u32) -> Result<Vec<AccountId>>;

    /// Examines up to `limit` plans of an account whose timeline or date changed, and raises the alerts of those that became
    /// due or due soon, each once in a cycle. Alert and state are committed together.
    async fn evaluate_maintenance(&self, account: AccountId, limit: u32) -> Result<PlansEvaluated>;
}
