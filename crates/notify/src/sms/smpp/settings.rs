//! Settings of the SMPP sender.

use std::path::PathBuf;
use std::time::Duration;

use perigee_tls::TrustError;
use secrecy::{ExposeSecret as _, SecretString};

/// How texts of several segments are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongTexts {
    /// Split here, each segment in its own packet with a header. Every message centre accepts that.
    Segments,
    /// Whole, in `message_payload`; the message centre splits them.
    Payload,
}

/// Settings of a message centre.
#[derive(Clone, Debug)]
pub struct SmppSettings {
    /// Host name or address of the message centre.
    pub host: String,
    /// TCP port of the message centre.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// The user name for binding.
    pub system_id: String,
    /// The password for binding, up to eight characters.
    pub password: SecretString,
    /// The `system_type` for binding; usually empty.
    pub system_type: String,
    /// Sender of messages: a number, a short code, or up to eleven letters.
    pub sender: String,
    /// How texts of several segments are sent.
    pub long_texts: LongTexts,
    /// Requests that may wait for their answers at the same time.
    pub window: usize,
    /// Messages per second; 0 for no limit.
    pub per_second: u32,
    /// Interval of keep-alive requests.
    pub enquire_every: Duration,
    /// Time limit for an answer.
    pub time_out: Duration,
}

/// Why SMS cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SmppError {
    /// The host name is not valid.
    #[error("host must be a host name or an address")]
    Host,
    /// A text does not fit into its field.
    #[error("{0} must have at most {1} letters, digits and signs of ASCII")]
    Field(&'static str, usize),
    /// The sender is not valid.
    #[error("sender must be a number such as +34600123456, a short code, or 1 to 11 letters and digits")]
    Sender,
    /// With no window nothing could be sent.
    #[error("window must be between 1 and 1000")]
    Window,
    /// TLS cannot be set up.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl SmppSettings {
    /// Checks everything that needs no connection.
    pub fn validate(&self) -> Result<(), SmppError> {
        if self.host.is_empty() || self.host.chars().any(|c| c.is_whitespace() || c.is_control() || c == '/')
        {
            return Err(SmppError::Host);
        }
        let fields = [
            ("system_id", self.system_id.as_str(), 15),
            ("password", self.password.expose_secret(), 8),
            ("system_type", self.system_type.as_str(), 12),
        ];
        for (name, text, most) in fields {
            if text.len() > most || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
                return Err(SmppError::Field(name, most));
            }
        }
        let digits = self.sender.strip_prefix('+').unwrap_or(&self.sender);
        let is_number = (1..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = (1..=11).contains(&self.sender.len())
            && self.sender.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -_.&".contains(&byte));
        if !is_number && !is_name {
            return Err(SmppError::Sender);
        }
        if !(1..=1_000).contains(&self.window) {
            return Err(SmppError::Window);
        }
        Ok(())
    }
}
