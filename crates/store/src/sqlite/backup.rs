//! Copies a SQLite store while it is in use, into one file that is whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use perigee_core::error::Cause;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::connection::open_reader;
use super::leftover::{ENDING, remove_leftovers};
use super::migrate;
use crate::damage::Damaged;
use crate::error::OpenError;
use crate::migration::Migration;
use crate::verify::verify_file;

/// Pages copied between two looks at the progress.
const PAGES_A_STEP: i32 = 1024;

/// Why a store could not be backed up or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no store to copy.
    #[error("there is no store at {0}")]
    NoStore(PathBuf),
    /// A file stands where the copy would go.
    #[error("{0} is there already; name another file or move it away")]
    Exists(PathBuf),
    /// A file could not be read or written.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The copy is not a sound store.
    #[error("{path} is not a sound store: {reason}")]
    Unsound {
        /// The copy.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The store or the copy holds rows that are damaged.
    #[error("{path} holds {} damaged rows, the first of them {}; {remedy}", damaged.len(), first(damaged))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is damaged.
        damaged: Vec<Damaged>,
        /// What to do.
        remedy: &'static str,
    },
    /// The store to be replaced cannot be taken, or its schema does not fit.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// Copying failed.
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

/// What becomes of damaged rows in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedRows {
    /// They are an error.
    Refuse,
    /// They are copied as they are.
    Allow,
}

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Bytes of the copy.
    pub bytes: u64,
    /// Rows of it that are damaged, when these are allowed.
    pub damaged: Vec<Damaged>,
}

/// Copies the store into a new file, readable by its owner only, as it was at one moment, and reads the copy from end
/// to end. Servers and commands go on meanwhile. `progress` is told pages done and pages in all. Blocks.
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
    let draft = Draft::beside(to)?;
    copy(store, &draft.path, progress)?;
    let remedy = "run perigee repair, which sets them aside, or back up with --allow-damaged";
    let damaged = check(&draft.path, (store, rows, remedy))?;
    Ok(BackedUp { bytes: draft.finish(to)?, damaged })
}

/// A file under way, removed unless it is finished. It is locked meanwhile: one that nobody has locked was left by a
/// process that was killed.
pub(super) struct Draft {
    pub(super) path: PathBuf,
    _locked: File,
}

impl Draft {
    pub(super) fn beside(target: &Path) -> Result<Self, BackupError> {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{}{ENDING}", std::process::id()));
        let path = PathBuf::from(name);
        remove_leftovers(folder_of(target));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(BackupError::file(&path))?;
        file.lock().map_err(BackupError::file(&path))?;
        Ok(Self { path, _locked: file })
    }

    /// Gives it its name once it is on disk; gives its size.
    pub(super) fn finish(self, target: &Path) -> Result<u64, BackupError> {
        let file = File::open(&self.path).map_err(BackupError::file(&self.path))?;
        file.sync_all().map_err(BackupError::file(&self.path))?;
        let bytes = file.metadata().map_err(BackupError::file(&self.path))?.len();
        fs::rename(&self.path, target).map_err(BackupError::file(target))?;
        sync_folder_of(target)?;
        Ok(bytes)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _gone_once_it_is_finished = fs::remove_file(&self.path);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes sure that a name given or taken in this file's folder outlives a power cut.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), BackupError> {
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::file(folder))
}

/// Copies every page of one moment.
pub(super) fn copy(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), BackupError> {
    let source = open_reader(from).map_err(BackupError::copy)?;
    let mut target =
        Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(BackupError::copy)?;
    // Nothing is worth keeping until all of it is there, and then the file is synced as a whole.
    target
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        .map_err(BackupError::copy)?;
    // One transaction for all steps: else every commit of the server would begin the copy anew.
    source.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema;").map_err(BackupError::copy)?;
    let backup = Backup::new(&source, &mut target).map_err(BackupError::copy)?;
    loop {
        let step = backup.step(PAGES_A_STEP).map_err(BackupError::copy)?;
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
    // The copied header asks for a log beside the file; a copy is one file.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_row| Ok(())).map_err(BackupError::copy)?;
    target.close().map_err(|(_, error)| BackupError::copy(error))
}

/// Reads a copy from end to end: its pages, and every row by its checksum. Gives the rows that are damaged, where they
/// are allowed; the error names the file that `shown` does.
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
