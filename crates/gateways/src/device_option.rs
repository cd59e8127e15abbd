//! The settings that a device can have for decoding and commands: one statement each.

use std::fmt;

use perigee_core::decoding::{Decoding, DecodingValue, ZoneWatch};
use serde_json::{Map, Value as Json};

use crate::decoded::Options;
use crate::model::Model;
use crate::protocol::Protocol;

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// True or false.
    Flag,
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A text of one character up to this many, without control characters.
    Text(usize),
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => write!(f, "true or false"),
            Self::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Text(most) => write!(f, "a text of 1 to {most} characters without control characters"),
        }
    }
}

/// A setting of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceOption {
    /// As in the API and in configuration files.
    pub name: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// Protocols that know it.
    pub protocols: &'static [&'static str],
    /// What it changes, as a sentence.
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

/// Protocols whose times are what the device's clock shows; the others send an instant.
const WITH_ZONE: &[&str] =
    &["gt06", "queclink", "jt808", "h02", "gps103", "tk103", "suntech", "meitrack", "wialon-ips"];

/// Every option that a device can have.
pub const DEVICE_OPTIONS: &[DeviceOption] = &[
    option(
        "timeZoneMinutes",
        OptionKind::Whole(-ZoneWatch::ZONE_MAX_MINUTES, ZoneWatch::ZONE_MAX_MINUTES),
        WITH_ZONE,
        "Minutes by which the device's clock is ahead of UTC, for devices that send local time.",
    ),
    option(
        "password",
        OptionKind::Text(64),
        &["wialon-ips", "queclink"],
        "Wialon IPS: the password with which the device must log in. Queclink: the password in commands.",
    ),
    option(
        "ack",
        OptionKind::Flag,
        &["queclink", "h02"],
        "Whether every report is acknowledged, for devices that are set to wait for it.",
    ),
    option(
        "extended",
        OptionKind::Flag,
        &["teltonika"],
        "Whether records have elements of 16 bytes, as some older models send them.",
    ),
    option(
        "hbm",
        OptionKind::Whole(0, 2),
        &["suntech"],
        "Whether lines end with engine hours and battery: 1, and with the cell: 2.",
    ),
    option("adc", OptionKind::Flag, &["suntech"], "Whether lines have three analogue inputs after those."),
    option("rpm", OptionKind::Flag, &["suntech"], "Whether lines have the engine's speed after those."),
    option("temperature", OptionKind::Flag, &["suntech"], "Whether lines end with temperature sensors."),
    option(
        "universal",
        OptionKind::Flag,
        &["suntech"],
        "Whether commands have the form of units with report maps.",
    ),
    option(
        "alternative",
        OptionKind::Flag,
        &["gt06", "tk103"],
        "Whether commands have the other form that some models of the protocol take.",
    ),
    option(
        "language",
        OptionKind::Flag,
        &["gt06"],
        "Whether commands carry a language, as newer models want.",
    ),
    option("jt808-2019", OptionKind::Flag, &["jt808"], "Whether commands have the header of 2019."),
];

/// The option of this name.
pub fn find_option(name: &str) -> Option<&'static DeviceOption> {
    DEVICE_OPTIONS.iter().find(|option| option.name == name)
}

impl DeviceOption {
    /// Reads a value; the error says what it must be.
    pub fn read(&self, value: &Json) -> Result<DecodingValue, String> {
        let read = match (self.kind, value) {
            (OptionKind::Flag, Json::Bool(flag)) => Some(DecodingValue::Flag(*flag)),
            (OptionKind::Whole(least, most), Json::Number(number)) => {
                number.as_i64().filter(|number| (least..=most).contains(number)).map(DecodingValue::Whole)
            }
            (OptionKind::Text(most), Json::String(text)) => {
                let fits = (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control);
                fits.then(|| DecodingValue::Text(text.clone()))
            }
            _ => None,
        };
        read.ok_or_else(|| format!("must be {}", self.kind))
    }
}

fn json(value: &DecodingValue) -> Json {
    match value {
        DecodingValue::Flag(flag) => (*flag).into(),
        DecodingValue::Whole(number) => (*number).into(),
        DecodingValue::Text(text) => text.as_str().into(),
    }
}

impl Options {
    /// The options of a device: those of its protocol, over them what its model implies, over these its own.
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
        for (name, value) in own {
            members.insert(name.clone(), json(value));
        }
        Self::new(members)
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
                assert!(find_protocol(name).is_some(), "{} of {name}", option.name);
            }
        }
    }

    #[test]
    fn values_are_checked() {
        let check = |name: &str, value: Json, expect: Result<DecodingValue, &str>| {
            let read = find_option(name).unwrap().read(&value);
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
        // A model of another protocol says nothing about this one.
        let gt06 = find_protocol("gt06").unwrap();
        assert!(!Options::for_device(None, gt06, model, &own).flag("universal"));
    }
}
