//! GT06 messages of one position or one status, with everything that makers append to them.

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::{bit, bits};
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::alarm::{CARD, camera_alarm, extended_alarm};
use super::message::{Message, kind};
use super::part::{Fix, Zone, hundredths, read_cell, read_fix, read_status};
use super::variant::{Family, Layout};

/// Decodes a message into one report; none for a message that is only acknowledged.
pub(super) fn read_located(
    message: Message<'_>,
    layout: Layout,
    family: Family,
    zone: Zone<'_>,
) -> Result<Decoded, DecodeError> {
    let mut report = Report::default();
    let mut content = message.content;
    let reader = &mut content;
    match message.kind {
        kind::HEARTBEAT => read_heartbeat(&mut report, reader)?,
        kind::INFORMATION => report.set("power", f64::from(reader.i16()?) / 100.0),
        kind::X1_GPS_OR_CELLS => read_x1(&mut report, reader, zone)?,
        kind::CELLS_C => {
            read_fix(&mut report, reader, Fix::Usual, zone)?;
            read_cell(&mut report, reader, message.kind, layout, false)?;
            report.set("ignition", reader.u8()? > 0);
            report.set("power", hundredths(reader.u16()?));
            report.set("battery", hundredths(reader.u16()?));
        }
        kind::WIFI_COUNTED => super::network::read_counted_wifi(&mut report, reader)?,
        kind::TEXT => read_text(&mut report, reader)?,
        kind::STATUS if reader.remaining() == 16 => read_temperature_status(&mut report, reader)?,
        kind::IBUTTON => {
            reader.skip(8)?;
            read_fix(&mut report, reader, Fix::Usual, zone)?;
            read_cell(&mut report, reader, message.kind, layout, false)?;
            report.set("driverUniqueId", reader.uint(6)?.to_string());
        }
        kind::STATUS_OR_PHOTO if reader.remaining() >= 40 => read_vl_position(&mut report, reader, zone)?,
        kind::CAMERA_ALARM => read_camera_alarm(&mut report, reader, layout, zone)?,
        _ => match Blocks::of(message.kind, layout, family) {
            Some(blocks) => match blocks.read(&mut report, reader, layout, family, zone) {
                // Clones omit the last fields: the fields before them are used.
                Err(DecodeError::Short) if report.position.is_some() || report.get("status").is_some() => {}
                read => read?,
            },
            None => return Ok(Decoded::nothing()),
        },
    }
    Ok(Decoded::one(report))
}

fn read_heartbeat(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let status = reader.u8()?;
    report.set("armed", bit(status, 0));
    report.set("ignition", bit(status, 1));
    report.set("charge", bit(status, 2));
    if reader.remaining() >= 2 {
        report.set("battery", hundredths(reader.u16()?));
    }
    if reader.remaining() >= 1 {
        report.set("rssi", reader.u8()?);
    }
    Ok(())
}

fn read_x1(report: &mut Report, reader: &mut Reader<'_>, zone: Zone<'_>) -> Result<(), DecodeError> {
    reader.skip(4)?;
    read_fix(report, reader, Fix::Usual, zone)?;
    reader.skip(2)?;
    report.set("odometer", reader.u32()?);
    let (mcc, mnc, lac, cell) = (reader.u16()?, reader.u8()?, reader.u16()?, reader.u32()?);
    report.cell(mcc, mnc.into(), lac, cell);
    let driver = reader.u32()?;
    if driver > 0 {
        report.set("driverUniqueId", driver.to_string());
    }
    report.set("battery", hundredths(reader.u16()?));
    report.set("power", hundredths(reader.u16()?));
    let ports = reader.u32()?;
    report.set("input", reader.u8()?);
    report.set("output", reader.u8()?);
    for port in 1..=u32::try_from(bits(ports, 20, 24)).unwrap_or(0) {
        report.set(("adc", port), hundredths(reader.u16()?));
    }
    Ok(())
}

