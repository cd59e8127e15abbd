//! A device batch: the locations of one device and one commit as bytes, in the order of arrival. PostgreSQL's location
//! log appends device batches.
//!
//! Format: a version, the count of locations, the log number of the first one, the locations, each as the difference
//! from the one before, and a checksum. Log numbers count up by one; a flag marks a location before which numbers are
//! left out.

use perigee_core::id::DeviceId;
use perigee_core::locations::location::{Latitude, Longitude, Trust};
use perigee_core::time::Timestamp;

use super::batch::{Point, PointRef, degrees};
use super::bytes::{CodecError, Reader, Writer};

const VERSION: u8 = 1;
const LATE: u8 = 1;
const SUSPECT: u8 = 2;
/// Log numbers are left out before this location; how many follows the flags.
const GAP: u8 = 4;
/// The fewest bytes of a location: three differences, flags, and the length of its readings.
const POINT_MIN: usize = 5;

/// Packs locations of one device, whose numbers ascend.
pub(crate) fn pack_device_batch(points: &[Point]) -> Vec<u8> {
    let mut out = Writer::with_capacity(16 + points.len() * 24);
    out.byte(VERSION);
    out.length(points.len());
    let mut expected = points.first().map_or(0, |first| first.number);
    out.signed(expected);
    let mut before = (0, 0, 0);
    for point in points {
        let now =
            (point.time.as_millis(), i64::from(point.latitude.as_e7()), i64::from(point.longitude.as_e7()));
        let gap = point.number.wrapping_sub(expected);
        let flags = u8::from(point.trust.late) * LATE
            + u8::from(point.trust.suspect) * SUSPECT
            + u8::from(gap != 0) * GAP;
        out.byte(flags);
        if gap != 0 {
            out.signed(gap);
        }
        out.signed(now.0.wrapping_sub(before.0));
        out.signed(now.1 - before.1);
        out.signed(now.2 - before.2);
        out.length(point.readings.len());
        out.raw(&point.readings);
        before = now;
        expected = point.number.wrapping_add(1);
    }
    let mut bytes = out.into_bytes();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Reads a device batch without copying the readings.
pub(crate) fn read_device_batch(
    bytes: &[u8],
    device: DeviceId,
    received_at: Timestamp,
) -> Result<Vec<PointRef<'_>>, CodecError> {
    let mut input = Reader::checked(bytes, VERSION)?;
    let count = input.length()?;
    if count > bytes.len() / POINT_MIN {
        return Err(CodecError::Malformed);
    }
    let mut number = input.signed()?;
    let mut before = (0_i64, 0_i64, 0_i64);
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        let flags = input.byte()?;
        if flags & !(LATE | SUSPECT | GAP) != 0 {
            return Err(CodecError::Malformed);
        }
        if flags & GAP != 0 {
            number = number.wrapping_add(input.signed()?);
        }
        before = (
            before.0.wrapping_add(input.signed()?),
            before.1.wrapping_add(input.signed()?),
            before.2.wrapping_add(input.signed()?),
        );
        let length = input.length()?;
        points.push(PointRef {
            device,
            time: Timestamp::from_millis(before.0),
            number,
            received_at,
            latitude: Latitude::from_e7(degrees(before.1)?),
            longitude: Longitude::from_e7(degrees(before.2)?),
            trust: Trust { late: flags & LATE != 0, suspect: flags & SUSPECT != 0 },
            readings: input.raw(length)?,
        });
        number = number.wrapping_add(1);
    }
    input.end()?;
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::readings::pack_readings;
    use perigee_core::locations::location::{Milli, Readings};
    use proptest::prelude::*;

    const DEVICE: DeviceId = DeviceId::from_i64(7);
    const RECEIVED: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn point(number: i64, time: i64, latitude: i32, longitude: i32) -> Point {
        let speed = Some(Milli::from_thousandths(number % 200 * 1_000));
        Point {
            time: Timestamp::from_millis(time),
            number,
            received_at: RECEIVED,
            latitude: Latitude::from_e7(latitude),
            longitude: Longitude::from_e7(longitude),
            trust: Trust { late: number % 2 == 0, suspect: number % 3 == 0 },
            readings: pack_readings(&Readings { speed, ..Readings::default() }).into(),
        }
    }

    fn unpack(bytes: &[u8]) -> Result<Vec<Point>, CodecError> {
        Ok(read_device_batch(bytes, DEVICE, RECEIVED)?.into_iter().map(PointRef::to_point).collect())
    }

    /// With and without gaps between the numbers.
    fn sample() -> Vec<Point> {
        vec![
            point(10, 1_767_225_600_000, 422_406_000, -87_207_000),
            point(11, i64::MIN / 2, -900_000_000, 1_799_999_999),
            point(15, i64::MAX / 2, 900_000_000, -1_800_000_000),
            point(16, 0, 0, 0),
        ]
    }

    #[test]
    fn numbers_without_gaps_cost_nothing() {
        let track = |step: i64| {
            let points: Vec<Point> = (0..1_000).map(|at| point(5 + at * step, at * 1_000, 0, 0)).collect();
            let bytes = pack_device_batch(&points);
            assert_eq!(unpack(&bytes), Ok(points));
            bytes.len()
        };
        assert_eq!(track(3) - track(1), 999, "a byte for each gap");
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = pack_device_batch(&sample());
        assert_eq!(unpack(&bytes), Ok(sample()));
        for offset in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[offset] ^= 0x10;
            assert!(unpack(&damaged).is_err(), "byte {offset}");
            assert!(unpack(&bytes[..offset]).is_err(), "cut at {offset}");
        }
    }

    /// Every version that was ever written must stay readable.
    #[test]
    fn the_first_version_stays_readable() {
        let golden = include_bytes!("golden/device-batch-v1.bin");
        assert_eq!(unpack(golden), Ok(sample()));
        assert_eq!(pack_device_batch(&sample()), golden, "and is still what is written");
    }

    proptest! {
        #[test]
        fn any_locations_come_back(
            fields in prop::collection::vec((any::<i32>(), any::<i64>(), any::<i32>(), any::<i32>()), 0..50),
        ) {
            let mut number = 0;
            let points: Vec<Point> = fields.into_iter().map(|(step, time, latitude, longitude)| {
                number += i64::from(step.unsigned_abs()) + 1;
                point(number, time, latitude % 900_000_001, longitude % 1_800_000_000)
            }).collect();
            prop_assert_eq!(unpack(&pack_device_batch(&points)), Ok(points));
        }

        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let checksum = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
            let _ = unpack(&bytes);
        }
    }
}
