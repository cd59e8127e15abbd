//! Gateways of accounts: changed, given a new URL, and deleted while their settings are kept for their messages.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use perigee_core::gateways::feed_health::GatewayState;
use perigee_core::id::{AccountId, DeviceId, GatewayId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde_json::{Map, Value as Json, json};

use crate::sql::gateways::account_gateways::{find_by_id, require_whole};
use crate::sql::gateways::gateway_reports::append_event;
use crate::sql::{access::audit, accounts, scope};
use crate::{Row, Tx, params};

/// Messages of an account that are examined for those of a gateway whose last message is not saved yet.
const EXAMINED: i64 = 1_000;
/// Deleted gateways of an account whose settings are kept.
const DELETED_MAX: u32 = Gateway::COUNT_MAX;

/// Locks the account and finds the gateway.
async fn require(tx: &Tx, actor: &Actor, id: GatewayId) -> Result<Gateway> {
    require_whole(actor.scope)?;
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let found = find_by_id(tx, account, id).await?;
    Ok(found.ok_or(StoreError::NotFound(Kind::Gateway))?.0)
}

fn check_revision(gateway: &Gateway, seen: Option<Revision>) -> Result<()> {
    match seen {
        Some(seen) if seen != gateway.revision => Err(StoreError::RevisionMismatch(Kind::Gateway)),
        _ => Ok(()),
    }
}

pub(in crate::sql) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: GatewayId,
    seen: Revision,
    settings: GatewaySettings,
) -> Result<Gateway> {
    let before = require(tx, &actor, id).await?;
    check_revision(&before, Some(seen))?;
    let was = &before.settings;
    let changes = [
        ("name", was.name != settings.name),
        ("deviceId", was.device != settings.device),
        ("options", was.options != settings.options),
    ];
    if changes.iter().all(|(_, changed)| !changed) {
        return Ok(before);
    }
    if let Some(device) = settings.device.filter(|device| was.device != Some(*device)) {
        scope::require_devices(tx, actor.scope, &[device]).await?;
    }
    let account = before.account;
    let sql = "UPDATE gateway SET revision = revision + 1, name = ?3, device_id = ?4, options = ?5, last_modified = ?6 \
               WHERE account_id = ?1 AND id = ?2";
    let values = params![account, id, settings.name, settings.device, &settings.options, tx.now()];
    tx.execute(sql, values).await?;
    if was.polled && was.options != settings.options {
        let is_other = without_secrets(&was.options) != without_secrets(&settings.options);
        poll_again(tx, account, id, is_other).await?;
    }
    let detail = changed(&changes);
    audit::record_with(tx, account, &actor.origin, "gateway.update", Some(id.to_string()), detail).await?;
    announce(tx, account, id).await
}

/// Makes a gateway due immediately, with its new settings. `from_beginning` is set if it now polls another page or
/// device, which has its own messages. The answer to a running request with the old settings is not stored. The lease
/// of that request stays, because the request still counts as a running poll of the account.
async fn poll_again(tx: &Tx, account: AccountId, id: GatewayId, from_beginning: bool) -> Result<()> {
    let sql = "UPDATE gateway_state SET next_poll = ?3, failures = 0, fence = fence + 1, \
               cursor = CASE WHEN CAST(?4 AS BIGINT) = 1 THEN '' ELSE cursor END, \
               complete_to = CASE WHEN CAST(?4 AS BIGINT) = 1 THEN NULL ELSE complete_to END \
               WHERE account_id = ?1 AND gateway_id = ?2";
    tx.execute(sql, params![account, id, tx.now(), i64::from(from_beginning)]).await?;
    Ok(())
}

/// Announces a change of a gateway, and returns the gateway after the change.
async fn announce(tx: &Tx, account: AccountId, id: GatewayId) -> Result<Gateway> {
    let found = find_by_id(tx, account, id).await?;
    let gateway = found.ok_or(StoreError::NotFound(Kind::Gateway))?.0;
    append_event(tx, &gateway, EventKind::GatewayUpdated, json!({"revision": gateway.revision.0})).await?;
    Ok(gateway)
}

pub(in crate::sql) async fn renew(
    tx: &Tx,
    actor: Actor,
    id: GatewayId,
    secret_hash: [u8; 32],
    until: Timestamp,
) -> Result<Gateway> {
    let before = require(tx, &actor, id).await?;
    let sql = "UPDATE gateway SET previous_hash = secret_hash, previous_until = ?4, secret_hash = ?3 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![before.account, id, secret_hash, until]).await?;
    let target = Some(id.to_string());
    audit::record(tx, before.account, &actor.origin, "gateway.renewAddress", target).await?;
    announce(tx, before.account, id).await
}

