//! Replacing a store that no server uses by a backup, and keeping the old store beside it.

use std::fs;
use std::path::{Path, PathBuf};

use perigee_core::time::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::copy::{BackupError, DamagedRows, PartialCopy, check, copy, sync_folder_of};
use crate::damage::Damaged;
use crate::sqlite::{Against, Ownership, migrate, open_writer, prepare};

const REMEDY: &str = "use another copy, or restore with --allow-damaged and run perigee repair";

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Size of the restored store in bytes.
    pub bytes: u64,
    /// Where the previous store was kept, if there was one.
    pub kept: Option<PathBuf>,
    /// How many migrations the next start will apply.
    pub pending_migrations: usize,
    /// Damaged rows in it, where [`DamagedRows::Allow`] was given.
    pub damaged: Vec<Damaged>,
}

/// Replaces the store by a backup, which is verified from end to end first. Fails if a server owns the store. Blocks.
pub fn restore(
    copy_at: &Path,
    store: &Path,
    rows: DamagedRows,
    now: Timestamp,
) -> Result<Restored, BackupError> {
    if !copy_at.is_file() {
        return Err(BackupError::NoStore(copy_at.to_owned()));
    }
    let damaged = check(copy_at, (copy_at, rows, REMEDY))?;
    let pending_migrations = check_schema(copy_at)?;
    let was_there = store.exists();
    let store = prepare(store)?;
    let _owned_until_the_end =
        Ownership::take(&store, Against::All).map_err(|refused| refused.in_use(&store))?;
    let partial = PartialCopy::beside(&store)?;
    copy(copy_at, &partial.path, &mut |_done, _all| {})?;
    check(&partial.path, (&partial.path, rows, REMEDY))?;
    let kept = if was_there { Some(keep_old(&store, now)?) } else { None };
    let bytes = partial.finish(&store)?;
    Ok(Restored { bytes, kept, pending_migrations, damaged })
}

/// Checks that a file is a store that this program can use; returns how many migrations it lacks.
fn check_schema(copy_at: &Path) -> Result<usize, BackupError> {
    let unsound = |error: rusqlite::Error| {
        let reason = error.to_string();
        BackupError::Unsound { path: copy_at.to_owned(), reason }
    };
    let connection =
        Connection::open_with_flags(copy_at, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unsound)?;
    let is_store: bool = connection
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration')",
            [],
            |row| row.get(0),
        )
        .map_err(unsound)?;
    if !is_store {
        let reason = "it holds no schema of Perigee".to_owned();
        return Err(BackupError::Unsound { path: copy_at.to_owned(), reason });
    }
    Ok(migrate::pending(&connection)?.len())
}

/// Hard-links the current store to a second name, which remains when the copy takes the first name. The write-ahead
/// log of the store is renamed too: SQLite would otherwise apply it to the copy.
fn keep_old(store: &Path, now: Timestamp) -> Result<PathBuf, BackupError> {
    let at = now.to_string().replace([':', '.'], "-");
    let beside = |of: &Path, ending: &str| {
        let mut name = of.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let kept = beside(store, &format!(".before-{at}"));
    // A healthy store is checkpointed first; a broken one, which may be why it is replaced, keeps its log.
    if let Ok(connection) = open_writer(store) {
        let _as_far_as_it_can = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()));
    }
    fs::hard_link(store, &kept).map_err(BackupError::file(&kept))?;
    for ending in ["-wal", "-shm"] {
        let (log, kept_log) = (beside(store, ending), beside(&kept, ending));
        if log.exists() {
            fs::rename(&log, &kept_log).map_err(BackupError::file(&log))?;
        }
    }
    sync_folder_of(&kept)?;
    Ok(kept)
}
