//! Unpacked locations: those in the log and in no chunk yet.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::Order;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, checked, readable};
use crate::codec::Point;
use crate::damage::Damaged;
use crate::sql::locations::Window;
use crate::{Tx, params};

/// The number up to which the device's locations are in chunks.
pub(crate) async fn packed_to(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    let sql = "SELECT packed_to FROM device_live WHERE account_id = ?1 AND device_id = ?2";
    let row = tx.query_opt(sql, params![account, device]).await?;
    Ok(row.map(|row| row.i64("packed_to")).transpose()?.unwrap_or(0))
}

/// Up to `limit` unpacked locations in arrival order, or what is known of damaged ones.
pub(crate) async fn list(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    limit: i64,
) -> Result<Vec<std::result::Result<Point, Damaged>>> {
    let packed_to = packed_to(tx, account, device).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND device_id = ?2 AND number > ?3 ORDER BY number LIMIT ?4"
    );
    let rows = tx.query(&sql, params![account, device, packed_to, limit]).await?;
    rows.iter().map(|row| Ok(checked(row, account, device)?.map(|(point, _)| point))).collect()
}

/// The unpacked locations within the window, in its order.
pub(super) async fn within(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    window: &Window,
) -> Result<Vec<Point>> {
    let packed_to = packed_to(tx, account, device).await?;
    let direction = match window.order {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    };
    // Few of the device's log rows are unpacked. OFFSET 0 keeps the planner from searching by time first.
    let sql = format!(
        "SELECT {COLUMNS} FROM (SELECT {COLUMNS} FROM location_log \
             WHERE account_id = ?1 AND device_id = ?2 AND number > ?3 OFFSET 0) AS unpacked \
         WHERE (time, number) > (?4, ?5) AND (time, number) < (?6, ?7) \
         ORDER BY time {direction}, number {direction} LIMIT ?8"
    );
    let (after, before) = (window.after, window.before);
    let limit = i64::try_from(window.wanted()).unwrap_or(i64::MAX);
    let values = params![account, device, packed_to, after.0, after.1, before.0, before.1, limit];
    let rows = tx.query(&sql, values).await?;
    let points = rows.iter().filter_map(|row| readable(tx, row, account, device).transpose());
    points.map(|point| Ok(point?.0)).collect()
}
