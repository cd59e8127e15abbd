//! Reads points of Overland. Speed is in metres per second, battery from 0 to 1, and −1 means unknown.

use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::loose;
use crate::report::Report;

/// Factor from metres per second to km/h.
const MPS_KMH: f64 = 3.6;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let body = loose::parse(request.body, context.budget)?;
    let list = body.get("locations").and_then(Json::as_array);
    let list = list.ok_or(DecodeError::Malformed("the body has no array \"locations\""))?;
    Ok(FeedDecoded::all(list.iter().map(read_feature), context.budget))
}

fn read_feature(feature: &Json) -> FeedMessage {
    let empty = Json::Null;
    let properties = feature.get("properties").unwrap_or(&empty);
    let number = |name: &str| properties.get(name).and_then(loose::number);
    let known = |name: &str| number(name).filter(|number| *number >= 0.0);
    let mut message = FeedMessage::default();
    message.identifiers.extend(properties.get("device_id").and_then(loose::text));
    message.identifiers.extend(properties.get("unique_id").and_then(loose::text));
    let mut report = Report { time: properties.get("timestamp").and_then(loose::time), ..Report::default() };
    let coordinates = feature.get("geometry").and_then(|geometry| geometry.get("coordinates"));
    let degrees = |index: usize| coordinates?.get(index).and_then(loose::number);
    match (degrees(1), degrees(0)) {
        (Some(latitude), Some(longitude)) => report.locate(latitude, longitude),
        _ => message.error = Some(DecodeError::Malformed("a location has no \"coordinates\"")),
    }
    report.altitude_m = number("altitude");
    report.speed_kmh = known("speed").map(|speed| speed * MPS_KMH);
    report.course = known("course");
    report.accuracy_m = known("horizontal_accuracy");
    report.set_some("batteryLevel", known("battery_level").map(|level| (level * 100.0).round()));
    let battery = properties.get("battery_state").and_then(Json::as_str);
    report.set_some(
        "charge",
        battery.and_then(|state| match state {
            "charging" | "full" => Some(true),
            "unplugged" => Some(false),
            _ => None,
        }),
    );
    let motion = properties.get("motion").and_then(Json::as_array).into_iter().flatten();
    let motion: Vec<_> = motion.filter_map(Json::as_str).collect();
    report.set_text("activity", &motion.join(","));
    for (name, member) in [
        ("verticalAccuracy", "vertical_accuracy"),
        ("wifiName", "wifi"),
        ("event", "action"),
        ("steps", "steps"),
        ("desiredAccuracy", "desired_accuracy"),
    ] {
        loose::set(&mut report, name, properties.get(member));
    }
    message.reports.push(report);
    message
}
