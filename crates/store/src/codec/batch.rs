//! A batch: the locations of one commit as bytes, in the order of arrival. The location log appends batches.
//!
//! Format: a version; for each device its id, the count of its locations, and the locations, each as the difference
//! from the one before; at the end a checksum. Log numbers are not written: they count up from the number of the
//! first location.

use bytes::Bytes;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    DuplicateRule, Latitude, Location, Longitude, StoredLocation, Trust,
};
use perigee_core::time::Timestamp;

use super::bytes::{CodecError, Reader, Writer};
use super::readings::{pack_readings, unpack_readings};

const VERSION: u8 = 1;
const LATE: u8 = 1;
const SUSPECT: u8 = 2;

/// A location with packed readings: enough to sort, compare and evaluate it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// When the fix was taken.
    pub time: Timestamp,
    /// Its number in the location log.
    pub number: i64,
    /// When the service received it.
    pub received_at: Timestamp,
    /// Degrees north, WGS 84.
    pub latitude: Latitude,
    /// Degrees east, WGS 84.
    pub longitude: Longitude,
    /// Whether it is late or suspect.
    pub trust: Trust,
    /// The packed readings. Locations that were sent together share one allocation.
    pub readings: Bytes,
}

impl Point {
    /// The key by which histories are sorted.
    pub const fn key(&self) -> (Timestamp, i64) {
        (self.time, self.number)
    }

    /// Whether all submitted fields are equal; equal readings have equal bytes.
    pub fn is_same(&self, other: &Self) -> bool {
        self.time == other.time
            && self.latitude == other.latitude
            && self.longitude == other.longitude
            && self.readings == other.readings
    }

    /// Whether both are duplicates, by the duplicate rule of this one.
    pub fn is_same_by(&self, other: &Self, duplicate_rule: DuplicateRule) -> bool {
        match duplicate_rule {
            DuplicateRule::Content => self.is_same(other),
            DuplicateRule::Fix => {
                let position = |point: &Self| (point.latitude, point.longitude);
                self.time == other.time && DuplicateRule::is_near(position(self), position(other))
            }
        }
    }

    /// Packs the readings of a location.
    pub fn pack(stored: &StoredLocation) -> Self {
        Self {
            time: stored.location.time,
            number: stored.number,
            received_at: stored.received_at,
            latitude: stored.location.latitude,
            longitude: stored.location.longitude,
            trust: stored.trust,
            readings: pack_readings(&stored.location.readings).into(),
        }
    }

    /// A copy that does not share an allocation with other locations.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { readings: Bytes::copy_from_slice(&self.readings), ..self.clone() }
    }

    /// The location with unpacked readings.
    pub fn unpack(&self) -> Result<StoredLocation, CodecError> {
        Ok(StoredLocation {
            location: Location {
                time: self.time,
                latitude: self.latitude,
                longitude: self.longitude,
                readings: unpack_readings(&self.readings)?,
            },
            received_at: self.received_at,
            trust: self.trust,
            number: self.number,
        })
    }
}

/// Writes a batch, device by device.
pub(crate) struct BatchWriter(Writer);

impl Default for BatchWriter {
    fn default() -> Self {
        let mut out = Writer::with_capacity(128);
        out.byte(VERSION);
        Self(out)
    }
}

