//! A message to be handed over, the request that does so, and what the provider did with it.

use perigee_core::devices::conversation::TextKind;
use perigee_core::time::Timestamp;

use crate::decoded::Options;

/// A message to be handed over.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The options of the gateway.
    pub options: &'a Options,
    /// The identifier of the device at the provider.
    pub address: &'a str,
    /// What the message asks of the device.
    pub kind: TextKind,
    /// Empty for kinds without a text.
    pub text: &'a str,
    /// The interval of [`TextKind::TrackingInterval`], in seconds.
    pub interval_s: Option<u32>,
    /// Distinguishes the message from others of its account.
    pub number: u32,
    /// The current time.
    pub now: Timestamp,
}

impl Outgoing<'_> {
    /// An option that is a text, without blanks around it. Empty if it is not set.
    pub(super) fn option(&self, name: &str) -> &str {
        self.options.text(name).map(str::trim).unwrap_or_default()
    }
}

/// The request that hands a message over. It may contain credentials and is never logged.
#[derive(Clone, PartialEq, Eq)]
pub enum ProviderCall {
    /// A request by HTTP, to providers with a web API.
    Post(HttpPost),
    /// Bytes over a TCP connection of its own, to a gateway of `DirectIP`.
    Tcp(TcpExchange),
}

/// A POST request of a provider's web API.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpPost {
    /// The URL, with its query.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The content of the request; empty for none.
    pub body: Vec<u8>,
}

/// A connection over which one message is sent and one answer received.
#[derive(Clone, PartialEq, Eq)]
pub struct TcpExchange {
    /// A name or an IP address, with the port.
    pub address: (String, u16),
    /// The whole request, written before anything is read.
    pub bytes: Vec<u8>,
    /// How many bytes the answer has. Fewer are handed on if the peer closes the connection before.
    pub answer_bytes: usize,
}

/// The answer of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderAnswer<'a> {
    /// The status of HTTP; 0 for another protocol.
    pub status: u16,
    /// Up to some kilobytes of the answer.
    pub body: &'a [u8],
}

/// What the provider did with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It accepted the message, perhaps with a number.
    Accepted(Option<String>),
    /// It refused the message for good; a sentence for the user.
    Refused(String),
    /// It did not take the message, and it may be sent again; a sentence for the user.
    Later(String),
    /// The answer does not say whether it took the message; a sentence for the user.
    Unclear(String),
}

/// The beginning of an answer as one line, to be quoted in a sentence.
pub(super) fn quoted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing to a `String` never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
