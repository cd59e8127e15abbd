//! The parts of a text message, and the position block that most messages have.

use perigee_core::time::Timestamp;

use crate::decoded::{Context, DecodeError};
use crate::notation::calendar::Civil;
use crate::notation::fields::{Fields, hex, integer, is_digits, real};
use crate::report::{AccessPoint, Report};

use super::model::model_of;

/// A text message: header, version, identifier of the device, fields, time of sending and count.
#[derive(Clone, Debug)]
pub(super) struct Sentence<'a> {
    pub(super) header: &'a str,
    /// The three letters after `GT`.
    pub(super) kind: &'a str,
    pub(super) version: &'a str,
    pub(super) identifier: &'a str,
    pub(super) model: String,
    /// All fields, the header being the first.
    pub(super) fields: Fields<'a>,
    /// The number of fields before the time of sending.
    pub(super) end: usize,
    pub(super) sent: Option<Timestamp>,
    pub(super) count: &'a str,
}

impl<'a> Sentence<'a> {
    pub(super) fn parse(text: &'a str, context: &Context<'_>) -> Result<Self, DecodeError> {
        let fields = Fields::split(text, ',');
        let header = fields.get(0);
        let kind = header.split_once(":GT").and_then(|(_, rest)| rest.get(..3));
        let kind = kind.ok_or(DecodeError::Malformed("a message must have a header such as +RESP:GTFRI"))?;
        // Old units omit the version.
        let old = fields.get(1).len() > 10;
        let (version, identifier) = if old { ("", fields.get(1)) } else { (fields.get(1), fields.get(2)) };
        if !matches!(identifier.len(), 14 | 15) || !identifier.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(DecodeError::Malformed("the identifier of a device must have 14 or 15 digits"));
        }
        let total = fields.count();
        let sent_at =
            (1..=2).map(|back| total.saturating_sub(back)).find(|at| read_time(fields.get(*at)).is_some());
        let model = context.model.map_or_else(|| model_of(version).to_owned(), str::to_ascii_uppercase);
        Ok(Self {
            header,
            kind,
            version,
            identifier,
            model,
            end: sent_at.unwrap_or_else(|| total.saturating_sub(2)),
            sent: sent_at.and_then(|at| read_time(fields.get(at))),
            count: fields.get(total.saturating_sub(1)),
            fields,
        })
    }

    /// The field of this index, empty from the time of sending on.
    pub(super) fn get(&self, index: usize) -> &'a str {
        if index < self.end { self.fields.get(index) } else { "" }
    }

    /// A report at the time of sending, without a position.
    pub(super) fn report(&self) -> Report {
        Report { time: self.sent, ..Report::default() }
    }

    /// The index at which the first position at or after this index begins: with its accuracy, four fields before the
    /// longitude.
    pub(super) fn find_position(&self, from: usize) -> Option<usize> {
        (from.max(2)..self.end).find(|start| {
            is_coordinate(self.get(start + 4))
                && is_coordinate(self.get(start + 5))
                && read_time(self.fields.get(start + 6)).is_some()
        })
    }

    /// The index of a position whose fields were left empty.
    pub(super) fn find_empty_position(&self, from: usize) -> Option<usize> {
        let mut start = from;
        while start < self.end {
            let run = (start..self.end).take_while(|index| self.get(*index).is_empty()).count();
            match run {
                6 => return start.checked_sub(1),
                7.. if run < 11 => return Some(start + run - 7),
                11.. => return Some(start),
                _ => start += run.max(1),
            }
        }
        None
    }

    /// Reads the position at this index and returns the index after its cell.
    pub(super) fn read_position(&self, report: &mut Report, start: usize) -> usize {
        let accuracy = real(self.get(start));
        report.set_some("hdop", accuracy);
        report.speed_kmh = real(self.get(start + 1));
        report.course = real(self.get(start + 2));
        report.altitude_m = real(self.get(start + 3));
        let position = real(self.get(start + 5)).zip(real(self.get(start + 4)));
        if let Some((latitude, longitude)) = position {
            report.locate(latitude, longitude);
            // An accuracy of 0 means an earlier position.
            report.valid = accuracy.filter(|accuracy| *accuracy > 0.0).map(|_| true);
            report.time = read_time(self.fields.get(start + 6)).or(report.time);
        }
        let mut next = start + 7;
        if is_digits(self.get(next)) && is_mac(self.get(next + 1)) {
            next += 1;
            while is_mac(self.get(next)) {
                push_wifi(report, self.get(next), self.get(next + 1));
                next += 5;
            }
        }
        self.read_cell(report, next);
        next + 4
    }

    /// Reads country, network, area and cell, the latter two hexadecimal.
    pub(super) fn read_cell(&self, report: &mut Report, start: usize) {
        let number = |index: usize| integer(self.get(index)).and_then(|number| u16::try_from(number).ok());
        let cell = hex(self.get(start + 2)).zip(hex(self.get(start + 3)));
        if let (Some(mcc), Some(mnc), Some((lac, cell))) = (number(start), number(start + 1), cell)
            && let Ok(lac) = u32::try_from(lac)
        {
            report.cell(mcc, mnc, lac, cell);
        }
    }

    /// Reads the mask of additions to a position: satellites, and the trigger.
    pub(super) fn read_appended(&self, report: &mut Report, at: usize) -> usize {
        // On other models the field is the signal quality, which is larger.
        let mask =
            Some(self.get(at)).filter(|mask| mask.len() == 2).and_then(hex).filter(|mask| mask & !0x13 == 0);
        let mask = mask.unwrap_or(0);
        let mut next = at + 1;
        if mask & 1 == 1 {
            report.set_some("sat", integer(self.get(next)));
            next += 1;
        }
        // The trigger of the report, then whether the satellite signal is jammed.
        next + usize::from(mask & 2 == 2) + usize::from(mask & 0x10 == 0x10)
    }
}

