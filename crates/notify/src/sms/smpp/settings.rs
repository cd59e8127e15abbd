//! What a sender by SMPP must be told.

use std::path::PathBuf;
use std::time::Duration;

use perigee_tls::TrustError;
use secrecy::{ExposeSecret as _, SecretString};

/// How texts of several segments travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongTexts {
    /// Cut here, each segment a message of its own that says which it is. Every centre takes that.
    Segments,
    /// Whole, in the packet's `message_payload`; the centre cuts them.
    Payload,
}

/// Everything about a message centre.
#[derive(Clone, Debug)]
pub struct SmppSettings {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Authorities to trust (PEM) instead of the public ones.
    pub authorities: Option<PathBuf>,
    /// Who we are to it.
    pub system_id: String,
    /// The password.
    pub password: SecretString,
    /// What kind of system we are; most centres want nothing here.
    pub system_type: String,
    /// Whom messages are from: a number, a short code, or up to eleven letters.
    pub sender: String,
    /// How long texts travel.
    pub long_texts: LongTexts,
    /// Requests that wait for their answer at once.
    pub window: usize,
    /// Messages a second; 0 for no limit of ours.
    pub per_second: u32,
    /// How often the centre is asked whether it is still there.
    pub enquire_every: Duration,
    /// How long an answer may take.
    pub time_out: Duration,
}

/// Why SMS cannot be sent with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SmppError {
    /// The centre's name is none.
    #[error("host must be a host name or an address")]
    Host,
    /// A text does not fit into its field.
    #[error("{0} must have at most {1} letters, digits and signs of ASCII")]
    Field(&'static str, usize),
    /// The sender is none.
    #[error("sender must be a number such as +34600123456, a short code, or 1 to 11 letters and digits")]
    Sender,
    /// Nothing could be asked.
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
