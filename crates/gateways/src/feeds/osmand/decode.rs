//! Reads a query or a form. The speed is in knots here, and in metres per second in the JSON form.

use crate::alarm::alarm_word;
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::fields::real;
use crate::notation::form::Form;
use crate::report::{CellTower, KNOT_KMH, Report};
use crate::sbd::sos_of;
use crate::{notation::instant, notation::loose};

use super::json;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    let trimmed = request.body.trim_ascii_start();
    if matches!(trimmed.first(), Some(b'{' | b'[')) {
        return loose::parse(trimmed, context.budget).map(|body| json::decode(&body, context)).into();
    }
    let mut form = Form::parse(request.query.as_bytes());
    form.append(Form::parse(request.body));
    if form.is_empty() {
        return Err(DecodeError::Malformed("the request has neither a query nor a body")).into();
    }
    FeedDecoded::one(read_form(&form))
}

fn read_form(form: &Form) -> FeedMessage {
    let mut message = FeedMessage::default();
    let mut report = Report::default();
    let (mut latitude, mut longitude) = (None, None);
    let known = |number: f64| Some(number).filter(|number| *number >= 0.0);
    for (name, value) in form.pairs() {
        let value = value.trim();
        let number = real(value);
        match name {
            _ if value.is_empty() => {}
            "id" | "deviceid" | "device_id" => message.identifiers = vec![value.to_owned()],
            "timestamp" => {
                report.time = instant::any(value);
                if report.time.is_none() {
                    message.error = Some(DecodeError::Malformed("\"timestamp\" is not a time"));
                }
            }
            "valid" => report.valid = Some(matches!(value, "true" | "1")),
            "lat" => latitude = number,
            "lon" => longitude = number,
            "location" => {
                let (north, east) = value.split_once(',').unwrap_or_default();
                (latitude, longitude) = (real(north), real(east));
            }
            "speed" => report.speed_kmh = number.and_then(known).map(|knots| knots * KNOT_KMH),
            "bearing" | "heading" => report.course = number.and_then(known),
            "altitude" => report.altitude_m = number,
            "accuracy" => report.accuracy_m = number.and_then(known),
            "hdop" => report.set_some("hdop", number),
            "batt" => report.set_some("batteryLevel", number.and_then(known)),
            "driverUniqueId" => report.set_text("driverUniqueId", value),
            "cell" => report.cells.extend(read_cell(value)),
            "wifi" => read_wifi(&mut report, value),
            "alarm" => {
                for word in value.split(',') {
                    match alarm_word(word) {
                        Some(known) => report.alarm(known),
                        None => report.set_text("alarm", word.trim()),
                    }
                }
            }
            // Secrets of the route are not readings of the phone.
            "key" | "token" | "secret" | "password" => {}
            _ => loose::set_typed(&mut report, name.to_owned(), value),
        }
    }
    match (latitude, longitude) {
        (Some(latitude), Some(longitude)) => report.locate(latitude, longitude),
        (None, None) => {}
        _ => {
            message.error = Some(DecodeError::Malformed("\"lat\" or \"lon\" is missing or not a number"));
        }
    }
    if !report.is_bare() {
        message.sos = sos_of(std::slice::from_ref(&report));
        message.reports.push(report);
    } else if message.error.is_none() {
        message.error = Some(DecodeError::Malformed("the request has neither a position nor a reading"));
    }
    message
}

/// `mcc,mnc,lac,cell[,signal]`.
fn read_cell(text: &str) -> Option<CellTower> {
    let mut parts = text.split(',').map(str::trim);
    Some(CellTower {
        mcc: parts.next()?.parse().ok()?,
        mnc: parts.next()?.parse().ok()?,
        lac: parts.next()?.parse().ok()?,
        cell: parts.next()?.parse().ok()?,
        signal: parts.next().and_then(|signal| signal.parse().ok()),
    })
}

/// `address,signal`, the address with dashes or colons.
fn read_wifi(report: &mut Report, text: &str) {
    let (address, signal) = text.split_once(',').unwrap_or((text, ""));
    let digits: String = address.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes = crate::notation::hex::parse_hex(&digits).and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
    if let Some(mac) = bytes {
        report.access_point(mac, signal.trim().parse().ok());
    }
}