/// `yyyyMMddHHmmss`.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    if text.len() == 14 && is_digits(text) { Civil::parse(text)?.instant() } else { None }
}

/// Degrees with six decimals.
fn is_coordinate(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.split_once('.').is_some_and(|(whole, rest)| {
        is_digits(whole) && whole.len() <= 3 && rest.len() == 6 && is_digits(rest)
    })
}

/// Whether a text is a vehicle identification number: 17 capital letters and digits.
pub(super) fn is_vin(text: &str) -> bool {
    text.len() == 17 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

pub(super) fn is_mac(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn push_wifi(report: &mut Report, mac: &str, signal: &str) {
    let pairs: Vec<&str> = (0..6).filter_map(|pair| mac.get(pair * 2..pair * 2 + 2)).collect();
    let signal = integer(signal).and_then(|signal| i32::try_from(signal).ok());
    report.wifi.push(AccessPoint { mac: pairs.join(":").to_ascii_lowercase(), signal });
}

/// Milliseconds of `hhhhh:mm:ss`.
pub(super) fn read_hours(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(integer);
    let hours = parts.next()??;
    let minutes = parts.next().flatten().unwrap_or(0);
    let seconds = parts.next().flatten().unwrap_or(0);
    let total = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)?;
    total.checked_mul(1000)
}

/// Millivolts, or percent of a fuel tank after `F`.
pub(super) fn set_analog(report: &mut Report, index: u32, text: &str) {
    match text.strip_prefix('F') {
        Some(percent) => report.set_some(("fuel", index), integer(percent)),
        None => report.set_some(("adc", index), real(text).map(|millivolts| millivolts / 1000.0)),
    }
}

/// Six hexadecimal digits: state with ignition and motion, inputs, outputs. Two digits are only the state.
pub(super) fn set_state(report: &mut Report, text: &str) {
    let Some(state) = hex(text) else { return };
    let (state, pins) =
        if text.len() == 2 { (state, None) } else { (state >> 16 & 0xff, Some(state & 0xffff)) };
    match state & 0x30 {
        0x10 | 0x30 => report.set("ignition", false),
        0x20 => report.set("ignition", true),
        _ => {}
    }
    if let Some(pins) = pins {
        let (inputs, outputs) = (pins >> 8, pins & 0xff);
        report.set("input", inputs);
        report.input(1, inputs & 2 != 0);
        report.input(2, inputs & 4 != 0);
        report.set("output", outputs);
        report.output(1, outputs & 1 != 0);
        report.output(2, outputs & 2 != 0);
    }
}

/// Converts kilometres to metres.
pub(super) fn set_odometer(report: &mut Report, text: &str) {
    report.set_some("odometer", real(text).map(|kilometres| kilometres * 1000.0));
}
