//! The database file and the lock beside it: private to the user, owned by one server.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// Makes the file and its directory where they do not exist, readable by their owner only.
pub(crate) fn prepare(path: &Path) -> Result<PathBuf, OpenError> {
    if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_directory(directory).map_err(|source| failure(directory, source))?;
    }
    private_file().open(path).map_err(|source| failure(path, source))?;
    // One name per file, whichever way it was reached, so that all agree on the lock.
    path.canonicalize().map_err(|source| failure(path, source))
}

/// The ownership of a database, kept for as long as this lives.
#[derive(Debug)]
pub(crate) struct Ownership {
    _lock: File,
}

/// Against whom a database is owned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// Every other owner.
    All,
    /// Those who own it against all.
    Servers,
}

impl Ownership {
    /// Takes it, unless another process has it.
    pub(crate) fn take(database: &Path, against: Against) -> Result<Option<Self>, OpenError> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let lock = private_file().open(&path).map_err(|source| failure(&path, source))?;
        let taken = match against {
            Against::All => lock.try_lock(),
            Against::Servers => lock.try_lock_shared(),
        };
        match taken {
            Ok(()) => Ok(Some(Self { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failure(&path, source)),
        }
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
