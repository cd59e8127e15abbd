//! Alerts: stored once each and listed by time.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::actor::{Actor, Scope};
use perigee_core::alert::{Alert, StoredAlert};
use perigee_core::error::StoreError;
use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId, UserId};
use perigee_core::location::{
    History, HistoryCursor, HistoryRequest, Latitude, Longitude, Outcome, Readings,
};
use perigee_core::store::{Alerts, Result, SubmittedAlerts};

use super::devices::hear;
use super::identity::Identity;
use super::notes::{Note, append_notes};
use super::query::{Query, for_ids, insert_many};
use super::{column, history, ids, scope};
use crate::codec::{pack_readings, unpack_readings};
use crate::{Database, Row, Tx, Value, params};

const INSERT: &str = "INSERT INTO alert (account_id, id, device_id, time, hash, name, text, critical, \
                      latitude, longitude, attributes, received_at)";
const SELECT: &str = "\
    SELECT id, device_id, time, name, text, critical, latitude, longitude, attributes, received_at, \
        acknowledged_at, acknowledged_by, ended_at \
    FROM alert WHERE account_id = ?1 AND device_id = ?2";

/// Stores what a device says happened; none when the device is expired.
async fn store(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    alerts: Vec<Alert>,
) -> Result<Option<SubmittedAlerts>> {
    if hear(tx, scope, device).await? {
        raise(tx, scope.account, device, alerts).await.map(Some)
    } else {
        Ok(None)
    }
}

/// Stores what is new and says of each whether it is, and its id. The device exists, and it is not heard by this:
/// rules raise alerts too.
pub(crate) async fn raise(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    alerts: Vec<Alert>,
) -> Result<SubmittedAlerts> {
    tx.lock_account(account).await?;
    // Consecutive, so that alerts of one time are listed in the order they came.
    let make = |now| AlertId::new(now).as_i64();
    let first = ids::fresh_ids(tx, "alert", account, alerts.len(), make).await?;
    let identities: Vec<Identity> = alerts.iter().map(Identity::of_alert).collect();
    let mut ids: HashMap<Identity, AlertId> = HashMap::with_capacity(alerts.len());
    let mut rows = Vec::with_capacity(alerts.len());
    for ((alert, identity), id) in alerts.into_iter().zip(&identities).zip(first..) {
        if !ids.contains_key(identity) {
            ids.insert(*identity, AlertId::from_i64(id));
            rows.push(to_row(tx, account, device, id, alert, *identity));
        }
    }
    let mut new = BTreeSet::new();
    for row in insert_many(tx, INSERT, &rows, "ON CONFLICT DO NOTHING RETURNING id").await? {
        new.insert(AlertId::from_i64(row.i64("id")?));
    }
    let note = |id: &AlertId| Note { subject: id.to_string(), device: Some(device), data: "{}".to_owned() };
    append_notes(tx, account, EventKind::AlertCreated, new.iter().map(note).collect()).await?;
    let there = ids.iter().filter(|(_, id)| !new.contains(id)).map(|(identity, _)| identity);
    let there = find_ids(tx, account, device, there).await?;
    ids.extend(there);
    // The first of equal ones in a call is the new one.
    let known = identities.iter().filter_map(|identity| ids.get(identity).copied());
    let outcome = |id| (if new.remove(&id) { Outcome::Accepted } else { Outcome::Duplicate }, id);
    Ok(known.map(outcome).collect())
}

fn to_row(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    id: i64,
    alert: Alert,
    identity: Identity,
) -> Vec<Value> {
    let (latitude, longitude) = alert.position.unzip();
    // Attributes alone are a packing of readings too.
    let attributes = pack_readings(&Readings { attributes: alert.attributes, ..Readings::default() });
    params![
        account,
        id,
        device,
        identity.time,
        identity.hash,
        alert.name,
        alert.text,
        alert.critical,
        latitude.map(Latitude::as_e7),
        longitude.map(Longitude::as_e7),
        attributes,
        tx.now(),
    ]
    .to_vec()
}

/// The ids of the alerts at the times of these.
async fn find_ids(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    identities: impl Iterator<Item = &Identity>,
) -> Result<Vec<(Identity, AlertId)>> {
    let times: BTreeSet<i64> = identities.map(|identity| identity.time.as_millis()).collect();
    let times: Vec<i64> = times.into_iter().collect();
    let sql = "SELECT id, time, hash FROM alert \
               WHERE account_id = ?1 AND device_id = ?2 AND time IN ({ids})";
    let rows = for_ids(tx, sql, params![account, device], &times).await?;
    rows.iter().map(|row| Ok((Identity::from_row(row)?, AlertId::from_i64(row.i64("id")?)))).collect()
}

async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    name: Option<String>,
    request: HistoryRequest,
) -> Result<History<StoredAlert>> {
    scope::require_device(tx, scope, device).await?;
    let mut query = Query::new(SELECT, params![scope.account, device]);
    if let Some(name) = name {
        query.push_if_storable(" AND name = {}", &name);
    }
    history::cut_out(&mut query, &request, "id");
    let items = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let cursor = |item: &StoredAlert| HistoryCursor { time: item.alert.time, number: item.id.as_i64() };
    Ok(history::cut(items, &request, cursor))
}

/// Those of these alerts that are there.
pub(super) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<StoredAlert>> {
    let sql = SELECT.replace("device_id = ?2", "id IN ({ids})");
    for_ids(tx, &sql, params![scope.account], ids).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredAlert> {
    let packed = unpack_readings(&row.bytes("attributes")?);
    let latitude = row.opt_int("latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("longitude")?.map(Longitude::from_e7);
    let acknowledged_by = row.opt_i64("acknowledged_by")?.map(UserId::from_i64);
    Ok(StoredAlert {
        id: AlertId::from_i64(row.i64("id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        alert: Alert {
            time: row.timestamp("time")?,
            name: row.text("name")?,
            text: row.opt_text("text")?,
            position: latitude.zip(longitude),
            critical: row.bool("critical")?,
            attributes: packed.map_err(|cause| column::unreadable("attributes", cause))?.attributes,
        },
        received_at: row.timestamp("received_at")?,
        acknowledged: row.opt_timestamp("acknowledged_at")?.map(|at| (at, acknowledged_by)),
        ended_at: row.opt_timestamp("ended_at")?,
    })
}

#[async_trait]
impl Alerts for Database {
    async fn store_alerts(
        &self,
        actor: &Actor,
        device: DeviceId,
        alerts: Vec<Alert>,
    ) -> Result<SubmittedAlerts> {
        let scope = actor.scope;
        let submitted = self.write(move |tx| store(tx, scope, device, alerts).boxed()).await?;
        // An expired device was heard, which is kept; only then is it refused.
        submitted.ok_or(StoreError::DeviceExpired(device))
    }

    async fn list_alerts(
        &self,
        scope: Scope,
        device: DeviceId,
        name: Option<&str>,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>> {
        let name = name.map(str::to_owned);
        self.read(move |tx| list(tx, scope, device, name, request).boxed()).await
    }
}
