//! Conversations: the texts between a device and the users of its account, over all links of the device.

use crate::devices::command::NewCommand;
use crate::id::{AccountId, CommandId, ConversationMessageId, DeviceId, GatewayId, UserId};
use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

macro_rules! names {
    ($(#[$doc:meta])* $type:ident: $($(#[$of:meta])* $variant:ident = $name:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$of])* $variant,)+
        }

        impl $type {
            /// Every value, in the order of the API document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in the API and in the store.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The value with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}

names! {
    /// Who wrote a message of a conversation.
    Direction:
    /// The device sent it.
    In = "in";
    /// A user sent it to the device.
    Out = "out";
}

names! {
    /// What a message of a conversation asks of its reader.
    TextKind:
    /// To read a text.
    Text = "text";
    /// To report the position now. Only users send it; it has no text.
    LocationRequest = "locationRequest";
    /// To report at this interval while tracking. Only users send it; it has no text.
    TrackingInterval = "trackingInterval";
    /// To know that its emergency was received. Only users send it; it has no text.
    EmergencyAcknowledge = "emergencyAcknowledge";
    /// To read a text in an emergency.
    EmergencyMessage = "emergencyMessage";
}

impl TextKind {
    /// Whether messages of this kind have a text.
    pub const fn has_text(self) -> bool {
        matches!(self, Self::Text | Self::EmergencyMessage)
    }
}

names! {
    /// How far a message has come, by what the network reported and nothing else.
    TextState:
    /// It arrived from the device.
    Received = "received";
    /// It waits for its turn, or for the device to connect.
    Queued = "queued";
    /// A worker is handing it to the network.
    Sending = "sending";
    /// The network accepted it, or it was written to the connection of the device.
    HandedOver = "handedOver";
    /// The device or the network confirmed that the device has it.
    Delivered = "delivered";
    /// The device sent a text after it was handed over.
    Answered = "answered";
    /// It was refused; the error has the reason.
    Failed = "failed";
    /// The connection broke before the network answered: it may have been sent, and is not sent again.
    Unclear = "unclear";
    /// It was not sent before its deadline.
    Expired = "expired";
    /// A user withdrew it before it was sent.
    Cancelled = "cancelled";
}

/// A message of a conversation, in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationMessage {
    /// Assigned by the service; later messages have larger ids.
    pub id: ConversationMessageId,
    /// The account of the device.
    pub account: AccountId,
    /// The device that sent it, or that it is for.
    pub device: DeviceId,
    /// Who wrote it.
    pub direction: Direction,
    /// A text, or a request for the position.
    pub kind: TextKind,
    /// The text, up to [`Self::TEXT_MAX`] characters; empty for a request.
    pub text: String,
    /// When the device sent it by its clock, or when the user sent it.
    pub time: Timestamp,
    /// When the service received it.
    pub received_at: Timestamp,
    /// The position that came with it.
    pub position: Option<(Latitude, Longitude)>,
    /// The feed or protocol by which it came or goes; `None` until a device that was never heard connects.
    pub link: Option<String>,
    /// The user who sent it; `None` for messages of devices and of the operator.
    pub created_by: Option<UserId>,
    /// How far it has come.
    pub state: TextState,
    /// When the state last changed.
    pub changed_at: Timestamp,
    /// It is not sent after this instant; `None` for messages of devices.
    pub deadline: Option<Timestamp>,
    /// The number under which the network knows it, or the answer of the device.
    pub reference: Option<String>,
    /// Why it failed, expired or is unclear, or why it is sent again.
    pub error: Option<String>,
    /// The command that carries it to a tracker.
    pub command: Option<CommandId>,
    /// The interval of [`TextKind::TrackingInterval`], in seconds.
    pub interval_s: Option<u32>,
}

impl ConversationMessage {
    /// Maximum number of characters of a text that are stored.
    pub const TEXT_MAX: usize = 2_000;
    /// Maximum number of messages of a device that are kept, the newest ones.
    pub const KEPT_MAX: u32 = 2_000;
    /// Maximum number of messages to one device that may wait to be sent.
    pub const QUEUED_MAX: u32 = 50;
    /// Maximum number of messages to one device that a provider bills, in any 24 hours.
    pub const BILLED_DEVICE_MAX: u32 = 50;
    /// The same for all devices of an account together.
    pub const BILLED_ACCOUNT_MAX: u32 = 500;
    /// The span of these limits, in milliseconds.
    pub const BILLED_WITHIN_MS: i64 = 24 * 60 * 60 * 1000;
    /// The same text within this time is one message if neither the device nor the network numbers or dates it, in
    /// milliseconds: trackers send again what was not acknowledged.
    pub const RESENT_WITHIN_MS: i64 = 2 * 60 * 1000;
    /// A text of the device later than this after a message is no answer to it, in milliseconds: three days.
    pub const ANSWER_WITHIN_MS: i64 = 3 * 24 * 60 * 60 * 1000;
    /// The shortest and the longest interval of [`TextKind::TrackingInterval`], in seconds.
    pub const INTERVAL_S: (u32, u32) = (30, 65_535);
    /// Maximum number of characters of a reference or an error.
    pub const NOTE_MAX: usize = 1_000;
}

/// A text from a device, to be stored with the message that it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    /// When the device sent it.
    pub time: Timestamp,
    /// Whether the time is by the device's clock. Otherwise it is the time of arrival.
    pub is_dated: bool,
    /// The number under which the network delivers it, to recognise it if it has no time.
    pub key: Option<String>,
    /// Control characters other than line ends are removed, and the text is cut to
    /// [`ConversationMessage::TEXT_MAX`].
    pub text: String,
    /// The position that came with it.
    pub position: Option<(Latitude, Longitude)>,
    /// The feed or protocol by which it came.
    pub source: &'static str,
}

/// How a message gets to its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A command, sent over the connection of the tracker.
    Command(NewCommand),
    /// The provider of a gateway, which bills it.
    Gateway {
        /// The gateway with the credentials.
        gateway: GatewayId,
        /// The feed of the gateway.
        feed: String,
        /// The identifier of the device at the provider.
        address: String,
    },
}

/// A message to a device, to be queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOutgoing {
    /// A text, or a request for the position.
    pub kind: TextKind,
    /// Empty for a request.
    pub text: String,
    /// The interval of [`TextKind::TrackingInterval`], in seconds.
    pub interval_s: Option<u32>,
    /// How it gets there.
    pub carrier: Carrier,
    /// It is not sent after this instant.
    pub deadline: Timestamp,
}

/// A message that a worker must hand to the provider now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingText {
    /// The message; its state is [`TextState::Sending`].
    pub message: ConversationMessage,
    /// The gateway with the credentials.
    pub gateway: GatewayId,
    /// The identifier of the device at the provider.
    pub address: String,
    /// How many times it was handed over before.
    pub attempts: u32,
    /// Changes with each lease, so that a worker whose lease has passed cannot settle.
    pub fence: i64,
}

/// The result of an attempt to hand a message over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// The provider accepted it, perhaps with a number.
    HandedOver(Option<String>),
    /// The provider refused it, for this reason.
    Failed(String),
    /// The provider did not take it and permits another attempt, at this instant.
    Again(String, Timestamp),
    /// It is not known whether the provider took it.
    Unclear(String),
}

/// A conversation as one user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The device; it has one conversation.
    pub device: DeviceId,
    /// The newest message.
    pub newest: ConversationMessage,
    /// Number of messages of the device that the user has not marked as read.
    pub unread: u64,
}
