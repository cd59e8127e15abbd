//! Decodes a body with a mapping.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::locations::location::FixSource;
use serde_json::Value as Json;

use crate::alarm::alarm_word;
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, SosStep};
use crate::feeds::settings::payload_settings;
use crate::notation::hex::parse_hex;
use crate::notation::loose;
use crate::payload::decode_payload;
use crate::report::{AccessPoint, Report};
use crate::value::Value;

use super::{Condition, Encoding, Mapping, Path, Source, Step, Test};

/// Memory of a reading, beside its texts.
const READING_BYTES: usize = 64;

/// Readings that are numbers, in addition to those with a member of their own.
const NUMBERS: &[&str] = &[
    "battery",
    "power",
    "fuel",
    "fuelUsed",
    "fuelConsumption",
    "hours",
    "drivingTime",
    "tripOdometer",
    "obdOdometer",
    "rssi",
    "pdop",
    "vdop",
    "steps",
    "humidity",
    "pressure",
];
/// Readings that are booleans.
const FLAGS: &[&str] = &["charge", "motion", "blocked", "armed", "door"];

/// An item and the items above it, innermost last.
type Chain<'a> = [&'a Json];

impl Mapping {
    /// The messages of a body; with an error, the messages before it.
    pub fn apply(&self, body: &Json, context: &FeedContext<'_>) -> FeedDecoded {
        let mut decoded = FeedDecoded::default();
        let done = match body {
            Json::Array(list) if self.each.is_empty() => {
                list.iter().try_for_each(|item| self.read_item(&[item], context, &mut decoded))
            }
            _ => self.walk(&mut vec![body], &self.each, context, &mut decoded),
        };
        decoded.error = done.err();
        decoded
    }

    /// Maximum number of values that are examined for one item.
    fn steps(&self) -> usize {
        let fields = self.fields.iter().map(|(_, source)| source.paths.len() + source.when.len());
        let sos = self.sos.iter().map(|(_, when)| when.len());
        let lists = [self.key.len(), self.identifiers.len(), self.rest.len(), self.text.len()];
        let conditions = 1 + self.when.len() + self.test.len();
        conditions + lists.iter().sum::<usize>() + fields.sum::<usize>() + sos.sum::<usize>()
    }

    fn walk(
        &self,
        chain: &mut Vec<&Json>,
        steps: &[Step],
        context: &FeedContext<'_>,
        decoded: &mut FeedDecoded,
    ) -> Result<(), DecodeError> {
        let Some((step, rest)) = steps.split_first() else {
            return self.read_item(chain, context, decoded);
        };
        let Some(value) =
            chain.last().and_then(|item| item.pointer(&step.pointer)).filter(|value| !value.is_null())
        else {
            return Ok(());
        };
        if step.json {
            let text = value
                .as_str()
                .ok_or(DecodeError::Malformed("a member that the mapping reads as JSON is not a string"))?;
            let inner = loose::parse(text.as_bytes(), context.budget)?;
            let mut chain = chain.clone();
            chain.push(&inner);
            return self.walk(&mut chain, rest, context, decoded);
        }
        for item in loose::list(Some(value)) {
            chain.push(item);
            let walked = self.walk(chain, rest, context, decoded);
            chain.pop();
            walked?;
        }
        Ok(())
    }

    fn read_item(
        &self,
        chain: &Chain<'_>,
        context: &FeedContext<'_>,
        decoded: &mut FeedDecoded,
    ) -> Result<(), DecodeError> {
        context.budget.take_steps(self.steps())?;
        if hold(&self.when, chain) {
            decoded.push(self.read_message(chain, context)?, context.budget)?;
        }
        Ok(())
    }

