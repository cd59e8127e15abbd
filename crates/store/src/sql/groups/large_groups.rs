//! Changes of groups by many devices: atomic for readers, and without blocking other writers for long.

use futures_util::FutureExt as _;
use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::groups::group::{Group, GroupSettings};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use crate::sql::groups::editions::{self, Edition, NO_EDITION, SLICE, Unfinished};
use crate::sql::{accounts, groups, idempotency, ids};
use crate::{Database, Tx, params};

/// Whether a change of this many devices is too large for one transaction.
pub(in crate::sql) const fn is_large(devices: usize) -> bool {
    devices > SLICE
}

/// Runs a large change in a task of its own, which continues when the caller is cancelled. Callers limit how many run
/// at the same time.
pub(in crate::sql) async fn run_detached<T: Send + 'static>(
    change: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(change).await.map_err(|lost| StoreError::Internal(lost.into()))?
}

/// Creates a group with many members.
pub(in crate::sql) async fn create(
    database: Database,
    actor: Actor,
    settings: GroupSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Group>> {
    let settings = in_order(settings);
    let (account, key) = (actor.scope.account, once.clone());
    let begun = database.write(move |tx| begin_new(tx, account, key).boxed()).await?;
    let edition = match begun {
        Begun::Before(made) => return Ok(Created::Before(made)),
        Begun::Now(edition) => edition,
    };
    write_members(&database, &actor, edition, &settings.devices).await?;
    let made = database.write(move |tx| show_new(tx, actor, edition, settings, once).boxed()).await;
    let made = or_discard(&database, edition, made).await?;
    if let Created::Before(_) = &made {
        discard(&database, edition).await?;
    }
    follow_up_or_later(&database, account, edition.group).await;
    Ok(made)
}

/// How far a request to create a group has got.
enum Begun {
    /// The same request has created it already.
    Before(Group),
    /// The members are to be written to this edition.
    Now(Edition),
}

async fn begin_new(tx: &Tx, account: AccountId, once: Option<IdempotencyKey>) -> Result<Begun> {
    accounts::lock(tx, account).await?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Begun::Before(made));
    }
    let group = GroupId::from_i64(ids::fresh_id(tx, "device_group", account).await?);
    editions::begin(tx, account, group).await.map(Begun::Now)
}

async fn show_new(
    tx: &Tx,
    actor: Actor,
    edition: Edition,
    settings: GroupSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Group>> {
    let account = accounts::lock(tx, edition.account).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    editions::show(tx, edition, NO_EDITION).await?;
    groups::insert(tx, account.id, edition.group, edition.number, &settings).await?;
    let (creation, last_modified) = (tx.now(), tx.now());
    let group = Group {
        id: edition.group,
        account: account.id,
        revision: Revision::FIRST,
        settings,
        creation,
        last_modified,
    };
    groups::record(tx, &actor, (EventKind::GroupCreated, "group.create"), &group, None).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &group).await?;
    Ok(Created::Now(group))
}

/// Replaces a group, if it is still as the client saw it.
pub(in crate::sql) async fn replace(
    database: Database,
    actor: Actor,
    before: Group,
    settings: GroupSettings,
) -> Result<Group> {
    let settings = in_order(settings);
    let (account, group) = (before.account, before.id);
    let edition = database.write(move |tx| editions::begin(tx, account, group).boxed()).await?;
    write_members(&database, &actor, edition, &settings.devices).await?;
    let after = database.write(move |tx| show(tx, actor, edition, before, settings).boxed()).await;
    let after = or_discard(&database, edition, after).await?;
    follow_up_or_later(&database, account, group).await;
    Ok(after)
}

async fn show(
    tx: &Tx,
    actor: Actor,
    edition: Edition,
    before: Group,
    settings: GroupSettings,
) -> Result<Group> {
    accounts::lock(tx, edition.account).await?;
    let replaces = shown(tx, &before, before.revision).await?;
    editions::show(tx, edition, replaces).await?;
    groups::update(tx, &before, Some(edition.number), &settings).await?;
    let detail = changed(&settings.changes_since(&before.settings));
    let after = Group { revision: before.revision.next(), settings, last_modified: tx.now(), ..before };
    groups::record(tx, &actor, (EventKind::GroupUpdated, "group.update"), &after, detail).await?;
    Ok(after)
}

