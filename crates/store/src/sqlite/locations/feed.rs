//! The feed from the log: its rows are read in order and what is out of sight or erased is left out.

use std::collections::HashSet;

use perigee_core::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::event::{Event, EventKind};
use perigee_core::id::DeviceId;
use perigee_core::location::Feed;
use perigee_core::store::Result;

use super::erase::Erased;
use crate::codec::{Point, unpack_batch};
use crate::sql::locations::{trimmed_to, unreadable_readings};
use crate::sql::scope::devices_in_sight;
use crate::{Tx, params};

/// Rows one statement reads.
const STRIDE: i64 = 16;
/// Locations one call looks at, however few of them are in sight.
pub(super) const LOOKED_AT_MAX: usize = 50_000;

/// Locations of devices in sight after this number.
pub(crate) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    if after > 0 && after < trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    let (points, next) = read(tx, scope, after, limit).await?;
    let items = points.into_iter().map(|(device, point)| Ok((device, point.unpack()?)));
    let items = items.collect::<std::result::Result<_, _>>().map_err(unreadable_readings)?;
    Ok(Feed { items, next })
}

/// The same locations as events: so many, or all there are, for events of other kinds are told between them.
pub(crate) async fn events(tx: &Tx, scope: Scope, mut after: i64, limit: u32) -> Result<Vec<Event>> {
    let mut points = Vec::new();
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    while points.len() < wanted {
        let left = u32::try_from(wanted - points.len()).unwrap_or(u32::MAX);
        let (some, next) = read(tx, scope, after, left).await?;
        points.extend(some);
        if next == after {
            break;
        }
        after = next;
    }
    let event = |(device, point): (DeviceId, Point)| Event {
        number: point.number,
        account: scope.account,
        at: point.received_at,
        kind: EventKind::LocationCreated,
        subject: device.to_string(),
        device: Some(device),
        data: serde_json::json!({ "number": point.number, "time": point.time.as_millis() }),
    };
    Ok(points.into_iter().map(event).collect())
}

/// The highest number of the account, also when its location is gone.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(last_number) AS last FROM location_log WHERE account_id = ?1";
    let last = tx.query_one(sql, params![scope.account]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

/// Up to so many locations after this number, and the number to go on from.
async fn read(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<(Vec<(DeviceId, Point)>, i64)> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let erased = Erased::after(tx, scope.account, after).await?;
    let sql = "SELECT last_number, first_number, received_at, points FROM location_log \
               WHERE account_id = ?1 AND last_number > ?2 ORDER BY last_number LIMIT ?3";
    let (mut items, mut next, mut looked_at) = (Vec::new(), after, 0);
    loop {
        let rows = tx.query(sql, params![scope.account, next, STRIDE]).await?;
        let mut some: Vec<(DeviceId, Point)> = Vec::new();
        let mut read = 0;
        for row in &rows {
            if items.len() + some.len() > limit {
                break;
            }
            read += 1;
            let (first, received_at) = (row.i64("first_number")?, row.timestamp("received_at")?);
            let keep = |device, point: Point| {
                looked_at += 1;
                if point.number > after && !is_elsewhere(scope, device) && !erased.has(device, &point) {
                    some.push((device, point));
                }
            };
            unpack_batch(row.bytes_ref("points")?, first, received_at, keep).map_err(unreadable_readings)?;
        }
        let devices: HashSet<DeviceId> = some.iter().map(|(device, _)| *device).collect();
        let in_sight = devices_in_sight(tx, scope, devices).await?;
        some.retain(|(device, _)| in_sight.contains(device));
        if items.len() + some.len() > limit {
            items.extend(some.into_iter().take(limit - items.len()));
            let last = items.last().map_or(next, |(_, point): &(DeviceId, Point)| point.number);
            return Ok((items, last));
        }
        items.append(&mut some);
        next = rows[..read].last().map_or(Ok(next), |row| row.i64("last_number"))?;
        let is_end = read == rows.len() && rows.len() < usize::try_from(STRIDE).unwrap_or(usize::MAX);
        if is_end || items.len() == limit || looked_at >= LOOKED_AT_MAX {
            // What was trimmed or erased at the end is passed too.
            return Ok((items, if is_end { next.max(end(tx, scope).await?) } else { next }));
        }
    }
}

/// Whether a scope of one device leaves it out.
fn is_elsewhere(scope: Scope, device: DeviceId) -> bool {
    matches!(scope.reach, Reach::Device(own) if own != device)
}
