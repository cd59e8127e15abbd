//! The last location that can be trusted: of one device, and of all that are in sight.

use perigee_core::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{LastFilter, StoredLocation};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::super::query::{Query, for_ids, insert_many};
use super::super::scope;
use super::row::{LAST_COLUMNS, from_row, point_from_row, unreadable_readings};
use crate::codec::Point;
use crate::sqlite::locations::Entry;
use crate::{Row, Tx, params};

/// Rows one statement reads while most of them may be filtered out.
const STRIDE: i64 = 1_000;

/// The newest location of a device that can be trusted.
pub(crate) async fn find_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    if let Some(entry) = in_memory(tx, account, device) {
        return entry.last.map(|point| point.unpack().map_err(unreadable_readings)).transpose();
    }
    let sql = format!("SELECT {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id = ?2");
    tx.query_opt(&sql, params![account, device]).await?.as_ref().map(from_row).transpose()
}

/// What memory has of a device, which is never behind the table.
fn in_memory(tx: &Tx, account: AccountId, device: DeviceId) -> Option<Entry> {
    tx.live().and_then(|live| live.present().get((account, device)).cloned())
}

pub(super) async fn find_last_in_sight(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    find_last(tx, scope.account, device).await
}

/// The last locations that pass the filter, by device.
pub(super) async fn list_last(
    tx: &Tx,
    scope: Scope,
    filter: LastFilter,
    page: PageRequest,
) -> Result<Page<(DeviceId, StoredLocation)>> {
    let mut items = Vec::new();
    let mut after = page.after.unwrap_or(i64::MIN);
    let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX).saturating_add(1);
    while items.len() < wanted {
        let rows = select(scope, &filter, after).rows(tx).await?;
        for row in &rows {
            let device = DeviceId::from_i64(row.i64("device_id")?);
            after = after.max(device.as_i64());
            if let Some(last) =
                last_of_row(tx, scope.account, device, row)?.filter(|last| filter.admits(last))
            {
                items.push((device, last));
            }
        }
        if rows.len() < usize::try_from(STRIDE).unwrap_or(usize::MAX) {
            break;
        }
    }
    Ok(Page::cut(items, page.limit, |(device, _)| device.as_i64()))
}

/// Every device in sight with what the table has of it, which memory may be ahead of.
fn select(scope: Scope, filter: &LastFilter, after: i64) -> Query {
    let sql = format!("{DEVICES} WHERE d.account_id = ?1 AND d.id > ?2");
    let mut query = Query::new(sql, params![scope.account, after]);
    scope::keep_devices(&mut query, scope, "d.id");
    if let Some(group) = filter.group {
        scope::keep_members(&mut query, scope, group, "d.id");
    }
    query.push_with(" ORDER BY d.id LIMIT {}", STRIDE);
    query
}

/// Devices and their last locations as the table has them.
pub(super) const DEVICES: &str = "\
    SELECT d.id AS device_id, l.number, l.time, l.received_at, l.latitude, l.longitude, l.late, \
        FALSE AS suspect, l.readings \
    FROM device d LEFT JOIN last_location l ON l.account_id = d.account_id AND l.device_id = d.id";

/// The last location of a device, from memory or else from its row of [`DEVICES`].
pub(super) fn last_of_row(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    row: &Row,
) -> Result<Option<StoredLocation>> {
    let last = match in_memory(tx, account, device) {
        Some(entry) => entry.last,
        None if row.opt_i64("number")?.is_none() => None,
        None => Some(point_from_row(row)?),
    };
    last.map(|point| point.unpack().map_err(unreadable_readings)).transpose()
}

/// The last locations of those of these devices that have one in the table.
pub(crate) async fn last_points(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<Vec<(DeviceId, Point)>> {
    let sql = format!(
        "SELECT device_id, {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id IN ({{ids}})"
    );
    let rows = for_ids(tx, &sql, params![account], devices).await?;
    rows.iter().map(|row| Ok((DeviceId::from_i64(row.i64("device_id")?), point_from_row(row)?))).collect()
}

/// Makes these the last locations in the table.
pub(crate) async fn put_last_points(tx: &Tx, last: &[((AccountId, DeviceId), Point)]) -> Result<()> {
    let row = |((account, device), point): &((AccountId, DeviceId), Point)| {
        params![
            *account,
            *device,
            point.number,
            point.time,
            point.received_at,
            point.latitude.as_e7(),
            point.longitude.as_e7(),
            point.trust.late,
            &*point.readings,
        ]
        .to_vec()
    };
    insert_many(tx, INSERT, &last.iter().map(row).collect::<Vec<_>>(), REPLACE).await?;
    Ok(())
}

const INSERT: &str = "INSERT INTO last_location \
    (account_id, device_id, number, time, received_at, latitude, longitude, late, readings)";
const REPLACE: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, \
    time = excluded.time, received_at = excluded.received_at, latitude = excluded.latitude, \
    longitude = excluded.longitude, late = excluded.late, readings = excluded.readings";
