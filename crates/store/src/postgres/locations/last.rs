//! Replacing the last location in the state of a device.

#[cfg(test)]
mod tests;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::Result;

use crate::codec::Point;
use crate::sql::locations::last_checksum;
use crate::{Tx, params};

/// Replaces the last location of a device, or leaves it without one.
pub(super) async fn replace(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    last: Option<StoredLocation>,
) -> Result<()> {
    let last = last.as_ref().map(Point::pack);
    let last = last.as_ref();
    let sql = "UPDATE device_live SET last_number = ?3, last_time = ?4, last_received_at = ?5, last_latitude = ?6, \
                   last_longitude = ?7, last_late = ?8, last_readings = ?9, last_checksum = ?10 \
               WHERE account_id = ?1 AND device_id = ?2";
    let values = params![
        account,
        device,
        last.map(|last| last.number),
        last.map(|last| last.time),
        last.map(|last| last.received_at),
        last.map(|last| last.latitude.as_e7()),
        last.map(|last| last.longitude.as_e7()),
        last.map(|last| last.trust.late),
        last.map(|last| last.readings.to_vec()),
        last.map(|last| last_checksum(account, device, last)),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}
