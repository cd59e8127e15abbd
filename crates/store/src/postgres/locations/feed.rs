//! The feed: locations in the order in which they arrived.
//!
//! Numbers are drawn under the lock of the account, which is held until the commit, so within an account no number
//! is committed after a higher one and a reader that goes by number misses nothing.

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::event::{Event, EventKind};
use perigee_core::id::DeviceId;
use perigee_core::location::Feed;
use perigee_core::store::Result;

use crate::sql::locations::{COLUMNS, from_row, trimmed_to};
use crate::sql::query::Query;
use crate::sql::scope;
use crate::{Row, Tx, params};

/// Locations of devices in sight after this number.
pub(crate) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    if after > 0 && after < trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    // Read before the locations: what is not seen below has a higher number than this end.
    let end = end(tx, scope).await?;
    let sql = format!(
        "SELECT device_id, {COLUMNS} FROM location_log WHERE account_id = ?1 AND number > ?2 AND number <= ?3"
    );
    let mut query = Query::new(sql, params![scope.account, after, end]);
    scope::keep_devices(&mut query, scope, "device_id");
    query.push_with(" ORDER BY number LIMIT {}", i64::from(limit));
    let rows = query.rows(tx).await?;
    let items = rows
        .iter()
        .map(|row| Ok((DeviceId::from_i64(row.i64("device_id")?), from_row(row)?)))
        .collect::<Result<Vec<_>>>()?;
    let full = items.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    let next = match items.last() {
        Some((_, last)) if full => last.number,
        _ => end.max(after),
    };
    Ok(Feed { items, next })
}

/// The highest number of the account, also when its location is gone.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(number) AS last FROM location_log WHERE account_id = ?1";
    let last = tx.query_one(sql, params![scope.account]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

/// The same locations as events.
pub(crate) async fn events(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Vec<Event>> {
    let mut query = Query::new(
        "SELECT number, device_id, time, received_at FROM location_log WHERE account_id = ?1 AND number > ?2",
        params![scope.account, after],
    );
    scope::keep_devices(&mut query, scope, "device_id");
    query.push_with(" ORDER BY number LIMIT {}", i64::from(limit));
    let event = |row: &Row| -> Result<Event> {
        let (number, device) = (row.i64("number")?, DeviceId::from_i64(row.i64("device_id")?));
        Ok(Event {
            number,
            account: scope.account,
            at: row.timestamp("received_at")?,
            kind: EventKind::LocationCreated,
            subject: device.to_string(),
            device: Some(device),
            data: serde_json::json!({ "number": number, "time": row.i64("time")? }),
        })
    };
    query.rows(tx).await?.iter().map(event).collect()
}
