//! Idempotency keys: earlier requests, and the resources that they created.

use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::idempotency::{IdempotencyKey, KEY_RETENTION_MS};
use perigee_core::store::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::column;
use crate::params;
use crate::tx::Tx;

/// The ID that the same request created before, within the retention of keys. The account must be locked.
pub(crate) async fn find<T: DeserializeOwned>(
    tx: &Tx,
    account: AccountId,
    once: Option<&IdempotencyKey>,
) -> Result<Option<T>> {
    let Some(once) = once else { return Ok(None) };
    let row = tx
        .query_opt(
            "SELECT body_hash, made FROM idempotency
             WHERE account_id = ?1 AND user_id = ?2 AND endpoint = ?3 AND key = ?4 AND creation > ?5",
            params![account, once.user, &once.endpoint, &once.key, tx.now().plus_millis(-KEY_RETENTION_MS)],
        )
        .await?;
    match row {
        Some(row) if column::hash(&row, "body_hash")? != once.body_hash => {
            Err(StoreError::IdempotencyMismatch)
        }
        Some(row) => column::json(&row, "made").map(Some),
        None => Ok(None),
    }
}

/// Stores what the request created, replacing an expired entry.
pub(crate) async fn keep<T: Serialize>(
    tx: &Tx,
    account: AccountId,
    once: Option<&IdempotencyKey>,
    made: &T,
) -> Result<()> {
    let Some(once) = once else { return Ok(()) };
    let made = serde_json::to_string(made).map_err(|cause| StoreError::Internal(cause.into()))?;
    tx.execute(
        "INSERT INTO idempotency (account_id, user_id, endpoint, key, body_hash, made, creation)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (account_id, user_id, endpoint, key) DO UPDATE
         SET body_hash = excluded.body_hash, made = excluded.made, creation = excluded.creation",
        params![account, once.user, &once.endpoint, &once.key, once.body_hash, made, tx.now()],
    )
    .await?;
    Ok(())
}
