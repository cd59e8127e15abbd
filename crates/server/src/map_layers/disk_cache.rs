//! A cache of files on disk with a size limit; the least recently used file is deleted first.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use parking_lot::Mutex;

/// Minimum space of a file, because disks allocate blocks.
const BLOCK_BYTES: u64 = 4_096;
/// The suffix of files that are being written.
const DRAFT: &str = ".new";

/// A cache of files in one folder that nothing else writes to.
#[derive(Debug)]
pub(super) struct DiskCache {
    folder: PathBuf,
    most_bytes: u64,
    index: Mutex<Index>,
}

/// The files that exist, in the order of their use.
#[derive(Debug, Default)]
struct Index {
    bytes: u64,
    uses: u64,
    files: HashMap<String, (u64, u64)>,
    by_use: BTreeMap<u64, String>,
}

impl Index {
    fn note(&mut self, name: &str, bytes: u64) {
        self.remove(name);
        self.uses += 1;
        self.bytes += bytes;
        self.files.insert(name.to_owned(), (bytes, self.uses));
        self.by_use.insert(self.uses, name.to_owned());
    }

    fn remove(&mut self, name: &str) {
        if let Some((bytes, used)) = self.files.remove(name) {
            self.bytes -= bytes;
            self.by_use.remove(&used);
        }
    }

    /// Removes the least recently used files until the rest fits, and returns their names.
    fn shrink_to(&mut self, most_bytes: u64) -> Vec<String> {
        let mut deleted = Vec::new();
        while self.bytes > most_bytes {
            let Some(name) = self.by_use.values().next().cloned() else { break };
            self.remove(&name);
            deleted.push(name);
        }
        deleted
    }
}

impl DiskCache {
    /// Adopts the files in the folder, the oldest first.
    pub(super) fn open(folder: &Path, most_bytes: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (about, Ok(name)) = (entry.metadata()?, entry.file_name().into_string()) else { continue };
            if name.ends_with(DRAFT) {
                fs::remove_file(entry.path())?;
            } else if about.is_file() {
                let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                found.push((changed, name, about.len().max(BLOCK_BYTES)));
            }
        }
        found.sort();
        let mut index = Index::default();
        for (_, name, bytes) in found {
            index.note(&name, bytes);
        }
        let cache = Self { folder: folder.to_owned(), most_bytes, index: Mutex::new(index) };
        cache.shrink();
        Ok(cache)
    }

    fn shrink(&self) {
        for name in self.index.lock().shrink_to(self.most_bytes) {
            // A file that is already absent need not be removed.
            let _absent = fs::remove_file(self.folder.join(name));
        }
    }

    /// The content of a file, if there is one.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.index.lock().files.get(name).map(|(bytes, _)| *bytes)?;
        let content = fs::read(self.folder.join(name)).ok();
        match &content {
            Some(_) => self.index.lock().note(name, bytes),
            None => self.index.lock().remove(name),
        }
        content
    }

    /// Stores a file atomically, and deletes others until there is room.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX).max(BLOCK_BYTES);
        if bytes > self.most_bytes {
            return Ok(());
        }
        let mut index = self.index.lock();
        for old in index.shrink_to(self.most_bytes - bytes) {
            let _absent = fs::remove_file(self.folder.join(old));
        }
        let draft = self.folder.join(format!("{name}{DRAFT}"));
        fs::write(&draft, content)?;
        fs::rename(&draft, self.folder.join(name))?;
        index.note(name, bytes);
        drop(index);
        self.shrink();
        Ok(())
    }

    /// Bytes of all files.
    #[cfg(test)]
    fn bytes(&self) -> u64 {
        self.index.lock().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_used_is_deleted_first_and_the_bound_holds() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(folder.path(), 4 * BLOCK_BYTES).unwrap();
        for name in ["a", "b", "c", "d"] {
            cache.write(name, name.as_bytes()).unwrap();
        }
        assert_eq!(cache.read("a").as_deref(), Some(&b"a"[..]));
        cache.write("e", b"e").unwrap();
        assert_eq!(cache.read("b"), None, "the least used was deleted");
        assert!(["a", "c", "d", "e"].iter().all(|name| cache.read(name).is_some()));
        cache.write("large", &[0; 12_288]).unwrap();
        assert!(cache.bytes() <= 4 * BLOCK_BYTES);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        cache.write("too large", &vec![0; 20_480]).unwrap();
        assert_eq!(cache.read("too large"), None);
        assert!(cache.read("large").is_some(), "nothing was deleted for what has no room");
    }

    #[test]
    fn files_of_an_earlier_start_count() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::write(folder.path().join("d.new"), "half").unwrap();
        let cache = DiskCache::open(folder.path(), 2 * BLOCK_BYTES).unwrap();
        assert_eq!(cache.bytes(), 2 * BLOCK_BYTES);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(["a", "b", "c"].iter().all(|name| cache.read(name).is_none()));
        assert_eq!(cache.bytes(), 0);
        assert!(cache.write("e", b"e").is_err(), "the folder was deleted");
    }
}
