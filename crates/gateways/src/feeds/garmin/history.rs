//! Reads answers of IPC Inbound's location service.

use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest, SosStep};
use crate::notation::loose;
use crate::report::Report;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let body = loose::parse(request.body, context.budget)?;
    let items = body.get("HistoryItems").or_else(|| body.get("Locations")).unwrap_or(&body);
    let items = items.as_array().ok_or(DecodeError::Malformed(
        "the answer has neither an array \"HistoryItems\" nor \"Locations\"",
    ))?;
    Ok(FeedDecoded::all(items.iter().map(read_item), context.budget))
}

/// The instant of `/Date(1398184577123)/`, also with an offset after the number, which does not change the instant.
pub(super) fn json_date(text: &str) -> Option<Timestamp> {
    let Some(number) = text.trim().strip_prefix("/Date(") else { return crate::notation::instant::any(text) };
    let end = number.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit()).map(|(at, _)| at)?;
    number.get(..end)?.parse().ok().map(Timestamp::from_millis)
}

fn read_item(item: &Json) -> FeedMessage {
    let number = |name: &str| item.get(name).and_then(loose::number);
    let imei = item.get("IMEI").and_then(loose::text);
    let time = item.get("Timestamp").and_then(|time| match time {
        Json::String(text) => json_date(text),
        other => loose::time(other),
    });
    let (Some(imei), Some(time)) = (imei, time) else {
        let error = Some(DecodeError::Malformed("an item has no \"IMEI\" or no \"Timestamp\""));
        return FeedMessage { error, ..FeedMessage::default() };
    };
    let mut report = Report { time: Some(time), ..Report::default() };
    let coordinate = item.get("Coordinate");
    let degrees = |name: &str| coordinate?.get(name).and_then(loose::number);
    if let (Some(latitude), Some(longitude)) = (degrees("Latitude"), degrees("Longitude"))
        && (latitude.abs() > 1e-9 || longitude.abs() > 1e-9)
    {
        report.fix(latitude, longitude);
    }
    report.altitude_m = number("Altitude");
    report.course = number("Course");
    report.speed_kmh = number("Speed");
    let fix = item.get("GPSFixStatus");
    loose::set(&mut report, "gpsFix", fix);
    report.valid = match fix {
        Some(Json::Number(fix)) => fix.as_i64().map(|fix| fix > 0),
        Some(Json::String(fix)) => Some(!fix.to_ascii_lowercase().starts_with("no")),
        _ => None,
    };
    for (name, member) in [("text", "TextMessage"), ("event", "MessageType"), ("messageCode", "MessageCode")]
    {
        loose::set(&mut report, name, item.get(member));
    }
    // A message that also arrived by IPC Outbound belongs to the same emergency.
    let sos = item.get("MessageCode").and_then(loose::integer).and_then(super::code::sos);
    if matches!(sos, Some(SosStep::Declare | SosStep::Confirm)) {
        report.alarm("sos");
    }
    FeedMessage {
        key: Some(format!("{imei}/{}", time.as_millis())),
        identifiers: vec![imei],
        reports: vec![report],
        text: item.get("TextMessage").and_then(loose::text).filter(|text| !text.is_empty()),
        sos,
        ..FeedMessage::default()
    }
}
