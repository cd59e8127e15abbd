//! The keys that sign tokens.

use perigee_core::credential::SigningKey;
use perigee_core::store::Result;

use super::table_lock::{self, Table};
use crate::params;
use crate::row::Row;
use crate::tx::Tx;

/// Every key, newest first.
pub(super) async fn list(tx: &Tx) -> Result<Vec<SigningKey>> {
    let sql = "SELECT kid, pkcs8, creation FROM signing_key ORDER BY creation DESC, kid";
    let key = |row: &Row| {
        Ok(SigningKey {
            kid: row.text("kid")?,
            pkcs8: row.bytes("pkcs8")?,
            creation: row.timestamp("creation")?,
        })
    };
    tx.query(sql, &[]).await?.iter().map(key).collect()
}

/// Every key; the fresh one when there was none, and when several nodes start at once that of one of them.
pub(super) async fn list_or_keep(tx: &Tx, fresh: SigningKey) -> Result<Vec<SigningKey>> {
    table_lock::hold(tx, Table::SigningKey).await?;
    let keys = list(tx).await?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    tx.execute(
        "INSERT INTO signing_key (kid, pkcs8, creation) VALUES (?1, ?2, ?3)",
        params![&fresh.kid, &fresh.pkcs8, fresh.creation],
    )
    .await?;
    Ok(vec![fresh])
}
