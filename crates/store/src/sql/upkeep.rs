//! What keeps a store well.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::idempotency::KEPT_MS;
use perigee_core::store::{Result, Upkeep};
use perigee_core::time::Timestamp;

use super::{calls, clock, outbox, signing_keys};
use crate::database::{Database, Engine};
use crate::params;
use crate::tx::Tx;

async fn forget(tx: &Tx, now: Timestamp) -> Result<u64> {
    // Rows that another job is at are left for the next time: waiting for them could become a deadlock.
    let free = match tx.engine() {
        Engine::Sqlite => "",
        Engine::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    let sessions =
        format!("DELETE FROM session WHERE hash IN (SELECT hash FROM session WHERE expires <= ?1 {free})");
    let links = format!("DELETE FROM link WHERE hash IN (SELECT hash FROM link WHERE expires <= ?1 {free})");
    let answers = format!(
        "DELETE FROM idempotency WHERE (account_id, user_id, endpoint, key) IN (
             SELECT account_id, user_id, endpoint, key FROM idempotency WHERE creation <= ?1 {free})"
    );
    Ok(tx.execute(&sessions, params![now]).await?
        + tx.execute(&links, params![now]).await?
        + tx.execute(&answers, params![now.plus_millis(-KEPT_MS)]).await?
        + signing_keys::forget(tx, now).await?
        + calls::forget(tx, now).await?)
}

#[async_trait]
impl Upkeep for Database {
    async fn ping(&self) -> Result<()> {
        Database::ping(self).await
    }

    async fn watch_clock(&self) -> Result<()> {
        clock::believed(self).await?;
        Ok(())
    }

    async fn forget_expired(&self) -> Result<u64> {
        let now = clock::believed(self).await?;
        let gone = self.write_aside(move |tx| forget(tx, now).boxed()).await?;
        Ok(gone + outbox::forget_repetitions(self, now).await?)
    }
}
