//! Reads messages of `OwnTracks` by their `_type`. Speed is in km/h.

use serde_json::Value as Json;

use crate::alarm::{AlarmTable, Notation, text};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::form::Form;
use crate::notation::loose;
use crate::report::{CellTower, Report};

/// Regions that the phone monitors itself.
pub(super) const TRANSITION: AlarmTable = AlarmTable {
    field: "`event` of a transition",
    notation: Notation::Text,
    codes: &[text("enter", "geofenceEnter"), text("leave", "geofenceExit")],
};

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    if request.body.trim_ascii().is_empty() {
        return FeedDecoded::default();
    }
    let names = route_names(request);
    loose::parse(request.body, context.budget)
        .map(|body| {
            let list = if let Json::Array(list) = &body { list } else { std::slice::from_ref(&body) };
            FeedDecoded::all(list.iter().filter_map(|one| read(one, &names)), context.budget)
        })
        .into()
}

/// User and device that the app sends besides the body: in headers, or as query parameters.
fn route_names(request: &FeedRequest<'_>) -> Vec<String> {
    let query = Form::parse(request.query.as_bytes());
    let user = request.header("x-limit-u").or_else(|| query.get("u"));
    let device = request.header("x-limit-d").or_else(|| query.get("d"));
    match (user, device) {
        (Some(user), Some(device)) => vec![format!("owntracks/{user}/{device}"), device.to_owned()],
        (None, Some(device)) => vec![device.to_owned()],
        _ => Vec::new(),
    }
}

/// None for messages that contain nothing about the device.
fn read(body: &Json, names: &[String]) -> Option<FeedMessage> {
    let mut message = FeedMessage::default();
    let topic = body.get("topic").and_then(loose::text);
    // Topics of other types end with a word: `owntracks/user/device/event`.
    let topic = topic.map(|topic| topic.split('/').take(3).collect::<Vec<_>>().join("/"));
    message.identifiers.extend(topic);
    message.identifiers.extend(names.iter().cloned());
    message.identifiers.extend(body.get("tid").and_then(loose::text));
    let report = match body.get("_type").and_then(Json::as_str) {
        Some("location") => read_location(body),
        Some("transition") => read_transition(body),
        Some("waypoint") => {
            message.reports.push(read_waypoint(body));
            return Some(message);
        }
        Some("waypoints") => {
            message.reports.extend(loose::list(body.get("waypoints")).iter().map(read_waypoint));
            return Some(message);
        }
        Some("status" | "steps") => read_status(body),
        Some("encrypted") => {
            message.error = Some(DecodeError::Encrypted);
            return Some(message);
        }
        Some("lwt" | "card" | "cmd" | "configuration" | "dump" | "beacon" | "request") => return None,
        _ => {
            message.error = Some(DecodeError::Malformed("\"_type\" is missing or unknown"));
            return Some(message);
        }
    };
    match report {
        Ok(report) => message.reports.push(report),
        Err(error) => message.error = Some(error),
    }
    Some(message)
}

fn position(body: &Json) -> Result<(f64, f64), DecodeError> {
    let number = |name: &str| body.get(name).and_then(loose::number);
    number("lat")
        .zip(number("lon"))
        .ok_or(DecodeError::Malformed("\"lat\" or \"lon\" is missing or not a number"))
}

fn read_location(body: &Json) -> Result<Report, DecodeError> {
    let number = |name: &str| body.get(name).and_then(loose::number);
    let known = |name: &str| number(name).filter(|number| *number >= 0.0);
    let (latitude, longitude) = position(body)?;
    let mut report = Report { time: body.get("tst").and_then(loose::time), ..Report::default() };
    report.locate(latitude, longitude);
    report.accuracy_m = known("acc");
    report.altitude_m = number("alt");
    report.speed_kmh = known("vel");
    report.course = known("cog");
    let trigger = body.get("t").and_then(Json::as_str).unwrap_or_default();
    report.set_text("event", trigger);
    // Trackers of the same maker report the ignition by their trigger.
    if matches!(trigger, "i" | "I") {
        report.set("ignition", trigger == "i");
    }
    for (name, member) in [
        ("batteryLevel", "batt"),
        ("verticalAccuracy", "vac"),
        ("pressure", "p"),
        ("connection", "conn"),
        ("monitoring", "m"),
        ("ssid", "SSID"),
        ("tag", "tag"),
        ("poi", "poi"),
        ("createdAt", "created_at"),
    ] {
        loose::set(&mut report, name, body.get(member));
    }
    // 1 unplugged, 2 charging, 3 full.
    let charge = body.get("bs").and_then(loose::integer).filter(|state| (1..=3).contains(state));
    report.set_some("charge", charge.map(|state| state >= 2));
    let regions = loose_texts(body.get("inregions"));
    report.set_text("regions", &regions.join(" "));
    report.cells.extend(read_cell(body));
    Ok(report)
}

fn loose_texts(value: Option<&Json>) -> Vec<String> {
    value.and_then(Json::as_array).into_iter().flatten().filter_map(loose::text).collect()
}

/// The mobile cell. Its area and its number are hexadecimal if they are texts.
fn read_cell(body: &Json) -> Option<CellTower> {
    let hex = |name: &str| match body.get(name)? {
        Json::String(text) => crate::notation::fields::hex(text),
        other => other.as_u64(),
    };
    let code = |name: &str| body.get(name).and_then(loose::integer).and_then(|code| u16::try_from(code).ok());
    Some(CellTower {
        mcc: code("mcc")?,
        mnc: code("mnc")?,
        lac: u32::try_from(hex("lac")?).ok()?,
        cell: hex("cid")?,
        signal: None,
    })
}

/// The phone entered or left a region that it monitors.
fn read_transition(body: &Json) -> Result<Report, DecodeError> {
    let mut report = Report { time: body.get("tst").and_then(loose::time), ..Report::default() };
    if let Ok((latitude, longitude)) = position(body) {
        report.locate(latitude, longitude);
        report.accuracy_m = body.get("acc").and_then(loose::number).filter(|metres| *metres >= 0.0);
    }
    let event = body.get("event").and_then(Json::as_str);
    let word = event.and_then(|event| TRANSITION.word_of(event));
    report.alarm(word.ok_or(DecodeError::Malformed("\"event\" must be \"enter\" or \"leave\""))?);
    report.set_text("event", event.unwrap_or_default());
    loose::set(&mut report, "region", body.get("desc"));
    report.alarm_text = body.get("desc").and_then(loose::text);
    Ok(report)
}

/// The centre of a region, not the position of the phone.
fn read_waypoint(body: &Json) -> Report {
    let mut report = Report { time: body.get("tst").and_then(loose::time), ..Report::default() };
    report.set("event", crate::Value::Word("waypoint"));
    for (name, member) in [
        ("region", "desc"),
        ("waypointLatitude", "lat"),
        ("waypointLongitude", "lon"),
        ("waypointRadius", "rad"),
    ] {
        loose::set(&mut report, name, body.get(member));
    }
    report
}

fn read_status(body: &Json) -> Result<Report, DecodeError> {
    let mut report = Report { time: body.get("tst").and_then(loose::time), ..Report::default() };
    for (name, value) in body.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "_type" | "tst" | "tid" | "topic" | "_id") {
            loose::set(&mut report, name.clone(), Some(value));
        }
    }
    if report.is_bare() {
        return Err(DecodeError::Malformed("a message of the type \"status\" has no readings"));
    }
    Ok(report)
}
