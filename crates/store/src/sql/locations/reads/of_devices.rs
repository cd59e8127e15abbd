//! The last locations of several devices.

use std::collections::HashMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::Result;

use super::last::{DEVICES, last_of_row};
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// The last location of each of these devices that has one.
pub(crate) async fn last_of_devices(
    tx: &Tx,
    account: AccountId,
    devices: impl Iterator<Item = DeviceId>,
) -> Result<HashMap<DeviceId, StoredLocation>> {
    let sql = format!("{DEVICES} WHERE d.account_id = ?1 AND d.id IN ({{ids}})");
    let ids: Vec<i64> = devices.map(DeviceId::as_i64).collect();
    let mut last = HashMap::with_capacity(ids.len());
    for row in for_ids(tx, &sql, params![account], &ids).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        last.extend(last_of_row(tx, account, device, &row)?.map(|location| (device, location)));
    }
    Ok(last)
}
