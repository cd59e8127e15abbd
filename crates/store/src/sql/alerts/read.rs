//! Reading alerts, with the channels by which a notification was sent.

use std::collections::{BTreeMap, HashMap};

use perigee_core::access::actor::Scope;
use perigee_core::alerts::alert::{Alert, AlertFilter, AlertStage, LaterFix, StoredAlert};
use perigee_core::alerts::severity::Severity;
use perigee_core::id::{AccountId, AlertId, DeviceId, UserId};
use perigee_core::locations::location::{
    Attribute, History, HistoryCursor, HistoryRequest, Latitude, Longitude,
};
use perigee_core::notifications::notification::Channel;
use perigee_core::store::Result;

use super::super::query::{Query, for_ids};
use super::super::{column, history, scope};
use super::checksum;
use crate::codec::unpack_readings;
use crate::{Row, Tx, params};

/// Selects all columns, because the checksum covers all of them.
const SELECT: &str = "SELECT * FROM alert WHERE account_id = ?1";

/// A device's alerts, all or those of one name.
pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    name: Option<String>,
    request: HistoryRequest,
) -> Result<History<StoredAlert>> {
    scope::require_device(tx, scope, device).await?;
    let filter = AlertFilter { device: Some(device), name, ..AlertFilter::default() };
    list_all(tx, scope, filter, request).await
}

/// The alerts of all visible devices that pass the filter.
pub(super) async fn list_all(
    tx: &Tx,
    scope: Scope,
    filter: AlertFilter,
    request: HistoryRequest,
) -> Result<History<StoredAlert>> {
    let mut query = Query::new(SELECT, params![scope.account]);
    scope::keep_devices(&mut query, scope, "device_id");
    if let Some(device) = filter.device {
        query.push_with(" AND device_id = {}", device);
    }
    if let Some(group) = filter.group {
        scope::keep_members(&mut query, scope, group, "device_id");
    }
    if let Some(name) = &filter.name {
        // Letters beyond ASCII match case-sensitively: the engines disagree on their lower case.
        query.push_if_storable(" AND (name = {} OR lower(name) = lower({}))", name);
    }
    if let Some(severity) = filter.severity {
        query.push_with(" AND severity >= {}", severity.rank());
    }
    query.push(match filter.stage {
        None => "",
        Some(AlertStage::Open) => " AND acknowledged_at IS NULL AND ended_at IS NULL",
        Some(AlertStage::Acknowledged) => " AND acknowledged_at IS NOT NULL AND ended_at IS NULL",
        Some(AlertStage::Ended) => " AND ended_at IS NOT NULL",
    });
    history::restrict(&mut query, &request, "id");
    let items = query.rows(tx).await?;
    let items = items.iter().map(|row| readable(tx, scope.account, row)).collect::<Result<Vec<_>>>()?;
    let cursor = |item: &StoredAlert| HistoryCursor { time: item.alert.time, number: item.id.as_i64() };
    let mut part = history::cut(items, &request, cursor);
    add_channels(tx, scope.account, part.items.iter_mut()).await?;
    Ok(part)
}

/// One alert of a visible device.
pub(super) async fn find(tx: &Tx, scope: Scope, id: AlertId) -> Result<Option<StoredAlert>> {
    let mut query = Query::new(format!("{SELECT} AND id = ?2"), params![scope.account, id]);
    scope::keep_devices(&mut query, scope, "device_id");
    let found = query.row(tx).await?;
    let mut found = found.map(|row| readable(tx, scope.account, &row)).transpose()?;
    add_channels(tx, scope.account, found.iter_mut()).await?;
    Ok(found)
}

/// Alerts with these ids, without the channels they were sent by.
pub(in crate::sql) async fn of_ids(
    tx: &Tx,
    account: AccountId,
    ids: &[i64],
) -> Result<HashMap<AlertId, StoredAlert>> {
    let rows = for_ids(tx, &format!("{SELECT} AND id IN ({{ids}})"), params![account], ids).await?;
    rows.iter().map(|row| readable(tx, account, row).map(|alert| (alert.id, alert))).collect()
}

