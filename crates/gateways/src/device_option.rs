//! The decoding settings of a device: name, values, protocols and meaning of each.

use std::fmt;

use perigee_core::gateways::decoding::{Decoding, DecodingValue, ZoneWatch};
use serde_json::{Map, Value as Json};

use crate::decoded::Options;
use crate::feed_option::{FORMAT_FORM, SPEED_UNITS};
use crate::model::Model;
use crate::payload::{PAYLOAD_KINDS, is_format};
use crate::protocol::Protocol;
use crate::setting::{SettingError, member_path};
use crate::template::Template;

/// The values that an option accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// True or false.
    Flag,
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A text of one character up to this many, without control characters.
    Text(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// The order of the parameters in payloads of a T622.
    Format,
    /// A binary template.
    Template,
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => write!(f, "true or false"),
            Self::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Text(most) => write!(f, "a text of 1 to {most} characters without control characters"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Format => write!(f, "{FORMAT_FORM}"),
            Self::Template => write!(f, "a template of at most {TEMPLATE_MAX} bytes"),
        }
    }
}

/// Maximum size of a template as JSON, in bytes. A request may contain messages of many devices, each with its own
/// template.
const TEMPLATE_MAX: usize = 8 * 1024;

/// A setting of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceOption {
    /// The name in the API and in configuration files.
    pub name: &'static str,
    /// The values that the option accepts.
    pub kind: OptionKind,
    /// Protocols and feeds that use it.
    pub protocols: &'static [&'static str],
    /// Meaning, in full sentences; part of the API document.
    pub meaning: &'static str,
}

const fn option(
    name: &'static str,
    kind: OptionKind,
    protocols: &'static [&'static str],
    meaning: &'static str,
) -> DeviceOption {
    DeviceOption { name, kind, protocols, meaning }
}

/// Protocols that send the local time of the device; all others send UTC.
const WITH_ZONE: &[&str] =
    &["gt06", "queclink", "jt808", "h02", "gps103", "tk103", "suntech", "meitrack", "wialon-ips"];

/// Protocols and feeds with payloads: bytes in a device-specific format inside a message.
const WITH_PAYLOAD: &[&str] =
    &["iridium", "garmin", "cloudloop", "rockblock", "globalstar", "myriota", "json"];

/// Every option that a device can have.
pub const DEVICE_OPTIONS: &[DeviceOption] = &[
    option(
        "timeZoneMinutes",
        OptionKind::Whole(-ZoneWatch::ZONE_MAX_MINUTES, ZoneWatch::ZONE_MAX_MINUTES),
        WITH_ZONE,
        "Offset of the device's clock from UTC, in minutes; positive if the clock is ahead. For devices that send local time.",
    ),
    option(
        "password",
        OptionKind::Text(64),
        &["wialon-ips", "queclink"],
        "Password of the device. With wialon-ips, the device must log in with it; with queclink, commands contain it.",
    ),
    option(
        "ack",
        OptionKind::Flag,
        &["queclink", "h02"],
        "Whether the server acknowledges every report, for devices that are configured to wait for it.",
    ),
    option(
        "extended",
        OptionKind::Flag,
        &["teltonika"],
        "Whether records of the device contain elements of 16 bytes, as those of some older models do.",
    ),
    option(
        "hbm",
        OptionKind::Whole(0, 2),
        &["suntech"],
        "Optional fields at the end of a line: 0 for none, 1 for hour meter and backup battery, 2 for these and the cell.",
    ),
    option(
        "adc",
        OptionKind::Flag,
        &["suntech"],
        "Whether the fields of `hbm` are followed by three analogue inputs.",
    ),
    option(
        "rpm",
        OptionKind::Flag,
        &["suntech"],
        "Whether the fields of `hbm` and `adc` are followed by the engine speed.",
    ),
    option(
        "temperature",
        OptionKind::Flag,
        &["suntech"],
        "Whether lines end with the values of temperature sensors.",
    ),
    option(
        "universal",
        OptionKind::Flag,
        &["suntech"],
        "Whether commands are encoded for models with report maps.",
    ),
    option(
        "alternative",
        OptionKind::Flag,
        &["gt06", "tk103"],
        "Whether commands are encoded in the alternative form that some models of the protocol require.",
    ),
    option(
        "language",
        OptionKind::Flag,
        &["gt06"],
        "Whether commands contain a language, as newer models require.",
    ),
    option(
        "jt808-2019",
        OptionKind::Flag,
        &["jt808"],
        "Whether commands have the header of the 2019 edition of JT/T 808.",
    ),
    option(
        "payload",
        OptionKind::Word(PAYLOAD_KINDS),
        WITH_PAYLOAD,
        "Format of the payload of satellite messages. If not set, it is chosen by the model of the device, or else recognised from the bytes.",
    ),
    option(
        "format",
        OptionKind::Format,
        WITH_PAYLOAD,
        "Order of the parameters in payloads of a T622: hexadecimal numbers separated by commas, such as `01,02,03`.",
    ),
    option(
        "template",
        OptionKind::Template,
        WITH_PAYLOAD,
        "Binary template by which the payload of satellite messages is decoded, unless `payload` has another value than `template`. At most 8192 bytes as JSON.",
    ),
    option(
        "speedUnit",
        OptionKind::Word(SPEED_UNITS),
        &["rockblock"],
        "Unit of the speeds in messages that the provider has decoded. Default: `knots`.",
    ),
];

