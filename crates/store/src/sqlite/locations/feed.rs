//! The location feed: rows of the log in order, without locations that are erased or not visible to the reader.

use std::collections::HashSet;

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::events::event::Event;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Feed;
use perigee_core::store::Result;

use super::erase::Erased;
use super::log_row::{COLUMNS, LogRow};
use crate::codec::{Point, PointRef};
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::{event_of, trimmed_to, unpack_or_note};
use crate::sql::scope::visible_devices;
use crate::{Tx, params};

/// Rows that one statement reads while rows are small.
const STRIDE: i64 = 16;
/// Locations read so far from which rows are taken to be large and read one at a time.
const LARGE_ROWS_AT: usize = 1_000;
/// Locations that one call examines at most, however few of them are visible.
pub(super) const EXAMINED_MAX: usize = 50_000;

/// Locations of visible devices after this log number.
pub(crate) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    if after > 0 && after < trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    let Part { points, next, .. } = read(tx, scope, None, after, limit).await?;
    let unpack = |(device, point): (DeviceId, Point)| {
        Some((device, unpack_or_note(tx, scope.account, device, &point)?))
    };
    Ok(Feed { items: points.into_iter().filter_map(unpack).collect(), next })
}

/// The same locations as events, and the number up to which the log was read if there is more of it.
pub(crate) async fn events(
    tx: &Tx,
    scope: Scope,
    wanted: &Wanted<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<Event>, Option<i64>)> {
    let part = read(tx, scope, Some(wanted), after, limit).await?;
    let mut events = Vec::with_capacity(part.points.len());
    for (device, point) in part.points {
        let stored = unpack_or_note(tx, scope.account, device, &point);
        events.extend(stored.map(|stored| event_of(scope.account, device, stored)));
    }
    Ok((events, (!part.is_end).then_some(part.next)))
}

/// The highest number of the account's log, including rows that are trimmed.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(last_number) AS last FROM location_log WHERE account_id = ?1";
    let last = tx.query_one(sql, params![scope.account]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

/// A part of the log, filtered.
struct Part {
    points: Vec<(DeviceId, Point)>,
    /// The number to continue after.
    next: i64,
    /// Whether this is the end of the log.
    is_end: bool,
}

/// Up to `limit` locations after this number, of the wanted devices.
async fn read(tx: &Tx, scope: Scope, wanted: Option<&Wanted<'_>>, after: i64, limit: u32) -> Result<Part> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let erased = Erased::after(tx, scope.account, after).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND last_number > ?2 ORDER BY last_number LIMIT ?3"
    );
    let (mut items, mut next, mut examined) = (Vec::new(), after, 0);
    let mut stride = 1;
    loop {
        let rows = tx.query(&sql, params![scope.account, next, stride]).await?;
        let mut some: Vec<(DeviceId, Point)> = Vec::new();
        let mut read = 0;
        for row in &rows {
            if items.len() + some.len() > limit {
                break;
            }
            read += 1;
            let keep = |point: PointRef<'_>| {
                examined += 1;
                let device = point.device;
                let is_wanted = wanted.is_none_or(|wanted| wanted.has_device(device));
                if point.number > after
                    && is_wanted
                    && !is_other_device(scope, device)
                    && !erased.contains(device, point.number, point.time)
                {
                    some.push((device, point.to_point()));
                }
                Ok(true)
            };
            LogRow::of(row)?.visit_or_note(tx, keep);
        }
        let devices: HashSet<DeviceId> = some.iter().map(|(device, _)| *device).collect();
        let visible = visible_devices(tx, scope, devices).await?;
        some.retain(|(device, _)| visible.contains(device));
        if items.len() + some.len() > limit {
            items.extend(some.into_iter().take(limit - items.len()));
            let last = items.last().map_or(next, |(_, point): &(DeviceId, Point)| point.number);
            return Ok(Part { points: items, next: last, is_end: false });
        }
        items.append(&mut some);
        next = rows[..read].last().map_or(Ok(next), |row| row.i64("last_number"))?;
        let is_end = read == rows.len() && rows.len() < usize::try_from(stride).unwrap_or(usize::MAX);
        // Large rows are read one at a time: the limit is likely to be reached within the next one.
        stride = if examined < LARGE_ROWS_AT { STRIDE } else { 1 };
        if is_end || items.len() == limit || examined >= EXAMINED_MAX {
            // The cursor also passes rows that are trimmed or erased at the end.
            let next = if is_end { next.max(end(tx, scope).await?) } else { next };
            return Ok(Part { points: items, next, is_end });
        }
    }
}

/// Whether the scope is one other device.
fn is_other_device(scope: Scope, device: DeviceId) -> bool {
    matches!(scope.reach, Reach::Device(own) if own != device)
}
