//! Copies the tiles of a plan from the source to the new file, and continues where an earlier copy stopped.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::{Batch, Batches, Item, earlier, earlier_batches};
use super::error::{Result, not_tiles};
use super::header::Span;
use super::remote::Remote;

/// Bytes after which the state of a copy is written to the disk.
const CHECKPOINT_BYTES: u64 = 32 * 1024 * 1024;

/// How far a copy is. What is beyond it in the files is written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkpoint {
    /// Batches of contents that lie before others in the source, of which all are in the file beside.
    pub(super) earlier_batches: usize,
    /// Bytes of these.
    pub(super) earlier_bytes: u64,
    /// The next record of the plan.
    pub(super) record: u64,
    /// Bytes of tiles in the new file.
    pub(super) bytes: u64,
}

/// The files of a copy.
pub(super) struct Files<'a> {
    pub(super) plan: &'a Path,
    /// Contents that lie before others in the source.
    pub(super) earlier: &'a Path,
    pub(super) part: &'a Path,
    /// Where the tiles begin in the new file.
    pub(super) tiles_at: u64,
}

/// Receives the progress of a copy.
pub(super) trait Progress: Send {
    /// Called for each part: this many bytes of tiles are in the new file or beside it.
    fn advanced(&mut self, bytes: u64);

    /// Called before each request: checks that the disk still has room for this many bytes.
    fn check_room(&mut self, bytes: u64) -> Result<()>;

    /// Called when everything up to the checkpoint is on the disk.
    fn save(&mut self, checkpoint: Checkpoint) -> Result<()>;
}

/// Copies all tiles. `tiles` is where they are in the source.
pub(super) async fn copy(
    remote: &Remote,
    tiles: Span,
    files: &Files<'_>,
    mut checkpoint: Checkpoint,
    total: u64,
    progress: &mut dyn Progress,
) -> Result<()> {
    let places = read_earlier(remote, tiles, files, &mut checkpoint, total, progress).await?;
    let mut beside = File::open(files.earlier)?;
    let part = File::options().write(true).open(files.part)?;
    part.set_len(files.tiles_at + checkpoint.bytes)?;
    let mut part = BufWriter::with_capacity(256 * 1024, part);
    part.seek(SeekFrom::End(0))?;
    let mut batches = Batches::open(files.plan, checkpoint.record)?;
    let mut saved = checkpoint.bytes;
    while let Some(batch) = batches.next()? {
        progress.check_room(total.saturating_sub(checkpoint.bytes))?;
        let mut splice = Splice {
            items: &batch.items,
            written: 0,
            places: &places,
            beside: &mut beside,
            out: &mut part,
            at: 0,
            bytes: checkpoint.bytes,
            progress,
        };
        let copied = stream(remote, tiles, &batch, &mut splice).await;
        if let Err(error) = copied {
            // What was written of the batch is cut off by the next attempt.
            part.flush()?;
            part.get_ref().sync_data()?;
            progress.save(checkpoint)?;
            return Err(error);
        }
        checkpoint.bytes += batch.items.iter().map(|item| u64::from(item.length)).sum::<u64>();
        checkpoint.record = batch.next_record;
        if checkpoint.bytes - saved >= CHECKPOINT_BYTES {
            part.flush()?;
            part.get_ref().sync_data()?;
            progress.save(checkpoint)?;
            saved = checkpoint.bytes;
        }
    }
    part.flush()?;
    part.get_ref().sync_all()?;
    if checkpoint.bytes != total {
        return Err(not_tiles("has directories that do not belong together"));
    }
    progress.save(checkpoint)
}

async fn stream(remote: &Remote, tiles: Span, batch: &Batch, splice: &mut Splice<'_>) -> Result<()> {
    if let Some(span) = batch.span {
        splice.at = span.offset;
        let span = Span { offset: tiles.offset + span.offset, length: span.length };
        remote.stream(span, &mut |bytes| splice.take(bytes)).await?;
    }
    splice.finish()
}

