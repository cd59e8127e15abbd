//! Parts that GT06 messages are made of: time, position, cell and status.

use perigee_core::time::Timestamp;

use crate::decoded::{Context, DecodeError};
use crate::notation::bits::{bit, bits};
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::status_alarm;
use super::message::kind;
use super::variant::Layout;

/// Units of a coordinate in a degree: 30,000 a minute.
const UNITS: f64 = 1_800_000.0;

/// How the clock of a device is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone<'a> {
    pub(super) context: &'a Context<'a>,
    /// Offset from UTC in minutes, from the login.
    pub(super) login_minutes: i64,
}

impl Zone<'_> {
    /// Reads year, month, day, hour, minute, second.
    pub(super) fn time(&self, reader: &mut Reader<'_>) -> Result<Option<Timestamp>, DecodeError> {
        let shown = Civil::read_bytes(reader)?.instant();
        Ok(self.context.utc(shown, self.login_minutes))
    }
}

/// The optional fields of a position block besides coordinates and flags.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fix {
    /// Satellites, then speed before the flags.
    Usual,
    /// Only coordinates and flags.
    Bare,
    /// Satellites; flags before a speed of two bytes.
    Camera,
}

/// Reads time and position.
pub(super) fn read_fix(
    report: &mut Report,
    reader: &mut Reader<'_>,
    form: Fix,
    zone: Zone<'_>,
) -> Result<(), DecodeError> {
    report.time = zone.time(reader)?;
    read_position(report, reader, form)
}

/// Reads the part after the time of a position.
pub(super) fn read_position(
    report: &mut Report,
    reader: &mut Reader<'_>,
    form: Fix,
) -> Result<(), DecodeError> {
    if !matches!(form, Fix::Bare) {
        report.set("sat", reader.u8()? & 0x0f);
    }
    let (latitude, longitude) = (reader.u32()?, reader.u32()?);
    let flags = match form {
        Fix::Usual => {
            report.speed_kmh = Some(f64::from(reader.u8()?));
            reader.u16()?
        }
        Fix::Bare => reader.u16()?,
        Fix::Camera => {
            let flags = reader.u16()?;
            report.speed_kmh = Some(f64::from(reader.u16()?));
            flags
        }
    };
    set_position(report, latitude, longitude, flags);
    if bit(flags, 14) {
        report.set("ignition", bit(flags, 15));
    }
    Ok(())
}

/// Sets position, course and validity by coordinates without a sign and the word of flags.
pub(super) fn set_position(report: &mut Report, latitude: u32, longitude: u32, flags: u16) {
    let (north, west) = (bit(flags, 10), bit(flags, 11));
    let degrees = |units: u32, negative: bool| f64::from(units) / if negative { -UNITS } else { UNITS };
    report.locate(degrees(latitude, !north), degrees(longitude, west));
    report.course = Some(f64::from(flags & 0x3ff));
    report.valid = Some(bit(flags, 12));
}

/// Reads one cell; false if the block is present but empty.
pub(super) fn read_cell(
    report: &mut Report,
    reader: &mut Reader<'_>,
    message: u8,
    layout: Layout,
    has_length: bool,
) -> Result<bool, DecodeError> {
    let mut length = 0;
    if has_length {
        length = usize::from(reader.u8()?);
        if length == 0 {
            // Some units send a block of zeros after an empty length.
            let block = reader.rest().get(9..45);
            if block.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0)) {
                reader.skip(45)?;
            }
            return Ok(false);
        }
    }
    let before = reader.remaining();
    let typed = matches!(message, kind::GPS_CELL_TYPED | kind::ALARM_MODULES);
    let network_type = if typed { reader.u8()? } else { 0 };
    let fourth_generation = network_type >= 3
        || matches!(
            message,
            kind::CELL_ALARM_4G | kind::GPS_CELL_4G | kind::WIFI_4G_OR_STATUS | kind::ALARM_FENCE_4G
        );
    let mcc = reader.u16()?;
    let wide_network = bit(mcc, 15) || message == kind::GPS_CELL_WIDE || layout == Layout::Sl4x;
    let mnc = if wide_network { reader.u16()? } else { u16::from(reader.u8()?) };
    let lac = if fourth_generation { reader.u32()? } else { u32::from(reader.u16()?) };
    let four_bytes =
        matches!(message, kind::GPS_CELL_WIDE | kind::IBUTTON | kind::GPS_DRIVER | kind::STATUS_OR_PHOTO)
            || matches!(layout, Layout::Seeworld | Layout::Sl4x);
    let cell = if fourth_generation {
        reader.u64()?
    } else if four_bytes {
        u64::from(reader.u32()?)
    } else {
        u64::from(reader.u24()?)
    };
    if typed {
        reader.skip(if network_type >= 3 { 2 } else { 1 })?;
    }
    report.cell(mcc & 0x7fff, mnc, lac, cell);
    // The length counts its own byte, except in positions with a driver.
    let own = usize::from(message != kind::GPS_DRIVER);
    let read = before - reader.remaining();
    reader.skip(length.saturating_sub(own).saturating_sub(read))?;
    Ok(true)
}

/// Reads the byte of terminal information.
pub(super) fn read_status(
    report: &mut Report,
    reader: &mut Reader<'_>,
    layout: Layout,
) -> Result<(), DecodeError> {
    let status = reader.u8()?;
    report.set("status", status);
    report.set("ignition", bit(status, 1));
    report.set("charge", bit(status, 2));
    report.set("blocked", bit(status, 7));
    report.alarm_some(status_alarm(bits(status, 3, 6), layout));
    Ok(())
}

/// Hundredths of a unit.
pub(super) fn hundredths(number: u16) -> f64 {
    f64::from(number) / 100.0
}
