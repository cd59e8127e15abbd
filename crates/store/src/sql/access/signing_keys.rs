//! The keys of tokens and of messages to push services: one signs, and earlier ones are valid until their end.

use perigee_core::access::credential::SigningKey;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::params;
use crate::row::Row;
use crate::sql::table_lock::{self, Table};
use crate::tx::Tx;

/// What the keys of a table sign.
#[derive(Clone, Copy)]
pub(in crate::sql) enum Keys {
    /// Tokens of the API.
    Tokens,
    /// Messages to push services.
    Push,
}

impl Keys {
    const fn table(self) -> &'static str {
        match self {
            Self::Tokens => "signing_key",
            Self::Push => "push_key",
        }
    }

    async fn lock(self, tx: &Tx) -> Result<()> {
        let table = match self {
            Self::Tokens => Table::SigningKey,
            Self::Push => Table::PushKey,
        };
        table_lock::lock(tx, table).await
    }
}

/// Every valid key, the signing one first. The signing key is the one without an expiry, not the newest: a clock that
/// is set back must not revive an old key.
pub(in crate::sql) async fn list(tx: &Tx, keys: Keys) -> Result<Vec<SigningKey>> {
    let sql = format!(
        "SELECT kid, pkcs8, creation, expires FROM {}
         WHERE expires IS NULL OR expires > ?1
         ORDER BY CASE WHEN expires IS NULL THEN 0 ELSE 1 END, creation DESC, kid",
        keys.table()
    );
    let key = |row: &Row| {
        Ok(SigningKey {
            kid: row.text("kid")?,
            pkcs8: row.bytes("pkcs8")?,
            creation: row.timestamp("creation")?,
            expires: row.opt_timestamp("expires")?,
        })
    };
    tx.query(&sql, params![tx.now()]).await?.iter().map(key).collect()
}

/// Every valid key. If there is none, stores the fresh one; of several nodes that start at once, one succeeds.
pub(in crate::sql) async fn list_or_keep(tx: &Tx, keys: Keys, fresh: SigningKey) -> Result<Vec<SigningKey>> {
    keys.lock(tx).await?;
    let known = list(tx, keys).await?;
    if !known.is_empty() {
        return Ok(known);
    }
    insert(tx, keys, &fresh).await?;
    Ok(vec![fresh])
}

/// Replaces the signing key.
pub(in crate::sql) async fn rotate(
    tx: &Tx,
    keys: Keys,
    fresh: SigningKey,
    old_until: Timestamp,
) -> Result<()> {
    keys.lock(tx).await?;
    let sql = format!("UPDATE {} SET expires = ?1 WHERE expires IS NULL OR expires > ?1", keys.table());
    tx.execute(&sql, params![old_until]).await?;
    delete_expired(tx, keys, tx.now()).await?;
    insert(tx, keys, &fresh).await
}

/// Deletes keys that have expired by this instant.
pub(in crate::sql) async fn delete_expired(tx: &Tx, keys: Keys, now: Timestamp) -> Result<u64> {
    let sql = format!("DELETE FROM {} WHERE expires <= ?1", keys.table());
    Ok(tx.execute(&sql, params![now]).await?)
}

async fn insert(tx: &Tx, keys: Keys, key: &SigningKey) -> Result<()> {
    let sql = format!("INSERT INTO {} (kid, pkcs8, creation) VALUES (?1, ?2, ?3)", keys.table());
    tx.execute(&sql, params![&key.kid, &key.pkcs8, key.creation]).await?;
    Ok(())
}
