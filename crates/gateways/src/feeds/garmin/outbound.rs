//! Reads events of IPC Outbound, versions 2 to 4. Members that are null may also be missing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::alarm::{AlarmTable, Notation, number};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest, Refused, SosStep};
use crate::feeds::settings::payload_settings;
use crate::payload::decode_payload;
use crate::report::Report;
use crate::{notation::loose, secret};

use super::code;

/// The state of the battery.
pub(super) const STATUS: AlarmTable = AlarmTable {
    field: "`status.lowBattery`",
    notation: Notation::Decimal,
    codes: &[number(1, "lowBattery")],
};

/// The header of a static token, as set in the portal.
const TOKEN_HEADER: &str = "x-outbound-auth-token";

/// Compares the token header with the setting `token`, if it is set.
pub(super) fn check(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<(), Refused> {
    let Some(token) = context.options.text("token") else { return Ok(()) };
    let sent = request.header(TOKEN_HEADER).ok_or(Refused::Missing("X-Outbound-Auth-Token"))?;
    if secret::same(sent.trim(), token) { Ok(()) } else { Err(Refused::Wrong("X-Outbound-Auth-Token")) }
}

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let body = loose::parse(request.body, context.budget)?;
    let events = member(&body, "Events").and_then(Json::as_array);
    let events = events.ok_or(DecodeError::Malformed("the body has no array \"Events\""))?;
    Ok(FeedDecoded::all(events.iter().map(|event| read_event(event, context)), context.budget))
}

/// A member that is not null; versions differ in the case of first letters.
fn member<'a>(object: &'a Json, name: &str) -> Option<&'a Json> {
    let object = object.as_object()?;
    let found = object.get(name).or_else(|| {
        object.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    });
    found.filter(|value| !value.is_null())
}

fn read_event(event: &Json, context: &FeedContext<'_>) -> FeedMessage {
    let mut message = FeedMessage::default();
    let imei = member(event, "imei").and_then(loose::text);
    let code = member(event, "messageCode").and_then(loose::integer);
    let time = member(event, "timeStamp").and_then(loose::number).and_then(crate::notation::instant::epoch);
    let (Some(imei), Some(code)) = (imei, code) else {
        message.error = Some(DecodeError::Malformed("an event has no \"imei\" or no \"messageCode\""));
        return message;
    };
    let text = member(event, "freeText").and_then(loose::text);
    message.key = Some(event_key(&imei, time, code, event, text.as_deref()));
    message.identifiers.push(imei);
    message.sos = code::sos(code);
    message.preset = code::preset(code);
    let mut report = Report { time, ..Report::default() };
    report.set("messageCode", code);
    report.set_some("event", code::name(code).map(crate::Value::Word));
    if matches!(message.sos, Some(SosStep::Declare | SosStep::Confirm)) {
        report.alarm("sos");
    }
    if let Some(point) = member(event, "point") {
        read_point(&mut report, point, code == code::REFERENCE_POINT);
    }
    if let Some(status) = member(event, "status") {
        read_status(&mut report, status);
    }
    loose::set(&mut report, "transportMode", member(event, "transportMode"));
    for (name, value) in
        [("pingbackReceived", "pingbackReceived"), ("pingbackResponded", "pingbackResponded")]
    {
        loose::set(&mut report, name, member(event, value));
    }
    let addresses = loose::list(member(event, "addresses")).iter();
    let addresses: Vec<_> =
        addresses.filter_map(|entry| member(entry, "address").and_then(loose::text)).collect();
    report.set_text("addresses", &addresses.join(" "));
    message.text = text.or_else(|| member(event, "transcription").and_then(loose::text));
    report.set_text("text", message.text.as_deref().unwrap_or_default());
    read_media(&mut report, event);
    message.reports.push(report);
    if let Some(payload) = member(event, "payload").and_then(Json::as_str) {
        read_payload(&mut message, payload, code, time.unwrap_or(context.now), context);
    }
    message
}

/// The same event sent again has the same device, time, code and content.
fn event_key(imei: &str, time: Option<Timestamp>, code: i64, event: &Json, text: Option<&str>) -> String {
    let content = text.unwrap_or_default().to_owned()
        + member(event, "payload").and_then(Json::as_str).unwrap_or_default()
        + member(event, "mediaId").and_then(Json::as_str).unwrap_or_default();
    let time = time.map_or(0, Timestamp::as_millis);
    format!("{imei}/{time}/{code}/{}", secret::short_hash(&content, 16))
}

/// Without a fix all numbers are 0, which is not a position.
fn read_point(report: &mut Report, point: &Json, is_reference: bool) {
    let number = |name: &str| member(point, name).and_then(loose::number);
    let (Some(latitude), Some(longitude)) = (number("latitude"), number("longitude")) else { return };
    let nowhere = latitude.abs() < 1e-9 && longitude.abs() < 1e-9;
    if is_reference {
        report.set("referenceLatitude", latitude);
        report.set("referenceLongitude", longitude);
        return;
    }
    let fix = member(point, "gpsFix").and_then(loose::integer);
    report.set_some("gpsFix", fix);
    if nowhere {
        report.valid = Some(false);
        return;
    }
    report.fix(latitude, longitude);
    report.valid = fix.map(|fix| fix > 0);
    report.altitude_m = number("altitude");
    report.course = number("course");
    report.speed_kmh = number("speed");
}

fn read_status(report: &mut Report, status: &Json) {
    let number = |name: &str| member(status, name).and_then(loose::integer);
    report.set_some("autonomous", number("autonomous").map(|flag| flag != 0));
    // 2 means that the device does not report a value.
    match number("lowBattery") {
        Some(1) => {
            report.set("lowBattery", true);
            report.alarm_some(STATUS.word(1));
        }
        Some(0) => report.set("lowBattery", false),
        _ => {}
    }
    report.set_some("intervalChange", number("intervalChange").filter(|seconds| *seconds != 0));
    report.set_some("resetDetected", number("resetDetected").map(|flag| flag != 0));
}

/// Media stay in the raw message; the report describes them.
fn read_media(report: &mut Report, event: &Json) {
    loose::set(report, "mediaId", member(event, "mediaId"));
    loose::set(report, "mediaType", member(event, "mediaType"));
    let media = member(event, "mediaBytes").and_then(Json::as_str);
    let size = media.map(|text| STANDARD.decode(text).map_or(text.len() / 4 * 3, |bytes| bytes.len()));
    report.set_some("mediaSize", size.and_then(|size| i64::try_from(size).ok()));
}

fn read_payload(
    message: &mut FeedMessage,
    payload: &str,
    code: i64,
    session: Timestamp,
    context: &FeedContext<'_>,
) {
    let Ok(bytes) = STANDARD.decode(payload) else {
        message.error = Some(DecodeError::Malformed("the payload is not Base64"));
        return;
    };
    let Some(report) = message.reports.first_mut() else { return };
    report.set_some("payloadSize", i64::try_from(bytes.len()).ok());
    if code::is_encrypted(code) {
        report.set("encrypted", true);
    } else if code == code::GENERIC_BINARY {
        let settings = payload_settings(context, &message.identifiers, session);
        let read = decode_payload(&bytes, &settings);
        let (positions, readings): (Vec<_>, Vec<_>) =
            read.reports.into_iter().partition(|inner| inner.position.is_some());
        for mut inner in readings {
            report.values.append(&mut inner.values);
        }
        message.reports.extend(
            positions.into_iter().map(|inner| Report { time: inner.time.or(Some(session)), ..inner }),
        );
        message.text = message.text.take().or(read.text);
        message.error = read.error;
    }
}
