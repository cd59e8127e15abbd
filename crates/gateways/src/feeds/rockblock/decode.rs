//! Reads messages: the network's estimate and payload of a `RockBLOCK`, or the decoded fix of a tracker.

use perigee_core::locations::location::FixSource;

use crate::alarm::{AlarmTable, Notation, text};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedRequest, Refused};
use crate::feeds::settings::payload_settings;
use crate::notation::hex::parse_hex;
use crate::report::{KNOT_KMH, Report};
use crate::sbd::{Estimate, Session, sos_of};
use crate::value::Value;

use super::fields::Fields;

/// Maximum age of a token at the time of the request, in seconds: messages are sent again for about half a day.
const MAX_AGE_S: i64 = 14 * 3600;
/// Maximum time by which a token may be ahead of the server's clock, in seconds.
const MAX_AHEAD_S: i64 = 300;

/// Verifies the token with the setting `key`, if it is set.
pub(super) fn check(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<(), Refused> {
    if context.options.text("key").is_none() {
        return Ok(());
    }
    let body = Fields::of_body(request, context).map_err(|_detail| Refused::Missing("JWT"))?;
    let issued = body
        .trusted(context)?
        .number("iat")
        .map(crate::notation::number::whole)
        .ok_or(Refused::Wrong("JWT"))?;
    let age = context.now.as_seconds().saturating_sub(issued);
    if (-MAX_AHEAD_S..=MAX_AGE_S).contains(&age) { Ok(()) } else { Err(Refused::Wrong("time of the JWT")) }
}

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let fields = Fields::of_body(request, context)?
        .trusted(context)
        .map_err(|_refused| DecodeError::Malformed("the JWT is missing or its signature is wrong"))?;
    let imei = fields.text("imei").ok_or(DecodeError::Malformed("the message has no \"imei\""))?;
    let time = fields.time("transmit_time").or_else(|| fields.time("txAt"));
    let momsn = fields.text("momsn").unwrap_or_default();
    let sent = fields.text("transmit_time").unwrap_or_default();
    let key = fields.text("id").unwrap_or_else(|| format!("{imei}/{momsn}/{sent}"));
    let mut identifiers = vec![imei];
    identifiers.extend(fields.text("serial"));
    let session = time.unwrap_or(context.now);
    let settings = payload_settings(context, &identifiers, session);
    let fix = read_fix(&fields, context, &identifiers);
    let estimate = fields.number("iridium_latitude").zip(fields.number("iridium_longitude"));
    let estimate =
        estimate.filter(|(latitude, longitude)| latitude.abs() > 1e-9 || longitude.abs() > 1e-9).map(
            |(latitude, longitude)| Estimate { latitude, longitude, radius_km: fields.number("iridium_cep") },
        );
    let mut values: Vec<(&'static str, Value)> = Vec::new();
    values
        .extend(fields.number("momsn").map(|momsn| ("momsn", crate::notation::number::whole(momsn).into())));
    values.extend(fields.text("device_type").map(|kind| ("deviceType", kind.into())));
    let (payload, error) = match fields.text("data").map(|data| parse_hex(&data)) {
        Some(Some(bytes)) => (bytes, None),
        Some(None) => (Vec::new(), Some(DecodeError::Malformed("\"data\" is not hexadecimal digits"))),
        None => (Vec::new(), None),
    };
    let mut message =
        Session { key: Some(key), identifiers, time, estimate, values }.message(&payload, &settings);
    if let Some(fix) = fix {
        // Without an estimate or payload, the report has only the counters of the session.
        let has_own_report = estimate.is_some() || !payload.is_empty();
        if has_own_report {
            message.reports.insert(0, fix);
        } else {
            let session = std::mem::take(&mut message.reports);
            let values = session.into_iter().flat_map(|report| report.values);
            message.reports =
                vec![Report { values: fix.values.iter().cloned().chain(values).collect(), ..fix }];
        }
        message.sos = sos_of(&message.reports);
    }
    message.error = message.error.or(error);
    Ok(FeedDecoded::one(message))
}

/// The event that made the tracker send.
pub(super) const TRIGGER: AlarmTable = AlarmTable {
    field: "`trigger`",
    notation: Notation::Text,
    codes: &[text("ALERT", "sos"), text("EMERGENCY", "sos"), text("SOS", "sos"), text("DISTRESS", "sos")],
};

/// The decoded fix of a tracker, with its own time. A fix without a position is kept only if it has an alarm.
fn read_fix(fields: &Fields, context: &FeedContext<'_>, identifiers: &[String]) -> Option<Report> {
    let mut report = Report { time: fields.time("at"), ..Report::default() };
    if let Some((latitude, longitude)) = fields.number("lat").zip(fields.number("lon")) {
        report.locate(latitude, longitude);
        report.source = match fields.text("source").as_deref() {
            None | Some("GPS" | "GNSS") => Some(FixSource::Gnss),
            Some(_) => Some(FixSource::Network),
        };
    }
    report.accuracy_m =
        fields.number("cep").filter(|_| report.source == Some(FixSource::Network)).map(|km| km * 1000.0);
    let in_kmh =
        context.setting(identifiers, "speedUnit").and_then(serde_json::Value::as_str) == Some("km/h");
    let factor = if in_kmh { 1.0 } else { KNOT_KMH };
    report.altitude_m = fields.number("alt");
    report.speed_kmh = fields.number("sog").map(|speed| speed * factor);
    report.course = fields.number("cog");
    report.set_some("averageSpeed", fields.number("averageSog").map(|speed| speed * factor));
    report.set_some("averageCourse", fields.number("averageCog"));
    report.set_some("pdop", fields.number("pdop"));
    report.set_some("temp1", fields.number("temp"));
    report.set_some("batteryLevel", fields.number("battery"));
    report.set_some("charge", fields.flag("power"));
    report.set_text("transport", &fields.text("transport").unwrap_or_default());
    let trigger = fields.text("trigger").unwrap_or_default();
    report.set_text("event", &trigger);
    report.alarm_some(TRIGGER.word_of(&trigger));
    // An SOS is kept even without a fix.
    (report.position.is_some() || !report.alarms.is_empty()).then_some(report)
}
