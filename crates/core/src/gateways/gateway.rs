//! Identifiers under which devices report, and raw messages.

use serde::{Deserialize, Serialize};

use crate::access::actor::Scope;
use crate::gateways::decoding::Decoding;
use crate::gateways::network::ProofReport;
use crate::gateways::raw_usage::Keep;
use crate::id::{AccountId, DeviceId, GatewayId, MessageId};
use crate::locations::location::DuplicateRule;
use crate::time::Timestamp;

/// A further name under which a device reports, such as the IMEI of its satellite modem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentifier {
    /// As the network or the hardware writes it; unique among all identifiers of the account.
    pub identifier: String,
    /// The network over which it reports under this name, for example `iridium`; free text.
    pub link: Option<String>,
    /// Order among the device's identifiers: the lowest is preferred. 0 to 100.
    pub priority: u8,
}

impl DeviceIdentifier {
    /// Maximum number of identifiers of a device beside the one in its own field.
    pub const COUNT_MAX: usize = 20;
    /// The least preferred priority.
    pub const PRIORITY_MAX: u8 = 100;
}

/// A device that was found by the name under which it reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// Its account. What it reports is stored in this scope.
    pub scope: Scope,
    /// The device that reports.
    pub device: DeviceId,
    /// The identifier by which it was found.
    pub identifier: String,
    /// Model of the hardware as users set it; some protocols need it to read a message.
    pub model: Option<String>,
    /// The model reported in its messages, used while none is set.
    pub reported_model: Option<String>,
    /// How its messages are read and its commands written.
    pub decoding: Decoding,
    /// The time zone that is proposed to users, in minutes ahead of UTC.
    pub proposed_zone_minutes: Option<i32>,
    /// The report that proved the claim on the identifier. `None` if it was not proven by a report, or if the device
    /// was not found by a claim.
    pub proof: Option<ProofReport>,
}

/// The result of processing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageResult {
    /// It was decoded, and its content is stored.
    Decoded,
    /// It was decoded, and all of its content was stored before.
    Duplicate,
    /// No device of the account has one of its identifiers.
    UnknownDevice,
    /// It cannot be decoded, or was refused; the error has the reason.
    Unparsable,
    /// It was read, and its device is expired: nothing but the message is stored.
    ExpiredDevice,
    /// The provider or the device marked it as a test: nothing but the message is stored.
    Test,
}

impl MessageResult {
    /// Every result, in the order of the API document.
    pub const ALL: [Self; 6] = [
        Self::Decoded,
        Self::Duplicate,
        Self::UnknownDevice,
        Self::Unparsable,
        Self::ExpiredDevice,
        Self::Test,
    ];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decoded => "decoded",
            Self::Duplicate => "duplicate",
            Self::UnknownDevice => "unknownDevice",
            Self::Unparsable => "unparsable",
            Self::ExpiredDevice => "expiredDevice",
            Self::Test => "test",
        }
    }

    /// Whether a message with this result stored something new.
    pub const fn is_used(self) -> bool {
        matches!(self, Self::Decoded)
    }

    /// The result with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.name() == name)
    }
}

/// A received message, to be stored with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The protocol or the feed by which it was received.
    pub source: &'static str,
    /// Address and port of the sender, or the address of the provider.
    pub peer: String,
    /// The name under which its device reported; up to [`Self::IDENTIFIER_MAX`] characters are stored.
    pub identifier: Option<String>,
    /// The frame or the body, as the decoder reads it.
    pub bytes: Vec<u8>,
    /// Why it cannot be read, or not in full.
    pub error: Option<String>,
    /// The gateway of an account that received it; `None` for a listener.
    pub gateway: Option<GatewayId>,
    /// When its locations count as already stored.
    pub duplicate_rule: DuplicateRule,
    /// Whether it is stored in addition to its content.
    pub keep: Keep,
}

