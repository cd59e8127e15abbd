//! Settings of the e-mail sender.

use std::path::PathBuf;
use std::time::Duration;

use lettre::message::Mailbox;
use perigee_tls::TrustError;
use secrecy::SecretString;

/// How a connection to the mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// STARTTLS; the message is not sent when the server does not offer it.
    Starttls,
    /// STARTTLS if the server offers it; the certificate is not verified.
    StarttlsIfOffered,
    /// TLS from the first byte (usually port 465).
    Tls,
    /// No encryption at all.
    None,
}

/// Credentials for the mail server.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The user name at the mail server.
    pub user_name: String,
    /// Never sent without encryption, except to this machine.
    pub password: SecretString,
}

/// Settings of the e-mail sender.
#[derive(Clone, Debug)]
pub struct EmailSettings {
    /// Host name or address of the mail server.
    pub host: String,
    /// TCP port of the mail server.
    pub port: u16,
    /// How connections are encrypted.
    pub security: Security,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// Credentials, if the server requires them.
    pub credentials: Option<Credentials>,
    /// Sender of messages: `Perigee <alerts@example.org>`.
    pub from: String,
    /// Address for replies, if other than `from`.
    pub reply_to: Option<String>,
    /// The domain of message ids and of the list id.
    pub domain: String,
    /// The name given in EHLO.
    pub hello: String,
    /// Where recipients can unsubscribe: a `mailto:` or `https:` address that a person handles.
    pub unsubscribe: Option<String>,
    /// Time limit for everything up to the final dot.
    pub time_out: Duration,
    /// Time limit for the reply to the final dot. Long, because a message without a reply may arrive twice.
    pub final_time_out: Duration,
    /// Connections open at the same time.
    pub connections: usize,
    /// How long an idle connection is kept.
    pub idle: Duration,
}

/// Why e-mail cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// An address is not valid.
    #[error("{key} must be an address such as \"Perigee <alerts@example.org>\"")]
    Address {
        /// The name of the setting.
        key: &'static str,
    },
    /// The domain is not valid in a message id.
    #[error("domain must be a host name such as example.org")]
    Domain,
    /// `unsubscribe` is not a valid address.
    #[error("unsubscribe must be a mailto: or https: address")]
    Unsubscribe,
    /// A password would be sent without encryption.
    #[error("a password needs security = \"starttls\" or \"tls\"; without encryption anybody could read it")]
    PasswordInTheClear,
    /// The host name is not valid.
    #[error("host must be a host name or an address")]
    Host,
    /// With zero connections nothing could be sent.
    #[error("connections must be at least 1")]
    Connections,
    /// TLS cannot be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl EmailSettings {
    pub(super) fn sender_mailbox(&self) -> Result<Mailbox, SettingsError> {
        mailbox(&self.from, "from")
    }

    pub(super) fn reply_to_mailbox(&self) -> Result<Option<Mailbox>, SettingsError> {
        self.reply_to.as_deref().map(|text| mailbox(text, "reply_to")).transpose()
    }

    /// Checks everything that needs no connection.
    pub fn validate(&self) -> Result<(), SettingsError> {
        self.sender_mailbox()?;
        self.reply_to_mailbox()?;
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
