//! `[push]`: notifications in browsers (Web Push).

use perigee_core::notifications::notification::UnitCaps;
use perigee_notify::push::PushContact;
use serde::{Deserialize, Serialize};

use super::check::refuse;
use super::{Config, ConfigError};

/// How browsers are notified.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Whether messages are sent to browsers.
    pub enabled: bool,
    /// Where operators of push services reach those of this server; empty for the public URL or the sender of e-mails.
    pub contact: String,
    /// Messages that each account may send per day; 0 for no cap.
    pub daily: u32,
    /// Messages that each account may send per calendar month; 0 for no cap.
    pub monthly: u32,
}

impl Push {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.contact.is_empty() {
            return Ok(());
        }
        match PushContact::parse(&self.contact) {
            Ok(_) => Ok(()),
            Err(error) => refuse("push.contact", error.to_string()),
        }
    }

    pub(super) fn caps(&self) -> UnitCaps {
        let cap = |most: u32| (most > 0).then_some(most);
        UnitCaps { daily: cap(self.daily), monthly: cap(self.monthly) }
    }
}

impl Config {
    /// Where operators of push services reach those of this server: the setting, or else the public URL, or else the
    /// sender of e-mails. `None` if none of them has a public domain; some services then refuse every message.
    pub fn push_contact(&self) -> Option<PushContact> {
        let from = self.email.from.trim_end_matches('>');
        let from = from.rsplit_once('<').map_or(from, |(_, address)| address);
        let base_url = self.server.base_url.clone();
        [self.push.contact.clone(), base_url, format!("mailto:{from}")]
            .iter()
            .find_map(|text| PushContact::parse(text).ok())
    }

    /// What an operator should know about these settings, though they are valid.
    pub fn remarks(&self) -> Vec<&'static str> {
        let mut remarks = Vec::new();
        if self.push.enabled && self.push_contact().is_none() {
            remarks.push(
                "push.contact: not set, and neither server.base_url nor email.from has a public domain; Apple's push \
                 service refuses messages without a contact",
            );
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(base_url: &str, from: &str, contact: &str) -> Config {
        let mut config: Config = toml::from_str(include_str!("../../../../config.default.toml")).unwrap();
        config.server.base_url = base_url.to_owned();
        config.email.from = from.to_owned();
        config.push.contact = contact.to_owned();
        config
    }

    #[test]
    fn the_contact_has_a_public_domain_or_there_is_none() {
        let of = |base_url, from, contact| {
            let config = config(base_url, from, contact);
            let contact = config.push_contact().map(|contact| contact.as_str().to_owned());
            assert_eq!(config.remarks().is_empty(), contact.is_some());
            contact
        };
        let mail = "Perigee <ops@example.com>";
        assert_eq!(of("http://127.0.0.1:8080", "", ""), None);
        assert_eq!(of("https://localhost", "root@localhost", ""), None);
        assert_eq!(of("https://localhost", mail, "").as_deref(), Some("mailto:ops@example.com"));
        let url = "https://track.example.com/app";
        assert_eq!(of(url, mail, "").as_deref(), Some(url));
        assert_eq!(of(url, mail, "mailto:a@example.org").as_deref(), Some("mailto:a@example.org"));
    }

    #[test]
    fn a_contact_that_services_refuse_is_refused() {
        let local = config("", "", "mailto:ops@localhost");
        assert_eq!(local.push.validate().map_err(|error| error.key), Err("push.contact"));
    }
}