fn read_text(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let length = usize::from(reader.u8()?);
    if length > 0 {
        reader.skip(4)?;
        let text = reader.text(length.saturating_sub(4))?;
        match text.strip_prefix("<ICCID:").and_then(|rest| rest.get(..20)) {
            Some(iccid) => report.set_text("iccid", iccid),
            None => report.set("result", text),
        }
    }
    Ok(())
}

fn read_temperature_status(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    reader.skip(5)?;
    report.set("batteryLevel", reader.u8()?);
    reader.skip(8)?;
    let temperature = reader.u16()?;
    let degrees = f64::from(temperature & 0x7fff) / 10.0;
    report.set("temp1", if bit(temperature, 15) { degrees } else { -degrees });
    Ok(())
}

fn read_camera_alarm(
    report: &mut Report,
    reader: &mut Reader<'_>,
    layout: Layout,
    zone: Zone<'_>,
) -> Result<(), DecodeError> {
    let detailed = reader.remaining() > 7;
    let jc400 = layout == Layout::Jc400;
    if detailed && jc400 {
        reader.skip(3)?;
        read_fix(report, reader, Fix::Camera, zone)?;
    } else if detailed {
        read_fix(report, reader, Fix::Bare, zone)?;
    } else {
        report.time = zone.time(reader)?;
    }
    if jc400 {
        report.set("power", f64::from(reader.u16()?) / 10.0);
    }
    let event = reader.u8()?;
    report.set("event", event);
    report.alarm_some(camera_alarm(event, detailed));
    // A short alarm ends here.
    if reader.remaining() >= 2 {
        report.set("eventData", reader.u16()?);
    }
    let files = reader.remaining();
    if files > 0 {
        let names = reader.text(files)?;
        report.set_text("eventFiles", &names);
    }
    Ok(())
}

/// A position with counters and a driver, sent under the message number of a status (VL103).
fn read_vl_position(report: &mut Report, reader: &mut Reader<'_>, zone: Zone<'_>) -> Result<(), DecodeError> {
    read_fix(report, reader, Fix::Usual, zone)?;
    read_cell(report, reader, kind::STATUS_OR_PHOTO, Layout::Standard, false)?;
    report.set("ignition", reader.u8()? > 0);
    report.set("uploadMode", reader.u8()?);
    report.set("archive", reader.u8()? > 0);
    report.set("odometer", reader.u32()?);
    report.set("power", hundredths(reader.u16()?));
    report.set("battery", f64::from(reader.u8()?) / 10.0);
    report.set("hours", i64::from(reader.u24()?) * 60_000);
    if reader.remaining() >= 8 {
        set_card(report, reader)?;
    }
    Ok(())
}

/// The card of a driver; zeros stand for none.
fn set_card(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let card = reader.hex(8)?;
    if card.bytes().any(|digit| digit != b'0') {
        report.set("driverUniqueId", card);
    }
    Ok(())
}

/// The bytes after the terminal information in the status of Seeworld units; longer on units with a pedometer.
fn read_seeworld_status(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    // Two bytes of further states.
    reader.skip(2)?;
    let step = reader.u8()?;
    if step <= 6 {
        report.set("batteryLevel", u32::from(step) * 100 / 6);
    }
    report.set("rssi", reader.u8()?);
    report.set("power", f64::from(reader.u8()?));
    reader.skip(1)?;
    if reader.remaining() >= 9 {
        // Switches of sound and light.
        reader.skip(2)?;
        report.set("steps", reader.u32()?);
        report.set("batteryLevel", reader.u8()?);
        report.set("charge", reader.u8()? == 1);
        report.set("motion", reader.u8()? == 1);
    }
    reader.skip(reader.remaining())
}

/// The blocks of a message, in this order: position, cell, status, and additions of the maker.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    message: u8,
    position: bool,
    cell: bool,
    status: bool,
}

