//! GT06 messages in frames with a length of two bytes.

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::fields::{hemisphere, hex, real};
use crate::notation::reader::{Reader, hex_digits};
use crate::report::{KNOT_KMH, Report};
use crate::value::Value;

use super::alarm::AZ735;
use super::encode::{long_frame, short_frame};
use super::media::Photos;
use super::message::{Message, kind};
use super::module::read_modules;
use super::part::{Fix, Zone, hundredths, read_cell, read_fix, read_position};
use super::variant::Layout;

/// Reads a message of a long frame.
pub(super) fn read_long(
    message: Message<'_>,
    zone: Zone<'_>,
    photos: &mut Photos,
) -> Result<Decoded, DecodeError> {
    let mut content = message.content;
    let reader = &mut content;
    let mut report = Report::default();
    let long_answer = || long_frame(message.kind, &[], message.serial);
    let short_answer = || short_frame(message.kind, &[], message.serial);
    match message.kind {
        kind::LONG_TEXT => read_long_text(&mut report, reader)?,
        kind::INFORMATION => {
            if !read_information(&mut report, reader, zone)? {
                return Ok(Decoded::nothing());
            }
        }
        kind::STATUS_OR_PHOTO => return photos.part(content),
        kind::ALARM_C | kind::WIFI_SIX_CELLS => {
            read_az735(&mut report, reader, message.kind, zone)?;
            return Ok(Decoded::one(report).with_reply(long_answer()));
        }
        kind::OBD => read_obd(&mut report, reader, zone)?,
        kind::MODULES => {
            read_modules(&mut report, reader)?;
            return Ok(Decoded::one(report).with_reply(short_answer()));
        }
        kind::MULTIMEDIA => return Ok(photos.described_part(content)?.with_reply(long_answer())),
        kind::SERIAL_PORT => {
            reader.skip(1)?;
            let data = reader.take_rest();
            let printable = data.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\r' | b'\n'));
            match std::str::from_utf8(data) {
                Ok(text) if printable => report.set("result", Value::text(text.trim())),
                _ => report.set("result", hex_digits(data)),
            }
        }
        kind::PERIPHERAL => {
            read_peripheral(&mut report, reader)?;
            return Ok(Decoded::one(report).with_reply(short_answer()));
        }
        kind::DEVICE_STATUS => {
            read_device_status(&mut report, reader)?;
            return Ok(Decoded::one(report).with_reply(short_answer()));
        }
        kind::GPS_CELL_TYPED => {
            read_fix(&mut report, reader, Fix::Usual, zone)?;
            reader.skip(2)?;
            read_cell(&mut report, reader, message.kind, Layout::Standard, false)?;
        }
        _ => return Ok(Decoded::nothing()),
    }
    Ok(Decoded::one(report))
}

