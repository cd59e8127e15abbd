//! Reads callbacks with the usual member names. Numbers may be texts, and `null` may be a text.

use perigee_core::locations::location::FixSource;
use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::form::Form;
use crate::notation::hex::parse_hex;
use crate::notation::loose;
use crate::report::Report;
use crate::sbd::sos_of;

use super::data;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    let body = request.body.trim_ascii();
    let parsed = if body.first() == Some(&b'{') {
        loose::parse(body, context.budget)
    } else {
        // Some callbacks send the JSON as the name of a form's only field.
        let form = Form::parse(body);
        let name = form.pairs().next().map_or("", |(name, _)| name);
        loose::parse(name.as_bytes(), context.budget)
    };
    parsed.map(|body| FeedDecoded::one(read(&body, context))).into()
}

/// A member that is present and not the text `null`.
fn member<'a>(body: &'a Json, names: &[&str]) -> Option<&'a Json> {
    names
        .iter()
        .find_map(|name| body.get(*name).filter(|value| !value.is_null() && value.as_str() != Some("null")))
}

fn read(body: &Json, context: &FeedContext<'_>) -> FeedMessage {
    let mut message = FeedMessage::default();
    message.identifiers.extend(member(body, &["device", "deviceId"]).and_then(loose::text));
    let Some(device) = message.identifiers.first() else {
        message.error = Some(DecodeError::Malformed("the callback has no identifier of a device"));
        return message;
    };
    let number = member(body, &["seqNumber", "seqNum", "seqNo"]).and_then(loose::text);
    let time = member(body, &["time", "positionTime", "lastSeen", "timestamp"]).and_then(loose::time);
    // A sequence number has 12 bits and repeats within days.
    message.key = number.zip(time).map(|(number, time)| format!("{device}/{number}/{}", time.as_seconds()));
    let mut report = Report { time, ..Report::default() };
    let position = body.get("location").filter(|location| location.is_object());
    let degrees = |side: &Json, names: &[&str]| member(side, names).and_then(loose::number);
    let has_data = member(body, &["data", "payload"]).is_some();
    if let Some(position) = position.or_else(|| (!has_data).then_some(body))
        && let (Some(latitude), Some(longitude)) =
            (degrees(position, &["lat", "latitude"]), degrees(position, &["lng", "longitude"]))
    {
        report.locate(latitude, longitude);
        report.accuracy_m = degrees(position, &["radius"]).filter(|metres| *metres > 0.0);
        // A position with a radius was computed by the network.
        report.source = Some(if report.accuracy_m.is_some() { FixSource::Network } else { FixSource::Gnss });
    }
    if let Some(text) = member(body, &["data", "payload"]).and_then(Json::as_str) {
        let tagged = body.get("data").is_none();
        let amber = context.is_model(&message.identifiers, "Amber");
        let read = parse_hex(text).ok_or(DecodeError::Malformed("\"data\" is not hexadecimal digits"));
        if let Err(error) = read.and_then(|bytes| data::read(&mut report, &bytes, tagged, amber)) {
            message.error = Some(error);
            report.set_text("payload", text);
        }
    }
    for (name, names) in [("motion", ["moving"]), ("blocked", ["magStatus"])] {
        report.set_some(name, member(body, &names).and_then(loose::flag));
    }
    for (name, names) in
        [("deviceTemp", ["temperature"]), ("rssi", ["rssi"]), ("snr", ["snr"]), ("index", ["seqNumber"])]
    {
        report.set_some(name, member(body, &names).and_then(loose::number));
    }
    message.reports.push(report);
    message.sos = sos_of(&message.reports);
    message
}
