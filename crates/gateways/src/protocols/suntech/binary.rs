//! Binary frames with a report map: the same fields as mapped lines, as numbers.

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::alert;

/// The kind of an alert.
const ALERT: u8 = 0x82;
/// The alert of a driver's key.
const DRIVER: u8 = 59;

/// Reads `kind length name map …`.
pub(super) fn read_binary(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    let kind = reader.u8()?;
    reader.skip(2)?;
    let decoded = Decoded::identified(reader.hex(5)?);
    let map = reader.u24()?;
    let mut report = Report::default();
    set_head(&mut report, &mut reader, map)?;
    set_rest(&mut report, &mut reader, map, kind == ALERT)?;
    Ok(Decoded { reports: vec![report], ..decoded })
}

fn set_head(report: &mut Report, reader: &mut Reader<'_>, map: u32) -> Result<(), DecodeError> {
    if bit(map, 1) {
        reader.skip(1)?;
    }
    if bit(map, 2) {
        let [major, minor, patch] = reader.array()?;
        report.set("versionFw", format!("{major}.{minor}.{patch}"));
    }
    if bit(map, 3) && reader.u8()? == 0 {
        report.set("archive", true);
    }
    if bit(map, 4) && bit(map, 5) {
        report.time = Civil::read_bytes(reader)?.instant();
    }
    let cell = if bit(map, 6) { Some(reader.u32()?) } else { None };
    let mut short = |index: u32| if bit(map, index) { reader.u16().map(Some) } else { Ok(None) };
    let (mcc, mnc, lac) = (short(7)?, short(8)?, short(9)?);
    if let (Some(cell), Some(mcc), Some(mnc), Some(lac)) = (cell, mcc, mnc, lac) {
        report.cell(mcc, mnc, lac, cell);
    }
    if bit(map, 10) {
        report.set("rssi", reader.u8()?);
    }
    let mut degrees = |index: u32| {
        if bit(map, index) { reader.u32().map(|raw| Some(signed_degrees(raw))) } else { Ok(None) }
    };
    if let Some((latitude, longitude)) = degrees(11)?.zip(degrees(12)?) {
        report.locate(latitude, longitude);
    }
    Ok(())
}

/// Millionths of a degree; the highest bit is the sign.
fn signed_degrees(raw: u32) -> f64 {
    let degrees = f64::from(raw & 0x7fff_ffff) / 1e6;
    if bit(raw, 31) { -degrees } else { degrees }
}

fn set_rest(
    report: &mut Report,
    reader: &mut Reader<'_>,
    map: u32,
    is_alert: bool,
) -> Result<(), DecodeError> {
    if bit(map, 13) {
        report.speed_kmh = Some(f64::from(reader.u16()?) / 100.0);
    }
    if bit(map, 14) {
        report.course = Some(f64::from(reader.u16()?) / 100.0);
    }
    if bit(map, 15) {
        report.set("sat", reader.u8()?);
    }
    if bit(map, 16) {
        report.valid = Some(reader.u8()? > 0);
    }
    if bit(map, 17) {
        let inputs = reader.u8()?;
        report.set("ignition", bit(inputs, 0));
        report.set("input", inputs);
        for pin in 1..8 {
            report.input(pin, bit(inputs, pin));
        }
    }
    if bit(map, 18) {
        let outputs = reader.u8()?;
        report.set("output", outputs);
        for pin in 0..8 {
            report.output(pin + 1, bit(outputs, pin));
        }
    }
    let mut number = 0;
    if bit(map, 19) {
        number = reader.u8()?;
        if is_alert {
            report.alarm_some(alert(number.into()));
        }
    }
    if bit(map, 20) {
        reader.skip(2)?;
    }
    if bit(map, 21) && is_alert && number == DRIVER && reader.remaining() >= 8 {
        report.set("driverUniqueId", reader.hex(8)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_says_which_fields_there_are() {
        // Date and time, coordinates, speed, fix, inputs, alert 1 with its modifier.
        let map: u32 = 1 << 4 | 1 << 5 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 16 | 1 << 17 | 1 << 19 | 1 << 20;
        let mut frame = vec![ALERT, 0, 32, 0x05, 0x60, 0x00, 0x16, 0x16];
        frame.extend_from_slice(&map.to_be_bytes()[1..]);
        frame.extend_from_slice(&[24, 12, 23, 0, 22, 4]);
        frame.extend_from_slice(&(12_063_565_u32 + (1 << 31)).to_be_bytes());
        frame.extend_from_slice(&45_793_653_u32.to_be_bytes());
        frame.extend_from_slice(&[0x04, 0xd2, 1, 0b101, 1, 0, 0]);
        let decoded = read_binary(&frame).unwrap();
        assert_eq!(decoded.identifiers, ["0560001616"]);
        let [report] = decoded.reports.as_slice() else { panic!("one report") };
        assert_eq!(
            report.position.map(|position| (position.latitude, position.longitude)),
            Some((-12.063_565, 45.793_653))
        );
        assert_eq!(report.time.map(|time| time.to_string()).as_deref(), Some("2024-12-23T00:22:04Z"));
        assert_eq!((report.speed_kmh, report.valid), (Some(12.34), Some(true)));
        assert_eq!((report.inputs.get(2), report.alarms.as_slice()), (Some(true), &["overspeed"][..]));
    }
}