impl BatchWriter {
    /// Appends locations of a device; their log numbers must follow those already written.
    pub(crate) fn add(&mut self, device: DeviceId, points: &[Point]) {
        let out = &mut self.0;
        out.raw(&device.as_i64().to_le_bytes());
        out.length(points.len());
        let mut before = (0, 0, 0);
        for point in points {
            let now = (
                point.time.as_millis(),
                i64::from(point.latitude.as_e7()),
                i64::from(point.longitude.as_e7()),
            );
            out.signed(now.0.wrapping_sub(before.0));
            out.signed(now.1 - before.1);
            out.signed(now.2 - before.2);
            out.byte(u8::from(point.trust.late) * LATE + u8::from(point.trust.suspect) * SUSPECT);
            out.length(point.readings.len());
            out.raw(&point.readings);
            before = now;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// A location that borrows its readings from a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointRef<'b> {
    pub(crate) device: DeviceId,
    pub(crate) time: Timestamp,
    pub(crate) number: i64,
    pub(super) received_at: Timestamp,
    pub(super) latitude: Latitude,
    pub(super) longitude: Longitude,
    pub(super) trust: Trust,
    pub(crate) readings: &'b [u8],
}

impl PointRef<'_> {
    /// Whether all submitted fields are equal; equal readings have equal bytes.
    pub(crate) fn is_same(&self, other: &Point) -> bool {
        (self.time, self.latitude, self.longitude) == (other.time, other.latitude, other.longitude)
            && self.readings == other.readings
    }

    /// Whether both are duplicates, by the duplicate rule of the other.
    pub(crate) fn is_same_by(&self, other: &Point, duplicate_rule: DuplicateRule) -> bool {
        match duplicate_rule {
            DuplicateRule::Content => self.is_same(other),
            DuplicateRule::Fix => {
                let (here, there) = ((self.latitude, self.longitude), (other.latitude, other.longitude));
                self.time == other.time && DuplicateRule::is_near(here, there)
            }
        }
    }

    /// A copy that owns its readings.
    pub(crate) fn to_point(self) -> Point {
        let Self { time, number, received_at, latitude, longitude, trust, readings, .. } = self;
        let readings = Bytes::copy_from_slice(readings);
        Point { time, number, received_at, latitude, longitude, trust, readings }
    }
}

/// Unpacks a batch; `first` is the log number of its first location.
pub fn unpack_batch(
    bytes: &[u8],
    first: i64,
    received_at: Timestamp,
    mut each: impl FnMut(DeviceId, Point),
) -> Result<(), CodecError> {
    scan_batch(bytes, first, received_at, |point| {
        each(point.device, point.to_point());
        true
    })
}

/// Passes the locations of a batch on without copying them, until `wants_more` returns false.
pub(crate) fn scan_batch<'b>(
    bytes: &'b [u8],
    first: i64,
    received_at: Timestamp,
    mut wants_more: impl FnMut(PointRef<'b>) -> bool,
) -> Result<(), CodecError> {
    let mut input = Reader::checked(bytes, VERSION)?;
    let mut number = first;
    while input.end().is_err() {
        let device = input.raw(8)?.try_into().map_err(|_length| CodecError::Short)?;
        let device = DeviceId::from_i64(i64::from_le_bytes(device));
        let mut before = (0_i64, 0_i64, 0_i64);
        for _ in 0..input.length()? {
            before = (
                before.0.wrapping_add(input.signed()?),
                before.1.wrapping_add(input.signed()?),
                before.2.wrapping_add(input.signed()?),
            );
            let flags = input.byte()?;
            if flags & !(LATE | SUSPECT) != 0 {
                return Err(CodecError::Malformed);
            }
            let length = input.length()?;
            let point = PointRef {
                device,
                time: Timestamp::from_millis(before.0),
                number,
                received_at,
                latitude: Latitude::from_e7(degrees(before.1)?),
                longitude: Longitude::from_e7(degrees(before.2)?),
                trust: Trust { late: flags & LATE != 0, suspect: flags & SUSPECT != 0 },
                readings: input.raw(length)?,
            };
            if !wants_more(point) {
                return Ok(());
            }
            number += 1;
        }
    }
    Ok(())
}

pub(super) fn degrees(units: i64) -> Result<i32, CodecError> {
    i32::try_from(units).map_err(|_too_large| CodecError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perigee_core::locations::location::{Milli, Readings};

    fn point(number: i64, time: i64, latitude: i32, longitude: i32) -> Point {
        let speed = Some(Milli::from_thousandths(number * 1_000));
        Point {
            time: Timestamp::from_millis(time),
            number,
            received_at: Timestamp::from_millis(1_767_225_600_000),
            latitude: Latitude::from_e7(latitude),
            longitude: Longitude::from_e7(longitude),
            trust: Trust { late: number % 2 == 0, suspect: number % 3 == 0 },
            readings: pack_readings(&Readings { speed, ..Readings::default() }).into(),
        }
    }

    fn sample() -> (Vec<(DeviceId, Point)>, Vec<u8>) {
        let (one, other) = (DeviceId::from_i64(7), DeviceId::from_i64(i64::MIN));
        let ones = [
            point(10, 1_767_225_600_000, 422_406_000, -87_207_000),
            point(11, i64::MIN / 2, -900_000_000, 1_799_999_999),
            point(12, i64::MAX / 2, 900_000_000, -1_800_000_000),
        ];
        let others = [point(13, 0, 0, 0)];
        let mut writer = BatchWriter::default();
        writer.add(one, &ones);
        writer.add(other, &others);
        let all = ones.map(|point| (one, point)).into_iter().chain(others.map(|point| (other, point)));
        (all.collect(), writer.finish())
    }

    fn unpack(bytes: &[u8]) -> Result<Vec<(DeviceId, Point)>, CodecError> {
        let mut all = Vec::new();
        let received_at = Timestamp::from_millis(1_767_225_600_000);
        unpack_batch(bytes, 10, received_at, |device, point| all.push((device, point)))?;
        Ok(all)
    }

    #[test]
    fn a_batch_comes_back_as_it_was() {
        let (points, bytes) = sample();
        assert_eq!(unpack(&bytes), Ok(points));
        assert_eq!(unpack(&BatchWriter::default().finish()), Ok(Vec::new()));
    }

    /// Every version that was ever written must stay readable.
    #[test]
    fn the_first_version_stays_readable() {
        let (points, bytes) = sample();
        let golden = include_bytes!("golden/batch-v1.bin");
        assert_eq!(unpack(golden), Ok(points));
        assert_eq!(bytes, golden, "and is still what is written");
    }

    #[test]
    fn damage_is_noticed() {
        let (_, bytes) = sample();
        for offset in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[offset] ^= 0x10;
            assert!(unpack(&damaged).is_err(), "byte {offset}");
            assert!(unpack(&bytes[..offset]).is_err(), "cut at {offset}");
        }
    }
}
