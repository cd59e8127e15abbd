//! Groups: named sets of devices.

pub(crate) mod editions;
pub(crate) mod large_groups;
pub(crate) mod members;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::groups::group::{Group, GroupFilter, GroupSettings};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Groups, Result};

use super::query::{Query, for_ids, for_texts};
use crate::forward::forward;
use crate::sql::{access::audit, accounts, events, idempotency, ids, scope, search};
use crate::{Database, Row, Tx, params};

const SELECT: &str = "\
    SELECT g.id, g.revision, g.name, g.description, g.creation, g.last_modified, \
        (SELECT string_agg(CAST(m.device_id AS TEXT), ',' ORDER BY m.device_id) FROM group_member m \
         WHERE m.account_id = ?1 AND m.group_id = g.id) AS device_ids \
    FROM device_group g WHERE g.account_id = ?1";

fn from_row(account: AccountId, row: &Row) -> Result<Group> {
    Ok(Group {
        id: GroupId::from_i64(row.i64("id")?),
        account,
        revision: Revision(row.i64("revision")?),
        settings: GroupSettings {
            name: row.text("name")?,
            description: row.opt_text("description")?,
            devices: ids::listed(row, "device_ids", DeviceId::from_i64)?,
        },
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

async fn find(tx: &Tx, scope: Scope, id: GroupId) -> Result<Option<Group>> {
    let mut query = Query::new(format!("{SELECT} AND g.id = ?2"), params![scope.account, id]);
    scope::keep_groups(&mut query, scope, "g.id");
    query.row(tx).await?.map(|row| from_row(scope.account, &row)).transpose()
}

/// The visible groups among these.
pub(super) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<Group>> {
    let seen = |id: &&i64| scope::sees_group(scope, GroupId::from_i64(**id));
    let ids: Vec<i64> = ids.iter().filter(seen).copied().collect();
    let sql = format!("{SELECT} AND g.id IN ({{ids}})");
    let rows = for_ids(tx, &sql, params![scope.account], &ids).await?;
    rows.iter().map(|row| from_row(scope.account, row)).collect()
}

async fn list(tx: &Tx, scope: Scope, filter: GroupFilter, page: PageRequest) -> Result<Page<Group>> {
    let mut query = Query::new(SELECT, params![scope.account]);
    scope::keep_groups(&mut query, scope, "g.id");
    if let Some(text) = &filter.text {
        query.push_if_storable(" AND strpos(g.search, {}) > 0", &search::lowercase(text));
    }
    query.push_with(" AND g.id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY g.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?;
    let groups = rows.iter().map(|row| from_row(scope.account, row)).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(groups, page.limit, |group| group.id.as_i64()))
}

async fn find_named(tx: &Tx, scope: Scope, names: &[String]) -> Result<Vec<(GroupId, String)>> {
    let mut query =
        Query::new("SELECT g.id, g.name FROM device_group g WHERE g.account_id = ?1", params![scope.account]);
    scope::keep_groups(&mut query, scope, "g.id");
    let rows = for_texts(tx, &query, " AND g.name IN ({texts})", names).await?;
    rows.iter().map(|row| Ok((GroupId::from_i64(row.i64("id")?), row.text("name")?))).collect()
}

/// Validates and normalises settings; the devices must be visible.
async fn admit(tx: &Tx, scope: Scope, mut settings: GroupSettings) -> Result<GroupSettings> {
    settings.devices.sort_unstable();
    settings.devices.dedup();
    scope::require_devices(tx, scope, &settings.devices).await?;
    Ok(settings)
}

fn search_text(settings: &GroupSettings) -> String {
    search::searchable(&[Some(&settings.name), settings.description.as_deref()])
}

async fn reread(tx: &Tx, actor: &Actor, id: GroupId) -> Result<Group> {
    find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Group))
}

/// Records a change of a group in the event and audit logs.
pub(super) async fn record(
    tx: &Tx,
    actor: &Actor,
    (kind, action): (EventKind, &str),
    group: &Group,
    detail: Option<String>,
) -> Result<()> {
    let data = serde_json::json!({ "revision": group.revision });
    events::append(tx, group.account, kind, group.id.to_string(), None, data).await?;
    let target = Some(group.id.to_string());
    audit::record_with(tx, group.account, &actor.origin, action, target, detail).await
}

/// Inserts a group with this edition of its members.
pub(super) async fn insert(
    tx: &Tx,
    account: AccountId,
    id: GroupId,
    edition: i64,
    settings: &GroupSettings,
) -> Result<()> {
    let sql = "INSERT INTO device_group \
                   (account_id, id, revision, name, description, search, creation, last_modified, edition) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?6, ?7)";
    let (search, description) = (search_text(settings), settings.description.as_deref());
    tx.execute(sql, params![account, id, &settings.name, description, search, tx.now(), edition]).await?;
    Ok(())
}

/// Updates a group, and its edition of members if one is given.
pub(super) async fn update(
    tx: &Tx,
    group: &Group,
    edition: Option<i64>,
    settings: &GroupSettings,
) -> Result<()> {
    let sql = "UPDATE device_group SET revision = revision + 1, name = ?3, description = ?4, search = ?5, \
               last_modified = ?6, edition = COALESCE(?7, edition) WHERE account_id = ?1 AND id = ?2";
    let (search, description) = (search_text(settings), settings.description.as_deref());
    let values = params![group.account, group.id, &settings.name, description, search, tx.now(), edition];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Fails if a user is bound to this group.
pub(super) async fn require_unused(tx: &Tx, account: AccountId, id: GroupId) -> Result<()> {
    let bound = "SELECT id FROM account_user WHERE account_id = ?1 AND group_id = ?2 LIMIT 1";
    match tx.query_opt(bound, params![account, id]).await? {
        Some(_) => Err(StoreError::InUse(Kind::Group)),
        None => Ok(()),
    }
}

async fn create(
    tx: &Tx,
    actor: Actor,
    settings: GroupSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Group>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    // A user with a partial scope could not see a group that they create.
    if !actor.scope.is_whole() {
        return Err(StoreError::NotFound(Kind::Group));
    }
    let settings = admit(tx, actor.scope, settings).await?;
    let id = GroupId::from_i64(ids::fresh_id(tx, "device_group", account.id).await?);
    insert(tx, account.id, id, 0, &settings).await?;
    members::fill_group(tx, account.id, id, &[], &settings.devices).await?;
    let group = reread(tx, &actor, id).await?;
    record(tx, &actor, (EventKind::GroupCreated, "group.create"), &group, None).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &group).await?;
    Ok(Created::Now(group))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: GroupId,
    seen: Revision,
    settings: GroupSettings,
) -> Result<Group> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let before = reread(tx, &actor, id).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Group));
    }
    let settings = admit(tx, actor.scope, settings).await?;
    if settings == before.settings {
        return Ok(before);
    }
    update(tx, &before, None, &settings).await?;
    members::fill_group(tx, account.id, id, &before.settings.devices, &settings.devices).await?;
    let after = reread(tx, &actor, id).await?;
    let detail = changed(&after.settings.changes_since(&before.settings));
    record(tx, &actor, (EventKind::GroupUpdated, "group.update"), &after, detail).await?;
    Ok(after)
}

