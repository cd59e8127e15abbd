//! Payloads of Meitrack's T622 over Iridium: parameters in the order that is set in the device.

use crate::decoded::DecodeError;
use crate::notation::instant::seconds;
use crate::notation::reader::{Reader, hex_digits};
use crate::report::Report;

/// Seconds from 1970 to 2000.
const SINCE_2000_S: i64 = 946_684_800;
/// Event, position, time and fix flag; the rest depends on the settings of the device.
const DEFAULT_FORMAT: &str = "01,02,03,04,05";

/// Maximum number of parameters of a format that are read.
const PARAMETERS_MAX: usize = 64;

/// Whether a text is a format whose parameters are all known.
pub(crate) fn is_format(text: &str) -> bool {
    let is_known = |word: &str| {
        crate::notation::fields::hex(word)
            .is_some_and(|number| matches!(number, 0x01..=0x0d | 0x14 | 0x15 | 0x19..=0x1b))
    };
    text.split(',').count() <= PARAMETERS_MAX && text.split(',').all(is_known)
}

/// Reads the parameters of a format such as `01,02,03`; bytes after the last one are kept as `payload`.
pub(super) fn read_t622(payload: &[u8], format: Option<&str>) -> Result<Report, DecodeError> {
    let mut reader = Reader::new(payload);
    let mut report = Report::default();
    let (mut latitude, mut longitude) = (None, None);
    for word in format.unwrap_or(DEFAULT_FORMAT).split(',').take(PARAMETERS_MAX) {
        let parameter = crate::notation::fields::hex(word)
            .and_then(|number| u32::try_from(number).ok())
            .ok_or(DecodeError::Malformed("the setting \"format\" is not a list such as 01,02,03"))?;
        match parameter {
            0x01 => report.set("event", reader.u8()?),
            0x02 => latitude = Some(f64::from(reader.i32_le()?) / 1e6),
            0x03 => longitude = Some(f64::from(reader.i32_le()?) / 1e6),
            0x04 => report.time = Some(seconds(reader.u32_le()?).plus_seconds(SINCE_2000_S)),
            0x05 => report.valid = Some(reader.u8()? > 0),
            0x06 => report.set("sat", reader.u8()?),
            0x07 => report.set("rssi", reader.u8()?),
            0x08 => report.speed_kmh = Some(f64::from(reader.u16_le()?)),
            0x09 => report.course = Some(f64::from(reader.u16_le()?)),
            0x0a => report.set("hdop", f64::from(reader.u8()?) / 10.0),
            0x0b => report.altitude_m = Some(f64::from(reader.i16_le()?)),
            0x0c => report.set("odometer", reader.u32_le()?),
            0x0d => report.set("hours", i64::from(reader.u32_le()?) * 1000),
            0x14 => report.set("output", reader.u8()?),
            0x15 => report.set("input", reader.u8()?),
            0x19 => report.set("battery", f64::from(reader.u16_le()?) / 100.0),
            0x1a => report.set("power", f64::from(reader.u16_le()?) / 100.0),
            0x1b => report.set("geofence", reader.u8()?),
            unknown => return Err(DecodeError::UnknownType(unknown)),
        }
    }
    if let (Some(latitude), Some(longitude)) = (latitude, longitude) {
        report.fix(latitude, longitude);
    }
    report.set_text("payload", &hex_digits(reader.take_rest()));
    Ok(report)
}
