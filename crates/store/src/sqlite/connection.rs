//! Opening SQLite connections for writing and for reading.

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
        // Some network file systems cannot; other modes are slower and block readers.
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

/// Sleeps 0.5 ms at a time until a lock is free. SQLite's own handler backs off up to a tenth of a second, for locks
/// that a checkpoint in another thread holds for a few milliseconds.
#[expect(clippy::disallowed_methods, reason = "SQLite does not signal when the lock is free")]
fn wait_for_lock(times: i32) -> bool {
    const SLEEP: Duration = Duration::from_micros(500);
    std::thread::sleep(SLEEP);
    SLEEP * times.unsigned_abs() < BUSY_TIMEOUT
}

fn open(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    // Each connection is behind our own mutex, so SQLite needs none.
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(wait_for_lock))?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Otherwise a statement with a bound LIMIT or range is planned again on each run, which costs more than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // As on PostgreSQL, LIKE is case-sensitive.
    connection.execute_batch("PRAGMA case_sensitive_like = ON; PRAGMA trusted_schema = OFF;")?;
    super::function::register(&connection)?;
    Ok(connection)
}
