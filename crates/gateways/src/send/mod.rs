//! Sending texts to devices by the interfaces of providers: the request of a message, and the meaning of the answer.
//!
//! Pure: the caller sends the request, at most once for each attempt, and decides by the [`Verdict`] whether another
//! attempt is permitted. An answer that is not understood is never a reason to send again, because providers bill each
//! message.

mod garmin;
mod rockblock;
#[cfg(test)]
mod tests;

use perigee_core::devices::conversation::TextKind;
use perigee_core::time::Timestamp;

use crate::decoded::Options;

/// A provider that delivers texts to devices.
#[derive(Clone, Copy, Debug)]
pub struct Downlink {
    /// The feed of its gateways, whose options have the credentials.
    pub feed: &'static str,
    /// Maximum number of characters of a text.
    pub characters_max: Option<usize>,
    /// Maximum number of bytes of a text in UTF-8.
    pub bytes_max: Option<usize>,
    /// Whether a device can be asked for its position.
    pub asks_location: bool,
    /// Whether the options of a gateway have what is needed to send. The error says what is missing.
    pub ready: fn(&Options) -> Result<(), &'static str>,
    /// The request that hands a message over. The options are ready.
    pub call: fn(&Outgoing<'_>) -> ProviderCall,
    /// The meaning of an answer: its status, and up to some kilobytes of its body.
    pub read: fn(u16, &[u8]) -> Verdict,
}

/// Every provider to which messages can be handed.
pub const DOWNLINKS: &[Downlink] = &[garmin::DOWNLINK, rockblock::DOWNLINK];

/// The provider of gateways of this feed.
pub fn find_downlink(feed: &str) -> Option<&'static Downlink> {
    DOWNLINKS.iter().find(|downlink| downlink.feed == feed)
}

/// Why nothing can be sent to devices of this feed, as a sentence. None for feeds that have a [`Downlink`].
pub fn cannot_send(feed: &str) -> Option<&'static str> {
    if find_downlink(feed).is_some() {
        return None;
    }
    Some(match feed {
        "spot" | "spot-feed" => "A SPOT unit transmits only. It cannot receive messages.",
        "globalstar" => {
            "A Globalstar simplex unit, such as a SmartOne, transmits only. It cannot receive messages."
        }
        "zoleo" => "Zoleo offers no interface for sending messages to its devices.",
        "garmin-history" | "garmin-mapshare" => {
            "This gateway only fetches messages. To send some, add a gateway of the feed garmin with the options \
             sendUrl, sendKey and sender."
        }
        "cloudloop" => "Messages cannot be sent by Cloudloop yet.",
        "iridium" => "Messages cannot be sent by Iridium DirectIP yet.",
        _ => "Messages cannot be sent to devices of this feed.",
    })
}

impl Downlink {
    /// Why a text cannot be sent to a device of this provider, as a sentence. Checked before anything is queued.
    pub fn refuses(&self, text: &str) -> Option<String> {
        let (characters, bytes) = (text.chars().count(), text.len());
        match (self.characters_max, self.bytes_max) {
            (Some(most), _) if characters > most => {
                Some(format!("has {characters} characters; the network carries at most {most}"))
            }
            (_, Some(most)) if bytes > most => {
                Some(format!("has {bytes} bytes in UTF-8; the network carries at most {most}"))
            }
            _ => None,
        }
    }
}

/// A message to be handed over.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The options of the gateway.
    pub options: &'a Options,
    /// The identifier of the device at the provider.
    pub address: &'a str,
    /// A text, or a request for the position.
    pub kind: TextKind,
    /// Empty for a request.
    pub text: &'a str,
    /// The current time.
    pub now: Timestamp,
}

/// An HTTP POST. The URL and the headers may contain credentials: they are never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderCall {
    /// The URL, with its query.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The content of the request; empty for none.
    pub body: Vec<u8>,
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
fn quoted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|letter| !letter.is_control()).take(200).collect()
}