/// Deletes a group, if it is still as the client saw it.
pub(in crate::sql) async fn delete(
    database: Database,
    actor: Actor,
    group: Group,
    seen: Option<Revision>,
) -> Result<()> {
    let (account, id) = (group.account, group.id);
    database.write(move |tx| delete_row(tx, actor, group, seen).boxed()).await?;
    follow_up_or_later(&database, account, id).await;
    Ok(())
}

async fn delete_row(tx: &Tx, actor: Actor, group: Group, seen: Option<Revision>) -> Result<()> {
    accounts::lock(tx, group.account).await?;
    let replaces = shown(tx, &group, seen.unwrap_or(group.revision)).await?;
    groups::require_unused(tx, group.account, group.id).await?;
    let sql = "DELETE FROM device_group WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![group.account, group.id]).await?;
    editions::hide(tx, group.account, group.id, replaces).await?;
    groups::record(tx, &actor, (EventKind::GroupDeleted, "group.delete"), &group, None).await
}

/// The published edition of a group, which must be at this revision.
async fn shown(tx: &Tx, group: &Group, seen: Revision) -> Result<i64> {
    let sql = "SELECT edition, revision FROM device_group WHERE account_id = ?1 AND id = ?2";
    let row = tx.query_opt(sql, params![group.account, group.id]).await?;
    let row = row.ok_or(StoreError::NotFound(Kind::Group))?;
    if Revision(row.i64("revision")?) != seen {
        return Err(StoreError::RevisionMismatch(Kind::Group));
    }
    Ok(row.i64("edition")?)
}

fn in_order(mut settings: GroupSettings) -> GroupSettings {
    settings.devices.sort_unstable();
    settings.devices.dedup();
    settings
}

/// Writes the members of an edition in slices; on failure the edition is removed.
async fn write_members(
    database: &Database,
    actor: &Actor,
    edition: Edition,
    devices: &[DeviceId],
) -> Result<()> {
    for slice in devices.chunks(SLICE) {
        let (scope, slice) = (actor.scope, slice.to_vec());
        let written = database.write(move |tx| editions::write(tx, scope, edition, slice).boxed()).await;
        or_discard(database, edition, written).await?;
    }
    Ok(())
}

/// Removes an edition when publishing it failed.
async fn or_discard<T>(database: &Database, edition: Edition, result: Result<T>) -> Result<T> {
    if result.is_err()
        && let Err(error) = discard(database, edition).await
    {
        tracing::warn!(%error, group = %edition.group, "members that are not shown are removed later");
    }
    result
}

async fn discard(database: &Database, edition: Edition) -> Result<()> {
    while database.write(move |tx| editions::discard_some(tx, edition).boxed()).await? {}
    Ok(())
}

/// Follows up the devices that joined or left. A failure is retried later: the group itself is changed already.
async fn follow_up_or_later(database: &Database, account: AccountId, group: GroupId) {
    if let Err(error) = follow_up(database, account, group).await {
        tracing::warn!(%error, %group, "the change of devices that joined or left a group is recorded later");
    }
}

async fn follow_up(database: &Database, account: AccountId, group: GroupId) -> Result<()> {
    while database.write(move |tx| editions::follow_up_some(tx, account, group).boxed()).await? {}
    Ok(())
}

/// Finishes the changes that other calls or nodes left unfinished.
pub(in crate::sql) async fn finish_changes(database: &Database) -> Result<()> {
    for change in database.read(|tx| editions::unfinished(tx).boxed()).await? {
        match change {
            Unfinished::Shown(account, group) => follow_up(database, account, group).await?,
            Unfinished::Abandoned(edition) => discard(database, edition).await?,
        }
    }
    Ok(())
}
