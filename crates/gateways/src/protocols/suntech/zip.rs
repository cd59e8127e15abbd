//! The compressed form of classic lines: `02 length … 03`, numbers with a binary whole part and decimal digits after it.

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::Report;

/// Reads a compressed report.
pub(super) fn read_zip(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    // Start, length, kind.
    reader.skip(4)?;
    let digits = reader.hex(5)?;
    let decoded = Decoded::identified(digits.get(..9).unwrap_or_default());
    // Model and version.
    reader.skip(3)?;
    let mut report = Report { time: Civil::read_bytes(&mut reader)?.instant(), ..Report::default() };
    // Cell.
    reader.skip(3)?;
    let (latitude, longitude) = (degrees(&mut reader)?, degrees(&mut reader)?);
    report.speed_kmh = Some(f64::from(reader.u16()?) + decimals(&mut reader, 1)?);
    report.course = Some(f64::from(reader.u16()?) + decimals(&mut reader, 1)?);
    let fix = reader.u8()?;
    report.valid = Some(bit(fix, 7));
    let south_or_west = |degrees: f64, index: u32| if bit(fix, index) { -degrees } else { degrees };
    report.locate(south_or_west(latitude, 6), south_or_west(longitude, 5));
    report.set("sat", fix & 0x1f);
    report.set("odometer", reader.u32()?);
    report.set("power", f64::from(reader.u8()?) + decimals(&mut reader, 1)?);
    let pins = reader.u8()?;
    report.set("ignition", bit(pins, 0));
    for pin in 1..=3 {
        report.input(pin, bit(pins, pin));
    }
    report.output(1, bit(pins, 4));
    report.output(2, bit(pins, 5));
    report.set("event", reader.u8()?);
    Ok(Decoded { reports: vec![report], ..decoded })
}

/// A whole number of degrees and six digits after the point.
fn degrees(reader: &mut Reader<'_>) -> Result<f64, DecodeError> {
    Ok(f64::from(reader.u8()?) + decimals(reader, 3)?)
}

/// Pairs of decimal digits after a point.
fn decimals(reader: &mut Reader<'_>, pairs: usize) -> Result<f64, DecodeError> {
    let (mut sum, mut scale) = (0.0, 1.0);
    for _ in 0..pairs {
        scale /= 100.0;
        sum += f64::from(reader.bcd()?) * scale;
    }
    Ok(sum)
}
