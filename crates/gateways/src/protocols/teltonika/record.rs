//! A record of codec 8, 8 extended or 16.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::beacon::read_variable;
use super::parameter::{Family, finish, set_parameter};

/// The width of identifiers and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Eight,
    EightExtended,
    Sixteen,
}

impl Codec {
    fn identifier(self, reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
        if self == Self::Eight { reader.u8().map(u16::from) } else { reader.u16() }
    }

    fn count(self, reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
        if self == Self::EightExtended { reader.u16() } else { reader.u8().map(u16::from) }
    }
}

/// Reads one record. `sixteen` adds elements of sixteen bytes, which some firmware sends after those of eight.
pub(super) fn read_record(
    reader: &mut Reader<'_>,
    codec: Codec,
    sixteen: bool,
    family: Family,
) -> Result<Report, DecodeError> {
    let mut report = Report { time: Some(Timestamp::from_millis(reader.i64()?)), ..Report::default() };
    let priority = reader.u8()?;
    let longitude = f64::from(reader.i32()?) / 1e7;
    let latitude = f64::from(reader.i32()?) / 1e7;
    report.locate(latitude, longitude);
    report.altitude_m = Some(f64::from(reader.i16()?));
    report.course = Some(f64::from(reader.u16()?));
    let satellites = reader.u8()?;
    report.valid = Some(satellites != 0);
    report.speed_kmh = Some(f64::from(reader.u16()?));
    let event = codec.identifier(reader)?;
    if codec == Codec::Sixteen {
        // The trigger of the record: on exit, entrance, both, hysteresis and so on.
        reader.skip(1)?;
    }
    let total = codec.count(reader)?;
    report.values.reserve(usize::from(total).min(reader.remaining()) + 3);
    report.set("priority", priority);
    report.set("sat", satellites);
    report.set("event", event);
    for width in [1, 2, 4, 8] {
        for _ in 0..codec.count(reader)? {
            let identifier = codec.identifier(reader)?;
            let raw = reader.uint(width)?;
            set_parameter(&mut report, identifier, raw, width, family);
        }
    }
    if sixteen {
        for _ in 0..codec.count(reader)? {
            let identifier = codec.identifier(reader)?;
            report.set(("io", identifier.into()), reader.hex(16)?);
        }
    }
    if codec == Codec::EightExtended {
        for _ in 0..reader.u16()? {
            let (identifier, length) = (reader.u16()?, reader.u16()?);
            read_variable(&mut report, identifier, reader.sub(length.into())?)?;
        }
    }
    finish(&mut report, family);
    Ok(report)
}
