//! The location feed, in arrival order.
//!
//! Numbers are drawn under the lock of the account, which is held until the commit. Within an account no number is
//! committed after a higher one, so a reader that continues after a number misses nothing.

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::event::Event;
use perigee_core::id::DeviceId;
use perigee_core::location::Feed;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, readable, readable_of};
use crate::sql::event_filter::Wanted;
use crate::sql::locations::{event_of, trimmed_to};
use crate::sql::query::Query;
use crate::sql::scope;
use crate::{Tx, params};

/// Locations that one call examines for events of some devices.
const EXAMINED_MAX: i64 = 5_000;

/// Locations of visible devices after this log number.
pub(crate) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    if after > 0 && after < trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    // Read before the locations: those committed later have higher numbers than this.
    let end = end(tx, scope).await?;
    let sql = format!(
        "SELECT device_id, {COLUMNS} FROM location_log WHERE account_id = ?1 AND number > ?2 AND number <= ?3"
    );
    let mut query = Query::new(sql, params![scope.account, after, end]);
    scope::keep_devices(&mut query, scope, "device_id");
    query.push_with(" ORDER BY number LIMIT {}", i64::from(limit));
    let rows = query.rows(tx).await?;
    let items = rows.iter().filter_map(|row| readable_of(tx, row, scope.account).transpose());
    let items = items.collect::<Result<Vec<_>>>()?;
    let full = rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    let next = match rows.last() {
        Some(last) if full => last.i64("number")?,
        _ => end.max(after),
    };
    Ok(Feed { items, next })
}

/// The highest number of the account's log, including rows that are trimmed.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(number) AS last FROM location_log WHERE account_id = ?1";
    let last = tx.query_one(sql, params![scope.account]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

/// The same locations as events, and the number up to which the log was read if there is more of it.
pub(crate) async fn events(
    tx: &Tx,
    scope: Scope,
    wanted: &Wanted<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<Event>, Option<i64>)> {
    let sql = format!("SELECT device_id, {COLUMNS} FROM location_log WHERE account_id = ?1 AND number > ?2");
    let mut query = Query::new(sql, params![scope.account, after]);
    scope::keep_devices(&mut query, scope, "device_id");
    let examined = if wanted.is_narrow() { i64::from(limit).max(EXAMINED_MAX) } else { i64::from(limit) };
    query.push_with(" ORDER BY number LIMIT {}", examined);
    let rows = query.rows(tx).await?;
    let is_full = rows.len() >= usize::try_from(examined).unwrap_or(usize::MAX);
    let to = rows.last().filter(|_| is_full).map(|row| row.i64("number")).transpose()?;
    let mut events = Vec::new();
    for row in &rows {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        if wanted.has_device(device)
            && let Some((_, stored)) = readable(tx, row, scope.account, device)?
        {
            events.push(event_of(scope.account, device, stored));
        }
    }
    Ok((events, to))
}
