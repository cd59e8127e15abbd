//! Reads messages of Zoleo, and the message that links a device to the account.

use serde_json::Value as Json;

use crate::alarm::{AlarmTable, Notation, step};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest, SosStep};
use crate::notation::loose;
use crate::report::Report;

/// The entry for types that begin with SOS and have no entry of their own.
const OTHER: &str = "SOS… (any other)";

/// Types of messages.
pub(super) const TYPE: AlarmTable = AlarmTable {
    field: "`MessageType`",
    notation: Notation::Text,
    codes: &[
        step("SOSInitiated", SosStep::Declare),
        step("SOSConfirmed", SosStep::Confirm),
        step("SOSCancelled", SosStep::Cancel),
        step("SOSCanceled", SosStep::Cancel),
        step("SOSEnded", SosStep::Cancel),
        step(OTHER, SosStep::Repeat),
    ],
};

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    loose::parse(request.body, context.budget)
        .map(|body| match &body {
            Json::Array(list) => FeedDecoded::all(list.iter().map(read), context.budget),
            one => FeedDecoded::one(read(one)),
        })
        .into()
}

fn read(body: &Json) -> FeedMessage {
    let text = |name: &str| body.get(name).and_then(loose::text);
    let mut message = FeedMessage { key: text("MessageId"), ..FeedMessage::default() };
    message.identifiers.extend(text("DeviceIMEI").or_else(|| text("IMEI")));
    if message.identifiers.is_empty() {
        message.error = Some(DecodeError::Malformed("the message has no \"DeviceIMEI\""));
        return message;
    }
    let Some(kind) = text("MessageType") else {
        // The message that links a device contains the partner's own ID for it.
        match text("partnerDeviceID") {
            Some(partner) => message.identifiers.push(partner),
            None => message.error = Some(DecodeError::Malformed("the message has no \"MessageType\"")),
        }
        return message;
    };
    let property = |name: &str| body.get("Properties").and_then(|properties| properties.get(name));
    // The provider misspells the member; the correct spelling is accepted too.
    let sent = property("EpochMiliseconds").or_else(|| property("EpochMilliseconds")).and_then(loose::time);
    let time = sent.or_else(|| body.get("SentFromDevice").and_then(loose::time));
    let time = time.or_else(|| body.get("ReceivedAtServer").and_then(loose::time));
    let mut report = Report { time, ..Report::default() };
    let location = body.get("Location");
    let number = |name: &str| location?.get(name).and_then(loose::number);
    if let (Some(latitude), Some(longitude)) = (number("Latitude"), number("Longitude")) {
        report.fix(latitude, longitude);
    }
    report.altitude_m = number("Altitude");
    // The unit of the speed is not documented, so the value is kept as a reading.
    report.set_some("reportedSpeed", number("Speed"));
    report.set_text("event", &kind);
    loose::set(&mut report, "transport", property("Source"));
    report.set_some("batteryLevel", property("Battery").and_then(loose::number));
    let other = || TYPE.step_of(OTHER).filter(|_| kind.starts_with("SOS"));
    message.sos = TYPE.step_of(&kind).or_else(other);
    if matches!(message.sos, Some(SosStep::Declare | SosStep::Confirm | SosStep::Repeat)) {
        report.alarm("sos");
    }
    message.preset = (kind == "CheckIn").then_some("Check-in");
    message.text = text("Message").or_else(|| text("Text"));
    report.set_text("text", message.text.as_deref().unwrap_or_default());
    message.reports.push(report);
    message
}
