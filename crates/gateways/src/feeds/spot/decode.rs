//! Reads messages of SPOT in either form: the members have the same names in XML and JSON.

use serde_json::Value as Json;

use crate::alarm::{AlarmTable, Notation, step, text as code};
use crate::decode_budget::DecodeBudget;
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest, SosStep};
use crate::notation::xml::Element;
use crate::report::Report;
use crate::{notation::instant, notation::loose};

/// The error code of an empty feed.
const NO_MESSAGES: &str = "E-0195";

/// Types of messages.
pub(super) const TYPE: AlarmTable = AlarmTable {
    field: "`messageType`",
    notation: Notation::Text,
    codes: &[
        step("HELP", SosStep::Declare),
        step("SOS", SosStep::Declare),
        step("EMERGENCY", SosStep::Declare),
        step("HELP-CANCEL", SosStep::Cancel),
        step("SOS-CANCEL", SosStep::Cancel),
        code("NEWMOVEMENT", "movement"),
    ],
};

/// The state of the battery.
pub(super) const BATTERY: AlarmTable =
    AlarmTable { field: "`batteryState`", notation: Notation::Text, codes: &[code("LOW", "lowBattery")] };

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    match request.body.trim_ascii_start().first() {
        Some(b'{') => read_json(request.body, context.budget).into(),
        _ => read_xml(request.body, context.budget).into(),
    }
}

fn read_json(body: &[u8], budget: &DecodeBudget) -> Result<FeedDecoded, DecodeError> {
    let body = loose::parse(body, budget)?;
    let errors = loose::list(body.pointer("/response/errors/error"));
    let codes: Vec<_> = errors.iter().filter_map(|error| error.get("code").and_then(Json::as_str)).collect();
    refuse(&codes, errors.len())?;
    let list = body.pointer("/response/feedMessageResponse/messages/message").or_else(|| body.get("message"));
    if list.is_none() && errors.is_empty() && body.pointer("/response/feedMessageResponse").is_none() {
        return Err(DecodeError::Malformed("the body has no SPOT messages"));
    }
    let messages = loose::list(list).iter();
    Ok(FeedDecoded::all(
        messages.map(|message| read(&|name| message.get(name).and_then(loose::text))),
        budget,
    ))
}

fn read_xml(body: &[u8], budget: &DecodeBudget) -> Result<FeedDecoded, DecodeError> {
    let root = Element::parse(body, budget)?;
    if !matches!(root.name.as_str(), "messageList" | "response") {
        return Err(DecodeError::Malformed(
            "the root element of the XML is neither \"messageList\" nor \"response\"",
        ));
    }
    let errors = root.descendants("error");
    let codes: Vec<_> = errors.iter().filter_map(|error| error.value("code")).collect();
    refuse(&codes, errors.len())?;
    let messages = root.descendants("message").into_iter();
    Ok(FeedDecoded::all(messages.map(|message| read(&|name| message.value(name).map(str::to_owned))), budget))
}

/// SPOT sends errors with status 200.
fn refuse(codes: &[&str], errors: usize) -> Result<(), DecodeError> {
    if errors == 0 || codes.contains(&NO_MESSAGES) {
        return Ok(());
    }
    Err(DecodeError::Malformed(
        "SPOT answered with an error: check the options \"feedId\" and \"password\" of the gateway",
    ))
}

/// The meaning of a message whose words the unit does not send.
fn preset(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "OK" => "OK",
        "CUSTOM" => "Custom message",
        "HELP" => "Help",
        "HELP-CANCEL" => "Help is no longer needed",
        _ => return None,
    })
}

fn read(field: &dyn Fn(&str) -> Option<String>) -> FeedMessage {
    let number = |name: &str| field(name).as_deref().and_then(crate::notation::fields::real);
    let mut message = FeedMessage { key: field("id"), ..FeedMessage::default() };
    // The serial number is preferred, because users rename units.
    for name in ["esn", "messengerId", "esnName", "messengerName"] {
        message.identifiers.extend(field(name));
    }
    if message.identifiers.is_empty() {
        message.error = Some(DecodeError::Malformed("a message has neither \"esn\" nor \"messengerId\""));
    }
    let seconds = number("unixTime").or_else(|| number("timeInGMTSecond")).and_then(instant::epoch);
    let text = field("dateTime").or_else(|| field("timestamp"));
    let time = seconds.or_else(|| text.as_deref().and_then(instant::iso));
    let mut report = Report { time, ..Report::default() };
    // A unit without a fix sends -99999.
    if let (Some(latitude), Some(longitude)) = (number("latitude"), number("longitude"))
        && latitude.abs() <= 90.0
        && longitude.abs() <= 180.0
    {
        report.fix(latitude, longitude);
    }
    report.altitude_m = number("altitude").filter(|metres| metres.abs() > 1e-9);
    let kind = field("messageType").unwrap_or_default();
    report.set_text("event", &kind);
    for (name, member) in
        [("deviceType", "modelId"), ("batteryState", "batteryState"), ("messengerName", "messengerName")]
    {
        report.set_text(name, &field(member).unwrap_or_default());
    }
    report.alarm_some(field("batteryState").and_then(|state| BATTERY.word_of(&state)));
    message.sos = TYPE.step_of(&kind);
    if message.sos == Some(SosStep::Declare) {
        report.alarm("sos");
    }
    report.alarm_some(TYPE.word_of(&kind));
    message.test = kind == "TEST";
    message.preset = preset(&kind);
    message.text = field("messageContent").or_else(|| field("messageDetail"));
    report.set_text("text", message.text.as_deref().unwrap_or_default());
    message.reports.push(report);
    message
}
