//! The last locations of a group's devices, by one statement however many there are.

use std::collections::HashMap;

use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::location::StoredLocation;
use perigee_core::store::Result;

use super::last::{DEVICES, last_of_row};
use crate::{Tx, params};

/// The newest location that can be trusted of each device of the group that has one.
pub(crate) async fn last_of_group(
    tx: &Tx,
    account: AccountId,
    group: GroupId,
) -> Result<HashMap<DeviceId, StoredLocation>> {
    let sql = format!(
        "{DEVICES} WHERE d.account_id = ?1 AND d.id IN \
         (SELECT m.device_id FROM group_member m WHERE m.account_id = ?1 AND m.group_id = ?2)"
    );
    let mut last = HashMap::new();
    for row in tx.query(&sql, params![account, group]).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        last.extend(last_of_row(tx, account, device, &row)?.map(|location| (device, location)));
    }
    Ok(last)
}
