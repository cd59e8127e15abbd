//! The options that gateways of a feed can have, and the check of options before they are stored.

use serde_json::{Map, Value as Json};

use crate::feed::Feed;
use crate::mapping::Mapping;
use crate::notation::jwt;
use crate::payload::{PAYLOAD_KINDS, is_format};
use crate::setting::{SettingError, member_path};
use crate::template::Template;

/// Maximum characters of a text.
const TEXT_MAX: usize = 500;
/// Maximum characters of a public key; one of 8192 bits in PEM has about 1,500.
const KEY_MAX: usize = 4_000;
/// Maximum number of devices whose history one gateway fetches.
const IMEIS_MAX: usize = 500;

/// The values that an option accepts.
#[derive(Clone, Copy, Debug)]
pub enum FeedOptionKind {
    /// A text of one line.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text that passes a check, with a description of the accepted texts for the error.
    Checked(fn(&str) -> bool, &'static str),
    /// A list of IMEIs.
    Imeis,
    /// A JSON mapping.
    Mapping,
    /// A binary template.
    Template,
    /// Options of single devices, by identifier.
    Devices,
}

/// An option that a gateway of a feed can have.
#[derive(Clone, Copy, Debug)]
pub struct FeedOption {
    /// The name in `options` of a gateway.
    pub name: &'static str,
    /// The values that the option accepts.
    pub kind: FeedOptionKind,
    /// Whether a gateway must have it.
    pub required: bool,
    /// Whether a single device can have it too, in `devices`.
    pub per_device: bool,
}

const fn option(name: &'static str, kind: FeedOptionKind) -> FeedOption {
    FeedOption { name, kind, required: false, per_device: false }
}

impl FeedOption {
    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn per_device(mut self) -> Self {
        self.per_device = true;
        self
    }

