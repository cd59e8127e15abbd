//! Finishing a cycle of a plan: the record of what was done, and the beginning of the next cycle.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{MaintenancePlanId, MaintenanceRecordId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::maintenance::{
    CycleStart, DueState, MaintenanceDone, MaintenanceLimits, MaintenanceRecord, MaintenanceSettings,
};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use super::change::{MISSING, append_event, begin, end, record_audit};
use super::read::{find, find_status};
use super::row::{PlanRow, Sums, text};
use super::usage;
use crate::sql::{accounts, column, idempotency, ids};
use crate::{Row, Tx, params};

pub(super) async fn finish(
    tx: &Tx,
    actor: Actor,
    id: MaintenancePlanId,
    seen: Revision,
    done: MaintenanceDone,
    once: Option<IdempotencyKey>,
) -> Result<Created<MaintenanceRecord>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let row = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    if row.plan.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::MaintenancePlan));
    }
    let count = "SELECT COUNT(*) AS count FROM maintenance_record WHERE account_id = ?1 AND plan_id = ?2";
    let most = MaintenanceRecord::PER_PLAN_MAX;
    if tx.query_one(count, params![account.id, id]).await?.i64("count")? >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::MaintenanceRecord, most });
    }
    let used = usage::up_to(tx, &row, done.at).await?;
    let record = record(tx, &actor, &row, &done, used).await?;
    let settings = next(row.plan.settings.clone(), &done, &record);
    let sql = "UPDATE maintenance_plan SET revision = revision + 1, settings = ?3, last_modified = ?4, \
                   cycle = cycle + 1, announced = ?5, soon_alert_id = NULL, due_alert_id = NULL, evaluate_at = ?4 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account.id, id, text(&settings)?, tx.now(), DueState::Ok.name()]).await?;
    begin(tx, &row.plan, Sums::none(done.at)).await?;
    end(tx, &row.plan, &[row.soon_alert, row.due_alert]).await?;
    let status = find_status(tx, actor.scope, id).await?.ok_or(MISSING)?;
    append_event(tx, &account, EventKind::MaintenanceDone, &status).await?;
    record_audit(tx, &actor, "maintenance.done", id, Some(record.id.to_string())).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &record).await?;
    Ok(Created::Now(record))
}

/// Stores the record of the cycle that ends. Readings that were not given follow from those at its beginning.
async fn record(
    tx: &Tx,
    actor: &Actor,
    PlanRow { plan, .. }: &PlanRow,
    done: &MaintenanceDone,
    used: Sums,
) -> Result<MaintenanceRecord> {
    let start = plan.settings.start;
    let later = |reading: Option<u64>, added: u64| reading.map(|reading| reading.saturating_add(added));
    let id = ids::next_ids(tx, "maintenance_record", plan.account, 1).await?;
    let record = MaintenanceRecord {
        id: MaintenanceRecordId::from_i64(id),
        account: plan.account,
        plan: plan.id,
        device: plan.device,
        cycle: plan.cycle.saturating_add(1),
        began: start.at,
        at: done.at,
        distance_m: used.distance_m,
        engine_s: used.engine_s,
        odometer_m: done.odometer_m.or_else(|| later(start.odometer_m, used.distance_m)),
        hour_meter_s: done.hour_meter_s.or_else(|| later(start.hour_meter_s, used.engine_s)),
        note: done.note.clone(),
        cost: done.cost.clone(),
        user: actor.origin.user,
        creation: tx.now(),
    };
    let document = serde_json::to_string(&record).map_err(|cause| StoreError::Internal(cause.into()))?;
    let sql = "INSERT INTO maintenance_record (account_id, plan_id, id, document) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, params![plan.account, plan.id, record.id, document]).await?;
    Ok(record)
}

/// The settings of the next cycle. A fixed date was met, so that it does not apply again.
fn next(
    settings: MaintenanceSettings,
    done: &MaintenanceDone,
    record: &MaintenanceRecord,
) -> MaintenanceSettings {
    let start = CycleStart { at: done.at, odometer_m: record.odometer_m, hour_meter_s: record.hour_meter_s };
    let limits = MaintenanceLimits { date: done.next_date, ..settings.limits };
    MaintenanceSettings { limits, start, ..settings }
}

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    id: MaintenancePlanId,
    page: PageRequest,
) -> Result<Page<MaintenanceRecord>> {
    find(tx, scope, id).await?.ok_or(MISSING)?;
    let sql = "SELECT document FROM maintenance_record WHERE account_id = ?1 AND plan_id = ?2 AND id > ?3 \
               ORDER BY id LIMIT ?4";
    let values = params![scope.account, id, page.after.unwrap_or(i64::MIN), i64::from(page.limit) + 1];
    let read = |row: &Row| column::json(row, "document");
    let records =
        tx.query(sql, values).await?.iter().map(read).collect::<Result<Vec<MaintenanceRecord>>>()?;
    Ok(Page::cut(records, page.limit, |record| record.id.as_i64()))
}
