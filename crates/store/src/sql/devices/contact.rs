//! Records that a device made contact, even if its data is refused.

use perigee_core::access::actor::Scope;
use perigee_core::accounts::license::{DeviceState, License};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::store::Result;

use super::super::query::Query;
use crate::sql::{rules::rule_engine, scope};
use crate::{Tx, params};

/// Records that a visible device made contact now, and returns whether its data may be stored. Locks the account.
pub(crate) async fn record_contact(tx: &Tx, scope: Scope, device: DeviceId) -> Result<bool> {
    tx.lock_account(scope.account).await?;
    let mut query = Query::new(
        "SELECT d.licensed, d.expires, a.decided_at FROM device d JOIN account a ON a.id = d.account_id \
         WHERE d.account_id = ?1 AND d.id = ?2",
        params![scope.account, device],
    );
    scope::keep_devices(&mut query, scope, "d.id");
    let row = query.row(tx).await?.ok_or(StoreError::NotFound(Kind::Device))?;
    let license = License { licensed: row.bool("licensed")?, expires: row.opt_timestamp("expires")? };
    let now = tx.now().max(row.timestamp("decided_at")?);
    tx.log().record_contact(tx, scope.account, device).await?;
    rule_engine::wake(tx, scope.account, device).await?;
    let active = license.state(now) == DeviceState::Active;
    if license.licensed && !active {
        // A licence that was once seen to be expired stays so, even if the clock is set back.
        let sql = "UPDATE device SET licensed = FALSE, lapsed = TRUE, checksum = checksum - 1 \
                   WHERE account_id = ?1 AND id = ?2 AND licensed = TRUE";
        tx.execute(sql, params![scope.account, device]).await?;
        tx.log().licenses_changed(tx, scope.account, &[device.as_i64()]).await?;
    }
    Ok(active)
}
