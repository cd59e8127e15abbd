//! Unpacked locations: those in the log and in no chunk yet.

use std::collections::{HashMap, HashSet};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::Order;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, LogRow};
use crate::codec::{Point, PointRef};
use crate::sql::locations::{Window, state_row};
use crate::sql::query::for_ids;
use crate::{Row, Tx, params};

/// The number up to which the device's locations are in chunks.
pub(crate) async fn packed_to(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    Ok(state_row::read(tx, account, device).await?.map_or(0, |state| state.packed_to))
}

/// Unpacked rows after this number in arrival order: as many as it takes for `enough` locations, or all.
pub(super) async fn list(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    (packed_to, enough): (i64, i64),
) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ( \
             SELECT s.*, SUM(count) OVER (ORDER BY last_number ROWS UNBOUNDED PRECEDING) - count AS earlier \
             FROM (SELECT {COLUMNS} FROM location_log \
                   WHERE account_id = ?1 AND device_id = ?2 AND last_number > ?3 \
                   ORDER BY last_number LIMIT ?4) s) t \
         WHERE earlier < ?4 ORDER BY last_number"
    );
    Ok(tx.query(&sql, params![account, device, packed_to, enough]).await?)
}

/// The unpacked locations within the window, in its order.
pub(super) async fn within(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    window: &Window,
) -> Result<Vec<Point>> {
    let packed_to = packed_to(tx, account, device).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND device_id = ?2 AND last_number > ?3 AND last_time >= ?4 AND first_time <= ?5"
    );
    let values = params![account, device, packed_to, window.after.0, window.before.0];
    let rows = tx.query(&sql, values).await?;
    let mut points = Vec::new();
    for row in &rows {
        points.extend(points_of(tx, row, window)?);
    }
    Ok(in_order(points, window))
}

/// Like [`within`], for several devices.
pub(super) async fn within_of_devices(
    tx: &Tx,
    account: AccountId,
    devices: &HashSet<DeviceId>,
    window: &Window,
) -> Result<HashMap<DeviceId, Vec<Point>>> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let mut unpacked = HashMap::with_capacity(ids.len());
    let states = state_row::read_all(tx, account, &ids).await?;
    // The number of a damaged row is not trusted. `within` derives it from the chunks.
    let (sound, damaged): (Vec<_>, Vec<_>) = states.into_iter().partition(|(_, state)| state.is_ok());
    for (device, _) in damaged {
        unpacked.insert(device, within(tx, account, device, window).await?);
    }
    let sql = "SELECT l.* FROM device_live s \
         JOIN location_log l \
           ON l.account_id = s.account_id AND l.device_id = s.device_id AND l.last_number > s.packed_to \
         WHERE s.account_id = ?1 AND l.account_id = ?1 AND l.last_time >= ?2 AND l.first_time <= ?3 \
           AND s.device_id IN ({ids})";
    let sound: Vec<i64> = sound.iter().map(|(device, _)| device.as_i64()).collect();
    let rows = for_ids(tx, sql, params![account, window.after.0, window.before.0], &sound).await?;
    let mut points: HashMap<DeviceId, Vec<PointRef<'_>>> = HashMap::with_capacity(sound.len());
    for row in &rows {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        points.entry(device).or_default().extend(points_of(tx, row, window)?);
    }
    unpacked.extend(points.into_iter().map(|(device, points)| (device, in_order(points, window))));
    Ok(unpacked)
}

fn points_of<'r>(tx: &Tx, row: &'r Row, window: &Window) -> Result<impl Iterator<Item = PointRef<'r>>> {
    let points = LogRow::of(row)?.points_or_note(tx).into_iter();
    Ok(points.filter(|point| window.contains((point.time, point.number))))
}

/// As many of the points as are wanted, in the order of the window.
fn in_order(mut points: Vec<PointRef<'_>>, window: &Window) -> Vec<Point> {
    points.sort_unstable_by_key(|point| (point.time, point.number));
    if window.order == Order::Descending {
        points.reverse();
    }
    points.truncate(window.wanted());
    points.into_iter().map(PointRef::to_point).collect()
}