/// Reads the contents that lie before others in the source into a file of their own, and returns where they are in it.
async fn read_earlier(
    remote: &Remote,
    tiles: Span,
    files: &Files<'_>,
    checkpoint: &mut Checkpoint,
    total: u64,
    progress: &mut dyn Progress,
) -> Result<HashMap<u64, u64>> {
    let items = earlier(files.plan)?;
    let mut places = HashMap::with_capacity(items.len());
    let mut end = 0;
    for item in &items {
        places.insert(item.source, end);
        end += u64::from(item.length);
    }
    let file = File::options().write(true).create(true).truncate(false).open(files.earlier)?;
    file.set_len(checkpoint.earlier_bytes)?;
    let mut out = BufWriter::with_capacity(256 * 1024, file);
    out.seek(SeekFrom::End(0))?;
    let (none, mut nothing) = (HashMap::new(), File::open(files.plan)?);
    for batch in earlier_batches(&items).into_iter().skip(checkpoint.earlier_batches) {
        progress.check_room(total.saturating_add(end))?;
        let mut splice = Splice {
            items: &batch.items,
            written: 0,
            places: &none,
            beside: &mut nothing,
            out: &mut out,
            at: 0,
            bytes: 0,
            progress,
        };
        stream(remote, tiles, &batch, &mut splice).await?;
        checkpoint.earlier_batches += 1;
        checkpoint.earlier_bytes += batch.items.iter().map(|item| u64::from(item.length)).sum::<u64>();
    }
    out.flush()?;
    out.get_ref().sync_all()?;
    if end > 0 {
        progress.save(*checkpoint)?;
    }
    Ok(places)
}

/// Puts contents into the new file in their order: from the bytes of a request, and from the file beside.
struct Splice<'a> {
    items: &'a [Item],
    /// Bytes of the first item that are written.
    written: u32,
    places: &'a HashMap<u64, u64>,
    beside: &'a mut File,
    out: &'a mut BufWriter<File>,
    /// The offset of the next byte of the request, from the beginning of the tiles of the source.
    at: u64,
    /// Bytes of tiles in the new file.
    bytes: u64,
    progress: &'a mut dyn Progress,
}

impl Splice<'_> {
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            self.put_earlier()?;
            let Some(item) = self.items.first().copied() else { return Ok(()) };
            let wanted = item.source + u64::from(self.written);
            if wanted < self.at {
                return Err(not_tiles("has tiles that lie over each other"));
            }
            let gap = usize::try_from(wanted - self.at).unwrap_or(usize::MAX).min(bytes.len());
            bytes = bytes.get(gap..).unwrap_or_default();
            self.at += gap as u64;
            let missing = usize::try_from(item.length - self.written).unwrap_or(0).min(bytes.len());
            let (now, rest) = bytes.split_at(missing);
            self.out.write_all(now)?;
            bytes = rest;
            self.at += now.len() as u64;
            self.written += u32::try_from(now.len()).unwrap_or(0);
            self.bytes += now.len() as u64;
            if self.written == item.length {
                self.items = self.items.get(1..).unwrap_or_default();
                self.written = 0;
            }
        }
        self.progress.advanced(self.bytes);
        Ok(())
    }

    fn put_earlier(&mut self) -> Result<()> {
        while let Some(item) = self.items.first().filter(|item| item.is_earlier) {
            let place = self.places.get(&item.source).copied();
            let place = place.ok_or_else(|| not_tiles("has directories that do not belong together"))?;
            let mut content = vec![0; usize::try_from(item.length).unwrap_or(0)];
            self.beside.seek(SeekFrom::Start(place))?;
            self.beside.read_exact(&mut content)?;
            self.out.write_all(&content)?;
            self.bytes += content.len() as u64;
            self.items = self.items.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.put_earlier()?;
        self.progress.advanced(self.bytes);
        if self.items.is_empty() { Ok(()) } else { Err(not_tiles("has tiles that lie over each other")) }
    }
}
