//! Writes the beginning of the new file: header, directories and metadata. The tiles follow them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;

use super::compression::{Compression, gzip};
use super::directory::{self, Entry};
use super::error::{Result, not_tiles};
use super::header::{HEADER_BYTES, Header, ROOT_END, Span};
use super::planner::Totals;
use super::polygon::Bounds;
use super::records::RecordReader;

/// Entries of one directory below the root, if so many directories fit into the root.
const LEAF_ENTRIES: u64 = 4_096;
/// Maximum length of the root directory.
const ROOT_MAX: u64 = ROOT_END - HEADER_BYTES as u64;

/// What the beginning is made from.
pub(super) struct Beginning<'a> {
    pub(super) source: &'a Header,
    /// The document of the source, unchanged.
    pub(super) metadata: &'a [u8],
    pub(super) totals: &'a Totals,
    pub(super) bounds: Bounds,
    pub(super) max_zoom: u8,
}

/// Writes the beginning to a file and returns its length. `scratch` is the path of a file that may be overwritten.
pub(super) fn write(beginning: &Beginning<'_>, plan: &Path, part: &Path, scratch: &Path) -> Result<u64> {
    let Directories { root, leaves } = directories(beginning.totals.entries, plan, scratch)?;
    let metadata = gzip(beginning.metadata)?;
    let after = |span: Span, length: u64| Span { offset: span.offset + span.length, length };
    let root_span = Span { offset: HEADER_BYTES as u64, length: root.len() as u64 };
    let metadata_span = after(root_span, metadata.len() as u64);
    let leaves_span = after(metadata_span, leaves);
    let tiles = after(leaves_span, beginning.totals.bytes);
    let Beginning { source, totals, bounds, max_zoom, .. } = beginning;
    let zooms = (source.zooms.0.min(*max_zoom), source.zooms.1.min(*max_zoom));
    let bounds = within(*bounds, source.bounds);
    let middle = |one: i32, other: i32| i32::midpoint(one, other);
    let header = Header {
        root: root_span,
        metadata: metadata_span,
        leaves: leaves_span,
        tiles,
        addressed: totals.addressed,
        entries: totals.entries,
        contents: totals.contents,
        clustered: true,
        internal: Compression::Gzip,
        zooms,
        bounds,
        center_zoom: source.center_zoom.clamp(zooms.0, zooms.1),
        center: [middle(bounds[0], bounds[2]), middle(bounds[1], bounds[3])],
        ..**source
    };
    let mut file = BufWriter::new(File::create(part)?);
    file.write_all(&header.write())?;
    file.write_all(&root)?;
    file.write_all(&metadata)?;
    io::copy(&mut BufReader::new(File::open(scratch)?), &mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok(tiles.offset)
}

struct Directories {
    root: Vec<u8>,
    /// Bytes of the directories below the root, which are in the scratch file.
    leaves: u64,
}

/// Writes the directories below the root to the scratch file, as few as fit into the root.
fn directories(entries: u64, plan: &Path, scratch: &Path) -> Result<Directories> {
    if entries <= LEAF_ENTRIES * 4 {
        let all = Leaves::open(plan)?.next(entries)?;
        let root = gzip(&directory::write(&all))?;
        if root.len() as u64 <= ROOT_MAX {
            File::create(scratch)?;
            return Ok(Directories { root, leaves: 0 });
        }
    }
    let mut per_leaf = LEAF_ENTRIES.max(entries.div_ceil(3_000));
    loop {
        let mut leaves = Leaves::open(plan)?;
        let mut file = BufWriter::new(File::create(scratch)?);
        let (mut root, mut offset) = (Vec::new(), 0);
        loop {
            let leaf = leaves.next(per_leaf)?;
            let Some(first) = leaf.first() else { break };
            let packed = gzip(&directory::write(&leaf))?;
            let length = u32::try_from(packed.len()).map_err(|_large| not_tiles("has too many tiles"))?;
            root.push(Entry { id: first.id, offset, length, run: 0 });
            offset += u64::from(length);
            file.write_all(&packed)?;
        }
        file.flush()?;
        let root = gzip(&directory::write(&root))?;
        if root.len() as u64 <= ROOT_MAX {
            return Ok(Directories { root, leaves: offset });
        }
        per_leaf *= 2;
    }
}

/// The entries of the plan, some at a time.
struct Leaves(RecordReader);

impl Leaves {
    fn open(plan: &Path) -> Result<Self> {
        Ok(Self(RecordReader::open(plan, 0)?))
    }

    fn next(&mut self, count: u64) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        while (entries.len() as u64) < count {
            let Some(record) = self.0.next()? else { break };
            entries.push(record.entry());
        }
        Ok(entries)
    }
}

/// The bounds of an area that the source has, in units of 1e-7 degrees.
fn within(area: Bounds, source: [i32; 4]) -> [i32; 4] {
    let [west, south, east, north] = area.map(units);
    let cut = [west.max(source[0]), south.max(source[1]), east.min(source[2]), north.min(source[3])];
    // A source that states no bounds, or wrong ones, does not make them empty.
    if cut[0] < cut[2] && cut[1] < cut[3] { cut } else { [west, south, east, north] }
}

/// Degrees in units of 1e-7.
fn units(degrees: f64) -> i32 {
    // At most 1.8e9 after the limits of degrees.
    #[expect(clippy::cast_possible_truncation, reason = "degrees are at most 180, which fits")]
    let units = (degrees.clamp(-180.0, 180.0) * 1e7).round() as i32;
    units
}
