//! H02's binary positions, in decimal digits.

use crate::decoded::{Context, DecodeError, Decoded};
use crate::notation::calendar::Civil;
use crate::notation::number::real_u64;
use crate::notation::reader::Reader;
use crate::report::{KNOT_KMH, Report};

use super::status::{answer_r12, set_status};

/// Reads a frame of 32, 42 or 45 bytes; 42 have a name of 15 digits.
pub(super) fn read_binary(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    reader.skip(1)?;
    let name = if frame.len() == 42 {
        reader.hex(8)?.get(..15).unwrap_or_default().to_owned()
    } else {
        reader.hex(5)?
    };
    let mut report = Report::default();
    let [hour, minute, second, day, month, year] = {
        let mut digits = [0; 6];
        for digit in &mut digits {
            *digit = reader.bcd()?;
        }
        digits
    };
    report.time = Civil { year: year.into(), month, day, hour, minute, second }.instant();
    let latitude = degrees(reader.uint(4)?);
    report.set_some("batteryLevel", battery_level(reader.u8()?));
    let longitude = reader.uint(5)?;
    let flags = longitude & 0x0f;
    let longitude = degrees(longitude >> 4);
    report.valid = Some(flags & 2 != 0);
    report.locate(
        if flags & 4 == 0 { -latitude } else { latitude },
        if flags & 8 == 0 { -longitude } else { longitude },
    );
    // Three digits of speed in knots, three of course.
    let motion = digits(reader.uint(3)?);
    report.speed_kmh = Some(real_u64(motion / 1000) * KNOT_KMH);
    report.course = Some(real_u64(motion % 1000));
    set_status(&mut report, reader.u32()?);
    let mut decoded = Decoded::identified(name.as_str());
    decoded.reports.push(report);
    if context.options.flag("ack") {
        decoded.reply(answer_r12(&name, context.now));
    }
    Ok(decoded)
}

/// The number that digits in BCD represent.
fn digits(bcd: u64) -> u64 {
    (0..16).rev().fold(0, |number: u64, index| number * 10 + (bcd >> (index * 4) & 0x0f))
}

/// Degrees of `dddmmmmmm`: minutes with four decimals.
fn degrees(bcd: u64) -> f64 {
    let number = digits(bcd);
    real_u64(number / 1_000_000) + real_u64(number % 1_000_000) / 10_000.0 / 60.0
}

/// Percent: six steps, percent, or six steps counted from 0xF1.
fn battery_level(raw: u8) -> Option<u8> {
    Some(match raw {
        1..=3 => (raw - 1) * 10,
        4..=6 => (raw - 1) * 20,
        7..=100 => raw,
        0xf1..=0xf6 => raw - 0xf0,
        _ => return None,
    })
}
