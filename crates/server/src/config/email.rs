//! `[email]`: the mail server and the sender of messages.

use std::path::PathBuf;
use std::time::Duration;

use perigee_notify::email::{Credentials, EmailSettings, Security, SettingsError};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::check::refuse;
use super::secret::{given, secret};
use super::{ConfigError, redact};

/// How e-mail is sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Email {
    /// The mail server; empty for none.
    pub host: String,
    /// Port of the mail server.
    pub port: u16,
    /// How connections are encrypted.
    pub security: EmailSecurity,
    /// User name for the mail server; empty without authentication.
    pub user_name: String,
    /// Password for the mail server.
    #[serde(serialize_with = "redact::secret")]
    pub password: SecretString,
    /// File with the password, instead of `password`.
    pub password_file: PathBuf,
    /// Authorities (PEM) to trust instead of the public ones.
    pub ca_file: PathBuf,
    /// Sender (`From`) of every message.
    pub from: String,
    /// `Reply-To` of every message; empty for none.
    pub reply_to: String,
    /// The domain of message IDs; empty for that of the sender.
    pub domain: String,
    /// Address or link for `List-Unsubscribe`.
    pub unsubscribe: String,
    /// Seconds until the server must have accepted the message.
    pub timeout_seconds: u64,
    /// Seconds to wait for the reply after the message was sent.
    pub final_timeout_seconds: u64,
    /// Connections open at the same time.
    pub connections: usize,
    /// Seconds for which an idle connection stays open.
    pub idle_seconds: u64,
}

/// How connections to the mail server are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmailSecurity {
    /// STARTTLS; a server without it is refused.
    Starttls,
    /// STARTTLS when the server offers it, without checking its certificate.
    StarttlsIfOffered,
    /// TLS from the first byte.
    Tls,
    /// No encryption; for servers on the same machine.
    None,
}

impl Email {
    /// Maximum duration of an attempt in seconds, below the time limit of the outbox.
    const ATTEMPT_MAX: u64 = 110;

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.settings().map(drop)
    }

    /// Settings of the sender; none if no mail server is configured.
    pub fn settings(&self) -> Result<Option<EmailSettings>, ConfigError> {
        if self.host.is_empty() {
            return Ok(None);
        }
        if self.timeout_seconds.saturating_add(self.final_timeout_seconds) > Self::ATTEMPT_MAX {
            return refuse("email.final_timeout_seconds", "must be at most 110 minus timeout_seconds");
        }
        let domain = match self.from.trim_end_matches('>').rsplit_once('@') {
            Some((_, domain)) if self.domain.is_empty() => domain.to_owned(),
            _ => self.domain.clone(),
        };
        let settings = EmailSettings {
            host: self.host.clone(),
            port: self.port,
            security: match self.security {
                EmailSecurity::Starttls => Security::Starttls,
                EmailSecurity::StarttlsIfOffered => Security::StarttlsIfOffered,
                EmailSecurity::Tls => Security::Tls,
                EmailSecurity::None => Security::None,
            },
            authorities: (!self.ca_file.as_os_str().is_empty()).then(|| self.ca_file.clone()),
            credentials: self.credentials()?,
            from: self.from.clone(),
            reply_to: given(&self.reply_to),
            hello: domain.clone(),
            domain,
            unsubscribe: given(&self.unsubscribe),
            time_out: seconds("email.timeout_seconds", self.timeout_seconds, Self::ATTEMPT_MAX)?,
            final_time_out: seconds(
                "email.final_timeout_seconds",
                self.final_timeout_seconds,
                Self::ATTEMPT_MAX,
            )?,
            connections: self.connections,
            idle: Duration::from_secs(self.idle_seconds),
        };
        match settings.validate() {
            Ok(()) => Ok(Some(settings)),
            Err(error) => refuse(key_of(&error), error.to_string()),
        }
    }

    fn credentials(&self) -> Result<Option<Credentials>, ConfigError> {
        let password = secret(&self.password, &self.password_file, "email.password_file")?;
        match (given(&self.user_name), password) {
            (Some(user_name), Some(password)) => Ok(Some(Credentials { user_name, password })),
            (None, None) => Ok(None),
            _ => refuse("email.user_name", "set a user name and a password, or neither"),
        }
    }
}

fn key_of(error: &SettingsError) -> &'static str {
    match error {
        SettingsError::Address { key: "reply_to" } => "email.reply_to",
        SettingsError::Address { .. } => "email.from",
        SettingsError::Domain => "email.domain",
        SettingsError::Unsubscribe => "email.unsubscribe",
        SettingsError::PasswordInTheClear => "email.security",
        SettingsError::Host => "email.host",
        SettingsError::Connections => "email.connections",
        SettingsError::Trust(_) => "email.ca_file",
    }
}

/// A duration of at most this many seconds.
pub(super) fn seconds(key: &'static str, value: u64, most: u64) -> Result<Duration, ConfigError> {
    if (1..=most).contains(&value) {
        Ok(Duration::from_secs(value))
    } else {
        refuse(key, format!("must be between 1 and {most}"))
    }
}
