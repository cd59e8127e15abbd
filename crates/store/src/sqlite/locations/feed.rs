//! The location feed: rows of the log in order, without locations that are erased or not visible to the reader.

use std::collections::HashSet;

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::id::DeviceId;
use perigee_core::store::Result;

use super::erase::Erased;
use super::log_row::{COLUMNS, LogRow};
use crate::codec::{Point, PointRef};
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::reads::feed::FeedPart;
use crate::sql::scope::visible_devices;
use crate::{Tx, params};

/// Rows that one statement reads while rows are small.
const STRIDE: i64 = 16;
/// Once this many locations were examined, rows are assumed to be large and are read one at a time.
const LARGE_ROWS_AT: usize = 1_000;
/// Locations that one call examines at most, however few of them are visible.
pub(super) const EXAMINED_MAX: usize = 50_000;

/// Up to `limit` locations after this number, of the wanted devices.
pub(crate) async fn read(
    tx: &Tx,
    scope: Scope,
    wanted: Option<&Wanted<'_>>,
    after: i64,
    limit: usize,
) -> Result<FeedPart> {
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
            return Ok(FeedPart { points: items, read_to: Some(last) });
        }
        items.append(&mut some);
        next = rows[..read].last().map_or(Ok(next), |row| row.i64("last_number"))?;
        let is_end = read == rows.len() && rows.len() < usize::try_from(stride).unwrap_or(usize::MAX);
        // Large rows are read one at a time: the limit is likely to be reached within the next one.
        stride = if examined < LARGE_ROWS_AT { STRIDE } else { 1 };
        if is_end || items.len() == limit || examined >= EXAMINED_MAX {
            return Ok(FeedPart { points: items, read_to: (!is_end).then_some(next) });
        }
    }
}

/// Whether the scope is one other device.
fn is_other_device(scope: Scope, device: DeviceId) -> bool {
    matches!(scope.reach, Reach::Device(own) if own != device)
}
