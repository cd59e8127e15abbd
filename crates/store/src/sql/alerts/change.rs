//! Acknowledging and ending an alert; both are idempotent.

use perigee_core::access::actor::Actor;
use perigee_core::alerts::alert::{LaterFix, StoredAlert};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::store::Result;

use super::super::checksum::id_part;
use super::notes::{self, Author};
use super::read;
use crate::sql::{access::audit, events, notifications::outbox};
use crate::{Tx, Value, params};

pub(super) async fn acknowledge(
    tx: &Tx,
    actor: Actor,
    id: AlertId,
    note: Option<String>,
) -> Result<StoredAlert> {
    let (before, account) = (lock(tx, &actor, id).await?, actor.scope.account);
    if before.acknowledged.is_some() {
        if note.is_some() {
            let author = Author::of(tx, &actor).await?;
            notes::insert(tx, account, id, author, note, false).await?;
        }
        return Ok(before);
    }
    if note.is_some() {
        let author = Author::of(tx, &actor).await?;
        notes::insert(tx, account, id, author, note, true).await?;
    }
    outbox::stop_escalations(tx, account, id).await?;
    let sql = "UPDATE alert SET acknowledged_at = ?3, acknowledged_by = ?4, checksum = checksum + ?5 \
               WHERE account_id = ?1 AND id = ?2";
    let added = tx.now().as_millis() + id_part(&Value::from(actor.origin.user));
    tx.execute(sql, params![actor.scope.account, id, tx.now(), actor.origin.user, added]).await?;
    record(tx, &actor, (EventKind::AlertAcknowledged, "alert.acknowledge"), &before).await
}

pub(super) async fn end(tx: &Tx, actor: Actor, id: AlertId) -> Result<StoredAlert> {
    let before = lock(tx, &actor, id).await?;
    if before.ended_at.is_some() {
        return Ok(before);
    }
    outbox::stop_escalations(tx, actor.scope.account, id).await?;
    let sql = "UPDATE alert SET ended_at = ?3, checksum = checksum + CAST(?3 AS BIGINT) \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![actor.scope.account, id, tx.now()]).await?;
    record(tx, &actor, (EventKind::AlertEnded, "alert.end"), &before).await
}

/// Adds the position of a later fix to an alert that has none yet. The account is locked.
pub(in crate::sql) async fn add_later_fix(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    alert: AlertId,
    LaterFix { time, position }: LaterFix,
) -> Result<()> {
    let (latitude, longitude) = (position.0.as_e7(), position.1.as_e7());
    let added = time.as_millis() + i64::from(latitude) + i64::from(longitude);
    let sql = "UPDATE alert SET later_latitude = ?3, later_longitude = ?4, later_fix_time = ?5, \
                   checksum = checksum + ?6 \
               WHERE account_id = ?1 AND id = ?2 AND latitude IS NULL AND later_fix_time IS NULL";
    if tx.execute(sql, params![account, alert, latitude, longitude, time, added]).await? == 0 {
        return Ok(());
    }
    let (kind, subject) = (EventKind::AlertUpdated, alert.to_string());
    events::append(tx, account, kind, subject, Some(device), serde_json::json!({})).await
}

async fn lock(tx: &Tx, actor: &Actor, id: AlertId) -> Result<StoredAlert> {
    tx.lock_account(actor.scope.account).await?;
    read::find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Alert))
}

/// Records the change in the event and audit logs; returns the alert as it is now.
async fn record(
    tx: &Tx,
    actor: &Actor,
    (kind, action): (EventKind, &str),
    alert: &StoredAlert,
) -> Result<StoredAlert> {
    let (account, subject) = (actor.scope.account, alert.id.to_string());
    events::append(tx, account, kind, subject.clone(), Some(alert.device), serde_json::json!({})).await?;
    audit::record(tx, account, &actor.origin, action, Some(subject)).await?;
    lock(tx, actor, alert.id).await
}
