//! Walks through the directories of a source in the order of tile IDs, and reads only those that an area needs.

use super::compression::Compression;
use super::directory::{self, Entry};
use super::error::{FetchError, Result, not_tiles};
use super::header::{Header, Span};
use super::planner::Planner;
use super::ranges::Ranges;
use super::remote::Remote;
use super::tile_id::first_of;

/// Maximum size of a directory that is not compressed, in bytes.
const UNPACKED_MAX: u64 = 32 * 1024 * 1024;
/// Directories that lie together are read together, up to this many bytes.
const GROUP_MAX: u64 = 4 * 1024 * 1024;
/// Maximum number of bytes between two of them.
const GAP_MAX: u64 = 64 * 1024;
/// Maximum number of directories inside each other.
const DEPTH_MAX: usize = 4;

/// A directory that is being walked through.
struct Level {
    entries: Vec<Entry>,
    at: usize,
    /// The ID at which the next directory begins.
    end: u64,
}

impl Level {
    /// The ID of the entry after this one.
    fn next_id(&self, at: usize) -> u64 {
        self.entries.get(at + 1).map_or(self.end, |next| next.id)
    }
}

/// Reads the directories and plans every tile of the area. `advance` is called now and then.
pub(super) async fn walk(
    remote: &Remote,
    header: &Header,
    root: &[u8],
    ranges: &Ranges,
    planner: &mut Planner,
    advance: &mut (dyn FnMut(&Planner) -> Result<()> + Send),
) -> Result<()> {
    let end = first_of(header.zooms.1 + 1);
    let mut levels = vec![Level { entries: read(header.internal, root)?, at: 0, end }];
    let mut group = Group { offset: 0, bytes: Vec::new() };
    // Directories may point to each other; tile IDs must ascend in any case.
    let mut planned_to = 0;
    while let Some(level) = levels.last_mut() {
        let at = level.at;
        let Some(entry) = level.entries.get(at).copied() else {
            levels.pop();
            continue;
        };
        level.at += 1;
        if entry.run > 0 {
            check_tile(header, &entry)?;
            if entry.id < planned_to {
                return Err(not_tiles("has directories that are not sorted"));
            }
            planned_to = entry.end();
            for (from, to) in ranges.within(entry.id, entry.end()) {
                let run = u32::try_from(to - from).unwrap_or(u32::MAX);
                planner.add(Entry { id: from, run, ..entry })?;
            }
            continue;
        }
        if !ranges.touch(entry.id, level.next_id(at)) {
            continue;
        }
        let end = level.next_id(at);
        if group.get(entry).is_none() {
            let span = group_from(level, at, ranges);
            group = Group { offset: span.offset, bytes: remote.read(in_file(header, span)?).await? };
        }
        let packed = group.get(entry).ok_or_else(|| not_tiles("has a damaged directory"))?;
        let entries = read(header.internal, packed)?;
        advance(planner)?;
        if levels.len() >= DEPTH_MAX || entries.first().is_some_and(|first| first.id < entry.id) {
            return Err(not_tiles("has directories that are not sorted"));
        }
        levels.push(Level { entries, at: 0, end });
    }
    if planner.entries() == 0 && planned_to == 0 {
        return Err(FetchError::Area("the source has no tiles in this area".to_owned()));
    }
    Ok(())
}

/// Bytes of directories that were read together.
struct Group {
    offset: u64,
    bytes: Vec<u8>,
}

impl Group {
    fn get(&self, entry: Entry) -> Option<&[u8]> {
        let from = usize::try_from(entry.offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(from..from.checked_add(usize::try_from(entry.length).ok()?)?)
    }
}

/// The directory of this entry, and those after it that are needed and lie close to it.
fn group_from(level: &Level, at: usize, ranges: &Ranges) -> Span {
    let begin = level.entries[at].offset;
    let mut end = begin + u64::from(level.entries[at].length);
    for (next, entry) in level.entries.iter().enumerate().skip(at + 1) {
        let entry_end = entry.offset.saturating_add(entry.length.into());
        if entry.run > 0 || !ranges.touch(entry.id, level.next_id(next)) {
            continue;
        }
        if entry.offset < end || entry.offset - end > GAP_MAX || entry_end - begin > GROUP_MAX {
            break;
        }
        end = entry_end;
    }
    Span { offset: begin, length: end - begin }
}

/// Where directories are in the file.
fn in_file(header: &Header, span: Span) -> Result<Span> {
    if span.end().is_none_or(|end| end > header.leaves.length) {
        return Err(not_tiles("has a directory outside of the file"));
    }
    Ok(Span { offset: header.leaves.offset + span.offset, length: span.length })
}

fn check_tile(header: &Header, entry: &Entry) -> Result<()> {
    let end = entry.offset.checked_add(entry.length.into());
    if end.is_none_or(|end| end > header.tiles.length) || entry.end() > first_of(header.zooms.1 + 1) {
        return Err(not_tiles("has a tile outside of the file"));
    }
    Ok(())
}

fn read(compression: Compression, packed: &[u8]) -> Result<Vec<Entry>> {
    directory::read(&compression.unpack(packed, UNPACKED_MAX)?)
}
