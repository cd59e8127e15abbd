//! Sending messages to devices by the interfaces of providers: the request of a message, and the meaning of the answer.
//!
//! Pure: the caller sends the request, at most once for each attempt, and decides by the [`Verdict`] whether another
//! attempt is permitted. An answer that is not understood is never a reason to send again, because providers bill each
//! message.

mod call;
mod cloudloop;
mod directip;
mod garmin;
mod garmin_errors;
mod iridium_status;
mod rockblock;
mod split;
#[cfg(test)]
mod tests;

use perigee_core::devices::conversation::TextKind;

pub use call::{HttpPost, Outgoing, ProviderAnswer, ProviderCall, TcpExchange, Verdict};
pub use split::{PARTS_MAX, TextLimit};

use crate::decoded::Options;

/// A provider that delivers messages to devices.
#[derive(Clone, Copy, Debug)]
pub struct Downlink {
    /// The feed of its gateways, whose options have the credentials.
    pub feed: &'static str,
    /// The name of the link in conversations: the feed or the protocol by which its devices report.
    pub link: &'static str,
    /// The longest text that it carries.
    pub limit: TextLimit,
    /// The kinds of messages that it carries.
    pub kinds: &'static [TextKind],
    /// What an identifier must be so that the provider knows the device by it.
    pub address: Address,
    /// Whether the options of a gateway have what is needed to send. The error says what is missing.
    pub ready: fn(&Options) -> Result<(), &'static str>,
    /// The request that hands a message over. The options are ready.
    pub call: fn(&Outgoing<'_>) -> ProviderCall,
    /// The meaning of the answer to this message.
    pub read: fn(&Outgoing<'_>, &ProviderAnswer<'_>) -> Verdict,
}

/// By what a provider knows a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The IMEI of its modem, 15 digits.
    Imei,
    /// The ID of its Thing in Cloudloop, 32 letters and digits.
    Thing,
}

impl Address {
    /// Whether an identifier of a device has this form.
    pub fn is_form_of(self, identifier: &str) -> bool {
        match self {
            Self::Imei => identifier.len() == 15 && identifier.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Thing => {
                identifier.len() == 32 && identifier.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
        }
    }

    /// What to add to a device that has no such identifier, as a sentence.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Imei => {
                "The device has no IMEI (15 digits) among its identifiers, by which the provider knows it."
            }
            Self::Thing => {
                "Cloudloop knows the device by the ID of its Thing (32 letters and digits). Add this ID to the identifiers \
                 of the device, with the link cloudloop."
            }
        }
    }
}

/// Every provider to which messages can be handed.
pub const DOWNLINKS: &[Downlink] =
    &[garmin::DOWNLINK, rockblock::DOWNLINK, cloudloop::DOWNLINK, directip::DOWNLINK];

/// The provider of gateways of this feed.
pub fn find_downlink(feed: &str) -> Option<&'static Downlink> {
    DOWNLINKS.iter().find(|downlink| downlink.feed == feed)
}

/// Why nothing can be sent to devices of this feed, as a sentence. None for feeds that have a [`Downlink`].
pub fn cannot_send(feed: &str) -> Option<&'static str> {
    if DOWNLINKS.iter().any(|downlink| [downlink.feed, downlink.link].contains(&feed)) {
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
        _ => "Messages cannot be sent to devices of this feed.",
    })
}

impl Downlink {
    /// Whether it carries messages of this kind.
    pub fn carries(&self, kind: TextKind) -> bool {
        self.kinds.contains(&kind)
    }
}