    fn read_message(&self, chain: &Chain<'_>, context: &FeedContext<'_>) -> Result<FeedMessage, DecodeError> {
        let mut message = FeedMessage::default();
        // Many items may have the same parent: each copy of a text is charged to the budget.
        let texts = |paths: &[Path]| -> Result<Vec<Option<String>>, DecodeError> {
            let found = paths.iter().map(|path| path.find(chain));
            found.map(|value| charged(value, context).map(|value| value.and_then(loose::text))).collect()
        };
        message.identifiers.extend(texts(&self.identifiers)?.into_iter().flatten());
        let parts = texts(&self.key)?.into_iter().collect::<Option<Vec<_>>>();
        message.key = parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"));
        message.text = texts(&self.text)?.into_iter().flatten().next();
        message.test = !self.test.is_empty() && hold(&self.test, chain);
        let mut report = Report::default();
        let mut position = (None, None);
        let mut payload = None;
        for (name, source) in &self.fields {
            if !hold(&source.when, chain) {
                continue;
            }
            let Some(value) = charged(source.find(chain), context)? else { continue };
            if let Some(encoding) = source.encoding {
                payload = Some(bytes_of(value, encoding));
            } else {
                set_field(&mut report, &mut position, name, value, source);
            }
        }
        for object in self.rest.iter().filter_map(|path| path.find(chain)).filter_map(Json::as_object) {
            for (name, value) in object.iter().filter(|(name, _)| !self.taken.contains(*name)) {
                context.budget.take(READING_BYTES + name.len())?;
                // An alarm is kept even if no field of the mapping reads it.
                match value.as_str().filter(|_| name == "alarm").and_then(alarm_word) {
                    Some(word) => report.alarm(word),
                    None => loose::set(&mut report, name.clone(), charged(Some(value), context)?),
                }
            }
        }
        if let (Some(latitude), Some(longitude)) = position {
            report.locate(latitude, longitude);
            report.source = report.source.or(Some(FixSource::Gnss));
        } else {
            report.source = None;
        }
        let time = report.time;
        report.set_text("text", message.text.as_deref().unwrap_or_default());
        if !report.is_bare() {
            message.reports.push(report);
        }
        match payload {
            Some(Some(bytes)) => {
                let settings = payload_settings(context, &message.identifiers, time.unwrap_or(context.now));
                let read = decode_payload(&bytes, &settings);
                let with_time = |report: Report| Report { time: report.time.or(time), ..report };
                message.reports.extend(read.reports.into_iter().map(with_time));
                message.text = message.text.take().or(read.text);
                message.error = read.error;
            }
            Some(None) => {
                message.error = Some(DecodeError::Malformed(
                    "the payload is not in the encoding that the mapping gives, such as hexadecimal digits",
                ));
            }
            None => {}
        }
        if message.reports.is_empty() && message.text.is_none() && message.error.is_none() {
            message.error = Some(DecodeError::Malformed(
                "the message has none of the fields of the mapping; check the paths",
            ));
        }
        let step = self.sos.iter().find(|(_, when)| hold(when, chain)).map(|(step, _)| *step);
        let alarm = message.reports.iter().any(|report| report.alarms.contains(&"sos"));
        message.sos = step.or_else(|| alarm.then_some(SosStep::Declare));
        Ok(message)
    }
}

/// The same value, after the memory of a copy was charged to the budget.
fn charged<'a>(value: Option<&'a Json>, context: &FeedContext<'_>) -> Result<Option<&'a Json>, DecodeError> {
    let bytes = match value {
        Some(Json::String(text)) => text.len(),
        // An object of wireless networks by address.
        Some(Json::Object(members)) => members.len() * READING_BYTES,
        _ => 0,
    };
    context.budget.take(bytes)?;
    Ok(value)
}

/// Whether both are the same text or number; a number equals its text.
fn is_same(value: &Json, wanted: &Json) -> bool {
    let is_given = |text: &str| -> bool { !text.is_empty() && text != "null" };
    match (value, wanted) {
        (Json::String(value), Json::String(wanted)) => {
            value == wanted || is_given(value.trim()) && value.trim() == wanted.trim()
        }
        (Json::String(text), Json::Number(number)) | (Json::Number(number), Json::String(text)) => {
            number.to_string() == text.trim()
        }
        (value, wanted) => value == wanted,
    }
}

