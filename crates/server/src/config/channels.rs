//! `[channels.NAME]`: channels that are set up besides e-mail and SMS, with the settings of their presets.

use std::collections::BTreeMap;
use std::path::PathBuf;

use perigee_core::notifications::notification::{Channel, UnitCaps};
use perigee_notify::preset::PresetSettings;
use secrecy::{ExposeSecret as _, SecretString};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::check::refuse;
use super::secret::secret;
use super::{Config, ConfigError, SmsGateway};

const KEY: &str = "channels";
/// Ends the name of a setting whose value is in a file.
const IN_FILE: &str = "_file";

/// A channel that is set up. What else it requires is in its preset.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ChannelSection {
    /// The server to send to instead of that of the preset: one of your own, or a proxy.
    #[serde(default)]
    pub server: String,
    /// Messages that each account may send by it per day; 0 for no cap.
    #[serde(default = "daily")]
    pub daily: u32,
    /// Messages that each account may send by it per calendar month; 0 for no cap.
    #[serde(default)]
    pub monthly: u32,
    /// The settings of the preset; each can be in a file instead, as `NAME_file`.
    #[serde(flatten, serialize_with = "names")]
    pub settings: BTreeMap<String, SecretString>,
}

/// Messages per day unless the operator sets another number.
const fn daily() -> u32 {
    1_000
}

/// Shows which settings are set.
fn names<S: Serializer>(settings: &BTreeMap<String, SecretString>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(settings.len()))?;
    for (name, value) in settings {
        map.serialize_entry(name, if value.expose_secret().is_empty() { "" } else { "(set)" })?;
    }
    map.end()
}

impl Config {
    /// Whether messages are sent by this channel: it is set up and not switched off.
    pub fn sends(&self, channel: Channel) -> bool {
        let is_set_up = match channel {
            Channel::EMAIL => !self.email.host.is_empty(),
            Channel::SMS => self.sms.gateway != SmsGateway::None,
            Channel::PUSH => self.push.enabled,
            other => self.channels.contains_key(&other),
        };
        is_set_up && self.notifications.is_on(channel)
    }

    /// The channels by which messages are sent.
    pub fn channels_on(&self) -> Vec<Channel> {
        Channel::all().iter().copied().filter(|channel| self.sends(*channel)).collect()
    }

    /// The operator's caps on what each account sends by this channel, in its units. Those on e-mail are separate.
    pub fn unit_caps(&self, channel: Channel) -> UnitCaps {
        let cap = |most: u32| (most > 0).then_some(most);
        let settings = &self.notifications;
        match channel {
            Channel::SMS => UnitCaps {
                daily: cap(settings.sms_daily_segments),
                monthly: cap(settings.sms_monthly_segments),
            },
            Channel::PUSH => self.push.caps(),
            other => self.channels.get(&other).map_or_else(UnitCaps::default, |section| UnitCaps {
                daily: cap(section.daily),
                monthly: cap(section.monthly),
            }),
        }
    }

    /// Checks what can be checked before the senders are built, which check the rest.
    pub(super) fn validate_channels(&self) -> Result<(), ConfigError> {
        for channel in self.channels.keys() {
            if !channel.is_other() {
                return refuse(KEY, format!("{0} has a section of its own, [{0}]", channel.name()));
            }
            self.preset_settings(*channel)?;
        }
        Ok(())
    }

    /// The settings of a channel, with those that are in files.
    pub fn preset_settings(&self, channel: Channel) -> Result<PresetSettings, ConfigError> {
        let Some(section) = self.channels.get(&channel) else { return Ok(PresetSettings::default()) };
        let mut values = BTreeMap::new();
        for (name, value) in &section.settings {
            let of_file = name.strip_suffix(IN_FILE);
            let name = of_file.unwrap_or(name);
            let none = SecretString::from(String::new());
            let (given, path) = match of_file {
                Some(_) => {
                    (section.settings.get(name).unwrap_or(&none), PathBuf::from(value.expose_secret()))
                }
                None => (value, PathBuf::new()),
            };
            if let Some(value) = secret(given, &path, KEY)? {
                values.insert(name.to_owned(), value);
            }
        }
        let allow_http = self.webhooks.allow_http;
        Ok(PresetSettings { server: section.server.clone(), allow_http, values })
    }
}
