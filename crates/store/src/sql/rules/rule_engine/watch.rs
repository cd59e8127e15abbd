//! The online status of devices: the last announced one, and when to check again.

use std::collections::{BTreeSet, HashMap};

use perigee_core::devices::device::DeviceStatus;
use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Result, StatusChange, StatusCheck};
use perigee_core::time::Timestamp;

use super::trail::groups_of;
use crate::sql::column;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::query::{for_ids, insert_many};
use crate::{Tx, params};

/// Loads the contacted devices that were not online, and some whose check is due.
pub(super) async fn load(
    tx: &Tx,
    account: AccountId,
    contacted: Vec<DeviceId>,
    limit: u32,
    with_trips: bool,
) -> Result<Vec<StatusCheck>> {
    let mut wanted: BTreeSet<i64> = contacted.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT device_id FROM device_watch \
               WHERE account_id = ?1 AND status = 'online' AND device_id IN ({ids})";
    let ids: Vec<i64> = wanted.iter().copied().collect();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        wanted.remove(&row.i64("device_id")?);
    }
    let sql = "SELECT device_id FROM device_watch WHERE due <= ?2 AND account_id = ?1 ORDER BY due LIMIT ?3";
    for row in tx.query(sql, params![account, tx.now(), limit]).await? {
        wanted.insert(row.i64("device_id")?);
    }
    let ids: Vec<i64> = wanted.into_iter().collect();
    let mut groups = groups_of(tx, account, &ids).await?;
    let live = state_row::joined_columns(tx.engine());
    let last_trip = if with_trips {
        "(SELECT s.to_at FROM timeline_segment s WHERE s.account_id = d.account_id AND s.device_id = d.id \
              AND s.kind = 'trip' ORDER BY s.from_at DESC LIMIT 1)"
    } else {
        "CAST(NULL AS BIGINT)"
    };
    let sql = format!(
        "SELECT d.id, d.expected_interval_s, d.creation, {last_trip} AS last_trip, {live}, w.status FROM device d \
               LEFT JOIN device_live l ON l.account_id = d.account_id AND l.device_id = d.id \
               LEFT JOIN device_watch w ON w.account_id = d.account_id AND w.device_id = d.id \
               WHERE d.account_id = ?1 AND d.id IN ({{ids}})"
    );
    let mut watched = HashMap::new();
    for row in for_ids(tx, &sql, params![account], &ids).await? {
        let device = DeviceId::from_i64(row.i64("id")?);
        let memory = tx.memory().and_then(|memory| memory.device(account, device));
        let state = StateRow::joined(tx.damage(), &row, account, device);
        let interval = match &memory {
            Some(memory) => memory.interval.clone(),
            None => state.as_ref().map(|s| ReportingInterval::from_bytes(&s.interval)).unwrap_or_default(),
        };
        let announced = row
            .opt_str("status")?
            .map(|name| DeviceStatus::named(name).ok_or_else(|| column::unreadable("status", "no status")));
        let known = StatusCheck {
            device,
            groups: groups.remove(&device).unwrap_or_default(),
            announced: announced.transpose()?,
            last_seen: state
                .and_then(|state| state.last_seen)
                .max(memory.and_then(|memory| memory.last_seen)),
            interval_s: row.opt_int("expected_interval_s")?.or(interval.interval_s()),
            created: row.timestamp("creation")?,
            last_trip: row.opt_i64("last_trip")?.map(Timestamp::from_millis),
        };
        watched.insert(device, known);
    }
    let mut watched: Vec<StatusCheck> = watched.into_values().collect();
    watched.sort_unstable_by_key(|known| known.device);
    Ok(watched)
}

/// Makes the checks of all devices due, because a rule about the time without a trip began or changed.
pub(in crate::sql::rules) async fn check_all(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = "UPDATE device_watch SET due = ?2 WHERE account_id = ?1 AND due > ?2";
    tx.execute(sql, params![account, tx.now()]).await?;
    Ok(())
}

/// Saves the status of devices, with an event for each that changed.
pub(super) async fn save(tx: &Tx, account: AccountId, changes: &[StatusChange]) -> Result<()> {
    let row = |change: &StatusChange| params![account, change.device, change.to.name(), change.due].to_vec();
    let rows: Vec<_> = changes.iter().map(row).collect();
    let head = "INSERT INTO device_watch (account_id, device_id, status, due)";
    let tail =
        "ON CONFLICT (account_id, device_id) DO UPDATE SET status = excluded.status, due = excluded.due";
    insert_many(tx, head, &rows, tail).await?;
    for (status, kind) in [
        (DeviceStatus::Online, EventKind::DeviceOnline),
        (DeviceStatus::Late, EventKind::DeviceLate),
        (DeviceStatus::Offline, EventKind::DeviceOffline),
    ] {
        let to_status = changes.iter().filter(|change| change.to == status && change.from != Some(status));
        let events = to_status.map(|change| NewEvent {
            subject: change.device.to_string(),
            device: Some(change.device),
            data: "{}".to_owned(),
        });
        append_events(tx, account, kind, events.collect()).await?;
    }
    Ok(())
}
