//! `SmartOne` payloads of nine bytes, and the variant of `AtlasTrax`.

use crate::alarm::{AlarmTable, Notation, number, text};
use crate::decoded::DecodeError;
use crate::notation::bits::{bit, bits};
use crate::notation::number::{real, signed};
use crate::notation::reader::Reader;
use crate::report::Report;

/// The type of a standard message. Messages of other types (truncated, raw, modular) have no position.
const STANDARD: u64 = 0;
/// The speed that `AtlasTrax` units without a fix send.
const NO_FIX: u8 = 0xff;

/// The event that made a `SmartOne` send.
pub const SUBTYPE: AlarmTable = AlarmTable {
    field: "subtype of a SmartOne payload",
    notation: Notation::Decimal,
    codes: &[number(1, "powerOn"), number(2, "geofenceExit")],
};

/// Flags of `SmartOne` and `AtlasTrax` payloads.
pub const FLAGS: AlarmTable = AlarmTable {
    field: "flag of a SmartOne or AtlasTrax payload",
    notation: Notation::Text,
    codes: &[text("replace battery", "lowBattery"), text("vibration triggered", "vibration")],
};

fn degrees(raw: u32, range: f64) -> f64 {
    real(signed(raw.into(), 24)) * range / 8_388_608.0
}

/// Decodes a payload of a `SmartOne`. Types other than the standard message keep their bytes as `payload`.
pub fn read_smartone(payload: &[u8]) -> Result<Report, DecodeError> {
    let mut reader = Reader::new(payload);
    let mut report = Report::default();
    let head = reader.u8()?;
    let kind = bits(head, 0, 2);
    if kind != STANDARD {
        report.set("messageType", i64::try_from(kind).unwrap_or_default());
        report.set("payload", crate::notation::reader::hex_digits(payload));
        return Ok(report);
    }
    let (latitude, longitude) = (degrees(reader.u24()?, 90.0), degrees(reader.u24()?, 180.0));
    let (inputs, state) = (reader.u8()?, reader.u8()?);
    let fixed = !bit(head, 3);
    if fixed {
        report.fix(latitude, longitude);
    }
    report.valid = Some(fixed);
    report.alarm_some(FLAGS.word_of("replace battery").filter(|_| bit(head, 2)));
    report.set("missedInput1", bit(head, 4));
    report.set("missedInput2", bit(head, 5));
    report.set("gpsFailCounter", i64::try_from(bits(head, 6, 8)).unwrap_or_default());
    report.set("input", inputs);
    report.set("input1Triggered", bit(inputs, 0));
    report.set("input2Triggered", bit(inputs, 2));
    // A closed contact is an input that is on.
    report.input(1, !bit(inputs, 1));
    report.input(2, !bit(inputs, 3));
    let subtype = bits(inputs, 4, 8);
    report.set("event", i64::try_from(subtype).unwrap_or_default());
    report.alarm_some(u32::try_from(subtype).ok().and_then(|subtype| SUBTYPE.word(subtype)));
    report.alarm_some(FLAGS.word_of("vibration triggered").filter(|_| bit(state, 3)));
    report.set("vibrating", bit(state, 4));
    report.set("fix2d", bit(state, 5));
    report.set("motion", bit(state, 6));
    report.set("lowConfidence", bit(state, 7));
    Ok(report)
}

/// Decodes a payload of an `AtlasTrax`; none if the unit reports that it has no fix.
pub fn read_atlastrax(payload: &[u8]) -> Result<Option<Report>, DecodeError> {
    let mut reader = Reader::new(payload);
    let head = reader.u8()?;
    let (latitude, longitude) = (degrees(reader.u24()?, 90.0), degrees(reader.u24()?, 180.0));
    let (speed, state) = (reader.u8()?, reader.u8()?);
    if speed == NO_FIX {
        return Ok(None);
    }
    let mut report = Report { speed_kmh: Some(f64::from(speed)), ..Report::default() };
    report.fix(latitude, longitude);
    report.course = Some(f64::from(head >> 5) * 45.0);
    report.input(1, !bit(head, 1));
    report.input(2, !bit(head, 2));
    report.set("charge", !bit(head, 3));
    report.alarm_some(FLAGS.word_of("vibration triggered").filter(|_| bit(head, 4)));
    report.set("batteryReplace", bit(state, 7));
    Ok(Some(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(hex: &str) -> Report {
        read_smartone(&crate::notation::hex::parse_hex(hex).unwrap()).unwrap()
    }

    fn check(hex: &str, latitude: f64, longitude: f64) -> Report {
        let report = read(hex);
        let position = report.position.unwrap();
        assert!(
            (position.latitude - latitude).abs() < 1e-5 && (position.longitude - longitude).abs() < 1e-5,
            "{position:?}"
        );
        report
    }

    #[test]
    fn positions_are_read() {
        check("00C583EACD37210A00", -41.12206, -71.41592);
        check("00337BA619B7250A00", 36.19899, 36.16229);
        let report = check("002E914EBAEAE84A08", 32.74284, -97.14712);
        assert_eq!(report.get("event"), Some(&crate::Value::Integer(4)));
        assert_eq!(report.alarms, ["vibration"]);
    }

    #[test]
    fn a_message_without_a_fix_has_no_position() {
        let none = crate::notation::hex::parse_hex("63FFFF1BB4FFFFFFFF").unwrap();
        assert_eq!(read_atlastrax(&none), Ok(None));
        assert_eq!(read("63FFFF1BB4FFFFFFFF").get("messageType"), Some(&crate::Value::Integer(3)));
        assert_eq!(read("08C583EACD37210A00").position, None);
        assert_eq!(read_smartone(&[0, 1, 2]), Err(DecodeError::Short));
    }
}
