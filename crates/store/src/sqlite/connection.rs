//! Connections, set up for what they are used for.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// How long a write waits for another process, such as a command beside a server.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const CACHED_STATEMENTS: usize = 512;

/// A connection that writes. Commits are synced; checkpoints are left to another thread.
pub(crate) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        // Some network file systems cannot; another mode would neither be as fast nor let readers in.
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
            Some(format!("the file system offers no write-ahead log, only journal mode {mode}")),
        ));
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = 0;",
    )?;
    Ok(connection)
}

/// A connection that can only read.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

/// Waits for whoever is in the way. SQLite's own patience sleeps longer and longer, up to a tenth of a second, for locks
/// that a checkpoint beside us holds for a few milliseconds.
#[expect(clippy::disallowed_methods, reason = "nobody tells when the lock is free")]
fn wait_for_others(times: i32) -> bool {
    const NAP: Duration = Duration::from_micros(500);
    std::thread::sleep(NAP);
    NAP * times.unsigned_abs() < BUSY_TIMEOUT
}

fn open(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    // Each connection is behind our own lock, so SQLite need not lock a second time.
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(wait_for_others))?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Else a statement whose LIMIT or range is bound is planned anew each time, which costs more than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // LIKE heeds case on PostgreSQL.
    connection.execute_batch("PRAGMA case_sensitive_like = ON; PRAGMA trusted_schema = OFF;")?;
    super::function::register(&connection)?;
    Ok(connection)
}