async fn delete(tx: &Tx, actor: Actor, id: GroupId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let group = reread(tx, &actor, id).await?;
    if seen.is_some_and(|seen| seen != group.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Group));
    }
    require_unused(tx, account.id, id).await?;
    tx.execute("DELETE FROM device_group WHERE account_id = ?1 AND id = ?2", params![account.id, id]).await?;
    members::fill_group(tx, account.id, id, &group.settings.devices, &[]).await?;
    record(tx, &actor, (EventKind::GroupDeleted, "group.delete"), &group, None).await
}

async fn create_group(
    database: &Database,
    actor: &Actor,
    settings: GroupSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Group>> {
    let actor = actor.clone();
    if large_groups::is_large(settings.devices.len()) && actor.scope.is_whole() {
        return large_groups::run_detached(large_groups::create(database.clone(), actor, settings, once))
            .await;
    }
    database.write(move |tx| create(tx, actor, settings, once).boxed()).await
}

async fn replace_group(
    database: &Database,
    actor: &Actor,
    id: GroupId,
    seen: Revision,
    settings: GroupSettings,
) -> Result<Group> {
    let actor = actor.clone();
    let before = database.find_group(actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Group))?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Group));
    }
    if large_groups::is_large(members::difference(&before.settings.devices, &settings.devices)) {
        return large_groups::run_detached(large_groups::replace(database.clone(), actor, before, settings))
            .await;
    }
    database.write(move |tx| replace(tx, actor, id, seen, settings).boxed()).await
}

async fn delete_group(database: &Database, actor: &Actor, id: GroupId, seen: Option<Revision>) -> Result<()> {
    let actor = actor.clone();
    let group = database.find_group(actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Group))?;
    if large_groups::is_large(group.settings.devices.len()) {
        return large_groups::run_detached(large_groups::delete(database.clone(), actor, group, seen)).await;
    }
    database.write(move |tx| delete(tx, actor, id, seen).boxed()).await
}

forward! {
    impl Groups for Database {
        run create_group(&self, &actor: Actor, settings: GroupSettings, once: Option<IdempotencyKey>)
            -> Created<Group> = create_group;
        read find_group(&self, scope: Scope, id: GroupId) -> Option<Group> = find;
        read list_named_groups(&self, scope: Scope, &names: [String])
            -> Vec<(GroupId, String)> = find_named(scope, &names);
        read list_groups(&self, scope: Scope, &filter: GroupFilter, page: PageRequest) -> Page<Group> = list;
        run replace_group(&self, &actor: Actor, id: GroupId, seen: Revision, settings: GroupSettings)
            -> Group = replace_group;
        run delete_group(&self, &actor: Actor, id: GroupId, seen: Option<Revision>) -> () = delete_group;
    }
}
