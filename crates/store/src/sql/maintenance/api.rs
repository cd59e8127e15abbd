//! The `MaintenancePlans` trait.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::id::{AccountId, DeviceId, MaintenancePlanId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::maintenance::{
    MaintenanceDone, MaintenanceFilter, MaintenanceRecord, MaintenanceSettings, MaintenanceStatus,
};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{MaintenancePlans, PlansEvaluated};

use super::{change, done, evaluate, read};
use crate::forward::forward;

forward! {
    impl MaintenancePlans for Database {
        write create_maintenance_plan(
            &self, &actor: Actor, device: DeviceId, settings: MaintenanceSettings, once: Option<IdempotencyKey>
        ) -> Created<MaintenanceStatus> = change::create;
        read_snapshot find_maintenance_plan(&self, scope: Scope, id: MaintenancePlanId)
            -> Option<MaintenanceStatus> = read::find_status;
        read_snapshot list_maintenance_plans(
            &self, scope: Scope, &filter: MaintenanceFilter, page: PageRequest
        ) -> Page<MaintenanceStatus> = read::list;
        write replace_maintenance_plan(
            &self, &actor: Actor, id: MaintenancePlanId, seen: Revision, settings: MaintenanceSettings
        ) -> MaintenanceStatus = change::replace;
        write delete_maintenance_plan(&self, &actor: Actor, id: MaintenancePlanId, seen: Option<Revision>)
            -> () = change::delete;
        write finish_maintenance(
            &self, &actor: Actor, id: MaintenancePlanId, seen: Revision, done: MaintenanceDone,
            once: Option<IdempotencyKey>
        ) -> Created<MaintenanceRecord> = done::finish;
        read list_maintenance_records(&self, scope: Scope, id: MaintenancePlanId, page: PageRequest)
            -> Page<MaintenanceRecord> = done::list;
        read accounts_with_due_maintenance(&self, limit: u32) -> Vec<AccountId> = evaluate::accounts;
        write evaluate_maintenance(&self, account: AccountId, limit: u32)
            -> PlansEvaluated = evaluate::evaluate;
    }
}
