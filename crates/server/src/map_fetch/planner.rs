//! Decides for each entry of the source where its tile goes, so that every content is written once and in the order of
//! tile IDs.

use std::collections::HashMap;

use super::directory::Entry;
use super::error::{FetchError, Result, not_tiles};
use super::header::ZOOM_MAX;
use super::records::{Content, Record, RecordWriter};
use super::tile_id::zoom_of;

/// Maximum number of entries of a copy. Their records need 32 bytes each on the disk.
const ENTRIES_MAX: u64 = 40_000_000;
/// Maximum number of contents that do not lie in the order of tile IDs in the source; each needs some 40 bytes of memory.
const EARLIER_MAX: usize = 1_000_000;
/// One record of this many is in the index.
const STEP: u64 = 256;
/// Maximum number of places that are remembered, so that the sea is not looked up each time.
const REMEMBERED_MAX: usize = 4_096;

/// What was planned for a zoom level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    /// Tiles that the map will have.
    pub(super) tiles: u64,
    /// Bytes of contents that are written first for tiles of this level.
    pub(super) bytes: u64,
}

/// What was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    /// Entries of the directories.
    pub(super) entries: u64,
    /// Different contents.
    pub(super) contents: u64,
    /// Tiles.
    pub(super) addressed: u64,
    /// Bytes of all contents.
    pub(super) bytes: u64,
    pub(super) levels: Vec<Level>,
}

/// Writes the plan.
pub(super) struct Planner {
    records: RecordWriter,
    /// The last entry, which may still grow.
    open: Option<Record>,
    /// Source offset and number of some of the records with `Content::Next`, whose source offsets ascend.
    index: Vec<(u64, u64)>,
    since_index: u64,
    /// The largest source offset of those records.
    highest: Option<u64>,
    /// Output offset by source offset of contents that lie before others.
    earlier: HashMap<u64, u64>,
    remembered: HashMap<u64, u64>,
    totals: Totals,
}

impl Planner {
    pub(super) fn new(records: RecordWriter) -> Self {
        let levels = vec![Level::default(); usize::from(ZOOM_MAX) + 1];
        Self {
            records,
            open: None,
            index: Vec::new(),
            since_index: 0,
            highest: None,
            earlier: HashMap::new(),
            remembered: HashMap::new(),
            totals: Totals { entries: 0, contents: 0, addressed: 0, bytes: 0, levels },
        }
    }

    /// Number of entries so far.
    pub(super) const fn entries(&self) -> u64 {
        self.totals.entries
    }

    /// Adds a run of tiles of one zoom level. Runs come in the order of their IDs.
    pub(super) fn add(&mut self, entry: Entry) -> Result<()> {
        let level = usize::from(zoom_of(entry.id));
        self.totals.addressed += u64::from(entry.run);
        if let Some(level) = self.totals.levels.get_mut(level) {
            level.tiles += u64::from(entry.run);
        }
        if let Some(open) = &mut self.open
            && open.source == entry.offset
            && open.entry().end() == entry.id
            && let Some(run) = open.run.checked_add(entry.run)
        {
            open.run = run;
            return Ok(());
        }
        self.close()?;
        let record = |output, content| Record {
            id: entry.id,
            source: entry.offset,
            output,
            length: entry.length,
            run: entry.run,
            content,
        };
        self.open = Some(if let Some(output) = self.place_of(entry.offset)? {
            record(output, Content::Known)
        } else {
            let output = self.totals.bytes;
            let is_next = self.highest.is_none_or(|highest| entry.offset > highest);
            if is_next {
                self.highest = Some(entry.offset);
            } else {
                self.earlier.insert(entry.offset, output);
                if self.earlier.len() > EARLIER_MAX {
                    return Err(not_tiles(
                        "has tiles that are not in the order of the map (it is not clustered); \"pmtiles cluster\" sorts a file",
                    ));
                }
            }
            self.totals.contents += 1;
            self.totals.bytes += u64::from(entry.length);
            if let Some(level) = self.totals.levels.get_mut(level) {
                level.bytes += u64::from(entry.length);
            }
            record(output, if is_next { Content::Next } else { Content::Earlier })
        });
        Ok(())
    }

