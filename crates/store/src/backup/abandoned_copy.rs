//! Removing partial copies of a backup or restore that was killed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The extension of a partial copy, after the id of the process that writes it.
pub(super) const EXTENSION: &str = ".part";
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Removes abandoned partial copies in this folder. Errors are ignored: the copy at hand does not depend on it.
pub(super) fn remove_abandoned_copies(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let has_name = path.file_name().and_then(|name| name.to_str()).is_some_and(is_partial_copy);
        if has_name && is_abandoned(&path).unwrap_or(false) && fs::remove_file(&path).is_ok() {
            tracing::warn!(path = %path.display(), "removed the partial copy of a backup or restore that was killed");
        }
    }
}

/// Whether a file is called `NAME.PROCESS.part`.
fn is_partial_copy(name: &str) -> bool {
    let rest = name.strip_suffix(EXTENSION).and_then(|rest| rest.rsplit_once('.'));
    rest.is_some_and(|(name, process)| !name.is_empty() && process.parse::<u32>().is_ok())
}

/// Whether no process holds its lock, and it is a SQLite file or empty.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() || file.try_lock().is_err() {
        return Ok(false);
    }
    let mut start = Vec::with_capacity(MAGIC.len());
    file.by_ref().take(16).read_to_end(&mut start)?;
    Ok(start.is_empty() || start == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_copies_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            fs::write(folder.path().join(name), content).unwrap();
            folder.path().join(name)
        };
        let store = [MAGIC.as_slice(), b"and more"].concat();
        let abandoned = [file("copy.db.12.part", &store), file("copy.db.13.part", b"")];
        let other = [
            file("film.7.part", b"somebody else's download"),
            file("copy.db.part", &store),
            file("copy.db", &store),
            file(".5.part", &store),
        ];
        let under_way = file("copy.db.14.part", &store);
        let held = File::open(&under_way).unwrap();
        held.lock().unwrap();
        remove_abandoned_copies(folder.path());
        assert!(abandoned.iter().all(|path| !path.exists()), "{abandoned:?}");
        assert!(other.iter().all(|path| path.exists()), "{other:?}");
        assert!(under_way.exists(), "it is being made");
    }
}