pub(in crate::sql) async fn delete(
    tx: &Tx,
    actor: Actor,
    id: GatewayId,
    seen: Option<Revision>,
    unless_messages_since: Option<Timestamp>,
) -> Result<()> {
    let gateway = require(tx, &actor, id).await?;
    check_revision(&gateway, seen)?;
    let last = last_message(tx, &gateway).await?;
    if unless_messages_since.is_some_and(|since| last.is_some_and(|last| last >= since)) {
        return Err(StoreError::InUse(Kind::Gateway));
    }
    if last.is_some() {
        keep(tx, &gateway).await?;
    }
    remove(tx, &actor, &gateway).await
}

async fn remove(tx: &Tx, actor: &Actor, gateway: &Gateway) -> Result<()> {
    let (account, id) = (gateway.account, gateway.id);
    tx.execute("DELETE FROM gateway WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    append_event(tx, gateway, EventKind::GatewayDeleted, json!({})).await?;
    audit::record(tx, account, &actor.origin, "gateway.delete", Some(id.to_string())).await
}

/// Deletes the gateways of a device that is being deleted. Earlier messages of other devices by these gateways can
/// still be decoded again.
pub(in crate::sql) async fn delete_of_device(
    tx: &Tx,
    actor: &Actor,
    account: AccountId,
    device: DeviceId,
) -> Result<()> {
    let sql = "SELECT id FROM gateway WHERE account_id = ?1 AND device_id = ?2 ORDER BY id";
    for row in tx.query(sql, params![account, device]).await? {
        if let Some((gateway, _)) = find_by_id(tx, account, GatewayId::from_i64(row.i64("id")?)).await? {
            if gateway.state.last_message.is_some() {
                keep(tx, &gateway).await?;
            }
            remove(tx, actor, &gateway).await?;
        }
    }
    Ok(())
}

/// The time of the last message. Nodes save it every few seconds; a later one is among the newest messages of the
/// account.
async fn last_message(tx: &Tx, gateway: &Gateway) -> Result<Option<Timestamp>> {
    let sql = "SELECT MAX(received_at) AS last FROM (SELECT received_at, gateway_id FROM raw_message \
               WHERE account_id = ?1 ORDER BY id DESC LIMIT ?3) AS newest WHERE gateway_id = ?2";
    let row = tx.query_one(sql, params![gateway.account, gateway.id, EXAMINED]).await?;
    Ok(row.opt_timestamp("last")?.max(gateway.state.last_message))
}

fn without_secrets(options: &str) -> Map<String, Json> {
    let mut options: Map<String, Json> = serde_json::from_str(options).unwrap_or_default();
    options.retain(|name, _| !Gateway::SECRET_OPTIONS.contains(&name.as_str()));
    options
}

/// Keeps the settings that are needed to decode messages of the gateway again.
async fn keep(tx: &Tx, gateway: &Gateway) -> Result<()> {
    let options = without_secrets(&gateway.settings.options);
    let sql = "INSERT INTO deleted_gateway (account_id, id, feed, device_id, options, creation, deleted_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let NewGateway { feed, device, .. } = &gateway.settings;
    let (account, text) = (gateway.account, Json::Object(options).to_string());
    tx.execute(sql, params![account, gateway.id, feed, *device, text, gateway.creation, tx.now()]).await?;
    // A limit, so that creating and deleting gateways in turn does not fill the database.
    let sql = "DELETE FROM deleted_gateway WHERE account_id = ?1 AND id IN ( \
               SELECT id FROM deleted_gateway WHERE account_id = ?1 ORDER BY deleted_at DESC, id DESC \
               LIMIT 100 OFFSET ?2)";
    tx.execute(sql, params![account, i64::from(DELETED_MAX)]).await?;
    Ok(())
}

/// Finds a gateway, or a deleted one whose settings are kept.
pub(in crate::sql) async fn find_also_deleted(
    tx: &Tx,
    account: AccountId,
    id: GatewayId,
) -> Result<Option<Gateway>> {
    if let Some((gateway, _)) = find_by_id(tx, account, id).await? {
        return Ok(Some(gateway));
    }
    let sql = "SELECT id, account_id, feed, device_id, options, creation FROM deleted_gateway \
               WHERE account_id = ?1 AND id = ?2";
    tx.query_opt(sql, params![account, id]).await?.as_ref().map(from_deleted).transpose()
}

fn from_deleted(row: &Row) -> Result<Gateway> {
    Ok(Gateway {
        id: GatewayId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        settings: NewGateway {
            feed: row.text("feed")?,
            name: None,
            device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
            options: row.text("options")?,
            secret_hash: [0; 32],
            polled: false,
        },
        revision: Revision::FIRST,
        created_by: None,
        creation: row.timestamp("creation")?,
        last_modified: None,
        previous_until: None,
        state: GatewayState::default(),
    })
}

/// Deletes the settings of gateways that were deleted before this instant: their messages are deleted, too.
pub(in crate::sql) async fn delete_kept_before(tx: &Tx, cut: Timestamp) -> Result<()> {
    tx.execute("DELETE FROM deleted_gateway WHERE deleted_at < ?1", params![cut]).await?;
    Ok(())
}
