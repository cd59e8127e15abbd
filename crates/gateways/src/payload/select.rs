//! Chooses the decoder of a payload: by the setting of the device, its model, or the bytes.

use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::notation::reader::hex_digits;
use crate::report::Report;
use crate::template::Template;

use super::{record, smartone, t622};

/// Maximum bytes of an unread payload that a reading contains as hexadecimal digits; the raw message contains all.
const MAX_HEX: usize = 400;

/// Formats of payloads: the values of the setting `payload`.
pub const PAYLOAD_KINDS: &[&str] =
    &["auto", "text", "records", "smartone", "atlastrax", "t622", "template", "raw"];

/// Facts about the device that sent a payload.
#[derive(Clone, Copy, Debug)]
pub struct PayloadSettings<'a> {
    /// Time at which the network received the message.
    pub session: Timestamp,
    /// The model of the device, which decides if no format is set.
    pub model: Option<&'a str>,
    /// One of [`PAYLOAD_KINDS`]. None to decide by the model.
    pub kind: Option<&'a str>,
    /// The order of the parameters of a T622.
    pub format: Option<&'a str>,
    /// A template, which is used unless `kind` has another value.
    pub template: Option<&'a Json>,
}

/// The decoded content of a payload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    /// The reports, in the order of the bytes; times may be missing.
    pub reports: Vec<Report>,
    /// A payload that is text.
    pub text: Option<String>,
    /// Why it could not be decoded completely.
    pub error: Option<DecodeError>,
}

/// Decodes a payload. A payload that cannot be decoded becomes a report with its bytes as `payload`.
pub fn decode_payload(bytes: &[u8], settings: &PayloadSettings<'_>) -> Payload {
    if bytes.is_empty() {
        return Payload::default();
    }
    let one = |report: Report| Payload { reports: vec![report], ..Payload::default() };
    let result = match kind_of(settings) {
        "text" => Ok(Payload { text: Some(lossy(bytes)), ..Payload::default() }),
        "records" => Ok(read_records(bytes, settings.session)),
        "smartone" => smartone::read_smartone(bytes).map(one),
        "atlastrax" => {
            smartone::read_atlastrax(bytes).map(|report| report.map_or_else(Payload::default, one))
        }
        "t622" => t622::read_t622(bytes, settings.format).map(one),
        "template" => read_template(bytes, settings.template),
        "raw" => Ok(one(raw(bytes))),
        "auto" => Ok(match as_text(bytes) {
            Some(text) => Payload { text: Some(text), ..Payload::default() },
            None if record::is_records(bytes, settings.session) => read_records(bytes, settings.session),
            None => one(raw(bytes)),
        }),
        _ => Err(DecodeError::Malformed("the setting \"payload\" names no known format")),
    };
    result.unwrap_or_else(|error| Payload { error: Some(error), ..one(raw(bytes)) })
}

fn kind_of<'a>(settings: &PayloadSettings<'a>) -> &'a str {
    if let Some(kind) = settings.kind {
        return kind;
    }
    if settings.template.is_some() {
        return "template";
    }
    let models = [
        ("T622", "t622"),
        ("TSM232", "records"),
        ("Iridium Edge", "records"),
        ("SmartOne", "smartone"),
        ("AtlasTrax", "atlastrax"),
    ];
    let model = settings.model.unwrap_or_default();
    let found = models.iter().find(|(name, _)| name.eq_ignore_ascii_case(model));
    found.map_or("auto", |(_, kind)| kind)
}

fn read_records(bytes: &[u8], session: Timestamp) -> Payload {
    let (reports, error) = record::read_records(bytes, session);
    Payload { reports, error, text: None }
}

fn read_template(bytes: &[u8], setting: Option<&Json>) -> Result<Payload, DecodeError> {
    let setting = setting
        .ok_or(DecodeError::Malformed("the device has \"payload\": \"template\", but no \"template\""))?;
    let template = Template::parse(setting)
        .map_err(|_detail| DecodeError::Malformed("the setting \"template\" of the device is invalid"))?;
    let (reports, error) = template.apply(bytes);
    Ok(Payload { reports, error, text: None })
}

fn raw(bytes: &[u8]) -> Report {
    let mut report = Report::default();
    report.set("payload", hex_digits(bytes.get(..MAX_HEX.min(bytes.len())).unwrap_or_default()));
    report
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| *c != '\0').collect::<String>().trim().to_owned()
}

/// The text of bytes that are printable text.
fn as_text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\0', '\r', '\n']);
    let is_text = |c: char| !c.is_control() || matches!(c, '\r' | '\n' | '\t');
    (!text.trim().is_empty() && text.chars().all(is_text)).then(|| text.trim().to_owned())
}