impl Blocks {
    fn of(message: u8, layout: Layout, family: Family) -> Option<Self> {
        let (position, cell, status) = match message {
            kind::GPS | kind::GPS_PHONE | kind::GPS_EXTENDED => (true, false, false),
            kind::GPS_REASON | kind::GPS_DRIVER => (true, true, family == Family::Nt),
            kind::FENCE_OR_STATUS if layout == Layout::Seeworld => (false, false, true),
            kind::GPS_CELL
            | kind::GPS_CELL_WIDE
            | kind::GPS_REASON_B
            | kind::GPS_REASON_C
            | kind::GPS_REASON_D
            | kind::GPS_CELL_4G
            | kind::WIFI_OR_CARD
            | kind::FENCE_OR_STATUS => (true, true, false),
            kind::ALARM
            | kind::ALARM_B
            | kind::ALARM_FENCE
            | kind::ALARM_C
            | kind::ALARM_MODULES
            | kind::WIFI_4G_OR_STATUS
            | kind::ALARM_FENCE_4G => (true, true, true),
            kind::STATUS | kind::STATUS_OR_PHOTO => (false, false, true),
            kind::CELL_STATUS | kind::CELL_ALARM_4G => (false, true, true),
            kind::CELL_ADDRESS_4G => (false, true, false),
            _ => return None,
        };
        Some(Self { message, position, cell, status })
    }

    /// Positions of NT models, which have an identifier, a status and counters.
    const fn is_nt(self, family: Family) -> bool {
        matches!(family, Family::Nt) && matches!(self.message, kind::GPS_REASON | kind::GPS_DRIVER)
    }

    fn read(
        self,
        report: &mut Report,
        reader: &mut Reader<'_>,
        layout: Layout,
        family: Family,
        zone: Zone<'_>,
    ) -> Result<(), DecodeError> {
        report.set("type", self.message);
        if self.message == kind::GPS_CELL && family == Family::Qh302r {
            reader.skip(8)?;
        }
        if self.is_nt(family) {
            // Source, identifier and the time of sending.
            reader.skip(1 + 8 + 6)?;
        }
        if self.position {
            read_fix(report, reader, Fix::Usual, zone)?;
        }
        if self.cell && !reader.is_empty() {
            let without_length = matches!(
                self.message,
                kind::CELL_STATUS | kind::CELL_ALARM_4G | kind::WIFI_4G_OR_STATUS | kind::ALARM_MODULES
            ) || (self.message == kind::ALARM && layout == Layout::Vxt01);
            read_cell(report, reader, self.message, layout, self.status && !without_length)?;
        }
        if self.status {
            self.read_status_block(report, reader, layout, family)?;
        }
        self.read_appended(report, reader, layout, family)
    }

    fn read_status_block(
        self,
        report: &mut Report,
        reader: &mut Reader<'_>,
        layout: Layout,
        family: Family,
    ) -> Result<(), DecodeError> {
        let nt = self.is_nt(family);
        let lw4g = self.message == kind::WIFI_4G_OR_STATUS;
        if lw4g {
            reader.skip(1)?;
        }
        read_status(report, reader, layout)?;
        match (layout, self.message) {
            (Layout::Obd6, _) => return read_obd6(report, reader, family),
            (Layout::Seeworld, kind::FENCE_OR_STATUS) => return read_seeworld_status(report, reader),
            _ => {}
        }
        if lw4g || nt {
            report.set("power", hundredths(reader.u16()?));
        }
        if self.message == kind::STATUS && family == Family::R11 {
            report.set("power", hundredths(reader.u16()?));
        } else {
            match reader.u8()? {
                tenths if nt => report.set("battery", f64::from(tenths) / 10.0),
                // Seven steps on old units, percent on new ones.
                step @ 0..=6 => report.set("batteryLevel", u32::from(step) * 100 / 6),
                percent @ 7..=100 => report.set("batteryLevel", percent),
                _ => {}
            }
        }
        report.set("rssi", reader.u8()?);
        if self.message == kind::STATUS && family == Family::Lw {
            report.set("power", f64::from(reader.u16()? & 0x0fff) / 10.0);
        } else {
            let wide = matches!(self.message, kind::ALARM_FENCE | kind::ALARM_FENCE_4G | kind::ALARM_MODULES);
            // Codes above 255 have their high bits in the byte of the language.
            let high =
                if wide { reader.peek(1).map_or(0, |language| u16::from(language >> 4) << 8) } else { 0 };
            let code = reader.u8()?;
            if self.message == kind::STATUS && family == Family::Seeworld {
                report.set("power", f64::from(code));
            } else if layout != Layout::Vxt01 {
                report.alarm_some(extended_alarm(u16::from(code) | high, family, layout));
            }
            if self.message == kind::ALARM && layout == Layout::Trx16i && reader.remaining() == 9 {
                // A driver signed on or off: language, then the driver's card, zeros without one.
                report.set("event", code);
                reader.skip(1)?;
                set_card(report, reader)?;
            }
        }
        let has_language = nt
            || matches!(
                self.message,
                kind::STATUS_OR_PHOTO
                    | kind::WIFI_4G_OR_STATUS
                    | kind::ALARM_FENCE
                    | kind::ALARM_FENCE_4G
                    | kind::ALARM_MODULES
            );
        if has_language {
            reader.skip(1)?;
        }
        Ok(())
    }

