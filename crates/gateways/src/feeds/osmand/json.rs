//! Reads the JSON of newer versions of Traccar Client. Its speed is in metres per second; −1 means unknown.

use serde_json::Value as Json;

use crate::alarm::alarm_word;
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage};
use crate::notation::loose;
use crate::report::Report;
use crate::sbd::sos_of;

/// Factor from metres per second to km/h.
const MPS_KMH: f64 = 3.6;

/// Bytes of the longest identifier that a device can have.
const IDENTIFIER_MAX: usize = 400;

pub(super) fn decode(body: &Json, context: &FeedContext<'_>) -> FeedDecoded {
    // An identifier that is too long for a device is not copied into every message.
    let identifier = body.get("device_id").and_then(loose::text).filter(|name| name.len() <= IDENTIFIER_MAX);
    let locations = loose::list(body.get("location"));
    if locations.is_empty() {
        return Err(DecodeError::Malformed("the body has no \"location\"")).into();
    }
    let messages = locations.iter().map(|location| {
        let mut message = read_location(location);
        message.identifiers.extend(identifier.clone());
        message
    });
    FeedDecoded::all(messages, context.budget)
}

fn read_location(location: &Json) -> FeedMessage {
    let mut report = Report { time: location.get("timestamp").and_then(loose::time), ..Report::default() };
    let coords = location.get("coords");
    let number = |name: &str| coords?.get(name).and_then(loose::number);
    let known = |name: &str| number(name).filter(|number| *number >= 0.0);
    if let (Some(latitude), Some(longitude)) = (number("latitude"), number("longitude")) {
        report.locate(latitude, longitude);
    }
    report.accuracy_m = known("accuracy");
    report.speed_kmh = known("speed").map(|speed| speed * MPS_KMH);
    report.course = known("heading");
    report.altitude_m = number("altitude");
    loose::set(&mut report, "event", location.get("event"));
    loose::set(&mut report, "motion", location.get("is_moving"));
    loose::set(&mut report, "odometer", location.get("odometer"));
    loose::set(&mut report, "mock", location.get("mock"));
    loose::set(&mut report, "activity", location.get("activity").and_then(|activity| activity.get("type")));
    if let Some(battery) = location.get("battery") {
        let level = battery.get("level").and_then(loose::number).filter(|level| *level >= 0.0);
        report.set_some("batteryLevel", level.map(|level| (level * 100.0).round()));
        loose::set(&mut report, "charge", battery.get("is_charging"));
    }
    for (name, value) in location.get("extras").and_then(Json::as_object).into_iter().flatten() {
        if name != "alarm" {
            loose::set(&mut report, name.clone(), Some(value));
        }
    }
    read_alarms(&mut report, location);
    let has_alarm = !report.alarms.is_empty();
    let error = match (report.position, report.time) {
        // An SOS without a fix is kept: the alarm is a message of its own.
        (None, _) if !has_alarm => Some(DecodeError::Malformed("a location has no \"coords\"")),
        (Some(_), None) => Some(DecodeError::Malformed("a location has no \"timestamp\"")),
        _ => None,
    };
    let key = location.get("uuid").and_then(loose::text);
    let sos = sos_of(std::slice::from_ref(&report));
    FeedMessage { key, reports: vec![report], sos, error, ..FeedMessage::default() }
}

/// The alarms of a location and of its extras: one word, or several separated by commas. Unknown words are kept
/// unchanged.
fn read_alarms(report: &mut Report, location: &Json) {
    let extra = location.get("extras").and_then(|extras| extras.get("alarm"));
    for sent in [location.get("alarm"), extra].into_iter().flatten() {
        let Some(text) = sent.as_str() else {
            loose::set(report, "alarm", Some(sent));
            continue;
        };
        for word in text.split(',') {
            match alarm_word(word) {
                Some(known) => report.alarm(known),
                None => report.set_text("alarm", word.trim()),
            }
        }
    }
}
