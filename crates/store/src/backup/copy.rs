//! Copies a SQLite store while it is in use. The target file appears only when the copy is complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use perigee_core::error::Cause;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::abandoned_copy::{EXTENSION, remove_abandoned_copies};
use crate::damage::Damaged;
use crate::error::OpenError;
use crate::migration::Migration;
use crate::sqlite::{migrate, open_reader};
use crate::verify::verify_file;

/// Pages copied between two reports of progress.
const PAGES_PER_STEP: i32 = 1024;

/// Why a store could not be backed up or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no store to copy.
    #[error("there is no store at {0}")]
    NoStore(PathBuf),
    /// The target file exists already.
    #[error("{0} already exists; name another file or move that file away")]
    Exists(PathBuf),
    /// A file could not be read or written.
    #[error("cannot use {path}")]
    File {
        /// The file that could not be used.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The copy is not a valid store.
    #[error("{path} is not an intact store: {reason}")]
    Unsound {
        /// The file of the copy.
        path: PathBuf,
        /// What does not match, for the operator.
        reason: String,
    },
    /// The store or the copy holds damaged rows.
    #[error("{path} holds {} damaged rows, the first of them {}; {remedy}", damaged.len(), first(damaged))]
    Damaged {
        /// The file with the damaged rows.
        path: PathBuf,
        /// Rows that fail verification.
        damaged: Vec<Damaged>,
        /// The remedy for the operator.
        remedy: &'static str,
    },
    /// The store to be replaced is in use, or its schema does not fit.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// SQLite could not copy the pages.
    #[error("copying failed")]
    Copy(#[source] Cause),
}

impl BackupError {
    pub(super) fn copy(cause: impl Into<Cause>) -> Self {
        Self::Copy(cause.into())
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

fn first(damaged: &[Damaged]) -> String {
    damaged.first().map(ToString::to_string).unwrap_or_default()
}

/// How a copy treats damaged rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedRows {
    /// A damaged row is an error.
    Refuse,
    /// Damaged rows are copied unchanged.
    Allow,
}

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Size of the copy in bytes.
    pub bytes: u64,
    /// Damaged rows in it, where [`DamagedRows::Allow`] was given.
    pub damaged: Vec<Damaged>,
}

/// Copies a consistent snapshot of the store into a new file, readable by its owner only, and verifies the copy from
/// end to end. Servers and commands may run meanwhile. `progress` gets pages done and pages in total. Blocks.
pub fn back_up(
    store: &Path,
    to: &Path,
    rows: DamagedRows,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BackedUp, BackupError> {
    if !store.exists() {
        return Err(BackupError::NoStore(store.to_owned()));
    }
    if to.exists() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let partial = PartialCopy::beside(to)?;
    copy(store, &partial.path, progress)?;
    let remedy = "run perigee repair, which moves them to quarantine, or back up with --allow-damaged";
    let damaged = check(&partial.path, (store, rows, remedy))?;
    Ok(BackedUp { bytes: partial.finish(to)?, damaged })
}

/// A file being written, which is removed unless it is finished. It is locked while it is written: a file without a
/// lock was abandoned by a process that was killed.
pub(super) struct PartialCopy {
    pub(super) path: PathBuf,
    _locked: File,
}

impl PartialCopy {
    pub(super) fn beside(target: &Path) -> Result<Self, BackupError> {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{}{EXTENSION}", std::process::id()));
        let path = PathBuf::from(name);
        remove_abandoned_copies(folder_of(target));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(BackupError::file(&path))?;
        file.lock().map_err(BackupError::file(&path))?;
        Ok(Self { path, _locked: file })
    }

    /// Syncs the file, then renames it to the target. Returns its size in bytes.
    pub(super) fn finish(self, target: &Path) -> Result<u64, BackupError> {
        let file = File::open(&self.path).map_err(BackupError::file(&self.path))?;
        file.sync_all().map_err(BackupError::file(&self.path))?;
        let bytes = file.metadata().map_err(BackupError::file(&self.path))?.len();
        fs::rename(&self.path, target).map_err(BackupError::file(target))?;
        sync_folder_of(target)?;
        Ok(bytes)
    }
}

impl Drop for PartialCopy {
    fn drop(&mut self) {
        let _absent_once_it_is_finished = fs::remove_file(&self.path);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs the folder of this file, so that a rename in it survives a power cut.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), BackupError> {
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::file(folder))
}

/// Copies every page of one snapshot.
pub(super) fn copy(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), BackupError> {
    let source = open_reader(from).map_err(BackupError::copy)?;
    let mut target =
        Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(BackupError::copy)?;
    // A partial copy is worthless, and a complete one is synced as a whole.
    target
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        .map_err(BackupError::copy)?;
    // One transaction for all steps: otherwise every commit of a server would restart the copy.
    source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema;").map_err(BackupError::copy)?;
    let backup = Backup::new(&source, &mut target).map_err(BackupError::copy)?;
    loop {
        let step = backup.step(PAGES_PER_STEP).map_err(BackupError::copy)?;
        let state = backup.progress();
        let all = u64::try_from(state.pagecount).unwrap_or(0);
        progress(all.saturating_sub(u64::try_from(state.remaining).unwrap_or(0)), all);
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => return Err(BackupError::copy("another process holds the store")),
        }
    }
    drop(backup);
    // The copied header asks for a write-ahead log; a backup is a single file.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_row| Ok(())).map_err(BackupError::copy)?;
    target.close().map_err(|(_, error)| BackupError::copy(error))
}

/// Verifies a copy from end to end: its pages, and every row against its checksum. Returns the damaged rows, if they
/// are allowed. Errors name the file `shown`.
pub(super) fn check(
    path: &Path,
    (shown, rows, remedy): (&Path, DamagedRows, &'static str),
) -> Result<Vec<Damaged>, BackupError> {
    let unsound = |reason: String| BackupError::Unsound { path: shown.to_owned(), reason };
    let open = || Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let connection = open().map_err(|error| unsound(error.to_string()))?;
    let found = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match found {
        Ok(found) if found == "ok" => {}
        Ok(found) => return Err(unsound(found)),
        Err(error) => return Err(unsound(error.to_string())),
    }
    let is_current = migrate::pending(&connection).is_ok_and(<[Migration]>::is_empty);
    let has_locations = connection.table_exists(None, "location_log").map_err(BackupError::copy)?;
    drop(connection);
    if !has_locations {
        return Ok(Vec::new());
    }
    let damaged = verify_file(path, is_current).map_err(BackupError::copy)?.damaged;
    if damaged.is_empty() || rows == DamagedRows::Allow {
        return Ok(damaged);
    }
    Err(BackupError::Damaged { path: shown.to_owned(), damaged, remedy })
}
