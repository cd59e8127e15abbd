//! Deleting a device with its history.

use perigee_core::access::actor::Actor;
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use super::change::append_event;
use super::{identifiers, read};
use crate::sql::{
    access::audit, accounts, accounts::license_check, gateways::gateway_changes, groups::editions,
    groups::members, quarantine,
};
use crate::{Tx, params};

/// Deletes a device with its history, unless a user is limited to it.
pub(in crate::sql) async fn delete(
    tx: &Tx,
    actor: Actor,
    id: DeviceId,
    seen: Option<Revision>,
) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    editions::follow_up_device(tx, account.id, id).await?;
    let found = read::find(tx, &account, actor.scope, &DeviceRef::Id(id)).await?;
    let device = found.ok_or(StoreError::NotFound(Kind::Device))?;
    if seen.is_some_and(|seen| seen != device.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Device));
    }
    let bound = "SELECT id FROM account_user WHERE account_id = ?1 AND device_id = ?2 LIMIT 1";
    if tx.query_opt(bound, params![account.id, id]).await?.is_some() {
        return Err(StoreError::InUse(Kind::Device));
    }
    gateway_changes::delete_of_device(tx, &actor, account.id, id).await?;
    quarantine::delete_device(tx, account.id, id).await?;
    // All its groups lose it, also those that the actor cannot see.
    let member_of = "SELECT group_id FROM group_member WHERE account_id = ?1 AND device_id = ?2";
    let rows = tx.query(member_of, params![account.id, id]).await?;
    let groups =
        rows.iter().map(|row| Ok(GroupId::from_i64(row.i64("group_id")?))).collect::<Result<Vec<_>>>()?;
    let claims = identifiers::claimed_by(tx, account.id, id).await?;
    let sql = "DELETE FROM identifier_claim WHERE account_id = ?1 AND device_id = ?2";
    tx.execute(sql, params![account.id, id]).await?;
    tx.log().delete_device(tx, account.id, id).await?;
    let sql = "DELETE FROM device WHERE account_id = ?1 AND id = ?2 \
               RETURNING CASE WHEN licensed = TRUE OR lapsed = TRUE THEN 1 ELSE 0 END AS held";
    let held = tx.query_one(sql, params![account.id, id]).await?.i64("held")?;
    license_check::change_held(tx, account.id, -held).await?;
    for identifier in claims {
        identifiers::pass_on(tx, &identifier).await?;
    }
    if let Some(memory) = tx.memory().cloned() {
        let account = account.id;
        tx.after_commit(move || memory.remove_device(account, id));
    }
    members::touch_groups(tx, account.id, &groups).await?;
    append_event(tx, EventKind::DeviceDeleted, &device).await?;
    audit::record(tx, account.id, &actor.origin, "device.delete", Some(id.to_string())).await
}
