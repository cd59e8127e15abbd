//! The last location of a device: the newest that is not suspect.

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::Result;

use crate::codec::Point;
use crate::sql::locations::memory::LastInMemory;
use crate::sql::locations::row::{LAST_COLUMNS, last_point, unreadable_readings};
use crate::sql::query::for_ids;
use crate::sql::scope;
use crate::{Row, Tx, Value, params};

/// The last location of a device.
pub(crate) async fn find_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    if let LastInMemory::Known(last) = in_memory(tx, account, device) {
        return last.map(|point| point.unpack().map_err(unreadable_readings)).transpose();
    }
    let sql = format!("SELECT {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id = ?2");
    let Some(row) = tx.query_opt(&sql, params![account, device]).await? else { return Ok(None) };
    let last = last_point(tx, account, device, &row);
    last.map(|point| point.unpack().map_err(unreadable_readings)).transpose()
}

/// A device's last location in memory, which is never older than that in the table.
fn in_memory(tx: &Tx, account: AccountId, device: DeviceId) -> LastInMemory {
    let found = tx.memory().and_then(|memory| memory.last(account, &[device]).pop());
    found.unwrap_or(LastInMemory::Unknown)
}

/// The last location of a visible device, from the tables.
pub(crate) async fn find_last_visible(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    find_last(tx, scope.account, device).await
}

/// Selects devices with their last locations from the tables.
pub(in crate::sql::locations) const DEVICES: &str = "\
    SELECT d.id AS device_id, l.number, l.time, l.received_at, l.latitude, l.longitude, l.late, \
        FALSE AS suspect, l.readings, l.checksum \
    FROM device d LEFT JOIN last_location l ON l.account_id = d.account_id AND l.device_id = d.id";

/// The last location of a device, from memory or else from its row of [`DEVICES`].
pub(in crate::sql::locations) fn last_of_row(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    row: &Row,
) -> Result<Option<StoredLocation>> {
    let last = match in_memory(tx, account, device) {
        LastInMemory::Known(last) => last,
        LastInMemory::Unknown => last_in_row(tx, account, device, row)?,
    };
    last.map(|point| point.unpack().map_err(unreadable_readings)).transpose()
}

/// The last location in a row of [`DEVICES`], if there is one.
pub(in crate::sql::locations) fn last_in_row(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    row: &Row,
) -> Result<Option<Point>> {
    if matches!(row.value("number")?, Value::Null) {
        return Ok(None);
    }
    Ok(last_point(tx, account, device, row))
}

/// The last locations of these devices from the table.
pub(crate) async fn last_points(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<Vec<(DeviceId, Point)>> {
    let sql = format!(
        "SELECT device_id, {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id IN ({{ids}})"
    );
    let rows = for_ids(tx, &sql, params![account], devices).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        found.extend(last_point(tx, account, device, row).map(|point| (device, point)));
    }
    Ok(found)
}
