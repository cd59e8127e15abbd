//! Metrics of the store as a whole, for the operator.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::notifications::notification::Channel;
use perigee_core::store::{Backlog, DamageMetrics, Metrics, PendingWrites, Result, StoreMetrics};
use perigee_core::time::Timestamp;

use crate::database::{Database, Engine};
use crate::params;
use crate::row::Row;
use crate::sql::quarantine;
use crate::tx::Tx;

const POSTGRES_SIZE: &str = "SELECT pg_database_size(current_database()) AS bytes";

/// Free pages are not counted: SQLite uses them before its file grows.
const SQLITE_SIZE: &str = "SELECT (page_count - freelist_count) * page_size AS bytes \
    FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";

async fn size(tx: &Tx) -> Result<u64> {
    let sql = match tx.engine() {
        Engine::Sqlite => SQLITE_SIZE,
        Engine::Postgres => POSTGRES_SIZE,
    };
    Ok(tx.query_one(sql, &[]).await?.int("bytes")?)
}

async fn read(tx: &Tx) -> Result<StoreMetrics> {
    let (engine, bytes) = match tx.engine() {
        Engine::Sqlite => {
            ("sqlite", "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()")
        }
        Engine::Postgres => ("postgresql", POSTGRES_SIZE),
    };
    let counts = tx
        .query_one(
            "SELECT (SELECT COUNT(*) FROM account) AS accounts,
                 (SELECT COUNT(*) FROM user_directory) AS users,
                 (SELECT COUNT(*) FROM device) AS devices",
            &[],
        )
        .await?;
    let mut messages = Vec::new();
    for channel in Channel::all() {
        let row = tx
            .query_one(
                "SELECT COUNT(*) AS waiting, MIN(queued_at) AS oldest FROM notification
                 WHERE channel = ?1 AND due IS NOT NULL",
                params![channel.name()],
            )
            .await?;
        messages.push((*channel, backlog(&row)?));
    }
    let deliveries = tx
        .query_one(
            "SELECT COUNT(*) AS waiting, MIN(creation) AS oldest FROM webhook_delivery
             WHERE state = 'waiting'",
            &[],
        )
        .await?;
    Ok(StoreMetrics {
        engine,
        bytes: tx.query_one(bytes, &[]).await?.int("bytes")?,
        accounts: counts.int("accounts")?,
        users: counts.int("users")?,
        devices: counts.int("devices")?,
        messages,
        deliveries: backlog(&deliveries)?,
        oldest_unevaluated: oldest_unevaluated(tx).await?,
        damage: DamageMetrics { passed_over: tx.damage().count(), set_aside: quarantine::count(tx).await? },
    })
}

fn backlog(row: &Row) -> Result<Backlog> {
    Ok(Backlog { waiting: row.int("waiting")?, oldest: row.opt_timestamp("oldest")? })
}

/// The receipt time of the oldest location that the rule engine has not evaluated. Reads one row of each account's log.
async fn oldest_unevaluated(tx: &Tx) -> Result<Option<Timestamp>> {
    let sql = "SELECT MIN(first.received_at) AS oldest FROM (
             SELECT (SELECT l.received_at FROM location_log l
                     WHERE l.account_id = a.id AND l.last_number > COALESCE(f.cursor, 0)
                     ORDER BY l.last_number LIMIT 1) AS received_at
             FROM account a LEFT JOIN rule_follower f ON f.account_id = a.id) first";
    Ok(tx.query_one(sql, &[]).await?.opt_timestamp("oldest")?)
}

#[async_trait]
impl Metrics for Database {
    async fn store_metrics(&self) -> Result<StoreMetrics> {
        self.read(move |tx| read(tx).boxed()).await
    }

    async fn damage_metrics(&self) -> Result<DamageMetrics> {
        self.read(|tx| {
            let passed_over = tx.damage().count();
            async move { Ok(DamageMetrics { passed_over, set_aside: quarantine::count(tx).await? }) }.boxed()
        })
        .await
    }

    async fn database_size(&self) -> Result<u64> {
        self.read(|tx| size(tx).boxed()).await
    }

    fn pending_writes(&self) -> PendingWrites {
        PendingWrites { writes: self.writes_waiting(), locations: self.submission_queue().waiting() }
    }
}
