//! The location feed, in arrival order.
//!
//! Nothing above [`Tx::horizon`] is read, because a lower number could be committed later. The horizon is the end of a
//! block, and rows of an account do not overlap in their numbers, so the order of rows is the order of numbers.

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::events::event::Event;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Feed;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, LogRow};
use crate::codec::Point;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::{event_of, trimmed_to, unpack_or_note};
use crate::sql::query::Query;
use crate::sql::scope;
use crate::{Row, Tx, params};

/// Locations that one call examines for events of some devices.
const EXAMINED_MAX: usize = 5_000;

/// Locations of visible devices after this log number.
pub(crate) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    if after > 0 && after < trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    let end = end(tx, scope).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let part = read(tx, scope, None, (after, end), (limit, limit)).await?;
    let unpack = |(device, point): (DeviceId, Point)| {
        Some((device, unpack_or_note(tx, scope.account, device, &point)?))
    };
    let next = part.read_to.unwrap_or(end.max(after));
    Ok(Feed { items: part.points.into_iter().filter_map(unpack).collect(), next })
}

/// The highest number of the account's log up to the horizon, including rows that are trimmed.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(last_number) AS last FROM location_log WHERE account_id = ?1 AND last_number <= ?2";
    let last = tx.query_one(sql, params![scope.account, tx.horizon()]).await?.opt_i64("last")?.unwrap_or(0);
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
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let examined = if wanted.is_narrow() { limit.max(EXAMINED_MAX) } else { limit };
    let part = read(tx, scope, Some(wanted), (after, tx.horizon()), (limit, examined)).await?;
    let event = |(device, point): (DeviceId, Point)| {
        let stored = unpack_or_note(tx, scope.account, device, &point)?;
        Some(event_of(scope.account, device, stored))
    };
    Ok((part.points.into_iter().filter_map(event).collect(), part.read_to))
}

/// A part of the log.
struct Part {
    points: Vec<(DeviceId, Point)>,
    /// The number up to which the log was read; `None` if there is no more of it.
    read_to: Option<i64>,
}

/// Reads locations after the first number and up to the second: at most `limit`, of at most about `examined`.
async fn read(
    tx: &Tx,
    scope: Scope,
    wanted: Option<&Wanted<'_>>,
    (after, end): (i64, i64),
    (limit, examined): (usize, usize),
) -> Result<Part> {
    let mut points: Vec<(DeviceId, Point)> = Vec::new();
    let (mut passed, mut seen) = (after, 0);
    while points.len() < limit && seen < examined {
        let missing = examined - seen;
        let rows = rows(tx, scope, (passed, end), missing).await?;
        let mut counted = 0;
        for row in &rows {
            let row = LogRow::of(row)?;
            counted += usize::try_from(row.header.count).unwrap_or(0);
            let is_wanted = wanted.is_none_or(|wanted| wanted.has_device(row.header.device));
            for point in row.points_or_note(tx).into_iter().filter(|point| point.number > after) {
                if points.len() == limit || seen == examined {
                    return Ok(Part { points, read_to: Some(passed) });
                }
                seen += 1;
                passed = point.number;
                if is_wanted {
                    points.push((point.device, point.to_point()));
                }
            }
            // The cursor also passes a row that cannot be read.
            passed = passed.max(row.header.numbers.1);
        }
        // There were too few for what was asked, so there are no more.
        if counted < missing {
            return Ok(Part { points, read_to: None });
        }
    }
    Ok(Part { points, read_to: Some(passed) })
}

/// Rows of visible devices with locations after the first number and up to the second: as many as it takes for `enough`
/// locations, or all.
pub(super) async fn rows(tx: &Tx, scope: Scope, (after, end): (i64, i64), enough: usize) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ( \
             SELECT s.*, SUM(count) OVER (ORDER BY last_number ROWS UNBOUNDED PRECEDING) - count AS earlier \
             FROM (SELECT {COLUMNS} FROM location_log \
                   WHERE account_id = ?1 AND last_number > ?2 AND last_number <= ?3"
    );
    let mut query = Query::new(sql, params![scope.account, after, end]);
    scope::keep_devices(&mut query, scope, "device_id");
    let enough = i64::try_from(enough).unwrap_or(i64::MAX);
    query.push_with(" ORDER BY last_number LIMIT {}) s) t", enough);
    query.push_with(" WHERE earlier < {} ORDER BY last_number", enough);
    query.rows(tx).await
}
