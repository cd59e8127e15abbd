//! The properties of a channel, as `channels.toml` has them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::AddressFormat;

/// What is counted against the caps of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedUnit {
    /// Each message is one.
    Messages,
    /// Each SMS is as many as it has segments.
    Segments,
}

/// When a message is retried, and when it is given up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// Waits in seconds after the first attempts; the last one repeats.
    pub waits_s: Vec<i64>,
    /// Seconds after which a message is given up.
    pub give_up_after_s: i64,
}

/// The properties of a channel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelKind {
    /// Name in the API, in the store and in settings.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// What is counted against the caps of an account.
    pub unit: CountedUnit,
    /// Whether each device has a daily limit of messages by it, of which a part can be reserved for critical alerts.
    #[serde(default)]
    pub has_device_limit: bool,
    /// Whether an attempt whose result is unknown is repeated once, because receivers recognise a repetition, or because
    /// it does no harm. Both attempts are counted.
    #[serde(default)]
    pub is_repeated_if_unclear: bool,
    /// When a message is retried, and when it is given up.
    pub retry: RetryPolicy,
    /// Which addresses recipients may have.
    pub address: AddressFormat,
    /// The request that sends a message; `None` for channels with code of their own.
    #[serde(default)]
    pub request: Option<RequestPreset>,
}

/// The HTTP request that sends a message. Texts may contain placeholders in braces: `address`, `title`, `text`, `id`,
/// `server` and the names of settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPreset {
    /// HTTP method.
    pub method: String,
    /// Scheme and host of the service, unless the operator names another; empty if the operator must, or if addresses
    /// are URLs.
    #[serde(default)]
    pub server: String,
    /// URL of the request.
    pub url: String,
    /// Headers by their names.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// User name and password of HTTP Basic.
    #[serde(default)]
    pub basic: Option<(String, String)>,
    /// The body.
    pub body: RequestBody,
    /// Settings that the operator must set, or can set if they have a default.
    #[serde(default)]
    pub settings: BTreeMap<String, PresetSetting>,
    /// Maximum number of characters of the text; longer texts are cut.
    pub text_max: usize,
    /// How answers are read.
    #[serde(default)]
    pub answer: AnswerRules,
}

/// The body of a request. Values are inserted into its parts before it is written, so that none changes its structure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestBody {
    /// The fields of a form.
    Form(BTreeMap<String, String>),
    /// A JSON document.
    Json(serde_json::Value),
    /// Plain text.
    Text(String),
}

/// A setting of a preset, made by the operator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetSetting {
    /// What it is, for people.
    pub about: String,
    /// Its value if the operator sets none; `None` if the operator must.
    #[serde(default)]
    pub default: Option<String>,
}

/// How answers are read. Without rules a status of 200 to 299 means that the message was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerRules {
    /// JSON pointer to a value that shows whether the message was accepted.
    pub success: Option<String>,
    /// The values there that mean that it was.
    pub success_values: Vec<String>,
    /// Further statuses that mean that this recipient or message is refused for good.
    pub refused_statuses: Vec<u16>,
    /// JSON pointer to the code of an error.
    pub code: Option<String>,
    /// The codes that mean that the message may be accepted later.
    pub later_codes: Vec<String>,
    /// JSON pointer to the seconds to wait after too many requests.
    pub retry_after: Option<String>,
    /// JSON pointer to the id of the message.
    pub reference: Option<String>,
}

impl ChannelKind {
    /// The properties of a channel that does not exist: nothing is sent by it.
    pub(super) fn unregistered() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            unit: CountedUnit::Messages,
            has_device_limit: false,
            is_repeated_if_unclear: false,
            retry: RetryPolicy { waits_s: Vec::new(), give_up_after_s: 0 },
            address: AddressFormat::Email,
            request: None,
        }
    }

    /// The units that a message of this many segments uses of the caps of the account.
    pub const fn units(&self, segments: u32) -> u32 {
        match self.unit {
            CountedUnit::Messages => 1,
            CountedUnit::Segments => segments,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds {
    channel: Vec<ChannelKind>,
}

const KINDS: &str = include_str!("channels.toml");

/// Reads the entries. A test makes sure that they can be read.
pub(super) fn read_kinds() -> Vec<ChannelKind> {
    toml::from_str::<Kinds>(KINDS).map(|kinds| kinds.channel).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_read_and_its_example_is_an_address() {
        let kinds = toml::from_str::<Kinds>(KINDS).unwrap().channel;
        assert!(kinds.len() > 2 && kinds.len() < 60, "one bit of a signal each");
        for kind in &kinds {
            assert!(!kind.retry.waits_s.is_empty(), "{}", kind.name);
            assert!(kind.name.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", kind.name);
            for (address, is_right) in kind.address.examples() {
                assert_eq!(kind.address.check(&address).is_ok(), is_right, "{}: {address}", kind.name);
            }
        }
    }
}
