//! Geofences: named areas, circles and corridors that rules refer to.

use perigee_core::access::actor::{Actor, Reach, Scope};
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, GeofenceId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::locations::geofence::{Geofence, GeofenceSettings};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Geofences, Result};

use crate::forward::forward;
use crate::sql::query::Query;
use crate::sql::rules::{bump_revision, keep_rules, start_generation};
use crate::sql::{access::audit, accounts, column, idempotency, ids, search};
use crate::{Row, Tx, params};

const COLUMNS: &str = "f.id, f.revision, f.name, f.description, f.shape, f.creation, f.last_modified";

fn from_row(account: AccountId, row: &Row) -> Result<Geofence> {
    Ok(Geofence {
        id: GeofenceId::from_i64(row.i64("id")?),
        account,
        revision: Revision(row.i64("revision")?),
        settings: GeofenceSettings {
            name: row.text("name")?,
            description: row.opt_text("description")?,
            shape: column::json(row, "shape")?,
        },
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

/// Starts a query over the visible geofences: those created in the scope, and those its rules refer to.
pub(in crate::sql) fn select(columns: &str, scope: Scope) -> Query {
    let sql = format!("SELECT {columns} FROM geofence f WHERE f.account_id = ?1");
    let mut query = Query::new(sql, params![scope.account]);
    match scope.reach {
        Reach::Account => return query,
        Reach::Group(group) => query.push_with(" AND (f.group_id = {}", group),
        Reach::Device(device) => query.push_with(" AND (f.device_id = {}", device),
    }
    query.push(" OR f.id IN (SELECT u.geofence_id FROM rule_fence u JOIN rule r");
    query.push(" ON r.account_id = u.account_id AND r.id = u.rule_id WHERE u.account_id = ?1");
    keep_rules(&mut query, scope);
    query.push("))");
    query
}

/// The geofences of an account that rules refer to.
pub(in crate::sql) async fn named(tx: &Tx, account: AccountId) -> Result<Vec<Geofence>> {
    let mut query = select(COLUMNS, Scope::for_store_check(account));
    query.push(" AND f.id IN (SELECT u.geofence_id FROM rule_fence u WHERE u.account_id = ?1)");
    let rows = query.rows(tx).await?;
    rows.iter().map(|row| from_row(account, row)).collect()
}

async fn find(tx: &Tx, scope: Scope, id: GeofenceId) -> Result<Option<Geofence>> {
    let mut query = select(COLUMNS, scope);
    query.push_with(" AND f.id = {}", id);
    query.row(tx).await?.map(|row| from_row(scope.account, &row)).transpose()
}

async fn list(tx: &Tx, scope: Scope, text: Option<String>, page: PageRequest) -> Result<Page<Geofence>> {
    let mut query = select(COLUMNS, scope);
    if let Some(text) = &text {
        query.push_if_storable(" AND strpos(f.search, {}) > 0", &search::lowercase(text));
    }
    query.push_with(" AND f.id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY f.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?;
    let fences = rows.iter().map(|row| from_row(scope.account, row)).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(fences, page.limit, |fence| fence.id.as_i64()))
}

fn search_text(settings: &GeofenceSettings) -> String {
    search::searchable(&[Some(&settings.name), settings.description.as_deref()])
}

fn shape_text(settings: &GeofenceSettings) -> Result<String> {
    serde_json::to_string(&settings.shape).map_err(|cause| StoreError::Internal(cause.into()))
}

async fn record_audit(
    tx: &Tx,
    actor: &Actor,
    action: &str,
    id: GeofenceId,
    detail: Option<String>,
) -> Result<()> {
    audit::record_with(tx, actor.scope.account, &actor.origin, action, Some(id.to_string()), detail).await
}

fn positions(settings: &GeofenceSettings) -> i64 {
    i64::try_from(settings.shape.positions()).unwrap_or(i64::MAX)
}

/// Refuses a change that would give the account too many positions. A change that adds none is never refused.
async fn check_positions(tx: &Tx, account: AccountId, added: i64) -> Result<()> {
    let most = GeofenceSettings::POSITIONS_PER_ACCOUNT_MAX;
    let sql =
        "SELECT CAST(COALESCE(SUM(positions), 0) AS BIGINT) AS positions FROM geofence WHERE account_id = ?1";
    if added > 0
        && tx.query_one(sql, params![account]).await?.i64("positions")?.saturating_add(added)
            > i64::from(most)
    {
        return Err(StoreError::TooManyPositions(most));
    }
    Ok(())
}

async fn create(
    tx: &Tx,
    actor: Actor,
    settings: GeofenceSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Geofence>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let count = "SELECT COUNT(*) AS count FROM geofence WHERE account_id = ?1";
    if tx.query_one(count, params![account]).await?.i64("count")?
        >= i64::from(GeofenceSettings::PER_ACCOUNT_MAX)
    {
        return Err(StoreError::TooMany { kind: Kind::Geofence, most: GeofenceSettings::PER_ACCOUNT_MAX });
    }
    let positions = positions(&settings);
    check_positions(tx, account, positions).await?;
    let (group, device) = match actor.scope.reach {
        Reach::Account => (None, None),
        Reach::Group(group) => (Some(group), None),
        Reach::Device(device) => (None, Some(device)),
    };
    let id = GeofenceId::from_i64(ids::fresh_id(tx, "geofence", account).await?);
    let sql = "INSERT INTO geofence (account_id, id, revision, name, description, shape, search, group_id, \
                   device_id, creation, last_modified, positions) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)";
    let (name, description) = (&settings.name, settings.description.as_deref());
    let (shape, search) = (shape_text(&settings)?, search_text(&settings));
    let values = params![account, id, name, description, shape, search, group, device, tx.now(), positions];
    tx.execute(sql, values).await?;
    let fence = reread(tx, &actor, id).await?;
    record_audit(tx, &actor, "geofence.create", id, None).await?;
    idempotency::keep(tx, account, once.as_ref(), &fence).await?;
    Ok(Created::Now(fence))
}

async fn reread(tx: &Tx, actor: &Actor, id: GeofenceId) -> Result<Geofence> {
    find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Geofence))
}

/// A geofence that the actor may change: with a partial scope, those created in it.
async fn changeable(tx: &Tx, actor: &Actor, id: GeofenceId) -> Result<Geofence> {
    let fence = reread(tx, actor, id).await?;
    let owned = "SELECT group_id, device_id FROM geofence WHERE account_id = ?1 AND id = ?2";
    let row = tx.query_one(owned, params![actor.scope.account, id]).await?;
    let own = match actor.scope.reach {
        Reach::Account => true,
        Reach::Group(group) => row.opt_i64("group_id")? == Some(group.as_i64()),
        Reach::Device(device) => row.opt_i64("device_id")? == Some(device.as_i64()),
    };
    if own { Ok(fence) } else { Err(StoreError::OutOfReach(Kind::Geofence)) }
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: GeofenceId,
    seen: Revision,
    settings: GeofenceSettings,
) -> Result<Geofence> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = changeable(tx, &actor, id).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Geofence));
    }
    if settings == before.settings {
        return Ok(before);
    }
    let after = positions(&settings);
    check_positions(tx, account, after - positions(&before.settings)).await?;
    let sql = "UPDATE geofence SET revision = revision + 1, name = ?3, description = ?4, shape = ?5, \
               search = ?6, last_modified = ?7, positions = ?8 WHERE account_id = ?1 AND id = ?2";
    let (name, description) = (&settings.name, settings.description.as_deref());
    let (shape, search) = (shape_text(&settings)?, search_text(&settings));
    tx.execute(sql, params![account, id, name, description, shape, search, tx.now(), after]).await?;
    if settings.shape != before.settings.shape {
        let users = "SELECT rule_id AS id FROM rule_fence WHERE account_id = ?1 AND geofence_id = ?2";
        start_generation(tx, account, tx.query(users, params![account, id]).await?).await?;
        bump_revision(tx, account).await?;
    }
    let detail = changed(&settings.changes_since(&before.settings));
    record_audit(tx, &actor, "geofence.update", id, detail).await?;
    reread(tx, &actor, id).await
}