/// The option of this name.
pub fn find_option(name: &str) -> Option<&'static DeviceOption> {
    DEVICE_OPTIONS.iter().find(|option| option.name == name)
}

impl DeviceOption {
    /// Validates a value. The error says what is accepted, and has the path of the invalid part.
    pub fn read(&self, value: &Json) -> Result<DecodingValue, SettingError> {
        let read = match (self.kind, value) {
            (OptionKind::Flag, Json::Bool(flag)) => Some(DecodingValue::Flag(*flag)),
            (OptionKind::Whole(least, most), Json::Number(number)) => {
                number.as_i64().filter(|number| (least..=most).contains(number)).map(DecodingValue::Whole)
            }
            (OptionKind::Text(most), Json::String(text)) => {
                let fits = (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control);
                fits.then(|| DecodingValue::Text(text.clone()))
            }
            (OptionKind::Word(words), Json::String(text)) => {
                words.contains(&text.as_str()).then(|| DecodingValue::Text(text.clone()))
            }
            (OptionKind::Format, Json::String(text)) => {
                is_format(text).then(|| DecodingValue::Text(text.clone()))
            }
            (OptionKind::Template, Json::Object(members)) if value.to_string().len() <= TEMPLATE_MAX => {
                Template::parse(value)?;
                Some(DecodingValue::Object(members.clone()))
            }
            _ => None,
        };
        read.ok_or_else(|| SettingError::new("", format!("must be {}", self.kind)))
    }
}

/// Validates the settings of a device. A setting that is null is not set. Each error has the path of its value.
pub fn read_decoding(members: &Map<String, Json>) -> Result<Decoding, Vec<SettingError>> {
    let (mut decoding, mut errors) = (Decoding::new(), Vec::new());
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let path = member_path("", name);
        match find_option(name).map(|option| option.read(value)) {
            Some(Ok(read)) => drop(decoding.insert(name.clone(), read)),
            Some(Err(error)) => errors.push(error.below(&path)),
            None => {
                let names: Vec<&str> = DEVICE_OPTIONS.iter().map(|option| option.name).collect();
                let problem = format!("is not a decoding setting; the settings are {}", names.join(", "));
                errors.push(SettingError::new(path, problem));
            }
        }
    }
    let reads_template = decoding.get("payload") == Some(&DecodingValue::Text("template".to_owned()));
    if reads_template && !members.contains_key("template") {
        errors
            .push(SettingError::new("/payload", "is \"template\", which requires the setting \"template\""));
    }
    if errors.is_empty() { Ok(decoding) } else { Err(errors) }
}

/// Adds the settings of a device for which `is_used` is true to `members`, where they take precedence. A template of
/// the device is used unless the `payload` of the device has another value: a `payload` that is set for all devices
/// does not disable it.
fn overlay(members: &mut Map<String, Json>, own: &Decoding, is_used: impl Fn(&str) -> bool) {
    if own.contains_key("template") && !own.contains_key("payload") {
        members.insert("payload".to_owned(), "template".into());
    }
    for (name, value) in own.iter().filter(|(name, _)| is_used(name)) {
        members.insert(name.clone(), json(value));
    }
}

/// Whether feeds use an option. Other options are for trackers only: a `password` of a device, for example, would
/// replace that of a gateway.
fn is_of_feeds(name: &str) -> bool {
    let is_feed = |name: &&str| crate::feed::find_feed(name).is_some();
    find_option(name).is_some_and(|option| option.protocols.iter().any(is_feed))
}

