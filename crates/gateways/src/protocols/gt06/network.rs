//! GT06 messages of cells and access points, from which a network may locate the device.

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::{CellTower, Report};

use super::alarm::extended_alarm;
use super::message::{Message, kind};
use super::part::Zone;
use super::variant::{Family, Layout};

/// Access points and cells of a frame without serial number and checksum; the answer repeats type and time.
pub(super) fn read_wifi(frame: &[u8]) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    reader.skip(2)?;
    let (count, message) = (reader.u8()?, reader.u8()?);
    let clock: [u8; 6] = reader.array()?;
    let mut report =
        Report { time: Civil::read_bcd(&mut Reader::new(&clock))?.instant(), ..Report::default() };
    for _ in 0..count {
        let (mac, signal) = (reader.array()?, reader.u8()?);
        report.access_point(mac, Some(signal.into()));
    }
    let (cells, mcc, mnc) = (reader.u8()?, reader.u16()?, reader.u8()?);
    for _ in 0..cells {
        let (lac, cell, signal) = (reader.u16()?, reader.u16()?, reader.u8()?);
        report.cell_with_signal((mcc, mnc.into()), lac, cell, signal);
    }
    let mut answer = vec![0x78, 0x78, 0, message];
    answer.extend_from_slice(&clock);
    answer.extend_from_slice(b"\r\n");
    Ok(Decoded::one(report).with_reply(answer))
}

/// Access points that are counted and have no signal strength.
pub(super) fn read_counted_wifi(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.time = Civil::read_bcd(reader)?.instant();
    for _ in 0..reader.u8()? {
        reader.skip(2)?;
        report.access_point(reader.array()?, None);
    }
    Ok(())
}

/// Several cells, and access points in some messages.
pub(super) fn read_cells(
    message: Message<'_>,
    layout: Layout,
    zone: Zone<'_>,
) -> Result<Decoded, DecodeError> {
    let mut content = message.content;
    let reader = &mut content;
    let mut report = Report { time: zone.time(reader)?, ..Report::default() };
    let advance_first = matches!(layout, Layout::WanwayS20 | Layout::Sl4x);
    if advance_first {
        reader.skip(1)?;
    }
    let mcc = reader.u16()?;
    let wide = bit(mcc, 15) || layout == Layout::Sl4x;
    let mnc = if wide { reader.u16()? } else { u16::from(reader.u8()?) };
    let alarm = message.kind == kind::WIFI_ALARM;
    let wide_cells =
        matches!(message.kind, kind::CELLS_4G | kind::WIFI_4G_OR_STATUS) || alarm && reader.u8()? > 0;
    let count = match message.kind {
        _ if alarm || layout == Layout::WanwayS20 => reader.u8()?,
        kind::WIFI_SIX_CELLS => 6,
        _ => 7,
    };
    let width = match message.kind {
        _ if wide_cells => 13,
        kind::WIFI_SIX_CELLS | kind::X1_GPS_OR_CELLS => 7,
        _ => 6,
    };
    for _ in 0..count {
        if layout == Layout::Sl4x && reader.remaining() < width {
            break;
        }
        let (lac, cell) = match message.kind {
            _ if wide_cells => (reader.u32()?, reader.u64()?),
            kind::WIFI_SIX_CELLS | kind::X1_GPS_OR_CELLS => {
                (u32::from(reader.u16()?), u64::from(reader.u32()?))
            }
            _ => (u32::from(reader.u16()?), u64::from(reader.u24()?)),
        };
        let signal = -i32::from(reader.u8()?);
        if lac > 0 {
            report.cells.push(CellTower { mcc: mcc & 0x7fff, mnc, lac, cell, signal: Some(signal) });
        }
    }
    if !advance_first {
        reader.skip(1)?;
    }
    let has_wifi = matches!(
        message.kind,
        kind::CELLS_WIFI_OLD
            | kind::CELLS_WIFI
            | kind::WIFI_4G_OR_STATUS
            | kind::WIFI_SIX_CELLS
            | kind::WIFI_ALARM
    );
    if has_wifi {
        for _ in 0..reader.u8()? {
            let (mac, signal) = (reader.array()?, reader.u8()?);
            report.access_point(mac, Some(signal.into()));
        }
    }
    if alarm {
        let (code, language) = (reader.u8()?, reader.u8()?);
        let code = u16::from(code) | u16::from(language >> 4) << 8;
        report.alarm_some(extended_alarm(code, Family::of(zone.context), layout));
        report.set("event", code);
    }
    Ok(Decoded::one(report))
}

/// A Bluetooth tag that was used as a time clock.
pub(super) fn read_tag_clock(message: Message<'_>, zone: Zone<'_>) -> Result<Decoded, DecodeError> {
    let mut content = message.content;
    let reader = &mut content;
    let mut report = Report { time: zone.time(reader)?, ..Report::default() };
    report.set("rssi", reader.i8()?);
    report.set("tagMac", reader.hex(6)?);
    report.set("tagUuid", reader.hex(16)?);
    report.set("tagMajor", reader.u16()?);
    report.set("tagMinor", reader.u16()?);
    report.set("tagBattery", f64::from(reader.u16()?) / 100.0);
    report.set("clock", reader.u8()? >> 2 & 0x0f);
    Ok(Decoded::one(report))
}