impl NewMessage {
    /// Maximum number of characters of an identifier that are stored.
    pub const IDENTIFIER_MAX: usize = 100;
    /// Maximum number of characters of an error that are stored.
    pub const ERROR_MAX: usize = 300;
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawMessage {
    /// Assigned by the service; later messages have larger ids.
    pub id: MessageId,
    /// The account that it was stored for.
    pub account: AccountId,
    /// When the service received it.
    pub received_at: Timestamp,
    /// The protocol or the feed by which it was received.
    pub source: String,
    /// Address and port of the sender.
    pub peer: String,
    /// The device, if all reports of the message are from one known device.
    pub device: Option<DeviceId>,
    /// Otherwise the known devices that report in it, sorted. Lists contain only the first of them.
    pub devices: Vec<DeviceId>,
    /// The name under which the device reported.
    pub identifier: Option<String>,
    /// The result of processing it.
    pub result: MessageResult,
    /// Why it cannot be read, or not in full.
    pub error: Option<String>,
    /// Bytes of the whole message.
    pub size: u32,
    /// The frame or the body; only its beginning in a list.
    pub bytes: Vec<u8>,
    /// The gateway of the account that received it, which may have been deleted since; `None` for a listener.
    pub gateway: Option<GatewayId>,
}

/// Which messages to list; all conditions must be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only messages in which this device reports.
    pub device: Option<DeviceId>,
    /// Only messages with this result.
    pub result: Option<MessageResult>,
    /// Only messages of this protocol or feed.
    pub source: Option<String>,
}

/// An unknown device: it sent messages, and no account has its identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardDevice {
    /// The account whose gateway received its messages; `None` for a listener that all accounts share.
    pub account: Option<AccountId>,
    /// The name under which it reported.
    pub identifier: String,
    /// The protocol or the feed by which it was received.
    pub source: String,
    /// Address and port from which its last message came.
    pub peer: String,
    /// Time of its first message.
    pub first_heard: Timestamp,
    /// Time of its last message.
    pub last_heard: Timestamp,
    /// Number of its messages, including those that were not kept.
    pub messages: u64,
    /// The newest message that is kept.
    pub last_message: Option<Vec<u8>>,
}

/// The messages of one unknown device since the last save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardReport {
    /// The account whose gateway received them; `None` for a listener that all accounts share.
    pub account: Option<AccountId>,
    /// The name under which it reported.
    pub identifier: String,
    /// The protocol or the feed by which it was received.
    pub source: &'static str,
    /// Address and port from which its last message came.
    pub peer: String,
    /// Time of its last message.
    pub last_heard: Timestamp,
    /// Number of messages since the last save.
    pub messages: u64,
    /// The newest of them, oldest first.
    pub kept: Vec<HeardMessage>,
}

/// A message of a device that was not known when it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardMessage {
    /// When the service received it.
    pub received_at: Timestamp,
    /// The protocol by which it was received.
    pub source: String,
    /// Address and port of the sender.
    pub peer: String,
    /// Whether it was received by UDP.
    pub datagram: bool,
    /// The frame, as the decoder reads it.
    pub bytes: Vec<u8>,
}

impl HeardDevice {
    /// Maximum number of unknown devices that a store keeps; those whose last message is oldest are deleted first.
    pub const COUNT_MAX: u32 = 1_000;
    /// Maximum number of messages of one unknown device that a store keeps, the newest ones.
    pub const KEPT_MAX: usize = 20;
    /// Maximum number of bytes of a message that is kept.
    pub const KEPT_BYTES_MAX: usize = 2_048;
    /// How long an unknown device is kept after its last message, in milliseconds: a week.
    pub const REMEMBERED_MS: i64 = 7 * 24 * 60 * 60 * 1000;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for result in MessageResult::ALL {
            assert_eq!(MessageResult::named(result.name()), Some(result));
        }
        assert_eq!(MessageResult::named("Decoded"), None);
    }
}
