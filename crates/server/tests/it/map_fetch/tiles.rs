//! Writes `PMTiles` files with streets for tests, and reads files, without the code under test.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Zoom, column and row.
pub(super) type Place = (u8, u64, u64);

/// The number of a tile, by recursion over the quarters of the map.
pub(super) fn id_of((zoom, x, y): Place) -> u64 {
    fn along(size: u64, x: u64, y: u64) -> u64 {
        if size == 1 {
            return 0;
        }
        let half = size / 2;
        let quarter = half * half;
        match (x >= half, y >= half) {
            // The first quarter is mirrored at its diagonal, the last one at the other.
            (false, false) => along(half, y, x),
            (false, true) => quarter + along(half, x, y - half),
            (true, true) => 2 * quarter + along(half, x - half, y - half),
            (true, false) => 3 * quarter + along(half, half - 1 - y, size - 1 - x),
        }
    }
    let before: u64 = (0..zoom).map(|level| 1 << (2 * u64::from(level))).sum();
    before + along(1 << zoom, x, y)
}

/// Column and row of a position.
pub(super) fn tile_at(zoom: u8, longitude: f64, latitude: f64) -> Place {
    let count = f64::from(1_u32 << zoom);
    let y = (1.0 - latitude.to_radians().tan().asinh() / std::f64::consts::PI) / 2.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are on the map")]
    let index = |share: f64| (share * count).floor() as u64;
    (zoom, index((longitude + 180.0) / 360.0), index(y))
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

/// A map: the content of each tile by its number. Neighbours in number with one content become a run.
#[derive(Clone, Default)]
pub(super) struct Map {
    pub(super) tiles: BTreeMap<u64, Vec<u8>>,
    pub(super) max_zoom: u8,
}

impl Map {
    /// Streets around Vigo to this zoom, and the sea around them.
    pub(super) fn streets(max_zoom: u8, edition: &str) -> Self {
        let mut map = Self { tiles: BTreeMap::new(), max_zoom };
        for zoom in 0..=max_zoom {
            let ((_, west, north), (_, east, south)) = (tile_at(zoom, -9.4, 42.6), tile_at(zoom, -8.2, 41.8));
            for x in west..=east {
                for y in north..=south {
                    let place = (zoom, x, y);
                    map.tiles.insert(id_of(place), content(place, edition));
                }
            }
        }
        map
    }

    pub(super) fn tile(&self, place: Place) -> Option<&Vec<u8>> {
        self.tiles.get(&id_of(place))
    }

    /// The file, clustered, with directories of some entries below the root.
    pub(super) fn file(&self) -> Vec<u8> {
        let mut entries: Vec<(u64, u64, u64, u64)> = Vec::new();
        let (mut data, mut places) = (Vec::new(), BTreeMap::new());
        for (id, tile) in &self.tiles {
            let offset = *places.entry(tile.clone()).or_insert_with(|| {
                data.extend_from_slice(tile);
                (data.len() - tile.len()) as u64
            });
            match entries.last_mut() {
                Some((first, run, at, _)) if *first + *run == *id && *at == offset => *run += 1,
                _ => entries.push((*id, 1, offset, tile.len() as u64)),
            }
        }
        let (mut leaves, mut root) = (Vec::new(), Vec::new());
        for leaf in entries.chunks(500) {
            let packed = gzip(&directory(leaf));
            root.push((leaf[0].0, 0, leaves.len() as u64, packed.len() as u64));
            leaves.extend(packed);
        }
        let root = gzip(&directory(&root));
        let metadata = gzip(
            br#"{"attribution":"<a href=\"https://osm.example\">&copy; Mappers</a>","vector_layers":[{"id":"roads"}]}"#,
        );
        let mut header = vec![0; 127];
        header[..8].copy_from_slice(b"PMTiles\x03");
        let mut put = |at: usize, value: u64| header[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let mut begin = 127;
        for (at, part) in [(8, &root), (24, &metadata), (40, &leaves), (56, &data)] {
            put(at, begin);
            put(at + 8, part.len() as u64);
            begin += part.len() as u64;
        }
        put(72, self.tiles.len() as u64);
        put(80, entries.len() as u64);
        put(88, places.len() as u64);
        header[96..102].copy_from_slice(&[1, 2, 2, 1, 0, self.max_zoom]);
        for (at, degrees) in [(102, -180.0_f64), (106, -85.0), (110, 180.0), (114, 85.0)] {
            #[expect(clippy::cast_possible_truncation, reason = "degrees fit")]
            let units = (degrees * 1e7) as i32;
            header[at..at + 4].copy_from_slice(&units.to_le_bytes());
        }
        [header, root, metadata, leaves, data].concat()
    }
}

/// The sea has one content everywhere; land has one for each tile.
fn content(place: Place, edition: &str) -> Vec<u8> {
    let (zoom, x, y) = place;
    let is_sea = zoom > 8 && (x / 8 + y / 16) % 3 == 0;
    let text = if is_sea { "sea".to_owned() } else { format!("{edition} {zoom}/{x}/{y}") };
    let padding: Vec<_> = (0..40).map(|at| format!("{:x}", (x * 31 + y * 17 + at) * 2_654_435_761)).collect();
    gzip(if is_sea { text } else { text + &padding.concat() }.as_bytes())
}

/// A number of the format as an index in memory.
pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn directory(entries: &[(u64, u64, u64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |mut number: u64| {
        while number > 127 {
            bytes.push(u8::try_from(number % 128).unwrap() + 128);
            number /= 128;
        }
        bytes.push(u8::try_from(number).unwrap());
    };
    put(entries.len() as u64);
    let mut before = 0;
    for (id, ..) in entries {
        put(id - before);
        before = *id;
    }
    for (_, run, ..) in entries {
        put(*run);
    }
    for (_, _, _, length) in entries {
        put(*length);
    }
    for (_, _, offset, _) in entries {
        put(offset + 1);
    }
    bytes
}

/// A file as it is read again.
pub(super) struct Read {
    /// Offset and length in the file by number.
    pub(super) places: BTreeMap<u64, (u64, u64)>,
    pub(super) bytes: Vec<u8>,
    pub(super) metadata: String,
    pub(super) root_end: u64,
}

impl Read {
    /// Reads all directories and checks what the format demands of a clustered file.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let part = |at: usize| {
            let (offset, length) = (index(number(at)), index(number(at + 8)));
            bytes[offset..offset + length].to_vec()
        };
        assert!(bytes.starts_with(b"PMTiles\x03"));
        assert_eq!((bytes[96], bytes[97]), (1, 2), "clustered, directories in gzip");
        let metadata = String::from_utf8(gunzip(&part(24))).unwrap();
        let (leaves, tiles) = (part(40), number(56));
        let mut entries = Vec::new();
        for (id, run, offset, length) in read_directory(&gunzip(&part(8))) {
            if run > 0 {
                entries.push((id, run, offset, length));
                continue;
            }
            let leaf = &leaves[index(offset)..index(offset + length)];
            entries.extend(read_directory(&gunzip(leaf)));
        }
        assert_eq!(number(80), entries.len() as u64, "entries");
        assert_eq!(number(72), entries.iter().map(|entry| entry.1).sum::<u64>(), "tiles");
        let (mut end, mut contents, mut after) = (0, 0, 0);
        let mut places = BTreeMap::new();
        for (id, run, offset, length) in entries {
            assert!(id >= after, "sorted");
            after = id + run;
            assert!(offset <= end, "clustered: no gap before tile {id}");
            if offset == end {
                (end, contents) = (end + length, contents + 1);
            }
            places.extend((id..id + run).map(|id| (id, (tiles + offset, length))));
        }
        assert_eq!((number(88), number(64)), (contents, end), "each content once, and no other bytes");
        assert_eq!(bytes.len() as u64, tiles + end);
        Self { places, metadata, root_end: number(8) + number(16), bytes }
    }

    pub(super) fn tile(&self, id: u64) -> Option<&[u8]> {
        let (offset, length) = self.places.get(&id)?;
        Some(&self.bytes[index(*offset)..index(offset + length)])
    }
}

fn read_directory(bytes: &[u8]) -> Vec<(u64, u64, u64, u64)> {
    let mut rest = bytes.iter();
    let mut next = || {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = u64::from(*rest.next().unwrap());
            number |= (byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return number;
            }
        }
    };
    let count = next();
    let mut entries = vec![(0, 0, 0, 0); usize::try_from(count).unwrap()];
    let mut id = 0;
    for entry in &mut entries {
        id += next();
        entry.0 = id;
    }
    for entry in &mut entries {
        entry.1 = next();
    }
    for entry in &mut entries {
        entry.3 = next();
    }
    let mut contiguous = 0;
    for entry in &mut entries {
        entry.2 = match next() {
            0 => contiguous,
            offset => offset - 1,
        };
        contiguous = entry.2 + entry.3;
    }
    entries
}
