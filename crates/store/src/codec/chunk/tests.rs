//! Tests that every field of every location is read back, and that any bytes are refused without a panic.

mod golden;

use perigee_core::locations::location::{
    Latitude, Location, Longitude, Readings, StoredLocation, TimeRange, Trust,
};
use perigee_core::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::codec::readings::tests::readings;
use crate::codec::{CodecError, Point};

fn sorted(mut locations: Vec<StoredLocation>) -> Vec<StoredLocation> {
    locations.sort_by_key(|stored| (stored.location.time, stored.number));
    locations
}

prop_compose! {
    /// A location with arbitrary values.
    fn strange()(
        readings in readings(),
        (time, received_at, number) in any::<(i64, i64, i64)>(),
        (latitude, longitude) in any::<(i32, i32)>(),
        (late, suspect) in any::<(bool, bool)>(),
    ) -> StoredLocation {
        StoredLocation {
            location: Location {
                time: Timestamp::from_millis(time),
                latitude: Latitude::from_e7(latitude),
                longitude: Longitude::from_e7(longitude),
                readings,
            },
            received_at: Timestamp::from_millis(received_at),
            trust: Trust { late, suspect },
            number,
        }
    }
}

/// A track of small steps, with occasional outliers.
fn track() -> impl Strategy<Value = Vec<StoredLocation>> {
    let step = (0..20_000_i64, -900..900_i32, -900..900_i32, 0..5_i64);
    let rest = prop_oneof![4 => Just(None), 1 => strange().prop_map(Some)];
    vec((step, rest), 0..400).prop_map(|steps| {
        let (mut time, mut latitude, mut longitude, mut number) =
            (1_700_000_000_000, 520_000_000, 134_000_000, 7);
        let mut locations = Vec::new();
        for ((later, north, east, further), rest) in steps {
            (time, latitude, longitude, number) =
                (time + later, latitude + north, longitude + east, number + further);
            let mut stored = rest.unwrap_or_else(|| StoredLocation {
                location: Location {
                    time: Timestamp::from_millis(0),
                    latitude: Latitude::from_e7(latitude),
                    longitude: Longitude::from_e7(longitude),
                    readings: Readings::default(),
                },
                received_at: Timestamp::from_millis(time + 850),
                trust: Trust::default(),
                number,
            });
            stored.location.time = Timestamp::from_millis(time);
            locations.push(stored);
        }
        sorted(locations)
    })
}

fn any_locations() -> impl Strategy<Value = Vec<StoredLocation>> {
    prop_oneof![vec(strange(), 0..12).prop_map(sorted), track()]
}

/// Corrects the checksum of damaged bytes, so that the damage is found by later checks.
fn seal(bytes: &mut [u8]) {
    if let Some((content, checksum)) = bytes.split_last_chunk_mut::<4>() {
        *checksum = crc32fast::hash(content).to_le_bytes();
    }
}

/// Reads with every reader.
fn read_all(bytes: &[u8]) {
    let _ = unpack_chunk(bytes);
    if let Ok(chunk) = ChunkReader::open(bytes)
        && let Ok(positions) = chunk.positions(TimeRange::ALL)
    {
        positions.for_each(drop);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_field_comes_back(locations in any_locations()) {
        let packed = pack_chunk(&locations);
        let summary = chunk_summary(&packed)?;
        prop_assert_eq!(summary.count, locations.len());
        if let (Some(first), Some(last)) = (locations.first(), locations.last()) {
            prop_assert_eq!((summary.first, summary.last), (first.location.time, last.location.time));
        }
        let points: Vec<Point> = locations.iter().map(Point::pack).collect();
        prop_assert!(pack_points(&points)? == packed, "packed readings give other bytes");
        prop_assert_eq!(unpack_chunk(&packed)?, locations);
    }

    #[test]
    fn a_range_gives_what_lies_in_it(locations in track(), ends: (Index, Index)) {
        prop_assume!(!locations.is_empty());
        let time = |end: Index| end.get(&locations).location.time;
        let range = TimeRange { from: time(ends.0).min(time(ends.1)), to: time(ends.0).max(time(ends.1)) };
        let within = |stored: &&StoredLocation| (range.from..=range.to).contains(&stored.location.time);
        let expect: Vec<StoredLocation> = locations.iter().filter(within).cloned().collect();

        let packed = pack_chunk(&locations);
        let chunk = ChunkReader::open(&packed)?;
        let mut rows = chunk.rows(range)?;
        let mut read = Vec::new();
        while let Some(row) = rows.next()? {
            read.push(row.clone());
        }
        prop_assert_eq!(&read, &expect);

        let positions = chunk.positions(range)?.collect::<Result<Vec<_>, _>>()?;
        let expect: Vec<Position> = expect
            .iter()
            .map(|StoredLocation { location, .. }| Position {
                time: location.time,
                latitude: location.latitude,
                longitude: location.longitude,
            })
            .collect();
        prop_assert_eq!(positions, expect);
    }

    #[test]
    fn unsorted_locations_are_sorted(locations in vec(strange(), 0..6)) {
        prop_assert_eq!(pack_chunk(&locations), pack_chunk(&sorted(locations)));
    }

    #[test]
    fn a_flipped_bit_is_noticed(locations in track(), offset: Index, bit in 0..8_u8) {
        let mut bytes = pack_chunk(&locations);
        let offset = offset.index(bytes.len());
        bytes[offset] ^= 1_u8 << bit;
        prop_assert!(unpack_chunk(&bytes).is_err());
    }

    #[test]
    fn cut_bytes_are_refused(locations in any_locations(), offset: Index) {
        let bytes = pack_chunk(&locations);
        let cut = offset.index(bytes.len());
        prop_assert!(unpack_chunk(&bytes[..cut]).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damage_with_a_right_checksum_does_no_harm(
        locations in vec(strange(), 1..6),
        damage in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = pack_chunk(&locations);
        for (offset, byte) in damage {
            let offset = offset.index(bytes.len());
            bytes[offset] = byte;
        }
        seal(&mut bytes);
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..200), versioned: bool) {
        let mut bytes = bytes;
        if let (true, Some(version)) = (versioned, bytes.first_mut()) {
            *version = 1;
        }
        seal(&mut bytes);
        read_all(&bytes);
    }
}

#[test]
fn says_what_is_wrong() {
    assert_eq!(unpack_chunk(&[]), Err(CodecError::Short));
    assert_eq!(unpack_chunk(&[9, 0, 0, 0, 0]), Err(CodecError::Version(9)));
    assert_eq!(chunk_summary(&[9]), Err(CodecError::Version(9)));
    let mut empty = pack_chunk(&[]);
    assert_eq!(unpack_chunk(&empty), Ok(Vec::new()));
    *empty.last_mut().unwrap() ^= 1;
    assert_eq!(unpack_chunk(&empty), Err(CodecError::Checksum));
}

#[test]
fn a_count_without_bytes_is_refused() {
    let mut bytes = vec![1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0];
    seal(&mut bytes);
    assert_eq!(unpack_chunk(&bytes), Err(CodecError::Malformed));
}
