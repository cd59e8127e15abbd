//! The checkpoint of an import, kept beside the file until the import ends.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

/// Bytes at the file's start that are compared to detect another file.
const COMPARED_BYTES: u64 = 64 * 1024;

/// Identifies an import; a different one starts from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject {
    server: String,
    device: String,
    format: String,
    size: u64,
    beginning: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    subject: Subject,
    acknowledged: u64,
}

/// Progress of an import.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    kept: Kept,
}

impl Checkpoint {
    /// Loads the checkpoint of an import of this file.
    pub(crate) fn open(
        file: &Path,
        server: &str,
        device: &str,
        format: &str,
        is_fresh: bool,
    ) -> Result<Self> {
        let subject = Subject {
            server: server.to_owned(),
            device: device.to_owned(),
            format: format.to_owned(),
            size: fs::metadata(file).with_context(|| format!("cannot open {}", file.display()))?.len(),
            beginning: beginning(file).with_context(|| format!("cannot read {}", file.display()))?,
        };
        let mut name = file.as_os_str().to_owned();
        name.push(".perigee-import");
        let path = PathBuf::from(name);
        let earlier = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
        let earlier = earlier.filter(|earlier| earlier.subject == subject && !is_fresh);
        let acknowledged = earlier.map_or(0, |earlier| earlier.acknowledged);
        Ok(Self { path, kept: Kept { subject, acknowledged } })
    }

    /// Number of items that were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.kept.acknowledged
    }

    /// Records that the server acknowledged further items. If that fails, they are sent again later, which changes
    /// nothing.
    pub(crate) fn advance(&mut self, items: u64) {
        self.kept.acknowledged += items;
        if let Err(error) = self.write() {
            tracing::debug!(%error, path = %self.path.display(), "cannot note how far the import got");
        }
    }

    fn write(&self) -> Result<()> {
        let folder =
            self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut draft = NamedTempFile::new_in(folder)?;
        draft.write_all(&serde_json::to_vec(&self.kept)?)?;
        draft.persist(&self.path)?;
        Ok(())
    }

    /// Deletes the checkpoint after a complete import.
    pub(crate) fn finish(self) {
        let _nothing_was_noted = fs::remove_file(&self.path);
    }
}

fn beginning(file: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(COMPARED_BYTES).read_to_end(&mut bytes)?;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(&bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_only_with_the_same_import() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        fs::write(&file, "one").unwrap();
        let open =
            |device: &str, is_fresh| Checkpoint::open(&file, "http://x/", device, "csv", is_fresh).unwrap();
        open("d", false).advance(5);
        assert_eq!(open("d", false).acknowledged(), 5);
        assert_eq!(open("d", true).acknowledged(), 0);
        assert_eq!(open("e", false).acknowledged(), 0);
        fs::write(&file, "two").unwrap();
        assert_eq!(open("d", false).acknowledged(), 0);
        open("d", false).finish();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
