//! The location feed, in arrival order.
//!
//! Nothing above [`Tx::horizon`] is read, because a lower number could be committed later. The horizon is the end of a
//! block, and rows of an account do not overlap in their numbers, so the order of rows is the order of numbers.

use perigee_core::access::actor::Scope;
use perigee_core::id::DeviceId;
use perigee_core::store::Result;

use super::log_row::{COLUMNS, LogRow};
use crate::codec::Point;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::reads::feed::FeedPart;
use crate::sql::query::Query;
use crate::sql::scope;
use crate::{Row, Tx, params};

/// Maximum number of locations that one call examines for events of some devices.
const EXAMINED_MAX: usize = 5_000;

/// Up to `limit` locations after this number, of the wanted devices.
pub(crate) async fn read(
    tx: &Tx,
    scope: Scope,
    wanted: Option<&Wanted<'_>>,
    after: i64,
    limit: usize,
) -> Result<FeedPart> {
    let is_narrow = wanted.is_some_and(Wanted::is_narrow);
    let examined = if is_narrow { limit.max(EXAMINED_MAX) } else { limit };
    let mut points: Vec<(DeviceId, Point)> = Vec::new();
    let (mut passed, mut seen) = (after, 0);
    while points.len() < limit && seen < examined {
        let missing = examined - seen;
        let rows = rows(tx, scope, (passed, tx.horizon()), missing).await?;
        let mut counted = 0;
        for row in &rows {
            let row = LogRow::of(row)?;
            counted += usize::try_from(row.header.count).unwrap_or(0);
            let is_wanted = wanted.is_none_or(|wanted| wanted.has_device(row.header.device));
            for point in row.points_or_note(tx).into_iter().filter(|point| point.number > after) {
                if points.len() == limit || seen == examined {
                    return Ok(FeedPart { points, read_to: Some(passed) });
                }
                seen += 1;
                passed = point.number;
                if is_wanted {
                    points.push((point.device, point.to_point()));
                }
            }
            // The cursor also moves past a row that cannot be read.
            passed = passed.max(row.header.numbers.1);
        }
        // There were fewer than requested, so there are no more.
        if counted < missing {
            return Ok(FeedPart { points, read_to: None });
        }
    }
    Ok(FeedPart { points, read_to: Some(passed) })
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
