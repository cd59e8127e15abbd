//! Binary records of Queclink: a frame identifies the device once, and each record is a list of numbered data.

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::{bit, bits};
use crate::notation::reader::Reader;
use crate::report::Report;

/// The data of a position.
const POSITION: u16 = 0x52;
/// Count, check byte and `$`.
const TAIL: usize = 4;

/// Reads a frame of records.
pub(super) fn read_records(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let body = frame.len().checked_sub(TAIL).and_then(|end| frame.get(..end)).ok_or(DecodeError::Short)?;
    let mut reader = Reader::new(body);
    // Header and length.
    reader.skip(4)?;
    if bit(reader.u8()?, 7) {
        // One of several frames: their number, and its index.
        reader.skip(2)?;
    }
    let name = reader.hex(8)?;
    let mut decoded = Decoded::identified(name.get(1..).unwrap_or_default());
    // Device type and versions; reserved bytes with their length follow.
    reader.skip(2 + 2 + 1)?;
    let reserved = reader.u8()?;
    reader.skip(reserved.into())?;
    while !reader.is_empty() {
        let before = reader.remaining();
        let length = usize::from(read_number(&mut reader)?);
        let own = before - reader.remaining();
        let content = reader.sub(length.checked_sub(own).ok_or(DecodeError::Short)?)?;
        read_record(&mut decoded, content)?;
    }
    Ok(decoded)
}

/// Time, number, type and event, then the data. A record without a position gives only its event.
fn read_record(decoded: &mut Decoded, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    let made = Timestamp::from_millis(i64::from(reader.u32()?) * 1000);
    let mut report = Report { time: Some(made), ..Report::default() };
    report.set("index", reader.u16()?);
    report.set("recordType", reader.u8()?);
    report.set("event", reader.u8()?);
    while !reader.is_empty() {
        let (kind, length) = (read_number(&mut reader)?, read_number(&mut reader)?);
        let data = reader.sub(length.into())?;
        if kind == POSITION {
            read_position(&mut report, data)?;
        }
    }
    decoded.reports.push(report);
    Ok(())
}

fn read_position(report: &mut Report, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    report.valid = Some(bits(reader.u8()?, 2, 4) == 0b10);
    let (longitude, latitude) = (reader.i32()?, reader.i32()?);
    report.locate(f64::from(latitude) / 1e6, f64::from(longitude) / 1e6);
    report.time = Some(Timestamp::from_millis(i64::from(reader.u32()?) * 1000));
    report.speed_kmh = Some(f64::from(reader.u16()?) / 10.0);
    report.set("hdop", f64::from(reader.u8()?) / 10.0);
    report.course = Some(f64::from(reader.u16()?));
    report.altitude_m = Some(f64::from(reader.u24()?) / 10.0);
    report.set("sat", reader.u8()?);
    Ok(())
}

/// A number of one byte, or of two bytes if the highest bit of the first is set.
fn read_number(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
    let first = reader.u8()?;
    if bit(first, 7) { Ok(u16::from(first & 0x7f) << 8 | u16::from(reader.u8()?)) } else { Ok(first.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one record with these data.
    fn frame(data: &[u8]) -> Vec<u8> {
        let mut record = vec![0, 0x6a, 0x3e, 0xd6, 0xf1, 0, 7, 0x50, 3];
        record.extend_from_slice(data);
        record[0] = u8::try_from(record.len()).unwrap();
        let mut frame = vec![b'+', 0, 0, 0, 0, 0x08, 0x65, 0x13, 0x40, 0x50, 0x90, 0x00, 0x01];
        frame.extend_from_slice(&[0x82, 3, 0, 3, 0, 0]);
        frame.extend_from_slice(&record);
        frame.extend_from_slice(&[0, 1, 0, b'$']);
        frame[3] = u8::try_from(frame.len()).unwrap();
        frame
    }

    #[test]
    fn a_record_has_a_position_or_only_its_event() {
        let position = [
            0x52, 0x16, 0x29, 0xff, 0x81, 0xd7, 0x20, 0x02, 0x8d, 0xe0, 0x80, 0x6a, 0x3e, 0xd6, 0xf1, 0, 125,
            9, 0, 90, 0, 0x10, 0xf5, 5,
        ];
        let decoded = read_records(&frame(&position)).unwrap();
        assert_eq!(decoded.identifiers, ["865134050900001"]);
        let [report] = decoded.reports.as_slice() else { panic!("one report") };
        let position = report.position.map(|position| (position.latitude, position.longitude));
        assert_eq!((position, report.valid), (Some((42.852_48, -8.268_0)), Some(true)));
        assert_eq!(
            (report.speed_kmh, report.course, report.altitude_m),
            (Some(12.5), Some(90.0), Some(434.1))
        );
        let decoded = read_records(&frame(&[0x81, 0x02, 2, 1, 2])).unwrap();
        assert_eq!((decoded.reports.len(), decoded.reports[0].position), (1, None));
        assert_eq!(decoded.reports[0].get("event"), Some(&crate::Value::Integer(3)));
        assert_eq!(read_records(b"+\0\0\x38"), Err(DecodeError::Short));
    }
}
