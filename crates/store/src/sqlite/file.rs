//! The database file and its locks: private to the user, owned by one server.
//!
//! The lock is on the inode of the database itself (`flock`), so that it holds however the file is reached: after the
//! lock file was deleted, and through a hard link. `flock` and the record locks of SQLite do not see each other. The
//! lock file beside it is taken too: versions before this one take nothing else, and it covers the moment in which
//! `restore` gives the name to another inode.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::holder::holder_of;
use crate::error::OpenError;

/// Makes the file and its directory where they do not exist, readable by their owner only.
pub(crate) fn prepare(path: &Path) -> Result<PathBuf, OpenError> {
    if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_directory(directory).map_err(|source| failure(directory, source))?;
    }
    // Not opened when it is there: closing any descriptor of the file drops the record locks of this process on it.
    if !path.exists() {
        private_file().open(path).map_err(|source| failure(path, source))?;
    }
    path.canonicalize().map_err(|source| failure(path, source))
}

/// The ownership of a database, kept for as long as this lives.
#[derive(Debug)]
pub(crate) struct Ownership {
    _lock_file: File,
    _database: File,
}

/// Against whom a database is owned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// Every other owner.
    All,
    /// Those who own it against all.
    Servers,
}

/// Why a database was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another process owns it; its id, where the system tells.
    Owned(Option<u32>),
    /// A file could not be opened or locked.
    Failed(OpenError),
}

impl Refused {
    /// The error of whoever wanted to own this file alone.
    pub(crate) fn in_use(self, path: &Path) -> OpenError {
        match self {
            Self::Owned(holder) => OpenError::InUse { path: path.to_owned(), holder },
            Self::Failed(error) => error,
        }
    }

    /// The error of whoever wanted to change its schema.
    pub(crate) fn blocked(self, path: &Path) -> OpenError {
        match self {
            Self::Owned(holder) => OpenError::MigrationBlocked { path: path.to_owned(), holder },
            Self::Failed(error) => error,
        }
    }
}

impl Ownership {
    /// Takes it, unless another process has it.
    pub(crate) fn take(database: &Path, against: Against) -> Result<Self, Refused> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        // The lock file first: where that refuses, the database is not opened, whose closing would drop record locks.
        let lock_file = lock(Path::new(&name), against)?;
        let database = lock(database, against)?;
        Ok(Self { _lock_file: lock_file, _database: database })
    }
}

fn lock(path: &Path, against: Against) -> Result<File, Refused> {
    let failed = |source| Refused::Failed(failure(path, source));
    let file = private_file().open(path).map_err(failed)?;
    let taken = match against {
        Against::All => file.try_lock(),
        Against::Servers => file.try_lock_shared(),
    };
    match taken {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Refused::Owned(holder_of(&file))),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn failure(path: &Path, source: io::Error) -> OpenError {
    OpenError::File { path: path.to_owned(), source }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