    fn read_appended(
        self,
        report: &mut Report,
        reader: &mut Reader<'_>,
        layout: Layout,
        family: Family,
    ) -> Result<(), DecodeError> {
        let nt = self.is_nt(family);
        match self.message {
            kind::STATUS_OR_PHOTO | kind::ALARM_MODULES => read_status_modules(report, reader)?,
            kind::WIFI_4G_OR_STATUS => {
                report.set("odometer", reader.u32()?);
                report.set("hours", i64::from(reader.u32()?) * 1000);
                reader.skip(8)?;
                report.set("input", reader.u16()?);
            }
            kind::GPS_CELL => read_gps_cell_rest(report, reader, layout, family)?,
            kind::GPS_REASON if layout == Layout::Seeworld => read_seeworld(report, reader)?,
            // The language, then the altitude if it is sent.
            kind::ALARM_C if layout == Layout::Sl4x && reader.remaining() >= 3 => {
                reader.skip(1)?;
                report.altitude_m = Some(f64::from(reader.i16()?));
            }
            _ => {}
        }
        let has_reason = matches!(
            self.message,
            kind::GPS_REASON | kind::GPS_REASON_B | kind::GPS_REASON_C | kind::GPS_REASON_D
        );
        if has_reason && reader.remaining() >= 3 && !nt {
            report.set("ignition", reader.u8()? > 0);
            report.set("event", reader.u8()?);
            report.set("archive", reader.u8()? > 0);
            if layout == Layout::Sl4x {
                if reader.remaining() > 2 {
                    report.set("odometer", reader.u32()?);
                }
                report.altitude_m = Some(f64::from(reader.i16()?));
            }
        }
        if self.message == kind::GPS_REASON_B {
            let (module, length) = (reader.u16()?, reader.u8()?);
            match module {
                0x0027 => report.set("power", hundredths(reader.u16()?)),
                0x002e => report.set("odometer", reader.u32()?),
                0x003b => report.accuracy_m = Some(hundredths(reader.u16()?)),
                _ => reader.skip(length.into())?,
            }
        }
        if self.message == kind::WIFI_OR_CARD {
            report.set("driverUniqueId", reader.hex(8)?);
            reader.skip(1)?;
        }
        if nt {
            report.set("odometer", reader.u24()?);
            report.set("hours", i64::from(reader.u24()?) * 60_000);
            if self.message == kind::GPS_DRIVER {
                let length = usize::from(reader.u8()?);
                if length > 0 {
                    reader.skip(1)?;
                    report.set("driverUniqueId", reader.hex(length - 1)?);
                }
            }
        }
        if matches!(reader.remaining(), 3 | 7) {
            report.set("ignition", reader.u8()? > 0);
            reader.skip(1)?;
            if reader.u8()? > 0 {
                report.set("archive", true);
            }
        }
        if reader.remaining() == 4 {
            report.set("odometer", reader.u32()?);
        }
        if matches!(self.message, kind::ALARM_FENCE | kind::ALARM_FENCE_4G) && !reader.is_empty() {
            report.set("geofence", reader.u8()?);
        }
        Ok(())
    }
}

