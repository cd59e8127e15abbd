//! Alert routing: who is notified of the alerts of a device, set on the device, on its groups or on the account.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::alerts::severity::Severity;
use crate::id::{ContactGroupId, DeviceId, GroupId, UserId, WebhookId};
use crate::notifications::escalation::Escalation;
use crate::notifications::notification::Channel;
use crate::notifications::phone::PhoneNumber;
use crate::revision::Revision;
use crate::rules::schedule::Schedule;
use crate::text::Email;
use crate::time::Timestamp;
use crate::zone::Zone;

/// The address of a recipient, with its channel. Stored as a JSON object with the channel's name and the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Channel, String>", into = "BTreeMap<Channel, String>")]
pub enum Destination {
    /// The address of a mailbox.
    Email(Email),
    /// The number of a telephone that receives SMS.
    Sms(PhoneNumber),
    /// An address of another channel.
    Other(OtherAddress),
}

/// An address of a channel that is neither e-mail nor SMS, in the format of that channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAddress {
    channel: Channel,
    address: String,
}

/// The error for a text that is not an address of its channel. Says what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseDestinationError(pub String);

impl Destination {
    /// The address of this channel that a text is.
    pub fn parse(channel: Channel, text: &str) -> Result<Self, ParseDestinationError> {
        let format = &channel.kind().address;
        format.check(text).map_err(ParseDestinationError)?;
        let refused = |error: &dyn fmt::Display| ParseDestinationError(error.to_string());
        match channel {
            Channel::EMAIL => text.parse().map(Self::Email).map_err(|error| refused(&error)),
            Channel::SMS => text.parse().map(Self::Sms).map_err(|error| refused(&error)),
            _ => Ok(Self::Other(OtherAddress { channel, address: text.to_owned() })),
        }
    }

    /// The channel that reaches it.
    pub const fn channel(&self) -> Channel {
        match self {
            Self::Email(_) => Channel::EMAIL,
            Self::Sms(_) => Channel::SMS,
            Self::Other(other) => other.channel,
        }
    }

    /// The e-mail address, telephone number or other address.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Email(email) => email.as_str(),
            Self::Sms(number) => number.as_str(),
            Self::Other(other) => &other.address,
        }
    }
}

/// Reads `telegram:-1001234567890`.
impl FromStr for Destination {
    type Err = ParseDestinationError;

    fn from_str(text: &str) -> Result<Self, ParseDestinationError> {
        let refused = || {
            ParseDestinationError(
                "must be a channel and an address such as telegram:-1001234567890".to_owned(),
            )
        };
        let (channel, address) = text.split_once(':').ok_or_else(refused)?;
        Self::parse(channel.parse().map_err(|_unknown| refused())?, address)
    }
}

impl TryFrom<BTreeMap<Channel, String>> for Destination {
    type Error = ParseDestinationError;

    fn try_from(stored: BTreeMap<Channel, String>) -> Result<Self, ParseDestinationError> {
        match stored.into_iter().next() {
            Some((channel, address)) => Self::parse(channel, &address),
            None => Err(ParseDestinationError("must have a channel".to_owned())),
        }
    }
}

impl From<Destination> for BTreeMap<Channel, String> {
    fn from(destination: Destination) -> Self {
        Self::from([(destination.channel(), destination.as_str().to_owned())])
    }
}

/// The system of units in messages and in the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Kilometres, km/h, metres and Celsius.
    #[default]
    Metric,
    /// Miles, mph, feet and Fahrenheit.
    Imperial,
    /// Nautical miles, knots and Celsius.
    Nautical,
}

impl Units {
    /// Every system of units.
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

/// The error for a text that is not a system of units.
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

/// The error for a text that is not a language tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a language tag such as en or pt-BR")]
pub struct ParseLanguageError;

impl Language {
    /// Maximum number of characters in a tag.
    pub const CHARS_MAX: usize = 35;

    /// The tag as it was given.
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
        if first_fits && rest_fits && text.len() <= Self::CHARS_MAX {
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

/// How a recipient wants messages to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    /// Name used in messages.
    pub name: Option<String>,
    /// Time zone of the times in messages; `None` uses the account's.
    pub time_zone: Option<Zone>,
    /// Units of the values in messages.
    pub units: Units,
    /// Language of the messages, if there is a template for it.
    pub language: Language,
}

/// A person who is notified of alerts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// Channel and address of the recipient.
    pub destination: Destination,
    /// How messages are written.
    pub preferences: Preferences,
    /// Only alerts of this severity or higher are sent.
    pub minimum_severity: Severity,
    /// Hours in which messages are sent; `None` for always. Outside them messages are suppressed, not delayed.
    pub schedule: Option<Schedule>,
}

/// A webhook that alerts are routed to, in addition to the events it subscribes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedWebhook {
    /// A webhook of the same account.
    pub webhook: WebhookId,
    /// Only alerts of this severity or higher are sent.
    pub minimum_severity: Severity,
    /// Hours in which alerts are sent; `None` for always.
    pub schedule: Option<Schedule>,
}