    /// The output offset of a content that an earlier record has.
    fn place_of(&mut self, source: u64) -> Result<Option<u64>> {
        if self.highest.is_none_or(|highest| source > highest) {
            return Ok(None);
        }
        if let Some(output) = self.earlier.get(&source).or_else(|| self.remembered.get(&source)) {
            return Ok(Some(*output));
        }
        // All records are written: the last one was closed.
        let at = self.index.partition_point(|(offset, _)| *offset <= source);
        let Some((_, first)) = at.checked_sub(1).and_then(|at| self.index.get(at)).copied() else {
            return Ok(None);
        };
        let end = self.index.get(at).map_or(self.totals.entries, |(_, number)| *number);
        let mut from = first;
        while from < end {
            let count = usize::try_from((end - from).min(4_096)).unwrap_or(1);
            let records = self.records.read(from, count)?;
            let found = records.iter().find(|one| one.source == source && one.content == Content::Next);
            if let Some(found) = found {
                if self.remembered.len() >= REMEMBERED_MAX {
                    self.remembered.clear();
                }
                self.remembered.insert(source, found.output);
                return Ok(Some(found.output));
            }
            from += records.len().max(1) as u64;
        }
        Ok(None)
    }

    fn close(&mut self) -> Result<()> {
        let Some(record) = self.open.take() else { return Ok(()) };
        let number = self.records.add(&record)?;
        self.totals.entries += 1;
        if self.totals.entries > ENTRIES_MAX {
            return Err(FetchError::Area(
                "the area has more than 40 million tiles; choose a smaller one, or a lower highest zoom level".to_owned(),
            ));
        }
        if record.content == Content::Next {
            if self.since_index == 0 {
                self.index.push((record.source, number));
            }
            self.since_index = (self.since_index + 1) % STEP;
        }
        Ok(())
    }

    /// Completes the plan.
    pub(super) fn finish(mut self) -> Result<Totals> {
        self.close()?;
        self.records.finish()?;
        Ok(self.totals)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::map_fetch::records::RecordReader;

    fn plan(path: &Path, entries: &[(u64, u64, u32, u32)]) -> (Totals, Vec<Record>) {
        let mut planner = Planner::new(RecordWriter::create(path).unwrap());
        for &(id, offset, length, run) in entries {
            planner.add(Entry { id, offset, length, run }).unwrap();
        }
        let totals = planner.finish().unwrap();
        let mut reader = RecordReader::open(path, 0).unwrap();
        (totals, std::iter::from_fn(|| reader.next().unwrap()).collect())
    }

    #[test]
    fn contents_are_written_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let entries = [
            (5, 100, 10, 1),
            // A content whose first tile lies outside of the area, and which appears twice.
            (6, 50, 7, 2),
            (8, 110, 20, 1),
            (9, 50, 7, 1),
            (11, 100, 10, 1),
            // A run that an outline cut in two becomes one again.
            (12, 130, 5, 2),
            (14, 130, 5, 3),
        ];
        let (totals, records) = plan(&folder.path().join("plan"), &entries);
        let seen: Vec<_> = records.iter().map(|one| (one.id, one.output, one.run, one.content)).collect();
        assert_eq!(
            seen,
            [
                (5, 0, 1, Content::Next),
                (6, 10, 2, Content::Earlier),
                (8, 17, 1, Content::Next),
                (9, 10, 1, Content::Known),
                (11, 0, 1, Content::Known),
                (12, 37, 5, Content::Next),
            ]
        );
        assert_eq!((totals.entries, totals.contents, totals.addressed, totals.bytes), (6, 4, 11, 42));
        assert_eq!(totals.levels[2], Level { tiles: 11, bytes: 42 });
    }

    #[test]
    fn contents_are_found_again_among_many() {
        let folder = tempfile::tempdir().unwrap();
        let count = 20_000_u64;
        let mut entries: Vec<_> = (0..count).map(|at| (first(at), at * 10, 10, 1)).collect();
        entries.extend((0..count).step_by(7).map(|at| (first(count + at), at * 10, 10, 1)));
        let (totals, records) = plan(&folder.path().join("plan"), &entries);
        assert_eq!((totals.contents, totals.bytes), (count, count * 10));
        assert!(records.iter().all(|one| one.output == one.source));
    }

    const fn first(at: u64) -> u64 {
        // Not contiguous, so that nothing is joined.
        10_000 + at * 2
    }
}
