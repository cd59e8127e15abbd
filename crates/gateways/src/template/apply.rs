//! Decodes a payload with a template.

use crate::alarm::alarm_word;
use crate::decoded::DecodeError;
use crate::notation::number::{real, real_u64, signed};
use crate::notation::reader::hex_digits;
use crate::report::Report;
use crate::value::Value;
use crate::{notation::instant, notation::loose};

use super::{Condition, Endian, Field, Kind, Number, Template, Test};

/// Maximum number of records of one payload.
const MAX_RECORDS: usize = 1000;
/// Maximum size of a text or hex value, in bytes; a reading has at most 1,000 characters.
const MAX_TEXT: usize = 1000;

impl Template {
    /// The reports of a payload, and the error if it could not be decoded completely. A field beyond the end of a
    /// record is an error unless it is optional, and the other fields are kept.
    pub fn apply(&self, payload: &[u8]) -> (Vec<Report>, Option<DecodeError>) {
        let Some(body) = payload.get(self.start..).filter(|body| !body.is_empty()) else {
            return (Vec::new(), Some(DecodeError::Short));
        };
        let records = body.chunks(self.record.unwrap_or(body.len()).max(1));
        let mut error = None;
        let mut reports = Vec::new();
        for record in records.take(MAX_RECORDS) {
            if self.record.is_some_and(|whole| record.len() < whole) {
                error = Some(DecodeError::Short);
                break;
            }
            let (report, problem) = self.read_record(record);
            error = error.or(problem);
            if !report.is_bare() {
                reports.push(report);
            }
        }
        (reports, error)
    }

    fn read_record(&self, record: &[u8]) -> (Report, Option<DecodeError>) {
        let mut report = Report::default();
        let mut position = (None, None);
        let mut error = None;
        for field in &self.fields {
            if !field.when.iter().all(|condition| condition.holds(record)) {
                continue;
            }
            match field.kind.read(record) {
                Ok(Some(value)) => set_field(&mut report, &mut position, field, value),
                Ok(None) => {}
                Err(_) if field.optional => {}
                Err(short) => error = Some(short),
            }
        }
        if let (Some(latitude), Some(longitude)) = position {
            report.fix(latitude, longitude);
        }
        (report, error)
    }
}

impl Condition {
    fn holds(&self, record: &[u8]) -> bool {
        let number = match &self.number {
            Some(number) => number.read(record).map(|(value, _)| value),
            None => i64::try_from(record.len()).map_err(|_huge| DecodeError::Short),
        };
        number.is_ok_and(|number| match self.test {
            Test::Equals(wanted) => number == wanted,
            Test::NotEquals(other) => number != other,
            Test::AtLeast(least) => number >= least,
            Test::AtMost(most) => number <= most,
        })
    }
}

/// The bytes from an offset, which counts from the end when it is negative.
fn bytes_at(record: &[u8], offset: i64, width: Option<usize>) -> Result<&[u8], DecodeError> {
    let distance = usize::try_from(offset.unsigned_abs()).map_err(|_huge| DecodeError::Short)?;
    let from = if offset < 0 { record.len().checked_sub(distance) } else { Some(distance) };
    let rest = from.and_then(|from| record.get(from..)).ok_or(DecodeError::Short)?;
    match width {
        Some(width) => rest.get(..width).ok_or(DecodeError::Short),
        None => Ok(rest),
    }
}

impl Number {
    /// The number as signed, and the same bits as unsigned.
    fn read(&self, record: &[u8]) -> Result<(i64, u64), DecodeError> {
        let bytes = bytes_at(record, self.offset, Some(self.width))?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let raw = match self.endian {
            Endian::Big => bytes.iter().fold(0, add),
            Endian::Little => bytes.iter().rev().fold(0, add),
        };
        let bits = u32::try_from(self.width * 8).unwrap_or(64);
        let mask = if bits >= 64 { self.mask } else { self.mask & ((1 << bits) - 1) };
        let shift = mask.trailing_zeros();
        let masked = (raw & mask).checked_shr(shift).unwrap_or(0);
        let width = 64 - mask.checked_shr(shift).unwrap_or(0).leading_zeros();
        Ok((if self.signed { signed(masked, width) } else { masked.cast_signed() }, masked))
    }

    fn real(&self, record: &[u8]) -> Result<(i64, f64), DecodeError> {
        let (value, bits) = self.read(record)?;
        Ok((value, if self.signed { real(value) } else { real_u64(bits) }))
    }
}

impl Kind {
    fn read(&self, record: &[u8]) -> Result<Option<Value>, DecodeError> {
        Ok(match self {
            Self::Number { number, scale, add, none } => {
                let (raw, value) = number.real(record)?;
                let plain = (*scale - 1.0).abs() < f64::EPSILON && add.abs() < f64::EPSILON && raw >= 0;
                match (*none == Some(raw), plain) {
                    (true, _) => None,
                    (false, true) => Some(Value::Integer(raw)),
                    (false, false) => Some(Value::Real(value * scale + add)),
                }
            }
            Self::Flag(number) => Some(Value::Flag(number.read(record)?.1 != 0)),
            Self::Float { number, scale, add } => {
                let (_, bits) = Number { mask: u64::MAX, signed: false, ..*number }.read(record)?;
                let value = if number.width == 4 {
                    f64::from(f32::from_bits(u32::try_from(bits).unwrap_or(0)))
                } else {
                    f64::from_bits(bits)
                };
                Some(Value::Real(value * scale + add)).filter(|_| value.is_finite())
            }
            Self::Text { offset, width } => {
                let bytes = bytes_at(record, *offset, *width)?;
                let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                let bytes = bytes.get(..MAX_TEXT.min(bytes.len())).unwrap_or_default();
                let text = String::from_utf8_lossy(bytes);
                Some(Value::text(text.trim())).filter(|_| !text.trim().is_empty())
            }
            Self::Hex { offset, width } => {
                let bytes = bytes_at(record, *offset, *width)?;
                Some(hex_digits(bytes.get(..(MAX_TEXT / 2).min(bytes.len())).unwrap_or_default()).into())
            }
            Self::Constant(constant) => loose::reading(constant),
        })
    }
}

fn set_field(report: &mut Report, position: &mut (Option<f64>, Option<f64>), field: &Field, value: Value) {
    let number = match &value {
        Value::Flag(flag) => Some(if *flag { 1.0 } else { 0.0 }),
        Value::Text(text) => crate::notation::fields::real(text),
        other => other.as_f64(),
    };
    match field.name.as_str() {
        "latitude" => position.0 = number,
        "longitude" => position.1 = number,
        "time" => {
            report.time = match &value {
                Value::Text(text) => instant::any(text),
                _ => number.and_then(instant::epoch),
            };
        }
        "valid" => report.valid = number.map(|number| number > 0.0),
        "altitude" => report.altitude_m = number,
        "speed" => report.speed_kmh = number,
        "course" => report.course = number,
        "accuracy" => report.accuracy_m = number,
        "alarm" => match value.as_str().map(|word| (word, alarm_word(word))) {
            Some((_, Some(word))) => report.alarm(word),
            _ => report.set("alarm", value),
        },
        name => match (pin(name, "in"), pin(name, "out"), number) {
            (Some(pin), _, Some(number)) => report.input(pin, number > 0.0),
            (_, Some(pin), Some(number)) => report.output(pin, number > 0.0),
            _ => report.set(name.to_owned(), value),
        },
    }
}

/// The number of `in3` or `out3`.
fn pin(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok().filter(|pin| (1..=32).contains(pin))
}
