//! Queclink's binary messages.

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded};
use crate::notation::calendar::Civil;
use crate::notation::number::{real, signed};
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::EVENT;

/// Reads a binary message by its header.
pub(super) fn read_binary(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    let header: [u8; 4] = reader.array()?;
    match &header {
        b"+RSP" | b"+BSP" => read_positions(reader),
        b"+EVT" | b"+BVT" => read_event(reader),
        b"+INF" | b"+BNF" => read_information(reader),
        b"+ACK" | b"+HBD" | b"+CRD" | b"+BRD" | b"+LGN" => Ok(Decoded::nothing()),
        _ => Err(DecodeError::Malformed("a message must begin with a header such as +RESP or +RSP")),
    }
}

/// The beginning of all messages except information: type, mask, length, device type, versions and identifier.
fn read_head(reader: &mut Reader<'_>) -> Result<(u8, u16, String), DecodeError> {
    let message = reader.u8()?;
    reader.skip(4 + 2 + 1 + 2)?;
    let firmware = reader.u16()?;
    Ok((message, firmware, read_name(reader)?))
}

fn read_name(reader: &mut Reader<'_>) -> Result<String, DecodeError> {
    reader.u64().map(|name| format!("{name:015}"))
}

fn read_positions(mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
    const LOCATION_BY_CALL: u8 = 3;
    const GEOFENCE: u8 = 8;
    const COMPRESSED: u8 = 100;
    let (message, _, name) = read_head(&mut reader)?;
    let mut decoded = Decoded::identified(name);
    let (level, power) = (reader.u8()?, reader.u16()?);
    if message == GEOFENCE {
        reader.skip(2)?;
    }
    reader.skip(1)?;
    let satellites = reader.u8()?;
    if message == COMPRESSED {
        read_compressed(&mut decoded, &mut reader)?;
        return Ok(decoded);
    }
    reader.skip(1)?;
    if message == LOCATION_BY_CALL {
        reader.skip(1)?;
        // A telephone number in digits of four bits, ended by a digit of 15.
        loop {
            let digits = reader.u8()?;
            if digits >> 4 == 0x0f || digits & 0x0f == 0x0f {
                break;
            }
        }
    }
    for _ in 0..reader.u8()? {
        let mut report = Report::default();
        report.set("batteryLevel", level);
        report.set("power", power);
        report.set("sat", satellites);
        read_position(&mut report, &mut reader)?;
        decoded.reports.push(report);
    }
    Ok(decoded)
}

fn read_position(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let accuracy = reader.u8()?;
    report.set("hdop", accuracy);
    report.valid = Some(accuracy > 0);
    report.speed_kmh = Some(f64::from(reader.u24()?) / 10.0);
    report.course = Some(f64::from(reader.u16()?));
    report.altitude_m = Some(f64::from(reader.i16()?));
    let (longitude, latitude) = (reader.i32()?, reader.i32()?);
    report.locate(f64::from(latitude) / 1e6, f64::from(longitude) / 1e6);
    report.time = read_time(reader)?;
    let (mcc, mnc, lac, cell) = (reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?);
    report.cell(mcc, mnc, lac, cell);
    reader.skip(1)
}

fn read_time(reader: &mut Reader<'_>) -> Result<Option<Timestamp>, DecodeError> {
    let year = reader.u16()?;
    let [month, day, hour, minute, second] = reader.array()?;
    Ok(Civil { year, month, day, hour, minute, second }.instant())
}

/// One point per second, each sent whole or as the difference from the previous one.
fn read_compressed(decoded: &mut Decoded, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let (mut speed, mut course, mut longitude, mut latitude, mut time) = (0_i64, 0_i64, 0_i64, 0_i64, 0_i64);
    for _ in 0..reader.u16()? {
        if time > 0 {
            time += 1;
        }
        match reader.peek(0).ok_or(DecodeError::Short)? >> 6 {
            1 => {
                let bits = reader.uint(3)?;
                speed = signed(bits >> 9 & 0xfff, 64);
                course = signed(bits & 0x1ff, 64);
                longitude = reader.i32()?.into();
                latitude = reader.i32()?.into();
                if time == 0 {
                    time = reader.u32()?.into();
                }
            }
            2 => {
                let bits = reader.uint(5)?;
                speed += signed(bits >> 30 & 0x7f, 7);
                course += signed(bits >> 23 & 0x7f, 7);
                longitude += signed(bits >> 11 & 0xfff, 12);
                latitude += signed(bits & 0x7ff, 11);
            }
            _ => {
                reader.skip(1)?;
                continue;
            }
        }
        let mut report = Report { time: Some(Timestamp::from_millis(time * 1000)), ..Report::default() };
        report.valid = Some(true);
        report.speed_kmh = Some(real(speed) / 10.0);
        report.course = Some(real(course));
        report.locate(real(latitude) / 1e6, real(longitude) / 1e6);
        decoded.reports.push(report);
    }
    Ok(())
}

fn read_event(mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
    let (message, firmware, name) = read_head(&mut reader)?;
    let mut report = Report::default();
    report.set("versionFw", firmware.to_string());
    report.set("batteryLevel", reader.u8()?);
    report.set("power", reader.u16()?);
    reader.skip(1)?;
    report.set("sat", reader.u8()?);
    // The fields of the event, before the number of positions.
    let own = match message {
        6 | 31 => 2,
        45 | 46 => 7,
        15 | 34 => 3,
        17 => 4,
        21 => 5,
        26 => 12,
        23 | 33 | 35 => 1,
        _ => 0,
    };
    reader.skip(own + 1)?;
    report.alarm_some(EVENT.word(message.into()));
    read_position(&mut report, &mut reader)?;
    let mut decoded = Decoded::identified(name);
    decoded.reports.push(report);
    Ok(decoded)
}

fn read_information(mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
    let message = reader.u8()?;
    reader.skip(4 + 2)?;
    let mut decoded = Decoded::identified(read_name(&mut reader)?);
    let mut report = Report::default();
    reader.skip(1 + 2)?;
    report.set("versionFw", reader.u16()?.to_string());
    if message == 6 {
        reader.skip(6)?;
    }
    reader.skip(2)?;
    report.set("sat", reader.u8()?);
    // Mode, time of the last fix, intervals and reserved bytes.
    reader.skip(1 + 7 + 2 + 2 + 2 + 2 + 4 + 1)?;
    if message == 7 {
        report.set("charge", reader.u8()? != 0);
        report.set("power", f64::from(reader.u16()?) / 1000.0);
        report.set("battery", f64::from(reader.u16()?) / 1000.0);
        report.set("batteryLevel", reader.u8()?);
    }
    reader.skip(10)?;
    if message == 5 {
        report.set("rssi", reader.u8()?);
        reader.skip(1)?;
    }
    reader.skip(3)?;
    if message == 10 {
        reader.skip(2)?;
        let (mcc, mnc, lac, cell) = (reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?);
        report.cell(mcc, mnc, lac, cell);
        reader.skip(2)?;
    }
    report.time = read_time(&mut reader)?;
    decoded.reports.push(report);
    Ok(decoded)
}
