//! The keys of tokens: one signs, and earlier ones verify until their tokens have expired.

use perigee_core::access::credential::SigningKey;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::params;
use crate::row::Row;
use crate::sql::table_lock::{self, Table};
use crate::tx::Tx;

/// Every valid key, the signing one first. The signing key is the one without an expiry, not the newest: a clock that
/// is set back must not revive an old key.
pub(in crate::sql) async fn list(tx: &Tx) -> Result<Vec<SigningKey>> {
    let sql = "SELECT kid, pkcs8, creation, expires FROM signing_key
               WHERE expires IS NULL OR expires > ?1
               ORDER BY CASE WHEN expires IS NULL THEN 0 ELSE 1 END, creation DESC, kid";
    let key = |row: &Row| {
        Ok(SigningKey {
            kid: row.text("kid")?,
            pkcs8: row.bytes("pkcs8")?,
            creation: row.timestamp("creation")?,
            expires: row.opt_timestamp("expires")?,
        })
    };
    tx.query(sql, params![tx.now()]).await?.iter().map(key).collect()
}

/// Every valid key. If there is none, stores the fresh one; of several nodes that start at once, one succeeds.
pub(in crate::sql) async fn list_or_keep(tx: &Tx, fresh: SigningKey) -> Result<Vec<SigningKey>> {
    table_lock::lock(tx, Table::SigningKey).await?;
    let keys = list(tx).await?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    insert(tx, &fresh).await?;
    Ok(vec![fresh])
}

/// Replaces the signing key.
pub(in crate::sql) async fn rotate(tx: &Tx, fresh: SigningKey, old_until: Timestamp) -> Result<()> {
    table_lock::lock(tx, Table::SigningKey).await?;
    let sql = "UPDATE signing_key SET expires = ?1 WHERE expires IS NULL OR expires > ?1";
    tx.execute(sql, params![old_until]).await?;
    delete_expired(tx, tx.now()).await?;
    insert(tx, &fresh).await
}

/// Deletes keys that have expired by this instant.
pub(in crate::sql) async fn delete_expired(tx: &Tx, now: Timestamp) -> Result<u64> {
    Ok(tx.execute("DELETE FROM signing_key WHERE expires <= ?1", params![now]).await?)
}

async fn insert(tx: &Tx, key: &SigningKey) -> Result<()> {
    tx.execute(
        "INSERT INTO signing_key (kid, pkcs8, creation) VALUES (?1, ?2, ?3)",
        params![&key.kid, &key.pkcs8, key.creation],
    )
    .await?;
    Ok(())
}
