//! The licence of a device, repeated beside its state.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Copies the licences of these devices beside their states, where they have one. No submission runs meanwhile, because the
/// account is locked.
pub(super) async fn copy(tx: &Tx, account: AccountId, devices: &[i64]) -> Result<()> {
    let sql = "UPDATE device_live v SET licensed = d.licensed, expires = d.expires FROM device d \
               WHERE v.account_id = ?1 AND v.device_id IN ({ids}) \
               AND d.account_id = v.account_id AND d.id = v.device_id";
    for_ids(tx, sql, params![account], devices).await?;
    Ok(())
}
