//! Assignments of drivers to devices. Those of a device do not overlap.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::drivers::{Assignment, AssignmentSettings};
use perigee_core::error::{Kind, Overlap, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AssignmentId, DeviceId, DriverId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Assignments, Result};
use perigee_core::time::Timestamp;

use crate::forward::forward;
use crate::sql::query::Query;
use crate::sql::timeline::drivers as trips;
use crate::sql::{access::audit, accounts, events, idempotency, ids, scope};
use crate::{Row, Tx, params};

const COLUMNS: &str =
    "account_id, id, driver_id, device_id, from_at, to_at, revision, creation, last_modified";

const MISSING: StoreError = StoreError::NotFound(Kind::Assignment);

pub(super) fn settings(row: &Row) -> Result<AssignmentSettings> {
    let to = row.timestamp("to_at")?;
    Ok(AssignmentSettings {
        device: DeviceId::from_i64(row.i64("device_id")?),
        from: row.timestamp("from_at")?,
        to: (to != Timestamp::MAX).then_some(to),
    })
}

fn from_row(row: &Row) -> Result<Assignment> {
    Ok(Assignment {
        id: AssignmentId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        driver: DriverId::from_i64(row.i64("driver_id")?),
        revision: Revision(row.i64("revision")?),
        settings: settings(row)?,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

async fn find(tx: &Tx, scope: Scope, id: AssignmentId) -> Result<Option<Assignment>> {
    if !scope.is_whole() {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM driver_assignment WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![scope.account, id]).await?.as_ref().map(from_row).transpose()
}

/// The assignments whose column has this id.
async fn list(
    tx: &Tx,
    scope: Scope,
    (column, of): (&str, i64),
    page: PageRequest,
) -> Result<Page<Assignment>> {
    if !scope.is_whole() {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM driver_assignment WHERE account_id = ?1 AND id > ?2"),
        params![scope.account, page.after.unwrap_or(i64::MIN)],
    );
    query.push_with(&format!(" AND {column} = {{}}"), of);
    query.push_with(" ORDER BY id LIMIT {}", i64::from(page.limit) + 1);
    let found = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(found, page.limit, |one| one.id.as_i64()))
}

async fn list_of_driver(
    tx: &Tx,
    scope: Scope,
    driver: DriverId,
    page: PageRequest,
) -> Result<Page<Assignment>> {
    list(tx, scope, ("driver_id", driver.as_i64()), page).await
}

async fn list_of_device(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    page: PageRequest,
) -> Result<Page<Assignment>> {
    list(tx, scope, ("device_id", device.as_i64()), page).await
}

/// Fails if the device is unknown, or assigned to somebody at that time by another assignment than `own`.
async fn admit(
    tx: &Tx,
    actor: &Actor,
    own: Option<AssignmentId>,
    settings: &AssignmentSettings,
) -> Result<()> {
    let account = actor.scope.account;
    scope::require_devices(tx, actor.scope, &[settings.device]).await?;
    // The last one that begins before the end is also the last one to end, because the present ones do not overlap.
    let sql = format!(
        "SELECT {COLUMNS} FROM driver_assignment \
         WHERE account_id = ?1 AND device_id = ?2 AND from_at < ?3 AND id <> ?4 ORDER BY from_at DESC LIMIT 1"
    );
    let own = own.map_or(i64::MIN, AssignmentId::as_i64);
    let row = tx.query_opt(&sql, params![account, settings.device, settings.end(), own]).await?;
    let Some(other) = row.as_ref().map(from_row).transpose()? else { return Ok(()) };
    if !other.settings.overlaps(settings) {
        return Ok(());
    }
    let sql = "SELECT name FROM driver WHERE account_id = ?1 AND id = ?2";
    let driver_name = tx.query_one(sql, params![account, other.driver]).await?.text("name")?;
    let AssignmentSettings { from, to, .. } = other.settings;
    Err(StoreError::Assigned(Box::new(Overlap { assignment: other.id, driver_name, from, to })))
}

/// Records a change in the event log, as one of the driver, and in the audit log; and marks the trips that it concerns.
async fn record(
    tx: &Tx,
    actor: &Actor,
    action: &str,
    changed: &Assignment,
    detail: Option<String>,
) -> Result<()> {
    let AssignmentSettings { device, from, .. } = changed.settings;
    trips::mark(tx, changed.account, device, (from, changed.settings.end())).await?;
    let data = serde_json::json!({ "assignmentId": changed.id.to_string() });
    let driver = changed.driver.to_string();
    events::append(tx, changed.account, EventKind::DriverUpdated, driver, None, data).await?;
    let target = Some(changed.id.to_string());
    audit::record_with(tx, changed.account, &actor.origin, action, target, detail).await
}

async fn create(
    tx: &Tx,
    actor: Actor,
    driver: DriverId,
    settings: AssignmentSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Assignment>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    super::find(tx, actor.scope, driver).await?.ok_or(super::MISSING)?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT COUNT(*) AS count FROM driver_assignment WHERE account_id = ?1";
    let count = tx.query_one(sql, params![account]).await?.i64("count")?;
    if count >= i64::from(Assignment::COUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::Assignment, most: Assignment::COUNT_MAX });
    }
    admit(tx, &actor, None, &settings).await?;
    let id = ids::fresh_id(tx, "driver_assignment", account).await?;
    let sql = format!(
        "INSERT INTO driver_assignment ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?7) RETURNING {COLUMNS}"
    );
    let values = params![account, id, driver, settings.device, settings.from, settings.end(), tx.now()];
    let made = from_row(&tx.query_one(&sql, values).await?)?;
    record(tx, &actor, "driverAssignment.create", &made, None).await?;
    idempotency::keep(tx, account, once.as_ref(), &made).await?;
    Ok(Created::Now(made))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: AssignmentId,
    seen: Revision,
    settings: AssignmentSettings,
) -> Result<Assignment> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Assignment));
    }
    if before.settings == settings {
        return Ok(before);
    }
    admit(tx, &actor, Some(id), &settings).await?;
    let sql = format!(
        "UPDATE driver_assignment SET revision = revision + 1, device_id = ?3, from_at = ?4, to_at = ?5, \
             last_modified = ?6 WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
    );
    let values = params![account, id, settings.device, settings.from, settings.end(), tx.now()];
    let after = from_row(&tx.query_one(&sql, values).await?)?;
    let old = &before.settings;
    trips::mark(tx, account, old.device, (old.from, old.end())).await?;
    let detail = changed(&settings.changes_since(old));
    record(tx, &actor, "driverAssignment.update", &after, detail).await?;
    Ok(after)
}

async fn delete(tx: &Tx, actor: Actor, id: AssignmentId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Assignment));
    }
    let sql = "DELETE FROM driver_assignment WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id]).await?;
    record(tx, &actor, "driverAssignment.delete", &before, None).await
}

forward! {
    impl Assignments for Database {
        write create_assignment(
            &self, &actor: Actor, driver: DriverId, settings: AssignmentSettings, once: Option<IdempotencyKey>
        ) -> Created<Assignment> = create;
        read find_assignment(&self, scope: Scope, id: AssignmentId) -> Option<Assignment> = find;
        read list_driver_assignments(&self, scope: Scope, driver: DriverId, page: PageRequest)
            -> Page<Assignment> = list_of_driver;
        read list_device_assignments(&self, scope: Scope, device: DeviceId, page: PageRequest)
            -> Page<Assignment> = list_of_device;
        write replace_assignment(
            &self, &actor: Actor, id: AssignmentId, seen: Revision, settings: AssignmentSettings
        ) -> Assignment = replace;
        write delete_assignment(&self, &actor: Actor, id: AssignmentId, seen: Option<Revision>)
            -> () = delete;
    }
}
