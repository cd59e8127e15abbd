//! The store's `Maintenance` trait: probes, the clock, missing checksums, and the deletion of expired rows.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::accounts::retention::{DeletedRecords, RecordRetention};
use perigee_core::idempotency::KEY_RETENTION_MS;
use perigee_core::reports::ReportNotice;
use perigee_core::store::{CALL_RETENTION_DAYS, Maintenance, Result};
use perigee_core::time::Timestamp;

use super::fill_checksums::fill_checksums;
use crate::database::Database;
use crate::params;
use crate::sql::access::signing_keys::{self, Keys};
use crate::sql::{clock, groups::large_groups, notifications::outbox, probe, records};
use crate::tx::Tx;

/// Rows that one transaction deletes; bounds the time other writers wait.
const ROWS_PER_JOB: u32 = 500;

/// Tables whose rows expire: table, key, time column, and how long after that time the row is kept, in milliseconds.
const EXPIRING: [Expiring; 6] = [
    ("session", "hash", "expires", 0),
    ("link", "hash", "expires", 0),
    ("share_directory", "secret", "ends", 0),
    ("idempotency", "account_id, user_id, endpoint, key", "creation", KEY_RETENTION_MS),
    ("call_hour", "account_id, hour, user_id, by_key", "hour", CALL_RETENTION_DAYS * 86_400_000 + 1),
    ("report_file", "account_id, report_id, number", "created", ReportNotice::KEPT_MS),
];

type Expiring = (&'static str, &'static str, &'static str, i64);

/// Deletes some expired rows of one table. Returns how many.
async fn delete_some(tx: &Tx, now: Timestamp, (table, key, column, kept_ms): Expiring) -> Result<u64> {
    tx.lock_upkeep().await?;
    let sql = format!(
        "DELETE FROM {table} WHERE {column} <= ?1 \
             AND ({key}) IN (SELECT {key} FROM {table} WHERE {column} <= ?1 LIMIT ?2)"
    );
    Ok(tx.execute(&sql, params![now.plus_millis(-kept_ms), ROWS_PER_JOB]).await?)
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

    async fn delete_expired(&self) -> Result<u64> {
        large_groups::finish_changes(self).await?;
        let now = clock::trusted_now(self).await?;
        let mut deleted = 0;
        for keys in [Keys::Tokens, Keys::Push] {
            deleted +=
                self.write_background(move |tx| signing_keys::delete_expired(tx, keys, now).boxed()).await?;
        }
        for table in EXPIRING {
            loop {
                let some = self.write_background(move |tx| delete_some(tx, now, table).boxed()).await?;
                deleted += some;
                if some < u64::from(ROWS_PER_JOB) {
                    break;
                }
            }
        }
        Ok(deleted + outbox::delete_repetitions(self, now).await?)
    }

    async fn delete_old_records(&self, retention: RecordRetention) -> Result<DeletedRecords> {
        let now = clock::trusted_now(self).await?;
        records::delete_old(self, retention, now).await
    }
}
