//! What keeps a store well.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::idempotency::KEY_RETENTION_MS;
use perigee_core::retention::{DeletedRecords, RecordRetention};
use perigee_core::store::{CALL_RETENTION_DAYS, Maintenance, Result};
use perigee_core::time::Timestamp;

use super::{clock, large_groups, outbox, probe, records, signing_keys};
use crate::database::{Database, Engine};
use crate::params;
use crate::tx::Tx;
use crate::verify::fill_checksums;

/// Rows that one transaction deletes, so that others who write wait for milliseconds.
const AT_ONCE: u32 = 500;

/// What is over at some time: its table, its key, the column with the time, and how long that stays, in milliseconds.
const OVER: [Over; 4] = [
    ("session", "hash", "expires", 0),
    ("link", "hash", "expires", 0),
    ("idempotency", "account_id, user_id, endpoint, key", "creation", KEY_RETENTION_MS),
    ("call_hour", "account_id, hour, user_id, by_key", "hour", CALL_RETENTION_DAYS * 86_400_000 + 1),
];

type Over = (&'static str, &'static str, &'static str, i64);

/// Deletes some rows of one table that are over. Gives how many.
async fn forget_some(tx: &Tx, now: Timestamp, (table, key, column, kept_ms): Over) -> Result<u64> {
    tx.keep_device_cache_valid();
    // Rows that another job is at are left for the next time: waiting for them could become a deadlock.
    let free = match tx.engine() {
        Engine::Sqlite => "",
        Engine::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    let sql = format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {column} <= ?1 LIMIT ?2 {free})"
    );
    Ok(tx.execute(&sql, params![now.plus_millis(-kept_ms), AT_ONCE]).await?)
}

#[async_trait]
impl Maintenance for Database {
    async fn ping(&self) -> Result<()> {
        Database::ping(self).await
    }

    async fn watch_clock(&self) -> Result<()> {
        clock::trusted_now(self).await?;
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        self.write(|tx| probe::write(tx).boxed()).await?;
        self.read(|tx| probe::read(tx).boxed()).await
    }

    async fn fill_checksums(&self) -> Result<u64> {
        fill_checksums(self).await
    }

    async fn forget_expired(&self) -> Result<u64> {
        large_groups::finish_changes(self).await?;
        let now = clock::trusted_now(self).await?;
        let mut gone = self.write_background(move |tx| signing_keys::forget(tx, now).boxed()).await?;
        for table in OVER {
            loop {
                let some = self.write_background(move |tx| forget_some(tx, now, table).boxed()).await?;
                gone += some;
                if some < u64::from(AT_ONCE) {
                    break;
                }
            }
        }
        Ok(gone + outbox::forget_repetitions(self, now).await?)
    }

    async fn delete_old_records(&self, retention: RecordRetention) -> Result<DeletedRecords> {
        let now = clock::trusted_now(self).await?;
        records::delete_old(self, retention, now).await
    }
}
