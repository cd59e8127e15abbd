//! API keys: at most one per user.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::ApiKey;
use perigee_core::access::user::User;
use perigee_core::id::{KeyId, UserId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::params;
use crate::sql::{access::audit, access::directory, access::users, column};
use crate::tx::Tx;

/// The key of a user, if they have one.
pub(in crate::sql) async fn find(tx: &Tx, user: &User) -> Result<Option<ApiKey>> {
    let row = tx
        .query_opt(
            "SELECT id, hash, hint, creation, last_used FROM api_key WHERE account_id = ?1 AND user_id = ?2",
            params![user.account, user.id],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(ApiKey {
        id: KeyId::from_i64(row.i64("id")?),
        hash: column::hash(&row, "hash")?,
        hint: row.text("hint")?,
        creation: row.timestamp("creation")?,
        last_used: row.opt_timestamp("last_used")?,
    }))
}

/// Replaces the key of a user.
pub(in crate::sql) async fn put(tx: &Tx, origin: Origin, user: UserId, key: ApiKey) -> Result<()> {
    let user = users::lock(tx, user).await?;
    tx.execute(
        "INSERT INTO api_key (account_id, user_id, id, hash, hint, creation, last_used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (account_id, user_id) DO UPDATE SET id = excluded.id, hash = excluded.hash,
             hint = excluded.hint, creation = excluded.creation, last_used = excluded.last_used",
        params![user.account, user.id, key.id, key.hash, key.hint, key.creation, key.last_used],
    )
    .await?;
    audit::record(tx, user.account, &origin, "apiKey.create", Some(user.id.to_string())).await
}

/// Deletes the key of a user; returns whether there was one.
pub(in crate::sql) async fn delete(tx: &Tx, origin: Origin, user: UserId) -> Result<bool> {
    let user = users::lock(tx, user).await?;
    end(tx, &origin, &user).await
}

/// Deletes the key of a user whose account is locked.
pub(in crate::sql) async fn end(tx: &Tx, origin: &Origin, user: &User) -> Result<bool> {
    let sql = "DELETE FROM api_key WHERE account_id = ?1 AND user_id = ?2";
    let existed = tx.execute(sql, params![user.account, user.id]).await? > 0;
    if existed {
        audit::record(tx, user.account, origin, "apiKey.delete", Some(user.id.to_string())).await?;
    }
    Ok(existed)
}

/// Records that a token was issued for this key, unless the key was replaced or a later use is recorded.
pub(in crate::sql) async fn touch(tx: &Tx, user: UserId, key: KeyId, at: Timestamp) -> Result<()> {
    let sql = "UPDATE api_key SET last_used = ?3
               WHERE account_id = {account}
                 AND user_id = ?1 AND id = ?2 AND (last_used IS NULL OR last_used < ?3)";
    directory::naming_account(tx, user, sql, params![user, key, at]).await?.execute(tx).await?;
    Ok(())
}
