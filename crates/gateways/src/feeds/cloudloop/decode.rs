//! Reads Lingo, and the older form `{id, imei, payloadHex}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::feeds::settings::payload_settings;
use crate::notation::calendar::Civil;
use crate::notation::hex::parse_hex;
use crate::notation::loose;
use crate::report::Report;
use crate::sbd::{Estimate, Session};
use crate::value::Value;

/// Maximum number of positions of one message in the data that Cloudloop decoded.
const MAX_POSITIONS: usize = 200;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    loose::parse(request.body, context.budget)
        .map(|body| match &body {
            Json::Array(list) => FeedDecoded::all(list.iter().map(|one| read(one, context)), context.budget),
            one => FeedDecoded::one(read(one, context)),
        })
        .into()
}

/// A broken-down date in UTC, or any other form of a time.
fn date(value: &Json) -> Option<Timestamp> {
    let part = |name: &str| value.get(name).and_then(loose::integer);
    let small = |name: &str| u8::try_from(part(name).unwrap_or(0)).ok();
    match part("year") {
        Some(year) => Civil {
            year: u16::try_from(year).ok()?,
            month: small("month")?,
            day: small("day")?,
            hour: small("hour")?,
            minute: small("minute")?,
            second: small("second")?,
        }
        .instant(),
        None => loose::time(value),
    }
}

/// The bytes of a message: base64, hexadecimal digits of one case, or a list of numbers.
fn bytes_of(value: &Json) -> Option<Vec<u8>> {
    match value {
        Json::String(text) => {
            let one_case = !(text.contains(|c: char| c.is_ascii_lowercase())
                && text.contains(|c: char| c.is_ascii_uppercase()));
            parse_hex(text).filter(|_| one_case).or_else(|| STANDARD.decode(text).ok())
        }
        Json::Array(list) => list.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect(),
        _ => None,
    }
}

fn read(body: &Json, context: &FeedContext<'_>) -> FeedMessage {
    let at = |path: &str| body.pointer(path);
    let text = |path: &str| at(path).and_then(loose::text);
    let mut identifiers: Vec<String> = Vec::new();
    for path in [
        "/sbd/imei",
        "/imt/imei",
        "/identity/hardware/imei",
        "/imei",
        "/identity/identifier",
        "/identity/thingId",
    ] {
        identifiers.extend(text(path).filter(|name| !identifiers.contains(name)));
    }
    if identifiers.is_empty() {
        let error = Some(DecodeError::Malformed("the message has no identifier of a device"));
        return FeedMessage { key: text("/id"), error, ..FeedMessage::default() };
    }
    let received = at("/receivedAt").and_then(date);
    let session = ["/sbd/sessionAt", "/imt/sessionAt", "/cellular/sessionAt"]
        .iter()
        .find_map(|path| at(path).and_then(date));
    let time = session.or(received);
    let location = at("/sbd/location").or_else(|| at("/imt/location"));
    let number = |name: &str| location?.get(name).and_then(loose::number);
    let estimate = number("latitude").zip(number("longitude")).map(|(latitude, longitude)| Estimate {
        latitude,
        longitude,
        radius_km: number("cep"),
    });
    let mut values: Vec<(&'static str, Value)> = Vec::new();
    for (name, path) in [
        ("cdrReference", "/sbd/cdrReference"),
        ("sessionStatus", "/sbd/status"),
        ("momsn", "/sbd/momsn"),
        ("mtmsn", "/sbd/mtmsn"),
        ("topic", "/imt/topic"),
        ("deviceType", "/identity/hardware/type"),
    ] {
        values.extend(at(path).and_then(loose::reading).map(|value| (name, value)));
    }
    let message = at("/message").or_else(|| at("/payloadHex")).filter(|message| !message.is_null());
    let payload = message.map(bytes_of);
    let settings = payload_settings(context, &identifiers, time.unwrap_or(context.now));
    // A payload that Cloudloop has decoded is not decoded again.
    let decoded: Vec<Report> =
        ["/p6", "/iot", "/ies"].iter().filter_map(|path| at(path)).flat_map(read_positions).collect();
    let bytes = payload.clone().flatten().filter(|_| decoded.is_empty()).unwrap_or_default();
    let mut message =
        Session { key: text("/id"), identifiers, time, estimate, values }.message(&bytes, &settings);
    message.reports = decoded.into_iter().chain(message.reports).collect();
    if matches!(payload, Some(None)) {
        message.error =
            Some(DecodeError::Malformed("the member \"message\" is neither Base64 nor hexadecimal digits"));
    }
    message
}

/// Every object with a latitude and a longitude, at any depth, with the numbers beside them as readings.
fn read_positions(decoded: &Json) -> Vec<Report> {
    let mut found = Vec::new();
    let mut open = vec![decoded];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(list) => open.extend(list.iter().rev()),
            Json::Object(members) => {
                let degrees =
                    |one: &str, other: &str| members.get(one).or(members.get(other)).and_then(loose::number);
                if let (Some(latitude), Some(longitude)) =
                    (degrees("latitude", "lat"), degrees("longitude", "lon"))
                {
                    found.push(read_position(members, latitude, longitude));
                } else {
                    let inner: Vec<_> = members.values().collect();
                    open.extend(inner.into_iter().rev());
                }
            }
            _ => {}
        }
        if found.len() >= MAX_POSITIONS {
            break;
        }
    }
    found
}

fn read_position(members: &serde_json::Map<String, Json>, latitude: f64, longitude: f64) -> Report {
    let mut report = Report::default();
    report.fix(latitude, longitude);
    for (name, value) in members {
        match name.as_str() {
            "latitude" | "lat" | "longitude" | "lon" => {}
            "at" | "time" | "timestamp" | "reportedAt" | "recordedAt" | "fixAt" => {
                report.time = date(value).or(report.time);
            }
            "altitude" | "alt" => report.altitude_m = loose::number(value),
            "course" | "heading" | "cog" => report.course = loose::number(value),
            // The unit of a speed is not documented, so the value is kept as a reading.
            _ => loose::set(&mut report, name.clone(), Some(value)),
        }
    }
    report
}
