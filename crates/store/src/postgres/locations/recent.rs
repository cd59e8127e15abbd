//! Unpacked locations: those in the log and in no chunk yet.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::Order;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, LogRow};
use crate::codec::{Point, PointRef};
use crate::sql::locations::{Window, state_row};
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
        let of_row = LogRow::of(row)?.points_or_note(tx).into_iter();
        points.extend(of_row.filter(|point| window.contains((point.time, point.number))));
    }
    points.sort_unstable_by_key(|point| (point.time, point.number));
    if window.order == Order::Descending {
        points.reverse();
    }
    points.truncate(window.wanted());
    Ok(points.into_iter().map(PointRef::to_point).collect())
}
