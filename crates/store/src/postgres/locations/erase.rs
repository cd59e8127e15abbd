//! Erasing a time range from the log.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::log_row::{COLUMNS, LogRow};
use super::new_rows::NewRows;
use super::recent;
use crate::codec::{Point, PointRef};
use crate::{Tx, params};

/// Erases a time range of a device; returns how many locations were in no chunk.
pub(super) async fn erase(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    let packed_to = recent::packed_to(tx, account, device).await?;
    let mut unpacked = 0;
    let sql = "DELETE FROM location_log WHERE account_id = ?1 AND device_id = ?2 \
               AND first_time >= ?3 AND last_time <= ?4 RETURNING last_number, count";
    for row in tx.query(sql, params![account, device, range.from, range.to]).await? {
        if row.i64("last_number")? > packed_to {
            unpacked += row.i64("count")?;
        }
    }
    unpacked += rewrite_partly_erased(tx, account, device, range, packed_to).await?;
    let sql =
        "UPDATE device_live SET unpacked = unpacked - ?3 WHERE account_id = ?1 AND device_id = ?2 AND ?3 > 0";
    tx.execute(sql, params![account, device, unpacked]).await?;
    Ok(u64::try_from(unpacked).unwrap_or(0))
}

/// Replaces rows that are partly in the range by their locations outside of it; returns how many locations were in no chunk.
async fn rewrite_partly_erased(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    range: TimeRange,
    packed_to: i64,
) -> Result<i64> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log WHERE account_id = ?1 AND device_id = ?2 \
         AND first_time <= ?4 AND last_time >= ?3"
    );
    let rows = tx.query(&sql, params![account, device, range.from, range.to]).await?;
    let (mut unpacked, mut rest) = (0, NewRows::default());
    for row in &rows {
        let row = LogRow::of(row)?;
        // A damaged row stays as it is: no read returns anything from it.
        let Ok(points) = row.points() else { continue };
        let before = points.len();
        let is_kept = |point: &PointRef<'_>| !(range.from..=range.to).contains(&point.time);
        let kept: Vec<Point> = points.into_iter().filter(is_kept).map(PointRef::to_point).collect();
        if kept.len() == before {
            continue;
        }
        let (_, last) = row.header.numbers;
        if last > packed_to {
            unpacked += i64::try_from(before - kept.len()).unwrap_or(i64::MAX);
        }
        let sql = "DELETE FROM location_log WHERE account_id = ?1 AND last_number = ?2";
        tx.execute(sql, params![account, last]).await?;
        rest.push(account, device, &kept);
    }
    rest.insert(tx.require_postgres()?).await?;
    Ok(unpacked)
}

/// Whether the device has unpacked locations from before this instant.
pub(super) async fn holds_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<bool> {
    let packed_to = recent::packed_to(tx, account, device).await?;
    let sql = "SELECT 1 AS found FROM location_log \
               WHERE account_id = ?1 AND device_id = ?2 AND last_number > ?3 AND first_time < ?4 LIMIT 1";
    Ok(tx.query_opt(sql, params![account, device, packed_to, before]).await?.is_some())
}
