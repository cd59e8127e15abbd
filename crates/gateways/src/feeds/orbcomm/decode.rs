//! Reads the answer of `get_return_messages`. Coordinates are in thousandths of a minute.

use serde_json::Value as Json;

use crate::alarm::alarm_word;
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::loose;
use crate::report::Report;

/// Thousandths of a minute in a degree.
const PER_DEGREE: f64 = 60_000.0;
/// The largest valid heading; 361 means unknown.
const MAX_HEADING: f64 = 360.0;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let body = loose::parse(request.body, context.budget)?;
    if body.get("ErrorID").and_then(loose::integer) != Some(0) {
        return Err(DecodeError::Malformed("ORBCOMM answered with an error, or without \"ErrorID\""));
    }
    let next = ["NextStartID", "NextStartUTC", "NextFromUTC"]
        .iter()
        .find_map(|name| body.get(*name).and_then(loose::text));
    let messages = loose::list(body.get("Messages")).iter().map(read_message);
    Ok(FeedDecoded { next, ..FeedDecoded::all(messages, context.budget) })
}

fn read_message(body: &Json) -> FeedMessage {
    let mut message = FeedMessage { key: body.get("ID").and_then(loose::text), ..FeedMessage::default() };
    message.identifiers.extend(body.get("MobileID").and_then(loose::text));
    if message.identifiers.is_empty() {
        message.error = Some(DecodeError::Malformed("a message has no \"MobileID\""));
    }
    let mut report = Report { time: body.get("MessageUTC").and_then(loose::time), ..Report::default() };
    let (mut latitude, mut longitude) = (None, None);
    for field in loose::list(body.pointer("/Payload/Fields")) {
        let (Some(name), Some(value)) = (field.get("Name").and_then(Json::as_str), field.get("Value")) else {
            continue;
        };
        let number = loose::number(value);
        match name.to_ascii_lowercase().as_str() {
            "latitude" => latitude = number.map(|raw| raw / PER_DEGREE),
            "longitude" => longitude = number.map(|raw| raw / PER_DEGREE),
            "speed" => report.speed_kmh = number,
            "heading" => report.course = number.filter(|heading| *heading <= MAX_HEADING),
            "altitude" => report.altitude_m = number,
            "eventtime" => report.time = loose::time(value).or(report.time),
            "alarm" => match value.as_str().and_then(alarm_word) {
                Some(word) => report.alarm(word),
                None => loose::set(&mut report, "alarm", Some(value)),
            },
            _ => match value.as_str() {
                Some(text) => loose::set_typed(&mut report, name.to_owned(), text),
                None => loose::set(&mut report, name.to_owned(), Some(value)),
            },
        }
    }
    if let (Some(latitude), Some(longitude)) = (latitude, longitude) {
        report.fix(latitude, longitude);
    }
    for (name, path) in
        [("event", "/Payload/Name"), ("sin", "/SIN"), ("min", "/Payload/MIN"), ("region", "/RegionName")]
    {
        loose::set(&mut report, name, body.pointer(path));
    }
    message.reports.push(report);
    message
}