async fn delete(tx: &Tx, actor: Actor, id: GeofenceId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let fence = changeable(tx, &actor, id).await?;
    if seen.is_some_and(|seen| seen != fence.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Geofence));
    }
    let used = "SELECT rule_id FROM rule_fence WHERE account_id = ?1 AND geofence_id = ?2 LIMIT 1";
    if tx.query_opt(used, params![account, id]).await?.is_some() {
        return Err(StoreError::InUse(Kind::Geofence));
    }
    tx.execute("DELETE FROM geofence WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    record_audit(tx, &actor, "geofence.delete", id, None).await
}

forward! {
    impl Geofences for Database {
        write create_geofence(&self, &actor: Actor, settings: GeofenceSettings, once: Option<IdempotencyKey>)
            -> Created<Geofence> = create;
        read find_geofence(&self, scope: Scope, id: GeofenceId) -> Option<Geofence> = find;
        read list_geofences(&self, scope: Scope, text: Option<&str>, page: PageRequest)
            -> Page<Geofence> = list with text = text.map(str::to_owned);
        write replace_geofence(
            &self, &actor: Actor, id: GeofenceId, seen: Revision, settings: GeofenceSettings
        ) -> Geofence = replace;
        write delete_geofence(&self, &actor: Actor, id: GeofenceId, seen: Option<Revision>) -> () = delete;
    }
}