/// A user of the account who is notified of alerts by e-mail, in the language, units and time zone of their console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedUser {
    /// A user of the same account.
    pub user: UserId,
    /// Only alerts of this severity or higher are sent.
    pub minimum_severity: Severity,
    /// Hours in which messages are sent, in the time zone of the schedule or else of the user; `None` for always.
    pub schedule: Option<Schedule>,
}

/// A contact group that is notified of alerts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedContacts {
    /// A contact group of the same account.
    pub group: ContactGroupId,
    /// Only alerts of this severity or higher are sent.
    pub minimum_severity: Severity,
    /// Hours in which messages are sent, in the time zone of the schedule or else of each contact; `None` for always.
    pub schedule: Option<Schedule>,
}

/// The routing set on one device, group, account or rule. An empty routing of a device, group or account notifies
/// nobody. The routing of a rule adds recipients to that of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRouting {
    /// Recipients by their addresses.
    pub recipients: Vec<Recipient>,
    /// Users of the account.
    #[serde(default)]
    pub users: Vec<RoutedUser>,
    /// Contact groups of the account.
    #[serde(default)]
    pub contact_groups: Vec<RoutedContacts>,
    /// Webhooks of the account that get these alerts.
    #[serde(default)]
    pub webhooks: Vec<RoutedWebhook>,
    /// The escalation of a critical alert that nobody acknowledges.
    #[serde(default)]
    pub escalation: Option<Escalation>,
}

impl AlertRouting {
    /// Maximum number of recipients of one routing.
    pub const RECIPIENTS_MAX: usize = 50;
    /// Maximum number of webhooks of one routing.
    pub const WEBHOOKS_MAX: usize = 20;

    /// Maximum number of users that one routing may name.
    pub const USERS_MAX: usize = 50;
    /// Maximum number of contact groups that one routing may name.
    pub const CONTACT_GROUPS_MAX: usize = 20;

    /// The users that it and its escalation name.
    pub fn named_users(&self) -> impl Iterator<Item = UserId> {
        let steps = self.escalation.iter().flat_map(|escalation| &escalation.steps);
        self.users.iter().chain(steps.flat_map(|step| &step.users)).map(|routed| routed.user)
    }

    /// The contact groups that it and its escalation name.
    pub fn named_contact_groups(&self) -> impl Iterator<Item = ContactGroupId> {
        let steps = self.escalation.iter().flat_map(|escalation| &escalation.steps);
        let groups = self.contact_groups.iter().chain(steps.flat_map(|step| &step.contact_groups));
        groups.map(|routed| routed.group)
    }

    /// The recipients by address that it and its escalation name.
    pub fn named_recipients(&self) -> impl Iterator<Item = &Recipient> {
        let steps = self.escalation.iter().flat_map(|escalation| &escalation.steps);
        self.recipients.iter().chain(steps.flat_map(|step| &step.recipients))
    }
}

/// The resources that can have a routing, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoutingHolder {
    /// For the alerts of one device.
    Device(DeviceId),
    /// For the devices of a group.
    Group(GroupId),
    /// For devices without a routing of their own or of a group.
    Account,
}

/// The routing stored on one device, group or account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRouting {
    /// Counts the changes, also across removals, so that a revision never means two different states.
    pub revision: Revision,
    /// The routing; `None` if the next, less specific one applies.
    pub routing: Option<AlertRouting>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredRouting {
    /// The state before anything was set.
    pub const UNSET: Self = Self { revision: Revision(0), routing: None, last_modified: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_stored_by_the_name_of_their_channel() {
        for (json, channel) in [
            (r#"{"email":"ana@example.com"}"#, "email"),
            (r#"{"sms":"+34600123456"}"#, "sms"),
            (r#"{"telegram":"-1001234567890"}"#, "telegram"),
        ] {
            let read: Destination = serde_json::from_str(json).unwrap();
            assert_eq!(read.channel().name(), channel);
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
        for wrong in ["{}", r#"{"fax":"1"}"#, r#"{"telegram":"\r\nX"}"#, r#"{"sms":"1"}"#] {
            assert!(serde_json::from_str::<Destination>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn language_tags_are_checked() {
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