    /// Checks a value at this path.
    fn check(&self, value: &Json, path: &str, feed: &Feed) -> Vec<SettingError> {
        let one = |problem: String| vec![SettingError::new(path, problem)];
        let below = |error: SettingError| vec![error.below(path)];
        let text = value.as_str();
        match self.kind {
            FeedOptionKind::Text if text.is_some_and(is_line) => Vec::new(),
            FeedOptionKind::Text => {
                one(format!("must be a text of 1 to {TEXT_MAX} characters without control characters"))
            }
            FeedOptionKind::Word(words) if text.is_some_and(|text| words.contains(&text)) => Vec::new(),
            FeedOptionKind::Word(words) => one(format!("must be one of {}", words.join(", "))),
            FeedOptionKind::Checked(is_right, _) if text.is_some_and(is_right) => Vec::new(),
            FeedOptionKind::Checked(_, must_be) => one(format!("must be {must_be}")),
            FeedOptionKind::Imeis => check_imeis(value, path),
            FeedOptionKind::Mapping => Mapping::parse(value).err().map_or_else(Vec::new, below),
            FeedOptionKind::Template => Template::parse(value).err().map_or_else(Vec::new, below),
            FeedOptionKind::Devices => check_devices(value, path, feed),
        }
    }
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= TEXT_MAX && !text.contains(char::is_control)
}

fn is_feed_id(text: &str) -> bool {
    is_line(text) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_map_share(text: &str) -> bool {
    is_line(text) && !text.contains(['/', '?', '#', '%', '\\']) && !text.starts_with('.')
}

fn is_key(text: &str) -> bool {
    text.len() <= KEY_MAX && jwt::is_key(text)
}

fn check_imeis(value: &Json, path: &str) -> Vec<SettingError> {
    let list = value.as_array().filter(|list| (1..=IMEIS_MAX).contains(&list.len()));
    let Some(list) = list else {
        return vec![SettingError::new(
            path,
            format!("must be an array of 1 to {IMEIS_MAX} IMEIs, each a string of 15 digits"),
        )];
    };
    let is_imei = |value: &Json| {
        value
            .as_str()
            .map(str::trim)
            .is_some_and(|text| text.len() == 15 && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let wrong = list.iter().enumerate().filter(|(_, imei)| !is_imei(imei));
    wrong
        .map(|(at, _)| SettingError::new(format!("{path}/{at}"), "must be an IMEI, a string of 15 digits"))
        .collect()
}

fn check_devices(value: &Json, path: &str, feed: &Feed) -> Vec<SettingError> {
    let Some(devices) = value.as_object() else {
        return vec![SettingError::new(path, "must be an object with options by identifier of a device")];
    };
    let mut errors = Vec::new();
    for (identifier, settings) in devices {
        let path = member_path(path, identifier);
        match settings.as_object() {
            Some(settings) => errors.extend(check_members(feed, settings, &path, |option| option.per_device)),
            None => errors.push(SettingError::new(path, "must be an object")),
        }
    }
    errors
}

/// Validates the members of an object that may have the options for which `is_known` is true. Null is the same as
/// missing.
fn check_members(
    feed: &Feed,
    members: &Map<String, Json>,
    path: &str,
    is_known: impl Fn(&FeedOption) -> bool,
) -> Vec<SettingError> {
    let known = || feed.options.iter().copied().flatten().filter(|option| is_known(option));
    let mut errors = Vec::new();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let member = member_path(path, name);
        match known().find(|option| option.name == name) {
            Some(option) => errors.extend(option.check(value, &member, feed)),
            None => errors.push(SettingError::new(member, unknown(feed, known().map(|option| option.name)))),
        }
    }
    let has = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
    if members.get("payload").and_then(Json::as_str) == Some("template") && !has("template") {
        errors.push(SettingError::new(
            member_path(path, "payload"),
            "is \"template\", which requires the option \"template\"",
        ));
    }
    errors
}

fn unknown<'n>(feed: &Feed, known: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        return format!("is not an option of the feed {}, which has no options", feed.name);
    }
    format!("is not an option of the feed {}; the options are {}", feed.name, known.join(", "))
}

/// Checks options of a feed. Required options may be missing.
pub fn check_given_options(feed: &Feed, options: &Map<String, Json>) -> Vec<SettingError> {
    check_members(feed, options, "", |_| true)
}

/// Checks the options of a gateway of this feed. Each error has the path of its value. The options are usable if there
/// is no error.
pub fn check_options(feed: &Feed, options: &Map<String, Json>) -> Vec<SettingError> {
    let mut errors = check_given_options(feed, options);
    let has = |name: &str| options.get(name).is_some_and(|value| !value.is_null());
    let all = || feed.options.iter().copied().flatten();
    let knows = |name: &str| all().any(|option| option.name == name);
    for option in all().filter(|option| option.required && !has(option.name)) {
        errors.push(SettingError::new(member_path("", option.name), "is required by this feed"));
    }
    if knows("user") && has("user") != has("password") {
        let (missing, given) = if has("user") { ("password", "user") } else { ("user", "password") };
        errors.push(SettingError::new(
            member_path("", missing),
            format!("is required together with \"{given}\""),
        ));
    }
    if knows("apiKey") && !has("apiKey") && !has("user") && !has("password") {
        errors.push(SettingError::new("/apiKey", "is required unless \"user\" and \"password\" are given"));
    }
    errors
}

/// Credentials of HTTP Basic, for feeds whose check is [`crate::basic_check`].
pub(crate) const BASIC: &[FeedOption] =
    &[option("user", FeedOptionKind::Text), option("password", FeedOptionKind::Text)];

/// The model of a device that has none in its own settings.
pub(crate) const MODEL: &[FeedOption] =
    &[option("model", FeedOptionKind::Text).per_device(), option("devices", FeedOptionKind::Devices)];

/// Options for decoding payloads, for feeds whose messages contain payloads.
pub(crate) const PAYLOAD: &[FeedOption] = &[
    option("payload", FeedOptionKind::Word(PAYLOAD_KINDS)).per_device(),
    option("format", FeedOptionKind::Checked(is_format, FORMAT_FORM)).per_device(),
    option("template", FeedOptionKind::Template).per_device(),
];

/// The pattern of the option `format`.
pub(crate) const FORMAT_FORM: &str = "a list of hexadecimal parameters such as 01,02,03,04,05";

pub(crate) const MAPPING: &[FeedOption] = &[option("mapping", FeedOptionKind::Mapping)];

pub(crate) const TOKEN: &[FeedOption] = &[option("token", FeedOptionKind::Text)];

/// Credentials with which texts are sent to inReach devices.
pub(crate) const GARMIN_SEND: &[FeedOption] = &[
    option("sendUrl", FeedOptionKind::Text),
    option("sendKey", FeedOptionKind::Text),
    option("sender", FeedOptionKind::Checked(is_sender, SENDER_FORM)),
];

/// The form of the option `sender`.
const SENDER_FORM: &str =
    "an e-mail address, or a telephone number of 6 to 15 digits, with or without a plus sign";

fn is_sender(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_phone = (6..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_mail = text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !host.contains('@') && !text.contains(char::is_whitespace)
    });
    is_line(text) && (is_phone || is_mail)
}

