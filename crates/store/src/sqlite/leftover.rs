//! Files that a backup or restore left behind when it was killed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// How the name of a copy ends that is under way, after the id of its process.
pub(super) const ENDING: &str = ".part";
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Removes copies in this folder that nobody is making any more. A file that cannot be looked at or removed is left:
/// the copy at hand does not depend on it.
pub(super) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_named_so = path.file_name().and_then(|name| name.to_str()).is_some_and(is_draft);
        if is_named_so && is_left_behind(&path).unwrap_or(false) && fs::remove_file(&path).is_ok() {
            tracing::warn!(path = %path.display(), "removed what a killed backup or restore left behind");
        }
    }
}

/// Whether a file is called `NAME.PROCESS.part`.
fn is_draft(name: &str) -> bool {
    let rest = name.strip_suffix(ENDING).and_then(|rest| rest.rsplit_once('.'));
    rest.is_some_and(|(name, process)| !name.is_empty() && process.parse::<u32>().is_ok())
}

/// Whether nobody holds its lock, and it is ours: a store, or empty as at the start.
fn is_left_behind(path: &Path) -> io::Result<bool> {
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
    fn only_what_was_left_behind_goes() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            fs::write(folder.path().join(name), content).unwrap();
            folder.path().join(name)
        };
        let store = [MAGIC.as_slice(), b"and more"].concat();
        let gone = [file("copy.db.12.part", &store), file("copy.db.13.part", b"")];
        let other = [
            file("film.7.part", b"somebody else's download"),
            file("copy.db.part", &store),
            file("copy.db", &store),
            file(".5.part", &store),
        ];
        let under_way = file("copy.db.14.part", &store);
        let held = File::open(&under_way).unwrap();
        held.lock().unwrap();
        remove_leftovers(folder.path());
        assert!(gone.iter().all(|path| !path.exists()), "{gone:?}");
        assert!(other.iter().all(|path| path.exists()), "{other:?}");
        assert!(under_way.exists(), "it is being made");
    }
}