impl Path {
    fn find<'a>(&self, chain: &Chain<'a>) -> Option<&'a Json> {
        let at = chain.len().checked_sub(1 + self.up)?;
        chain.get(at)?.pointer(&self.pointer).filter(|value| !value.is_null())
    }
}

impl Source {
    fn find<'a>(&'a self, chain: &Chain<'a>) -> Option<&'a Json> {
        let sent = |value: &Json| value.as_str() != Some("");
        let found = self.paths.iter().find_map(|path| path.find(chain).filter(|value| sent(value)));
        found.or(self.value.as_ref())
    }

    /// The number in the unit of the report.
    fn number(&self, value: &Json) -> Option<f64> {
        let raw = match value {
            Json::Bool(flag) => f64::from(u8::from(*flag)),
            other => loose::number(other)?,
        };
        let unknown = self.none.is_some_and(|none| (raw - none).abs() < 1e-9);
        Some(raw * self.scale + self.add).filter(|number| number.is_finite() && !unknown)
    }

    fn is_plain(&self) -> bool {
        (self.scale - 1.0).abs() < f64::EPSILON && self.add.abs() < f64::EPSILON && self.none.is_none()
    }
}

fn hold(conditions: &[Condition], chain: &Chain<'_>) -> bool {
    conditions.iter().all(|condition| {
        let value = condition.path.find(chain);
        let same = |wanted: &Json| value.is_some_and(|value| is_same(value, wanted));
        let number = || value.and_then(loose::number);
        match &condition.test {
            Test::Equals(wanted) => same(wanted),
            Test::NotEquals(other) => !same(other),
            Test::In(list) => list.iter().any(same),
            Test::Exists(wanted) => value.is_some() == *wanted,
            Test::AtLeast(least) => number().is_some_and(|number| number >= *least),
            Test::AtMost(most) => number().is_some_and(|number| number <= *most),
        }
    })
}

fn bytes_of(value: &Json, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Hex => parse_hex(value.as_str()?),
        Encoding::Base64 => STANDARD.decode(value.as_str()?).ok(),
    }
}

fn set_field(
    report: &mut Report,
    position: &mut (Option<f64>, Option<f64>),
    name: &str,
    value: &Json,
    source: &Source,
) {
    let number = source.number(value);
    match name {
        "latitude" => position.0 = number,
        "longitude" => position.1 = number,
        "time" => {
            let scaled = || number.and_then(crate::notation::instant::epoch);
            report.time = if source.is_plain() { loose::time(value) } else { scaled() };
        }
        "valid" => report.valid = loose::flag(value),
        "altitude" => report.altitude_m = number,
        "speed" => report.speed_kmh = number.filter(|speed| *speed >= 0.0),
        "course" => report.course = number.filter(|course| *course >= 0.0),
        "accuracy" => report.accuracy_m = number.filter(|metres| *metres >= 0.0),
        "source" => {
            report.source = FixSource::ALL.into_iter().find(|known| Some(known.name()) == value.as_str());
        }
        "alarm" => match value.as_str().and_then(alarm_word) {
            Some(word) => report.alarm(word),
            None => loose::set(report, "alarm", Some(value)),
        },
        // An object of addresses, each with its signal.
        "wifi" => {
            for (mac, network) in value.as_object().into_iter().flatten() {
                let signal =
                    network.get("rssi").and_then(loose::integer).and_then(|rssi| i32::try_from(rssi).ok());
                report.wifi.push(AccessPoint { mac: mac.to_ascii_lowercase(), signal });
            }
        }
        "ignition" => report.set_some("ignition", loose::flag(value)),
        // Known readings that are numbers or flags, even if the sender wrote a text.
        _ if source.is_plain() && NUMBERS.contains(&name) && number.is_some() => {
            report.set_some(name.to_owned(), loose::number_reading(value));
        }
        _ if source.is_plain() && FLAGS.contains(&name) && loose::flag(value).is_some() => {
            report.set_some(name.to_owned(), loose::flag(value));
        }
        _ if source.is_plain() => loose::set(report, name.to_owned(), Some(value)),
        _ => report.set_some(name.to_owned(), number.map(Value::Real)),
    }
}
