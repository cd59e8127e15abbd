//! The copy of a device's licence in the row of its state.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Copies the licences of these devices to the rows of their states, where they have one. No submission runs
/// meanwhile, because the account is locked.
pub(super) async fn copy(tx: &Tx, account: AccountId, devices: &[i64]) -> Result<()> {
    let mut states = state_row::lock_all(tx, account, devices).await?;
    let sql = "SELECT id, licensed, expires FROM device WHERE account_id = ?1 AND id IN ({ids})";
    for row in for_ids(tx, sql, params![account], devices).await? {
        if let Some(state) = states.get_mut(&DeviceId::from_i64(row.i64("id")?)) {
            (state.licensed, state.expires) = (Some(row.bool("licensed")?), row.opt_timestamp("expires")?);
        }
    }
    let states: Vec<StateRow> = states.into_values().collect();
    state_row::save_all(tx, &states).await
}
