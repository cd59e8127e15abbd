//! Migrating a PostgreSQL database, each migration in a transaction of its own.

use perigee_core::time::Timestamp;
use tokio_postgres::{Client, GenericClient};

use super::locations::{PACKED_SINCE, pack_rows};
use crate::error::{OpenError, describe};
use crate::migration::{self, Applied, Migration, POSTGRES};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migration (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL
)";

/// Lets one node at a time migrate a schema; the lock ends with the transaction, also when the node dies. The limits of
/// ordinary statements do not apply to migrations.
pub(super) const LOCK: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SELECT pg_advisory_xact_lock(hashtextextended(
        'perigee schema ' || current_database() || ' ' || current_schema(), 0))";

/// The migrations that are still to be applied.
pub(crate) async fn pending(client: &impl GenericClient) -> Result<&'static [Migration], OpenError> {
    Ok(migration::pending(POSTGRES, &applied(client).await.map_err(|error| failure(&error))?)?)
}

async fn applied(client: &impl GenericClient) -> Result<Vec<Applied>, tokio_postgres::Error> {
    let exists = client
        .query_typed_one(
            "SELECT EXISTS (SELECT 1 FROM pg_tables
                            WHERE schemaname = current_schema() AND tablename = 'schema_migration')",
            &[],
        )
        .await?;
    if !exists.try_get::<_, bool>(0)? {
        return Ok(Vec::new());
    }
    client
        .query_typed("SELECT version, checksum FROM schema_migration ORDER BY version", &[])
        .await?
        .iter()
        .map(|row| Ok(Applied { version: row.try_get(0)?, checksum: row.try_get(1)? }))
        .collect()
}

/// Applies pending migrations. A concurrent call waits for each of them and finds it applied.
pub(crate) async fn apply(client: &mut Client, now: Option<Timestamp>) -> Result<(), OpenError> {
    let schema = client.query_typed_one("SELECT CAST(current_schema() AS TEXT)", &[]).await;
    let schema: Option<String> = schema.and_then(|row| row.try_get(0)).map_err(|error| failure(&error))?;
    if schema.is_none() {
        return Err(OpenError::NoSchema);
    }
    loop {
        let tx = client.transaction().await.map_err(|error| failure(&error))?;
        tx.batch_execute(LOCK).await.map_err(|error| failure(&error))?;
        let Some(next) = pending(&tx).await?.first() else { return Ok(()) };
        let change = async {
            tx.batch_execute(TABLE).await?;
            tx.batch_execute(next.sql).await?;
            if next.version == PACKED_SINCE {
                pack_rows(&tx).await?;
            }
            tx.execute(
                "INSERT INTO schema_migration (version, name, checksum, applied_at)
                 VALUES ($1, $2, $3, COALESCE($4, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)))",
                &[&next.version, &next.name, &next.checksum(), &now.map(Timestamp::as_millis)],
            )
            .await
        };
        change.await.map_err(|error| next.failed(&describe(&error)))?;
        tx.commit().await.map_err(|error| next.failed(&describe(&error)))?;
        tracing::info!(version = next.version, name = next.name, "schema changed");
    }
}

fn failure(error: &tokio_postgres::Error) -> OpenError {
    OpenError::other(describe(error))
}
