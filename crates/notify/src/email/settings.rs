//! What a sender of e-mail must be told.

use std::path::PathBuf;
use std::time::Duration;

use lettre::message::Mailbox;
use perigee_tls::TrustError;
use secrecy::SecretString;

/// How a connection to the mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// By STARTTLS, or not at all connected.
    Starttls,
    /// By STARTTLS where the server offers it, without asking whose certificate it has.
    StarttlsIfOffered,
    /// From the first byte (usually port 465).
    Tls,
    /// Not.
    None,
}

/// Who signs in to the mail server.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The user's name.
    pub user_name: String,
    /// The password.
    pub password: SecretString,
}

/// Everything a sender of e-mail must be told.
#[derive(Clone, Debug)]
pub struct EmailSettings {
    /// The mail server's name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How connections are encrypted.
    pub security: Security,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// Who signs in, if the server asks for it.
    pub credentials: Option<Credentials>,
    /// Whom messages are from: `Perigee <alerts@example.org>`.
    pub from: String,
    /// Where answers go, if not there.
    pub reply_to: Option<String>,
    /// The domain of message ids and of the list id.
    pub domain: String,
    /// How we introduce ourselves to the server.
    pub hello: String,
    /// How recipients get off the list: a `mailto:` or `https:` address a person answers.
    pub unsubscribe: Option<String>,
    /// How long everything up to the final dot may take.
    pub time_out: Duration,
    /// How long the answer to the final dot may take. Generous, since a message without one may arrive twice.
    pub final_time_out: Duration,
    /// Connections at once.
    pub connections: usize,
    /// How long an idle connection is kept.
    pub idle: Duration,
}

/// Why e-mail cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// An address cannot be read.
    #[error("{key} must be an address such as \"Perigee <alerts@example.org>\"")]
    Address {
        /// The setting.
        key: &'static str,
    },
    /// The domain cannot stand in a message id.
    #[error("domain must be a host name such as example.org")]
    Domain,
    /// The way off the list is none.
    #[error("unsubscribe must be a mailto: or https: address")]
    Unsubscribe,
    /// A password would go over the network in the clear.
    #[error("a password needs security = \"starttls\" or \"tls\"; without encryption anybody could read it")]
    PasswordInTheClear,
    /// The server's name is none.
    #[error("host must be a host name or an address")]
    Host,
    /// Zero connections send nothing.
    #[error("connections must be at least 1")]
    Connections,
    /// TLS cannot be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl EmailSettings {
    pub(super) fn writer(&self) -> Result<Mailbox, SettingsError> {
        mailbox(&self.from, "from")
    }

    pub(super) fn reader(&self) -> Result<Option<Mailbox>, SettingsError> {
        self.reply_to.as_deref().map(|text| mailbox(text, "reply_to")).transpose()
    }

    /// Checks everything that needs no connection.
    pub fn validate(&self) -> Result<(), SettingsError> {
        self.writer()?;
        self.reader()?;
        if self.host.is_empty() || self.host.chars().any(|c| c.is_whitespace() || c.is_control() || c == '/')
        {
            return Err(SettingsError::Host);
        }
        if !is_host_name(&self.domain) || !is_host_name(&self.hello) {
            return Err(SettingsError::Domain);
        }
        if let Some(way) = &self.unsubscribe {
            let scheme_fits = way.starts_with("mailto:") || way.starts_with("https:");
            if !scheme_fits || way.chars().any(|c| !c.is_ascii_graphic() || c == '<' || c == '>') {
                return Err(SettingsError::Unsubscribe);
            }
        }
        let encrypted = matches!(self.security, Security::Starttls | Security::Tls);
        if self.credentials.is_some() && !encrypted && !is_loopback(&self.host) {
            return Err(SettingsError::PasswordInTheClear);
        }
        if self.connections == 0 {
            return Err(SettingsError::Connections);
        }
        Ok(())
    }
}

fn mailbox(text: &str, key: &'static str) -> Result<Mailbox, SettingsError> {
    if text.chars().any(char::is_control) {
        return Err(SettingsError::Address { key });
    }
    text.parse().map_err(|_detail| SettingsError::Address { key })
}

fn is_host_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
}

pub(super) fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
