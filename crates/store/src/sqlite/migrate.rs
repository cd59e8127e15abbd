//! Migrating a SQLite file, each migration in a transaction of its own.

use std::path::Path;
use std::time::Duration;

use perigee_core::time::Clock;
use rusqlite::{Connection, TransactionBehavior, params};

use super::connection::open_writer;
use crate::error::OpenError;
use crate::migration::{self, Applied, Migration, SQLITE};

/// How long to wait for a migration by another process: rebuilding a large table takes longer than any statement.
const OTHERS_TIMEOUT: Duration = Duration::from_mins(1);

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migration (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT";

/// The migrations that are still to be applied.
pub(crate) fn pending(connection: &Connection) -> Result<&'static [Migration], OpenError> {
    Ok(migration::pending(SQLITE, &applied(connection).map_err(OpenError::other)?)?)
}

fn applied(connection: &Connection) -> rusqlite::Result<Vec<Applied>> {
    let exists: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration')",
        [],
        |row| row.get(0),
    )?;
    if !exists {
        return Ok(Vec::new());
    }
    connection
        .prepare("SELECT version, checksum FROM schema_migration ORDER BY version")?
        .query_map([], |row| Ok(Applied { version: row.get(0)?, checksum: row.get(1)? }))?
        .collect()
}

/// Applies pending migrations. A concurrent call waits for each of them and finds it applied.
pub(crate) fn apply(path: &Path, clock: &dyn Clock) -> Result<(), OpenError> {
    let mut connection = open_writer(path).map_err(OpenError::other)?;
    connection.busy_timeout(OTHERS_TIMEOUT).map_err(OpenError::other)?;
    // Rebuilding a table needs foreign keys off; each migration is checked as a whole before it commits.
    connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(OpenError::other)?;
    loop {
        let tx =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(OpenError::other)?;
        let Some(next) = pending(&tx)?.first() else { return Ok(()) };
        let change = || -> rusqlite::Result<()> {
            tx.execute_batch(TABLE)?;
            tx.execute_batch(next.sql)?;
            tx.execute(
                "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                params![next.version, next.name, next.checksum(), clock.now().as_millis()],
            )
            .map(drop)
        };
        change().map_err(|error| next.failed(&error))?;
        let dangling = tx.prepare("PRAGMA foreign_key_check").and_then(|mut check| check.exists([]));
        if dangling.map_err(OpenError::other)? {
            return Err(next.failed(&"it leaves references to rows that do not exist").into());
        }
        tx.commit().map_err(|error| next.failed(&error))?;
        tracing::info!(version = next.version, name = next.name, "schema changed");
    }
}
