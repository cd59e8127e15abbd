//! The last locations of all visible devices, in pages.

use std::collections::HashMap;

use perigee_core::access::actor::Scope;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{LastFilter, StoredLocation};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::last::{DEVICES, last_in_row, last_points};
use crate::codec::Point;
use crate::sql::locations::memory::LastInMemory;
use crate::sql::locations::row::unreadable_readings;
use crate::sql::query::Query;
use crate::sql::scope;
use crate::{Row, Tx, params};

/// Maximum number of devices that one statement reads: a full page, and one more to see whether there is another.
const DEVICES_MAX: usize = 1_001;
/// The least number it reads: some of the devices may have no location.
const DEVICES_MIN: usize = 100;

/// A device, and its last location if it has one.
type Found = (DeviceId, Option<Point>);

/// The last locations that pass the filter, by device.
pub(in crate::sql::locations) async fn list_last(
    tx: &Tx,
    scope: Scope,
    filter: LastFilter,
    page: PageRequest,
) -> Result<Page<(DeviceId, StoredLocation)>> {
    let mut items = Vec::new();
    let mut after = page.after.unwrap_or(i64::MIN);
    let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX).saturating_add(1);
    let narrows = filter.area.is_some() || filter.since.is_some();
    while items.len() < wanted {
        let few = (wanted - items.len()).clamp(DEVICES_MIN, DEVICES_MAX);
        // A filter may drop most devices: large reads then need fewer statements.
        let at_once = if narrows { DEVICES_MAX } else { few };
        let found = next_devices(tx, scope, &filter, (after, at_once)).await?;
        let is_last = found.len() < at_once;
        after = found.last().map_or(after, |(device, _)| device.as_i64());
        let admitted = found
            .into_iter()
            .filter_map(|(device, point)| Some((device, point?)))
            .filter(|(_, point)| filter.admits(point.received_at, point.latitude, point.longitude))
            .take(wanted - items.len());
        for (device, point) in admitted {
            items.push((device, point.unpack().map_err(unreadable_readings)?));
        }
        if is_last {
            break;
        }
    }
    Ok(Page::cut(items, page.limit, |(device, _)| device.as_i64()))
}

/// The next visible devices with their last locations: from memory, which is never older than the tables, or else from
/// the tables.
async fn next_devices(tx: &Tx, scope: Scope, filter: &LastFilter, part: (i64, usize)) -> Result<Vec<Found>> {
    // An engine that keeps nothing in memory reads devices and locations by one statement.
    let Some(memory) = tx.memory() else {
        return in_tables(tx, scope, filter, part).await;
    };
    let rows = select("SELECT d.id AS device_id FROM device d", scope, filter, part).rows(tx).await?;
    let mut devices = Vec::with_capacity(rows.len());
    for row in &rows {
        devices.push(DeviceId::from_i64(row.i64("device_id")?));
    }
    let in_memory = memory.last(scope.account, &devices);
    let mut found: Vec<Found> = Vec::with_capacity(rows.len());
    let mut unknown = Vec::new();
    for (device, last) in devices.into_iter().zip(in_memory) {
        match last {
            LastInMemory::Known(last) => found.push((device, last)),
            LastInMemory::Unknown => {
                unknown.push(device.as_i64());
                found.push((device, None));
            }
        }
    }
    let mut read: HashMap<DeviceId, Point> =
        last_points(tx, scope.account, &unknown).await?.into_iter().collect();
    if !read.is_empty() {
        for (device, point) in &mut found {
            if let Some(last) = read.remove(device) {
                *point = Some(last);
            }
        }
    }
    Ok(found)
}

/// The next visible devices, as the tables have them.
async fn in_tables(tx: &Tx, scope: Scope, filter: &LastFilter, part: (i64, usize)) -> Result<Vec<Found>> {
    let rows = select(DEVICES, scope, filter, part).rows(tx).await?;
    let found = |row: &Row| {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        Ok((device, last_in_row(tx, scope.account, device, row)?))
    };
    rows.iter().map(found).collect()
}

/// Completes a statement over devices: the next visible ones after this id.
fn select(head: &str, scope: Scope, filter: &LastFilter, (after, at_once): (i64, usize)) -> Query {
    let sql = format!("{head} WHERE d.account_id = ?1 AND d.id > ?2");
    let mut query = Query::new(sql, params![scope.account, after]);
    scope::keep_devices(&mut query, scope, "d.id");
    if let Some(group) = filter.group {
        scope::keep_members(&mut query, scope, group, "d.id");
    }
    query.push_with(" ORDER BY d.id LIMIT {}", i64::try_from(at_once).unwrap_or(i64::MAX));
    query
}
