//! Answers to commands and data of a serial port: codecs 12 to 15.

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded};
use crate::notation::fields::real;
use crate::notation::reader::{Reader, hex_digits};
use crate::report::Report;
use crate::value::Value;

/// 2000-01-01: earlier values are not a time.
const EARLIEST_S: u32 = 946_684_800;

/// Codec 12: type, length, text or bytes.
pub(super) fn read_answer(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    report.set("type", reader.u8()?);
    let data = read_block(reader)?;
    if let Some(text) = printable(data)
        && !read_axles(&mut report, text)
    {
        report.set("result", Value::text(text));
    } else if printable(data).is_none() {
        report.set("result", hex_digits(data));
    }
    Ok(report)
}

/// Codec 13: as codec 12, with the time of its creation before the text.
pub(super) fn read_timed_answer(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    reader.skip(1)?;
    let mut block = Reader::new(read_block(reader)?);
    let mut report = Report { time: read_seconds(&mut block)?, ..Report::default() };
    let data = block.take_rest();
    match printable(data) {
        // GTSL|type|state|...|driver's number|...
        Some(text) if text.starts_with("GTSL") && text.split('|').nth(4).is_some() => {
            report.set_text("driverUniqueId", text.split('|').nth(4).unwrap_or_default());
        }
        Some(text) => report.set("result", Value::text(text)),
        None => report.set("result", hex_digits(data)),
    }
    Ok(report)
}

/// Codecs 14 and 15: the identifier of the device before the text, and in codec 15 the time before it.
pub(super) fn read_addressed_answer(
    decoded: &mut Decoded,
    reader: &mut Reader<'_>,
    timed: bool,
) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    report.set("type", reader.u8()?);
    let mut block = Reader::new(read_block(reader)?);
    if timed {
        report.time = read_seconds(&mut block)?;
    }
    let name = block.hex(8)?;
    decoded.identifiers = vec![name.trim_start_matches('0').to_owned()];
    let data = block.take_rest();
    match printable(data) {
        Some(text) => report.set_text("result", text),
        None => report.set("result", hex_digits(data)),
    }
    Ok(report)
}

fn read_seconds(reader: &mut Reader<'_>) -> Result<Option<Timestamp>, DecodeError> {
    let seconds = reader.u32()?;
    Ok((seconds >= EARLIEST_S).then(|| Timestamp::from_millis(i64::from(seconds) * 1000)))
}

fn read_block<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
    reader.take(length)
}

/// The trimmed text, if all of it is printable.
fn printable(data: &[u8]) -> Option<&str> {
    let plain = data.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\r' | b'\n' | b'\t'));
    std::str::from_utf8(data).ok().filter(|_| plain).map(str::trim)
}

/// Loads of a truck's axles: `UUUUww06.4;04.2;...;SSS`.
fn read_axles(report: &mut Report, text: &str) -> bool {
    const TOTALS: [&str; 4] = ["loadTruck", "loadTrailer", "totalTruck", "totalTrailer"];
    let Some(list) = text.strip_prefix("UUUUww").and_then(|rest| rest.strip_suffix("SSS")) else {
        return false;
    };
    let loads: Vec<f64> = list.split(';').map_while(real).collect();
    if loads.len() < 12 {
        return false;
    }
    for (axle, load) in (1..=8).zip(&loads) {
        report.set(("axle", axle), *load);
    }
    for (name, load) in TOTALS.into_iter().zip(loads.iter().skip(8)) {
        report.set(name, *load);
    }
    true
}