/// Credentials with which texts are sent to a `RockBLOCK`.
pub(crate) const ROCKBLOCK_SEND: &[FeedOption] = &[
    option("sendUrl", FeedOptionKind::Text),
    option("sendUser", FeedOptionKind::Text),
    option("sendPassword", FeedOptionKind::Text),
];

/// Credentials with which texts are sent by Cloudloop.
pub(crate) const CLOUDLOOP_SEND: &[FeedOption] =
    &[option("sendUrl", FeedOptionKind::Text), option("sendToken", FeedOptionKind::Text)];

/// Where texts are handed to Iridium.
pub(crate) const DIRECTIP_SEND: &[FeedOption] = &[option(
    "sendAddress",
    FeedOptionKind::Checked(
        |text| host_and_port(text).is_some(),
        "a host name or an IP address with a port, such as sbd.example.com:10800",
    ),
)
.required()];

/// Reads `HOST:PORT`. An IPv6 address is in brackets, which are left out of the result.
pub fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.trim().rsplit_once(':')?;
    let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
    if let Some(inner) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().is_ok().then_some((inner, port));
    }
    let is_name = |host: &str| {
        host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
            && (1..=253).contains(&host.len())
    };
    is_name(host).then_some((host, port))
}

pub(crate) const ROCKBLOCK: &[FeedOption] = &[
    option("key", FeedOptionKind::Checked(is_key, "an RSA public key in PEM, or in DER encoded as base64")),
    option("speedUnit", FeedOptionKind::Word(SPEED_UNITS)).per_device(),
];

/// Values of the option `speedUnit`.
pub(crate) const SPEED_UNITS: &[&str] = &["knots", "km/h"];

pub(crate) const HISTORY: &[FeedOption] = &[
    option("url", FeedOptionKind::Text).required(),
    option("apiKey", FeedOptionKind::Text),
    option("imeis", FeedOptionKind::Imeis).required(),
];

pub(crate) const MAP_SHARE: &[FeedOption] = &[
    option(
        "mapShare",
        FeedOptionKind::Checked(is_map_share, "the name at the end of the URL of the MapShare page"),
    )
    .required(),
    option("password", FeedOptionKind::Text),
    option("url", FeedOptionKind::Text),
];

pub(crate) const SHARED_PAGE: &[FeedOption] = &[
    option(
        "feedId",
        FeedOptionKind::Checked(is_feed_id, "letters, digits and hyphens, as in the URL of the shared page"),
    )
    .required(),
    option("password", FeedOptionKind::Text),
    option("url", FeedOptionKind::Text),
];

#[cfg(test)]
mod tests;
