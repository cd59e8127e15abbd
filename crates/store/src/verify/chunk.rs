//! Verifying chunks: each is unpacked to its end and compared with its key columns.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use super::report::{Batch, Cursor};
use crate::codec::unpack_chunk;
use crate::sql::quarantine::damaged_chunk;
use crate::{Row, Tx, params};

/// Chunks that one statement reads, of about a thousand locations each.
const ROWS: i64 = 32;

/// Checks the chunks after this cursor.
pub(super) async fn check(tx: &Tx, after: Cursor) -> Result<Batch> {
    let sql = "SELECT account_id, device_id, first_time, first_number, last_time, last_number, count, points \
               FROM location_chunk \
               WHERE (account_id, device_id, last_time, last_number) > (?1, ?2, ?3, ?4) \
               ORDER BY account_id, device_id, last_time, last_number LIMIT ?5";
    let rows = tx.query(sql, params![after[0], after[1], after[2], after[3], ROWS]).await?;
    let last = rows.last().map(cursor_of).transpose()?;
    let mut batch = Batch::of(rows.len(), usize::try_from(ROWS).unwrap_or(usize::MAX), last);
    let mut before = after;
    for row in &rows {
        if let Some(reason) = find_fault(row, before)? {
            let [account, device, ..] = cursor_of(row)?;
            let (account, device) = (AccountId::from_i64(account), DeviceId::from_i64(device));
            batch.damaged.push(damaged_chunk(row, account, device, reason)?);
        }
        before = cursor_of(row)?;
    }
    Ok(batch)
}

/// The device of a chunk, and the key of its last location.
fn cursor_of(row: &Row) -> Result<Cursor> {
    Ok([row.i64("account_id")?, row.i64("device_id")?, row.i64("last_time")?, row.i64("last_number")?])
}

/// The problem of a chunk, if there is one; `before` is the end of the previous one.
fn find_fault(row: &Row, before: Cursor) -> Result<Option<String>> {
    let points = match unpack_chunk(row.bytes_ref("points")?) {
        Ok(points) => points,
        Err(cause) => return Ok(Some(cause.to_string())),
    };
    let key = |point: &perigee_core::locations::location::StoredLocation| {
        (point.location.time.as_millis(), point.number)
    };
    let (first, last) = (points.first().map(key), points.last().map(key));
    let named = (
        Some((row.i64("first_time")?, row.i64("first_number")?)),
        Some((row.i64("last_time")?, row.i64("last_number")?)),
    );
    if (first, last) != named || i64::try_from(points.len()).ok() != Some(row.i64("count")?) {
        return Ok(Some("it holds other locations than its columns say".to_owned()));
    }
    if !points.is_sorted_by_key(key) {
        return Ok(Some("its locations are not in the order of time".to_owned()));
    }
    let follows = before[..2] == cursor_of(row)?[..2];
    let overlaps = follows && first.is_some_and(|first| first <= (before[2], before[3]));
    Ok(overlaps.then(|| "it begins before the chunk before it ends".to_owned()))
}
