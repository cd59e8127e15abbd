//! Where alerts go: the people of a device, of its groups, or of the account when neither is set.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::{DeviceId, GroupId, WebhookId};
use crate::notification::Channel;
use crate::phone::PhoneNumber;
use crate::revision::Revision;
use crate::schedule::Schedule;
use crate::severity::Severity;
use crate::text::Email;
use crate::time::Timestamp;
use crate::zone::Zone;

/// Where a message ends: an address of one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    /// An e-mail address.
    Email(Email),
    /// A telephone.
    Sms(PhoneNumber),
}

impl Destination {
    /// The channel that leads there.
    pub const fn channel(&self) -> Channel {
        match self {
            Self::Email(_) => Channel::Email,
            Self::Sms(_) => Channel::Sms,
        }
    }

    /// The address or number.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Email(email) => email.as_str(),
            Self::Sms(number) => number.as_str(),
        }
    }
}

/// The units a person reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Kilometres and Celsius.
    #[default]
    Metric,
    /// Miles and Fahrenheit.
    Imperial,
    /// Nautical miles, knots and Celsius.
    Nautical,
}

impl Units {
    /// Every system there is.
    pub const ALL: [Self; 3] = [Self::Metric, Self::Imperial, Self::Nautical];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metric => "metric",
            Self::Imperial => "imperial",
            Self::Nautical => "nautical",
        }
    }
}

/// A text that names no system of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of metric, imperial, nautical")]
pub struct ParseUnitsError;

impl FromStr for Units {
    type Err = ParseUnitsError;

    fn from_str(text: &str) -> Result<Self, ParseUnitsError> {
        Self::ALL.into_iter().find(|units| units.name() == text).ok_or(ParseUnitsError)
    }
}

/// A language tag such as `en` or `pt-BR`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language(String);

/// A text that is no language tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a language such as en or pt-BR")]
pub struct ParseLanguageError;

impl Language {
    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Language {
    fn default() -> Self {
        Self("en".to_owned())
    }
}

impl FromStr for Language {
    type Err = ParseLanguageError;

    fn from_str(text: &str) -> Result<Self, ParseLanguageError> {
        let mut parts = text.split('-');
        let first = parts.next().unwrap_or_default();
        let first_fits =
            (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_lowercase());
        let rest_fits = parts.all(|part| {
            (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if first_fits && rest_fits && text.len() <= 35 {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseLanguageError)
        }
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Language {
    type Error = ParseLanguageError;

    fn try_from(text: String) -> Result<Self, ParseLanguageError> {
        text.parse()
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.0
    }
}

/// How a person likes to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    /// What to call them.
    pub name: Option<String>,
    /// The zone of the times they read; the account's when there is none.
    pub time_zone: Option<Zone>,
    /// Their units.
    pub units: Units,
    /// Their language.
    pub language: Language,
}

/// Somebody who is told of alerts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// Where.
    pub destination: Destination,
    /// How they like to read.
    pub preferences: Preferences,
    /// They are told of what matters at least so much.
    pub minimum_severity: Severity,
    /// When they want to be told; always when there is none.
    pub schedule: Option<Schedule>,
}

/// A webhook that is told of alerts, whatever else it is told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedWebhook {
    /// Which of the account's.
    pub webhook: WebhookId,
    /// It is told of what matters at least so much.
    pub minimum_severity: Severity,
    /// When it is told; always when there is none.
    pub schedule: Option<Schedule>,
}

/// Whom alerts go to, as set in one place. Nobody at all when it is set and empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRouting {
    /// Whom.
    pub recipients: Vec<Recipient>,
    /// Which webhooks.
    #[serde(default)]
    pub webhooks: Vec<RoutedWebhook>,
}

impl AlertRouting {
    /// Recipients one place may have.
    pub const RECIPIENTS_MAX: usize = 50;
    /// Webhooks one place may have.
    pub const WEBHOOKS_MAX: usize = 20;

    /// The webhooks that are told of an alert which matters so much, at this instant, each once.
    pub fn webhooks_at(&self, severity: Severity, now: Timestamp, zone: &Zone) -> BTreeSet<WebhookId> {
        let wants = |routed: &&RoutedWebhook| {
            severity >= routed.minimum_severity
                && routed.schedule.as_ref().is_none_or(|schedule| schedule.contains(now, zone))
        };
        self.webhooks.iter().filter(wants).map(|routed| routed.webhook).collect()
    }
}

/// The places where it can be set, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoutingHolder {
    /// For one device.
    Device(DeviceId),
    /// For the devices of a group.
    Group(GroupId),
    /// For the rest of the account.
    Account,
}

/// What is set in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRouting {
    /// Counts the changes; goes on over a removal, so that no revision ever means two things.
    pub revision: Revision,
    /// What is set; none when the next place decides.
    pub routing: Option<AlertRouting>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredRouting {
    /// Where nothing was ever set.
    pub const UNSET: Self = Self { revision: Revision(0), routing: None, last_modified: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_what_the_world_agreed_on() {
        for (text, good) in [
            ("en", true),
            ("pt-BR", true),
            ("zh-Hant-TW", true),
            ("", false),
            ("e", false),
            ("EN", false),
            ("en_US", false),
            ("en-", false),
        ] {
            assert_eq!(text.parse::<Language>().is_ok(), good, "{text}");
        }
    }
}
