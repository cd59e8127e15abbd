//! Reads the KML of a `MapShare` page: a placemark for each message, and a line, which is skipped.

use crate::alarm::{AlarmTable, Notation, step};
use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedDecoded, FeedMessage, FeedRequest, SosStep};
use crate::notation::instant;
use crate::notation::xml::Element;
use crate::report::Report;

/// The emergency flag.
pub(super) const EMERGENCY: AlarmTable = AlarmTable {
    field: "`In Emergency`",
    notation: Notation::Text,
    codes: &[step("not False", SosStep::Repeat)],
};

/// A position that was sent to the device, not the position of the device.
const REFERENCE_POINT: &str = "Reference Point message received.";

pub(super) fn decode(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    let messages = |root: Element| {
        // Another page must not be mistaken for one without messages.
        if root.name != "kml" {
            return Err(DecodeError::Malformed("the root element of the XML is not \"kml\""));
        }
        let placemarks = root.descendants("Placemark");
        Ok(FeedDecoded::all(placemarks.into_iter().filter_map(read_placemark), context.budget))
    };
    Element::parse(request.body, context.budget).and_then(messages).into()
}

/// The number at the start of a text, such as `5.10 m from MSL`.
fn leading_number(text: &str) -> Option<f64> {
    crate::notation::fields::real(text.split_ascii_whitespace().next()?)
}

fn read_placemark(placemark: &Element) -> Option<FeedMessage> {
    let data = placemark.child("ExtendedData")?;
    let field =
        |name: &str| data.list("Data").find(|entry| entry.attribute("name") == Some(name))?.value("value");
    let number = |name: &str| field(name).and_then(leading_number);
    if field("Event") == Some(REFERENCE_POINT) {
        return None;
    }
    let time = placemark.child("TimeStamp").and_then(|stamp| stamp.value("when")).and_then(instant::iso);
    let mut report = Report { time, ..Report::default() };
    if let (Some(latitude), Some(longitude)) = (number("Latitude"), number("Longitude"))
        && (latitude.abs() > 1e-9 || longitude.abs() > 1e-9)
    {
        report.fix(latitude, longitude);
    }
    report.altitude_m = number("Elevation");
    report.speed_kmh = number("Velocity");
    report.course = number("Course");
    report.valid = field("Valid GPS Fix").map(|word| word.eq_ignore_ascii_case("true"));
    report.set_text("event", field("Event").unwrap_or_default());
    report.set_text("deviceType", field("Device Type").unwrap_or_default());
    report.set_text("incident", field("Incident Id").unwrap_or_default());
    let text = field("Text").map(str::to_owned);
    report.set_text("text", text.as_deref().unwrap_or_default());
    let emergency = field("In Emergency").is_some_and(|word| !word.eq_ignore_ascii_case("false"));
    if emergency {
        report.alarm("sos");
    }
    let error = match (time, field("IMEI")) {
        (None, _) => Some(DecodeError::Malformed("a placemark has no time")),
        (_, None) => Some(DecodeError::Malformed("a placemark has no IMEI")),
        _ => None,
    };
    Some(FeedMessage {
        key: field("Id").map(str::to_owned),
        identifiers: field("IMEI").map(str::to_owned).into_iter().collect(),
        reports: vec![report],
        // The page shows that there is an emergency, but not which message began it.
        sos: EMERGENCY.step_of("not False").filter(|_| emergency),
        text,
        error,
        ..FeedMessage::default()
    })
}
