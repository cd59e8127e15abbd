//! Trimming the log: old rows whose locations are in chunks are read only by the location feed and are deleted.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::clock;
use crate::sql::events::event_trim::unneeded_by_webhooks;
use crate::sql::rules::rule_engine::evaluated_to;
use crate::sql::timeline::followed_to;
use crate::{Database, Tx};

/// Rows of an account's log that may be deleted: those that meet all three conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrimBounds {
    /// The row was received before this time.
    pub(crate) received_before: Timestamp,
    /// Webhooks have read the row, because its number is at most the second value, or it was received before the first.
    pub(crate) webhooks: (Timestamp, i64),
    /// Rules and timelines consider the row, because its number is at most the second value, or it was received before
    /// the first.
    pub(crate) rules: (Timestamp, i64),
}

/// The result of one transaction that deletes rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trimmed {
    /// Number of locations in the deleted rows.
    pub(crate) locations: u64,
    /// Whether it deleted as many rows as one transaction may.
    pub(crate) more: bool,
}

/// Deletes rows that were received more than `keep_ms` ago and are in chunks, in the logs of all accounts. Returns the
/// number of their locations.
pub(super) async fn trim(database: &Database, keep_ms: i64) -> Result<u64> {
    let now = clock::trusted_now(database).await?;
    let accounts = database.log().accounts_to_trim(database, now.plus_millis(-keep_ms)).await?;
    // Saved state need not be replayed when the store is opened, so its rows can be trimmed.
    if let Some(memory) = database.memory() {
        memory.save(database).await?;
    }
    let mut deleted = 0;
    for account in accounts {
        loop {
            let trimmed =
                database.write_background(move |tx| trim_some(tx, account, keep_ms, now).boxed()).await?;
            deleted += trimmed.locations;
            if !trimmed.more {
                break;
            }
        }
    }
    Ok(deleted)
}

async fn trim_some(tx: &Tx, account: AccountId, keep_ms: i64, now: Timestamp) -> Result<Trimmed> {
    tx.lock_account(account).await?;
    let received_before = now.plus_millis(-keep_ms);
    let evaluated = evaluated_to(tx, account).await?.unwrap_or(i64::MAX);
    let followed = followed_to(tx, account).await?.unwrap_or(i64::MAX);
    let bounds = TrimBounds {
        received_before,
        webhooks: unneeded_by_webhooks(tx, account, now).await?,
        // Locations that rules or timelines do not consider yet are kept twice as long.
        rules: (received_before.plus_millis(-keep_ms), evaluated.min(followed)),
    };
    tx.log().trim(tx, account, bounds).await
}
