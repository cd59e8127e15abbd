//! The feed from the log: its rows are read in order and what is out of sight or erased is left out.

use std::collections::HashSet;

use perigee_core::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::event::Event;
use perigee_core::id::DeviceId;
use perigee_core::location::Feed;
use perigee_core::store::Result;

use super::erase::Erased;
use super::log_row::{COLUMNS, LogRow};
use crate::codec::{Glimpse, Point};
use crate::sql::event_filter::Wanted;
use crate::sql::locations::{event_of, trimmed_to, unpack_or_note};
use crate::sql::scope::devices_in_sight;
use crate::{Tx, params};

/// Rows one statement reads.
const STRIDE: i64 = 16;
/// Locations in the rows read so far from which these are large.
const MANY: usize = 1_000;
/// Locations one call looks at, however few of them are in sight.
pub(super) const LOOKED_AT_MAX: usize = 50_000;

/// Locations of devices in sight after this number.
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

/// The same locations as events, and up to which number they are, unless they are all there are.
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

/// The highest number of the account, also when its location is gone.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(last_number) AS last FROM location_log WHERE account_id = ?1";
    let last = tx.query_one(sql, params![scope.account]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

/// A part of the log.
struct Part {
    points: Vec<(DeviceId, Point)>,
    /// The number to go on from.
    next: i64,
    /// Whether there is nothing after it.
    is_end: bool,
}

/// Up to so many locations after this number, of the devices wanted.
async fn read(tx: &Tx, scope: Scope, wanted: Option<&Wanted<'_>>, after: i64, limit: u32) -> Result<Part> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let erased = Erased::after(tx, scope.account, after).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND last_number > ?2 ORDER BY last_number LIMIT ?3"
    );
    let (mut items, mut next, mut looked_at) = (Vec::new(), after, 0);
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
            let keep = |glimpse: Glimpse<'_>| {
                looked_at += 1;
                let device = glimpse.device;
                let is_wanted = wanted.is_none_or(|wanted| wanted.has_device(device));
                if glimpse.number > after
                    && is_wanted
                    && !is_elsewhere(scope, device)
                    && !erased.has(device, glimpse.number, glimpse.time)
                {
                    some.push((device, glimpse.to_point()));
                }
                Ok(true)
            };
            LogRow::of(row)?.show_or_note(tx, keep);
        }
        let devices: HashSet<DeviceId> = some.iter().map(|(device, _)| *device).collect();
        let in_sight = devices_in_sight(tx, scope, devices).await?;
        some.retain(|(device, _)| in_sight.contains(device));
        if items.len() + some.len() > limit {
            items.extend(some.into_iter().take(limit - items.len()));
            let last = items.last().map_or(next, |(_, point): &(DeviceId, Point)| point.number);
            return Ok(Part { points: items, next: last, is_end: false });
        }
        items.append(&mut some);
        next = rows[..read].last().map_or(Ok(next), |row| row.i64("last_number"))?;
        let is_end = read == rows.len() && rows.len() < usize::try_from(stride).unwrap_or(usize::MAX);
        // Rows of many locations are read one by one, or most of them would be read in vain.
        stride = if looked_at < MANY { STRIDE } else { 1 };
        if is_end || items.len() == limit || looked_at >= LOOKED_AT_MAX {
            // What was trimmed or erased at the end is passed too.
            let next = if is_end { next.max(end(tx, scope).await?) } else { next };
            return Ok(Part { points: items, next, is_end });
        }
    }
}

/// Whether a scope of one device leaves it out.
fn is_elsewhere(scope: Scope, device: DeviceId) -> bool {
    matches!(scope.reach, Reach::Device(own) if own != device)
}