fn read_obd6(report: &mut Report, reader: &mut Reader<'_>, family: Family) -> Result<(), DecodeError> {
    let signal = reader.u16()?;
    report.set("sat", bits(signal, 10, 15) + bits(signal, 5, 10));
    report.set("rssi", bits(signal, 0, 5));
    report.alarm_some(extended_alarm(reader.u8()?.into(), family, Layout::Obd6));
    reader.skip(1)?;
    report.set("batteryLevel", reader.u8()?);
    let mode = reader.u8()?;
    report.set("power", hundredths(reader.u16()?));
    reader.skip(3)?;
    if mode == 4 {
        report.set("temp1", f64::from(reader.i16()?) / 10.0);
    }
    Ok(())
}

fn read_status_modules(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    while !reader.is_empty() {
        let (module, length) = (reader.u16()?, reader.u8()?);
        let mut content = reader.sub(length.into())?;
        match module {
            0x0018 => report.set("battery", hundredths(content.u16()?)),
            0x0032 => report.set("startupStatus", content.u8()?),
            0x006a => report.set("batteryLevel", content.u8()?),
            _ => {}
        }
    }
    Ok(())
}

/// Fields that makers append to the standard position.
fn read_gps_cell_rest(
    report: &mut Report,
    reader: &mut Reader<'_>,
    layout: Layout,
    family: Family,
) -> Result<(), DecodeError> {
    match layout {
        Layout::Gt06eCard | Layout::WeTrust => {
            report.set("odometer", reader.u32()?);
            let length = reader.u8()?;
            let card = reader.text(length.into())?;
            report.set("card", Value::text(card.trim_matches(|c: char| c <= ' ')));
            let alarm = reader.u8()?;
            let status = reader.u8()?;
            if layout == Layout::WeTrust {
                report.alarm_some(CARD.word_of("not 0").filter(|_| alarm > 0));
                report.set("cardStatus", status);
                report.set("drivingTime", reader.u16()?);
            }
        }
        Layout::Benway => read_benway(report, reader.u16()?),
        Layout::Vxt01 => {
            read_status(report, reader, layout)?;
            report.set("power", hundredths(reader.u16()?));
            report.set("rssi", reader.u8()?);
            reader.skip(1)?;
        }
        Layout::S5 => {
            read_status(report, reader, layout)?;
            report.set("power", hundredths(reader.u16()?));
            report.set("rssi", reader.u8()?);
            report.alarm_some(extended_alarm(reader.u8()?.into(), family, layout));
            report.set("oil", reader.u16()?);
            let temperature = reader.u8()?;
            let degrees = i32::from(temperature & 0x7f);
            report.set("temp1", if bit(temperature, 7) { -degrees } else { degrees });
            report.set("odometer", i64::from(reader.u32()?) * 10);
        }
        _ => {}
    }
    Ok(())
}

/// Ignition, an input, and one measurement: a temperature, or a voltage in one of two scales.
fn read_benway(report: &mut Report, word: u16) {
    report.set("ignition", bit(word, 15));
    report.input(2, bit(word, 14));
    if bit(word, 12) {
        let degrees = i32::from(word & 0x1ff);
        report.set("temp1", if bit(word, 9) { -degrees } else { degrees });
    } else {
        let raw = word & 0x3ff;
        report.set("adc1", if bit(word, 13) { Value::from(raw) } else { Value::from(f64::from(raw) / 10.0) });
    }
}

fn read_seeworld(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.set("ignition", reader.u8()? > 0);
    reader.skip(2)?;
    report.set("odometer", reader.u32()?);
    reader.skip(4)?;
    let temperature = reader.u16()?;
    let degrees = hundredths(temperature & 0x7fff);
    report.set("temp1", if bit(temperature, 15) { -degrees } else { degrees });
    report.set("humidity", hundredths(reader.u16()?));
    Ok(())
}