fn json(value: &DecodingValue) -> Json {
    match value {
        DecodingValue::Flag(flag) => (*flag).into(),
        DecodingValue::Whole(number) => (*number).into(),
        DecodingValue::Text(text) => text.as_str().into(),
        DecodingValue::Object(members) => members.clone().into(),
    }
}

impl Options {
    /// The effective options of a device: those of its protocol, then those of its model, then its own; later ones take
    /// precedence.
    #[must_use]
    pub fn for_device(
        of_protocol: Option<&Map<String, Json>>,
        protocol: &Protocol,
        model: Option<&Model>,
        own: &Decoding,
    ) -> Self {
        let mut members = of_protocol.cloned().unwrap_or_default();
        let model = model.filter(|model| model.protocol == protocol.name);
        for (name, value) in model.into_iter().flat_map(|model| model.options) {
            members.insert((*name).to_owned(), (*value).into());
        }
        overlay(&mut members, own, |_| true);
        Self::new(members)
    }

    /// The options of a gateway together with those of the device with this identifier, or of all devices. Options of
    /// the device take precedence over those of the gateway; a model of the gateway takes precedence over that of the
    /// device.
    #[must_use]
    pub fn with_device(mut self, identifier: Option<&str>, model: Option<&str>, own: &Decoding) -> Self {
        let members = self.members_mut();
        let settings = match identifier {
            None => {
                // The gateway has one device, whatever the identifiers in its messages are.
                let named = members.get_mut("devices").and_then(Json::as_object_mut).into_iter().flatten();
                for settings in named.filter_map(|(_, settings)| settings.as_object_mut()) {
                    overlay(settings, own, is_of_feeds);
                }
                Some(members)
            }
            Some(identifier) => {
                let devices = members.entry("devices").or_insert_with(|| Map::new().into()).as_object_mut();
                let device =
                    devices.map(|devices| devices.entry(identifier).or_insert_with(|| Map::new().into()));
                device.and_then(Json::as_object_mut)
            }
        };
        if let Some(settings) = settings {
            if let Some(model) = model {
                settings.entry("model").or_insert_with(|| model.into());
            }
            overlay(settings, own, is_of_feeds);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::find_protocol;

    #[test]
    fn options_are_of_protocols_that_exist() {
        for option in DEVICE_OPTIONS {
            assert!(option.meaning.ends_with('.'), "{}", option.name);
            for name in option.protocols {
                let is_known = find_protocol(name).is_some() || crate::find_feed(name).is_some();
                assert!(is_known, "{} of {name}", option.name);
            }
        }
    }

    #[test]
    fn values_are_checked() {
        let check = |name: &str, value: Json, expect: Result<DecodingValue, &str>| {
            let read = find_option(name).unwrap().read(&value).map_err(|error| error.problem);
            assert_eq!(read, expect.map_err(str::to_owned), "{name} {value}");
        };
        check("timeZoneMinutes", json!(-570), Ok(DecodingValue::Whole(-570)));
        let range = "must be a whole number from -840 to 840";
        for wrong in [json!(841), json!(1.5), json!("60"), json!(null)] {
            check("timeZoneMinutes", wrong, Err(range));
        }
        check("adc", json!(true), Ok(DecodingValue::Flag(true)));
        check("adc", json!(1), Err("must be true or false"));
        check("password", json!("s"), Ok(DecodingValue::Text("s".to_owned())));
        for wrong in [json!(""), json!("a\nb"), json!("x".repeat(65))] {
            check("password", wrong, Err("must be a text of 1 to 64 characters without control characters"));
        }
        assert_eq!(find_option("protocolType"), None);
    }

    #[test]
    fn own_options_go_before_those_of_the_model_and_of_the_protocol() {
        let suntech = find_protocol("suntech").unwrap();
        let of_protocol = json!({"hbm": 1, "adc": true, "universal": false});
        let model = crate::model::find_model("ST4300");
        let own = Decoding::from([("hbm".to_owned(), DecodingValue::Whole(2))]);
        let options = Options::for_device(of_protocol.as_object(), suntech, model, &own);
        assert_eq!(options.integer("hbm"), Some(2));
        assert!(options.flag("adc") && options.flag("universal"));
        // A model of another protocol implies no options here.
        let gt06 = find_protocol("gt06").unwrap();
        assert!(!Options::for_device(None, gt06, model, &own).flag("universal"));
    }
}
