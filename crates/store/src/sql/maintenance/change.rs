//! Creating, changing and deleting plans.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::accounts::account::Account;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId, MaintenancePlanId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::maintenance::{DueState, MaintenancePlan, MaintenanceSettings, MaintenanceStatus};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use serde_json::json;

use super::read::{find, statuses};
use super::row::{PlanRow, Sums, number, text};
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::rules::rule_engine::end_alerts;
use crate::sql::{access::audit, accounts, idempotency, ids, scope};
use crate::{Tx, params};

pub(super) const MISSING: StoreError = StoreError::NotFound(Kind::MaintenancePlan);

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    settings: MaintenanceSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<MaintenanceStatus>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    scope::require_devices(tx, actor.scope, &[device]).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    check_count(tx, account.id, device).await?;
    let id = ids::fresh_id(tx, "maintenance_plan", account.id).await?;
    let start = settings.start.at;
    let sql = "INSERT INTO maintenance_plan (account_id, id, device_id, revision, settings, cycle, kept_to, kept_m, \
                   kept_engine_s, summed_to, summed_m, summed_engine_s, announced, evaluate_at, creation, last_modified) \
               VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, 0, 0, ?5, 0, 0, ?6, ?7, ?7, ?7)";
    let values = params![account.id, id, device, text(&settings)?, start, DueState::Ok.name(), tx.now()];
    tx.execute(sql, values).await?;
    let status = reread(tx, &actor, MaintenancePlanId::from_i64(id)).await?;
    append_event(tx, &account, EventKind::MaintenanceCreated, &status).await?;
    record_audit(tx, &actor, "maintenance.create", status.plan.id, None).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &status).await?;
    Ok(Created::Now(status))
}

async fn check_count(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let count = "SELECT COUNT(*) AS count FROM maintenance_plan WHERE account_id = ?1";
    let most = MaintenancePlan::PER_ACCOUNT_MAX;
    if tx.query_one(count, params![account]).await?.i64("count")? >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::MaintenancePlan, most });
    }
    let count = "SELECT COUNT(*) AS count FROM maintenance_plan WHERE account_id = ?1 AND device_id = ?2";
    let most = MaintenancePlan::PER_DEVICE_MAX;
    if tx.query_one(count, params![account, device]).await?.i64("count")? >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::MaintenancePlan, most });
    }
    Ok(())
}

async fn reread(tx: &Tx, actor: &Actor, id: MaintenancePlanId) -> Result<MaintenanceStatus> {
    let row = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    statuses(tx, actor.scope, vec![row]).await?.pop().ok_or(MISSING)
}

pub(super) async fn record_audit(
    tx: &Tx,
    actor: &Actor,
    action: &str,
    id: MaintenancePlanId,
    detail: Option<String>,
) -> Result<()> {
    audit::record_with(tx, actor.scope.account, &actor.origin, action, Some(id.to_string()), detail).await
}

/// The event about a plan.
pub(super) fn event(plan: &MaintenancePlan, state: DueState) -> NewEvent {
    let (device, name) = (plan.device.to_string(), &plan.settings.name);
    let data = json!({ "deviceId": device, "name": name, "state": state.name() });
    NewEvent { subject: plan.id.to_string(), device: Some(plan.device), data: data.to_string() }
}

pub(super) async fn append_event(
    tx: &Tx,
    account: &Account,
    kind: EventKind,
    MaintenanceStatus { plan, usage }: &MaintenanceStatus,
) -> Result<()> {
    let state = plan.due(*usage, tx.now(), account.day_at(tx.now())).state;
    append_events(tx, account.id, kind, vec![event(plan, state)]).await
}

/// Ends alerts of a plan that users have not ended.
pub(super) async fn end(tx: &Tx, plan: &MaintenancePlan, alerts: &[Option<AlertId>]) -> Result<()> {
    let alerts: Vec<_> = alerts.iter().flatten().map(|alert| (plan.device, *alert)).collect();
    end_alerts(tx, plan.account, (None, Some(tx.now())), &alerts).await
}

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: MaintenancePlanId,
    seen: Revision,
    settings: MaintenanceSettings,
) -> Result<MaintenanceStatus> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if before.plan.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::MaintenancePlan));
    }
    if settings == before.plan.settings {
        return reread(tx, &actor, id).await;
    }
    let sql = "UPDATE maintenance_plan SET revision = revision + 1, settings = ?3, last_modified = ?4 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account.id, id, text(&settings)?, tx.now()]).await?;
    if settings.start.at != before.plan.settings.start.at {
        begin(tx, &before.plan, Sums::none(settings.start.at)).await?;
    }
    let is_due_otherwise = settings.is_due_otherwise(&before.plan.settings);
    let mut status = reread(tx, &actor, id).await?;
    if is_due_otherwise {
        status.plan.announced = calm(tx, &account, &before, &status).await?;
    }
    append_event(tx, &account, EventKind::MaintenanceUpdated, &status).await?;
    let detail = changed(&settings.changes_since(&before.plan.settings));
    record_audit(tx, &actor, "maintenance.update", id, detail).await?;
    Ok(status)
}

/// Begins to add up anew.
pub(super) async fn begin(tx: &Tx, plan: &MaintenancePlan, from: Sums) -> Result<()> {
    let sql = "UPDATE maintenance_plan SET kept_to = ?3, kept_m = ?4, kept_engine_s = ?5, summed_to = ?3, \
                   summed_m = ?4, summed_engine_s = ?5 WHERE account_id = ?1 AND id = ?2";
    let (distance_m, engine_s) = (number(from.distance_m), number(from.engine_s));
    tx.execute(sql, params![plan.account, plan.id, from.to, distance_m, engine_s]).await?;
    Ok(())
}

/// Lowers the announced state of a plan to its present one, so that an alert is raised again when it is due again; ends the
/// alerts above it. Returns the announced state.
async fn calm(
    tx: &Tx,
    account: &Account,
    before: &PlanRow,
    MaintenanceStatus { plan, usage }: &MaintenanceStatus,
) -> Result<DueState> {
    let state = plan.due(*usage, tx.now(), account.day_at(tx.now())).state;
    // What is not added up yet can only make it more urgent.
    let announced = if usage.is_partial { plan.announced } else { plan.announced.min(state) };
    let soon = before.soon_alert.filter(|_| announced < DueState::Soon);
    let due = before.due_alert.filter(|_| announced < DueState::Due);
    end(tx, plan, &[soon, due]).await?;
    let sql = "UPDATE maintenance_plan SET announced = ?3, evaluate_at = ?4, \
                   soon_alert_id = CASE WHEN soon_alert_id = ?5 THEN NULL ELSE soon_alert_id END, \
                   due_alert_id = CASE WHEN due_alert_id = ?6 THEN NULL ELSE due_alert_id END \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![plan.account, plan.id, announced.name(), tx.now(), soon, due]).await?;
    Ok(announced)
}

pub(super) async fn delete(
    tx: &Tx,
    actor: Actor,
    id: MaintenancePlanId,
    seen: Option<Revision>,
) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let row = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != row.plan.revision) {
        return Err(StoreError::RevisionMismatch(Kind::MaintenancePlan));
    }
    end(tx, &row.plan, &[row.soon_alert, row.due_alert]).await?;
    let status = statuses(tx, actor.scope, vec![row]).await?.pop().ok_or(MISSING)?;
    tx.execute("DELETE FROM maintenance_plan WHERE account_id = ?1 AND id = ?2", params![account.id, id])
        .await?;
    append_event(tx, &account, EventKind::MaintenanceDeleted, &status).await?;
    record_audit(tx, &actor, "maintenance.delete", id, None).await
}
