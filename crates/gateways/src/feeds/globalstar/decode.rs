//! Reads `stuMessages`; provisioning messages contain nothing about devices. Resellers send the same data as JSON.

use serde_json::Value as Json;

use crate::alarm::{AlarmTable, Notation, text};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest};
use crate::notation::hex::parse_hex;
use crate::notation::xml::Element;
use crate::payload::decode_payload;
use crate::payload::smartone::{read_atlastrax, read_smartone};
use crate::report::Report;
use crate::sbd::sos_of;
use crate::secret::short_hash;
use crate::{notation::instant, notation::loose};

/// Maximum number of bytes of the request's id in keys of its messages.
const KEY_MAX: usize = 200;

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    read(request, context).into()
}

pub(super) fn is_json(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'{')
}

fn read(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    if is_json(request.body) {
        return read_json(&loose::parse(request.body, context.budget)?, context);
    }
    let root = Element::parse(request.body, context.budget)?;
    match root.name.as_str() {
        "stuMessages" => {}
        "prvmsgs" | "prvMessages" => return Ok(FeedDecoded::default()),
        _ => {
            return Err(DecodeError::Malformed(
                "the root element of the XML is neither \"stuMessages\" nor \"prvmsgs\"",
            ));
        }
    }
    // The key of every message contains the ID, so a long ID is shortened.
    let id = root
        .attribute("messageID")
        .map(|id| if id.len() > KEY_MAX { short_hash(id, 32) } else { id.to_owned() });
    let messages = root.list("stuMessage").enumerate();
    let messages = messages.map(|(index, message)| {
        let key = id.as_ref().map(|id| format!("{id}/{index}"));
        FeedMessage { key, ..read_message(message, context) }
    });
    Ok(FeedDecoded::all(messages, context.budget))
}

fn read_message(element: &Element, context: &FeedContext<'_>) -> FeedMessage {
    let mut message = FeedMessage::default();
    let Some(esn) = element.value("esn") else {
        message.error = Some(DecodeError::Malformed("a message has no \"esn\""));
        return message;
    };
    message.identifiers.push(esn.to_owned());
    let time = element.value("unixTime").and_then(crate::notation::fields::real).and_then(instant::epoch);
    let digits = element.value("payload").unwrap_or_default();
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
    let Some(payload) = parse_hex(digits) else {
        message.error = Some(DecodeError::Malformed("the payload is not hexadecimal"));
        return message;
    };
    match read_payload(&payload, &message.identifiers, context, time) {
        Ok(reports) => message.reports = reports,
        Err(error) => message.error = Some(error),
    }
    for report in &mut message.reports {
        report.time = report.time.or(time);
    }
    message.sos = sos_of(&message.reports);
    message
}

/// The model is taken from the settings of the device, because the same bytes have different meanings in different
/// models.
fn read_payload(
    payload: &[u8],
    identifiers: &[String],
    context: &FeedContext<'_>,
    time: Option<perigee_core::time::Timestamp>,
) -> Result<Vec<Report>, DecodeError> {
    if context.is_model(identifiers, "AtlasTrax") {
        return Ok(read_atlastrax(payload)?.into_iter().collect());
    }
    let own = ["payload", "template"].iter().any(|name| context.setting(identifiers, name).is_some());
    if own {
        let settings =
            crate::feeds::settings::payload_settings(context, identifiers, time.unwrap_or(context.now));
        let read = decode_payload(payload, &settings);
        return match read.error {
            Some(error) if read.reports.is_empty() => Err(error),
            _ => Ok(read.reports),
        };
    }
    read_smartone(payload).map(|report| vec![report])
}

/// Members of a device in JSON.
pub(super) const DEVICE: AlarmTable = AlarmTable {
    field: "member of `deviceInfo`",
    notation: Notation::Text,
    codes: &[
        text("batteryStatus Replace", "lowBattery"),
        text("batteryStatus Low", "lowBattery"),
        text("vibrationTriggered Yes", "vibration"),
    ],
};

fn read_json(body: &Json, context: &FeedContext<'_>) -> Result<FeedDecoded, DecodeError> {
    let devices = body.pointer("/entry/devices").and_then(Json::as_array);
    let devices = devices.ok_or(DecodeError::Malformed("the body has no array \"entry.devices\""))?;
    Ok(FeedDecoded::all(devices.iter().map(read_device), context.budget))
}

fn read_device(device: &Json) -> FeedMessage {
    let mut message = FeedMessage::default();
    message.identifiers.extend(device.pointer("/deviceIdentify/esn").and_then(loose::text));
    if message.identifiers.is_empty() {
        message.error = Some(DecodeError::Malformed("a device has no \"esn\""));
    }
    let time = device.pointer("/deviceIdentify/unixTime").and_then(loose::time);
    let mut report = Report { time, ..Report::default() };
    let degrees = |path: &str| device.pointer(path).and_then(loose::number);
    let valid = device.pointer("/deviceInfo/gpsDataValid").and_then(Json::as_str).map(|word| word == "Valid");
    report.valid = valid;
    if let (Some(latitude), Some(longitude)) =
        (degrees("/gpsCoordinate/latitude"), degrees("/gpsCoordinate/longitude"))
        && valid != Some(false)
    {
        report.fix(latitude, longitude);
    }
    for (name, value) in device.get("deviceInfo").and_then(Json::as_object).into_iter().flatten() {
        loose::set(&mut report, name.clone(), Some(value));
    }
    for member in ["batteryStatus", "vibrationTriggered"] {
        let value = device.get("deviceInfo").and_then(|info| info.get(member)).and_then(Json::as_str);
        report.alarm_some(value.and_then(|value| DEVICE.word_of(&format!("{member} {value}"))));
    }
    message.reports.push(report);
    message
}