/// The existing alerts among these.
pub(in crate::sql) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<StoredAlert>> {
    let mut alerts: Vec<StoredAlert> = of_ids(tx, scope.account, ids).await?.into_values().collect();
    add_channels(tx, scope.account, alerts.iter_mut()).await?;
    Ok(alerts)
}

async fn add_channels(
    tx: &Tx,
    account: AccountId,
    alerts: impl Iterator<Item = &mut StoredAlert>,
) -> Result<()> {
    let mut by_id: HashMap<i64, &mut StoredAlert> = alerts.map(|alert| (alert.id.as_i64(), alert)).collect();
    let ids: Vec<i64> = by_id.keys().copied().collect();
    let sql = "SELECT DISTINCT alert_id, channel FROM notification \
               WHERE account_id = ?1 AND state = 'sent' AND alert_id IN ({ids})";
    for row in for_ids(tx, sql, params![account], &ids).await? {
        let channel: Channel = column::parsed(&row, "channel")?;
        if let Some(alert) = by_id.get_mut(&row.i64("alert_id")?) {
            alert.sent_by.push(channel);
            alert.sent_by.sort_unstable();
        }
    }
    add_acknowledgements(tx, account, by_id.into_values()).await
}

/// Adds the names of people who acknowledged by the link in a message.
pub(super) async fn add_acknowledgements(
    tx: &Tx,
    account: AccountId,
    alerts: impl Iterator<Item = &mut StoredAlert>,
) -> Result<()> {
    let by_link = alerts.filter(|alert| matches!(alert.acknowledged, Some((_, None))));
    let mut by_id: HashMap<i64, &mut StoredAlert> = by_link.map(|alert| (alert.id.as_i64(), alert)).collect();
    let ids: Vec<i64> = by_id.keys().copied().collect();
    let sql = "SELECT alert_id, name FROM alert_note \
               WHERE account_id = ?1 AND acknowledges = TRUE AND user_id IS NULL AND alert_id IN ({ids})";
    for row in for_ids(tx, sql, params![account], &ids).await? {
        if let Some(alert) = by_id.get_mut(&row.i64("alert_id")?) {
            alert.acknowledged_name = Some(row.text("name")?);
        }
    }
    Ok(())
}

/// An alert from its row. Attributes that cannot be read are left out, and the row is recorded as damaged.
fn readable(tx: &Tx, account: AccountId, row: &Row) -> Result<StoredAlert> {
    let row = &*checksum::checked(tx.damage(), account, row)?;
    let attributes = match unpack_readings(row.bytes_ref("attributes")?) {
        Ok(packed) => packed.attributes,
        Err(cause) => {
            tx.damage().note(&checksum::damaged(row, account, format!("its attributes: {cause}"))?);
            BTreeMap::new()
        }
    };
    with_attributes(row, attributes)
}

/// An alert from its row, all of which must be readable.
pub(super) fn from_row(row: &Row) -> Result<StoredAlert> {
    let packed = unpack_readings(row.bytes_ref("attributes")?);
    with_attributes(row, packed.map_err(|cause| column::unreadable("attributes", cause))?.attributes)
}

fn later_fix(row: &Row) -> Result<Option<LaterFix>> {
    let latitude = row.opt_int("later_latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("later_longitude")?.map(Longitude::from_e7);
    let time = row.opt_timestamp("later_fix_time")?;
    Ok(time.zip(latitude.zip(longitude)).map(|(time, position)| LaterFix { time, position }))
}

fn with_attributes(row: &Row, attributes: BTreeMap<String, Attribute>) -> Result<StoredAlert> {
    let latitude = row.opt_int("latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("longitude")?.map(Longitude::from_e7);
    let known_latitude = row.opt_int("known_latitude")?.map(Latitude::from_e7);
    let known_longitude = row.opt_int("known_longitude")?.map(Longitude::from_e7);
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
            attributes,
        },
        last_known: known_latitude.zip(known_longitude),
        later_fix: later_fix(row)?,
        received_at: row.timestamp("received_at")?,
        acknowledged: row.opt_timestamp("acknowledged_at")?.map(|at| (at, acknowledged_by)),
        acknowledged_name: None,
        ended_at: row.opt_timestamp("ended_at")?,
        severity: Severity::from_rank(row.int("severity")?),
        sent_by: Vec::new(),
    })
}
