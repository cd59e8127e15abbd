//! Collects items of a file into batches.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use tokio::sync::mpsc::Sender;

use super::item::{Item, read_items};
use crate::args::FileFormat;

/// Bytes at which a batch is full; the server accepts eight times as much.
const FULL: usize = 1024 * 1024;

/// Consecutive items of a file.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The locations, one line each.
    pub(crate) lines: Vec<u8>,
    /// The number of each location in the file; see `Item::number`.
    pub(crate) numbers: Vec<u64>,
    /// The numbers of items that are not locations, and why.
    pub(crate) refused: Vec<(u64, String)>,
    /// How far the file was read, in bytes.
    pub(crate) position: u64,
}

impl Batch {
    /// Number of items, including invalid ones.
    pub(crate) fn items(&self) -> u64 {
        (self.numbers.len() + self.refused.len()) as u64
    }

    fn add(&mut self, item: Item) {
        match item.body {
            Ok(body) => {
                self.lines.extend_from_slice(&body);
                self.lines.push(b'\n');
                self.numbers.push(item.number);
            }
            Err(reason) => self.refused.push((item.number, reason)),
        }
    }
}

/// Reads a file into batches of up to `most` items, after skipping `skip` items. Blocks.
pub(crate) fn read_batches(
    path: &Path,
    format: FileFormat,
    skip: u64,
    most: u64,
    batches: &Sender<Batch>,
) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let position = Arc::<AtomicU64>::default();
    let input = BufReader::with_capacity(128 * 1024, Tracked { file, position: Arc::clone(&position) });
    let (mut passed, mut batch) = (0, Batch::default());
    let send = |mut batch: Batch| {
        batch.position = position.load(Ordering::Relaxed);
        batches.blocking_send(batch).map_err(|_closed| io::Error::other("the import has ended"))
    };
    let read = read_items(format, input, &mut |item| {
        passed += 1;
        if passed <= skip {
            return Ok(());
        }
        batch.add(item);
        if batch.items() >= most || batch.lines.len() >= FULL {
            send(std::mem::take(&mut batch))?;
        }
        Ok(())
    });
    // Items before a syntax error are still sent.
    if batch.items() > 0 {
        send(batch)?;
    }
    read.with_context(|| path.display().to_string())
}

/// A reader that counts the bytes read.
struct Tracked {
    file: File,
    position: Arc<AtomicU64>,
}

impl Read for Tracked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
