//! The database file and its locks: readable by its user only, owned by one server.
//!
//! The lock is a `flock` on the inode of the database itself, so that it holds after the lock file was deleted and
//! through a hard link. It does not interact with SQLite's record locks. The lock file beside the database is locked
//! too: older versions lock nothing else, and it covers the moment in which `restore` gives the name to another inode.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::lock_owner::lock_owner;
use crate::error::OpenError;

/// Creates the file and its directory if they do not exist, readable by their owner only.
pub(crate) fn prepare(path: &Path) -> Result<PathBuf, OpenError> {
    if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_directory(directory).map_err(|source| failure(directory, source))?;
    }
    // An existing file is not opened: closing any descriptor of it drops this process's record locks on it.
    if !path.exists() {
        private_file().open(path).map_err(|source| failure(path, source))?;
    }
    path.canonicalize().map_err(|source| failure(path, source))
}

/// The ownership of a database, released on drop.
#[derive(Debug)]
pub(crate) struct Ownership {
    _lock_file: File,
    _database: File,
}

/// Which other owners an ownership excludes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// Every other owner: an exclusive lock.
    All,
    /// Exclusive owners: a shared lock.
    Servers,
}

/// Why the ownership of a database was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another process owns it; with its id, where the system reports it.
    Owned(Option<u32>),
    /// A file could not be opened or locked.
    Failed(OpenError),
}

impl Refused {
    /// The error for a server, which needs the file exclusively.
    pub(crate) fn in_use(self, path: &Path) -> OpenError {
        match self {
            Self::Owned(holder) => OpenError::InUse { path: path.to_owned(), holder },
            Self::Failed(error) => error,
        }
    }

    /// The error for a command that needs to migrate.
    pub(crate) fn blocked(self, path: &Path) -> OpenError {
        match self {
            Self::Owned(holder) => OpenError::MigrationBlocked { path: path.to_owned(), holder },
            Self::Failed(error) => error,
        }
    }
}

impl Ownership {
    /// Takes the ownership, unless another process excludes it.
    pub(crate) fn take(database: &Path, against: Against) -> Result<Self, Refused> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        // The lock file first: if it is locked, the database is not opened, so that no record locks are dropped by
        // closing.
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
        Err(TryLockError::WouldBlock) => Err(Refused::Owned(lock_owner(&file))),
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