/// The answer to a command as text, which is a position for some commands.
fn read_long_text(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    reader.skip(4)?;
    let ascii = reader.u8()? == 1;
    let bytes = reader.take_rest();
    let text = if ascii {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        let units = bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    if read_position_text(report, &text).is_none() {
        report.set("result", text);
    }
    Ok(())
}

/// `Current position!Lat:N22.5,Lon:E113.9,Course:0.0,Speed:0.0,DateTime:2020-01-01  00:00:00`
fn read_position_text(report: &mut Report, text: &str) -> Option<()> {
    let mut parts = text.strip_prefix("Current position!")?.split(',');
    let mut part = |name: &str| parts.next()?.trim().strip_prefix(name)?.strip_prefix(':').map(str::to_owned);
    let coordinate = |text: &str| {
        let (letter, degrees) = text.split_at_checked(1)?;
        matches!(letter, "N" | "S" | "E" | "W")
            .then(|| real(degrees).map(|degrees| hemisphere(degrees, letter)))?
    };
    let (latitude, longitude) = (coordinate(&part("Lat")?)?, coordinate(&part("Lon")?)?);
    let (course, speed) = (real(&part("Course")?)?, real(&part("Speed")?)?);
    let digits: String = part("DateTime")?.chars().filter(char::is_ascii_digit).collect();
    report.time = Some(Civil::parse(&digits)?.instant()?);
    report.locate(latitude, longitude);
    report.valid = Some(true);
    report.course = Some(course);
    report.speed_kmh = Some(speed * KNOT_KMH);
    Some(())
}

/// Information of several types; false if the type is unknown.
fn read_information(
    report: &mut Report,
    reader: &mut Reader<'_>,
    zone: Zone<'_>,
) -> Result<bool, DecodeError> {
    match reader.u8()? {
        0x00 => report.set("adc1", hundredths(reader.u16()?)),
        0x04 => {
            let text = String::from_utf8_lossy(reader.take_rest()).into_owned();
            read_states(report, &text);
        }
        0x05 => {
            if reader.remaining() >= 7 {
                report.time = zone.time(reader)?;
            }
            let flags = reader.u8()?;
            report.set("door", bit(flags, 0));
            report.set("io1", bit(flags, 2));
        }
        0x0a => {
            reader.skip(16)?;
            report.set("iccid", reader.hex(10)?.replace('f', ""));
        }
        0x0b => match reader.remaining() {
            1 => report.set("networkTechnology", Value::Word(if reader.i8()? > 0 { "4G" } else { "2G" })),
            2 => report.set("power", hundredths(reader.u16()?)),
            _ => {}
        },
        0x0d => {
            if reader.peek(0) != Some(b'!') {
                reader.skip(6)?;
            }
            let text = String::from_utf8_lossy(reader.take_rest()).into_owned();
            return Ok(read_fuel(report, &text).is_some());
        }
        0x1b if reader.peek(0).is_some_and(|byte| byte.is_ascii_alphabetic()) => {
            let text = String::from_utf8_lossy(reader.take_rest()).into_owned();
            report.set("serial", Value::text(text.trim()));
        }
        0x1b => {
            reader.skip(2)?;
            report.set("driverUniqueId", reader.hex(4)?);
        }
        0x1e => {
            report.set("temp1", f64::from(reader.i32()?) / 10.0);
            report.set("humidity", f64::from(reader.i32()?) / 10.0);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `ALM1=C4;ALM2=D7;ALM3=5C;STA1=C0;DYD=01;...`, hexadecimal.
fn read_states(report: &mut Report, text: &str) {
    for (name, value) in text.split(';').filter_map(|pair| pair.split_once('=')) {
        let Some(number) = hex(value) else { continue };
        match name {
            "ALM1" => report.set("alarm1Status", number),
            "ALM2" => report.set("alarm2Status", number),
            "ALM3" => report.set("alarm3Status", number),
            "STA1" => report.set("otherStatus", number),
            "DYD" => report.set("engineStatus", number),
            _ => {}
        }
    }
}

/// `!AIOIL,address,output,temperature,version,states,fuel,moving,waves,checksum`
fn read_fuel(report: &mut Report, text: &str) -> Option<()> {
    let mut parts = text.strip_prefix("!AIOIL,")?.split(',');
    let temperature = real(parts.nth(2)?)?;
    let fuel = real(parts.nth(2)?)?;
    report.set("temp1", temperature);
    report.set("fuel", fuel);
    Some(())
}

fn read_az735(
    report: &mut Report,
    reader: &mut Reader<'_>,
    message: u8,
    zone: Zone<'_>,
) -> Result<(), DecodeError> {
    report.time = zone.time(reader)?;
    if reader.u8()? > 0 {
        read_position(report, reader, Fix::Usual)?;
    }
    if read_cell(report, reader, message, Layout::Standard, true)? {
        report.set("rssi", reader.u8()?);
    }
    // More cells, then access points.
    for _ in 0..2 {
        let length = reader.u8()?;
        reader.skip(length.into())?;
    }
    let status = reader.u8()?;
    report.set("status", status);
    if message == kind::WIFI_SIX_CELLS {
        match status {
            0xa0 => report.set("armed", true),
            0xa1 => report.set("armed", false),
            code => report.alarm_some(AZ735.word(code.into())),
        }
    }
    Ok(())
}

/// Pairs `id=value` with hexadecimal numbers, and twelve bytes that are not used.
fn read_obd(report: &mut Report, reader: &mut Reader<'_>, zone: Zone<'_>) -> Result<(), DecodeError> {
    report.time = zone.time(reader)?;
    report.set("ignition", reader.u8()? > 0);
    let length = reader.remaining().checked_sub(12).ok_or(DecodeError::Short)?;
    let text = reader.text(length)?;
    for (id, value) in text.split(',').filter_map(|pair| pair.split_once('=')) {
        let name = match id.get(..2).and_then(hex) {
            Some(0x28) => "odometer",
            Some(0x2b) => "fuel",
            Some(0x2d) => "coolantTemp",
            Some(0x35) => "obdSpeed",
            Some(0x36) => "rpm",
            Some(0x47) => "fuelUsed",
            Some(0x49) => "hours",
            Some(0x4a) => {
                report.set_text("vin", value);
                continue;
            }
            _ => continue,
        };
        report.set_some(name, hex(value).map(|number| crate::notation::number::real_u64(number) / 100.0));
    }
    Ok(())
}

/// States of Jimi's 4G units, each with a number and a length.
fn read_device_status(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.time = Some(Timestamp::from_millis(i64::from(reader.u32()?) * 1000));
    while !reader.is_empty() {
        let (state, length) = (reader.u16()?, reader.u8()?);
        let mut data = reader.sub(length.into())?;
        match state {
            0x0001 => report.set("motion", matches!(data.u8()?, 2 | 4)),
            0x0002 => report.set("armed", data.u8()? > 0),
            0x0004 => report.set("ignition", data.u8()? > 0),
            0x0005 => report.set("power", hundredths(data.u16()?)),
            0x0007 => report.set("charge", data.u8()? > 0),
            0x000a => report.set("chargeVoltage", data.u16()?),
            0x000b => report.set("batteryTemp", f64::from(data.u16()?) / 10.0),
            _ => {}
        }
    }
    Ok(())
}

/// Accessories over Bluetooth and external batteries (VL842).
fn read_peripheral(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.time = Some(Timestamp::from_millis(i64::from(reader.u32()?) * 1000));
    while !reader.is_empty() {
        match reader.u16()? {
            0x000a => {
                let length = usize::from(reader.u16()?);
                reader.skip(1)?;
                report.set("mac", reader.hex(6)?);
                let event = reader.u8()?;
                report.set("event", event);
                let data = reader.u8()?;
                if event > 0 {
                    report.set("eventData", data);
                }
                report.set("dataType", reader.u8()?);
                report.set("dataDetails", reader.hex(length.saturating_sub(10))?);
            }
            0x000c => {
                reader.skip(1)?;
                report.set("externalBatteryLevel", reader.u8()?);
                if reader.u8()? > 0 {
                    report.set("externalBatteryCharge", true);
                }
                report.set("externalBatteryCycles", reader.u16()?);
                reader.skip(6)?;
            }
            _ => {
                let length = match reader.u8()? {
                    0 => reader.u8()?,
                    length => length,
                };
                reader.skip(length.into())?;
            }
        }
    }
    Ok(())
}
