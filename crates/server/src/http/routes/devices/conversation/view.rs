//! The JSON of conversations.

use perigee_core::devices::conversation::{Conversation, ConversationMessage, TextKind};
use perigee_core::locations::location::Degrees;

use crate::http::input::{Word, words};
use crate::http::prelude::*;

words! {
    "ConversationMessageType", "Type of a message of a conversation. `text`: a text; `locationRequest`: a request of a user that the device reports \
     its position now; `trackingInterval`: a request that the device reports at another interval while tracking; \
     `emergencyAcknowledge`: a confirmation to the device that its emergency was received; `emergencyMessage`: a text to a device \
     in an emergency." => TextKind;
}

/// The type of a message in schemas.
pub type TextKindName = Word<TextKind>;

/// Message of a conversation: a text of a device, or a message of a user to a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConversationMessage)]
pub struct MessageView {
    /// Unique identifier of the message, assigned by the server. Later messages have greater IDs.
    #[schema(example = "txt_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device that sent the message, or that the message is for.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Direction of the message. `in`: the device sent it; `out`: a user sent it to the device.
    #[schema(value_type = DirectionName, example = "out")]
    direction: &'static str,
    /// Type of the message.
    #[serde(rename = "type")]
    #[schema(value_type = TextKindName, example = "text")]
    kind: &'static str,
    /// Text of the message. Empty for types without a text.
    #[schema(example = "Storm warning: return to port")]
    text: String,
    /// Time at which the message was sent: by the clock of the device, or by the server's clock for a user.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Time at which the server received the message.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    received_at: String,
    /// Latitude in degrees (WGS 84) of the position that came with the message. Null if none did.
    #[schema(value_type = Option<f64>, example = 42.2406)]
    latitude: Option<Degrees>,
    /// Longitude in degrees (WGS 84) of the position that came with the message. Null if none did.
    #[schema(value_type = Option<f64>, example = -8.7207)]
    longitude: Option<Degrees>,
    /// Feed or protocol by which the message was received or is sent. Null until a tracker that was never heard connects.
    #[schema(example = "garmin")]
    link: Option<String>,
    /// ID of the user who sent the message. Null if the device or an operator sent it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// State of the message.
    #[schema(value_type = MessageStateName, example = "handedOver")]
    state: &'static str,
    /// Time at which the state changed last.
    #[schema(example = "2026-05-01T12:00:04Z", format = DateTime)]
    state_changed_at: String,
    /// Time after which the message is no longer sent. Null for messages of devices.
    #[schema(example = "2026-05-02T12:00:00Z", format = DateTime)]
    deadline: Option<String>,
    /// Number that the provider gave to the message, or the answer by which a tracker confirmed it. Null if there is none.
    #[schema(example = "4114651")]
    reference: Option<String>,
    /// Reason why the message failed, expired or is unclear, or why it will be handed over again. Null otherwise.
    #[schema(example = json!(null))]
    error: Option<String>,
    /// ID of the command that carries the message to a tracker. Null if no command does.
    #[schema(example = json!(null))]
    command_id: Option<String>,
    /// Interval of a message of the type `trackingInterval`, in seconds. Null for other types.
    #[schema(example = json!(null), minimum = 30, maximum = 65535)]
    interval_seconds: Option<u32>,
    /// IDs of all parts of the text, in order, this message being the first. Present only in the answer to a request with
    /// `split`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = json!(["txt_01jc2m8k4n5p6", "txt_01jc2m8k4n5p7"]))]
    pub(super) parts: Option<Vec<String>>,
}

/// Direction of a message: `in` from the device, `out` to the device.
#[derive(ToSchema)]
#[schema(as = ConversationDirection, rename_all = "camelCase")]
pub enum DirectionName {
    /// The device sent the message.
    In,
    /// A user sent the message to the device.
    Out,
}

/// State of a message: what the network reported, and nothing else. `received`: it arrived from the device. `queued`: it
/// waits for its turn, for another attempt, or for a tracker to connect. `sending`: it is being handed to the provider.
/// `handedOver`: the provider accepted it, or it was written to the connection of the tracker; whether the device has
/// it is not known. `delivered`: the device confirmed it. `answered`: the device sent a text by the same provider after it
/// was handed over. `failed`: it was refused. `unclear`: it may have been sent, and is not sent again. `expired`: it was not
/// sent before its deadline. `cancelled`: a user withdrew it.
#[derive(ToSchema)]
#[schema(as = ConversationMessageState, rename_all = "camelCase")]
pub enum MessageStateName {
    /// The message arrived from the device.
    Received,
    /// The message waits for its turn, for another attempt, or for a tracker to connect.
    Queued,
    /// The message is being handed to the provider.
    Sending,
    /// The provider accepted the message, or it was written to the connection of the tracker.
    HandedOver,
    /// The device confirmed the message. `reference` has its answer.
    Delivered,
    /// The device sent a text by the same provider after the message was handed over.
    Answered,
    /// The message was refused. `error` has the reason.
    Failed,
    /// The message may have been sent. It is not sent again. `error` has the reason.
    Unclear,
    /// The message was not sent before its deadline.
    Expired,
    /// A user withdrew the message before it was sent.
    Cancelled,
}

list! {
    /// Messages of a conversation.
    pub struct MessageList;
    /// Messages in both directions, newest first.
    messages: MessageView,
}

/// Conversation with a device, as the caller sees it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Conversation)]
pub struct ConversationView {
    /// ID of the device. A device has one conversation, over all its links.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Number of texts of the device that the caller has not marked as read.
    #[schema(example = 2, minimum = 0)]
    unread: u64,
    /// Newest message of the conversation.
    newest: MessageView,
}

list! {
    /// Conversations with devices.
    pub struct ConversationList;
    /// Conversations, sorted by the ID of their device.
    conversations: ConversationView,
}

/// Number of unread texts of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnreadTexts)]
pub struct UnreadView {
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    pub(super) device_id: String,
    /// Number of texts of the device that the caller has not marked as read.
    #[schema(example = 0, minimum = 0)]
    pub(super) unread: u64,
}

/// Link by which messages are sent to a device, or the reason why none can be sent by it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConversationLink)]
pub struct LinkView {
    /// Name of the link, for the member `link` of a message: a feed, or a protocol of trackers.
    #[schema(example = "garmin")]
    pub(super) link: String,
    /// Whether texts can be sent by this link now.
    #[schema(example = true)]
    pub(super) can_send: bool,
    /// Whether the device can be asked for its position by this link now.
    #[schema(example = true)]
    pub(super) can_request_location: bool,
    /// Types of messages that can be sent by this link now.
    #[schema(value_type = Vec<TextKindName>, example = json!(["text", "locationRequest"]))]
    pub(super) types: Vec<&'static str>,
    /// Reason why texts cannot be sent by this link, as a sentence. Null if they can.
    #[schema(example = json!(null))]
    pub(super) reason: Option<String>,
    /// Maximum number of characters of a text. Null if the network counts bytes.
    #[schema(example = 160, minimum = 1)]
    pub(super) max_characters: Option<usize>,
    /// Maximum number of bytes of a text in UTF-8. Null if the network counts characters.
    #[schema(example = json!(null), minimum = 1)]
    pub(super) max_bytes: Option<usize>,
    /// Maximum number of parts of a text that is sent with `split`. Null if texts cannot be sent.
    #[schema(example = 9, minimum = 1)]
    pub(super) max_parts: Option<usize>,
    /// Whether the provider bills each message.
    #[schema(example = true)]
    pub(super) billed: bool,
}

/// What sending a text would do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConversationTextCheck)]
pub struct CheckView {
    /// Name of the link that would carry the text.
    #[schema(example = "rockblock")]
    pub(super) link: String,
    /// Length of the text, in the unit of the link: characters, or bytes in UTF-8.
    #[schema(example = 42, minimum = 0)]
    pub(super) length: usize,
    /// Maximum length of a message, in the same unit.
    #[schema(example = 270, minimum = 1)]
    pub(super) max_length: usize,
    /// The messages in which the text would be sent: the text itself if it fits, or else its parts. Null if it needs more than
    /// 9 parts.
    #[schema(example = json!(["Storm warning: return to port"]))]
    pub(super) parts: Option<Vec<String>>,
    /// Characters of the text that the network cannot carry, each once. Empty if it carries all.
    #[schema(example = json!([]))]
    pub(super) unsupported: Vec<String>,
    /// Whether the text can be sent: as one message, or with `split`.
    #[schema(example = true)]
    pub(super) can_send: bool,
}

/// Links of a device for messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConversationLinks)]
pub struct LinkList {
    /// Number of texts of the device that the caller has not marked as read.
    #[schema(example = 2, minimum = 0)]
    pub(super) unread: u64,
    /// The links, the one that is used by default first. Empty while the device was never heard and no gateway can send
    /// to it.
    pub(super) links: Vec<LinkView>,
}

impl From<ConversationMessage> for MessageView {
    fn from(message: ConversationMessage) -> Self {
        let (latitude, longitude) = message.position.unzip();
        Self {
            id: message.id.to_string(),
            device_id: message.device.to_string(),
            direction: message.direction.name(),
            kind: message.kind.name(),
            text: message.text,
            date_time: message.time.to_string(),
            received_at: message.received_at.to_string(),
            latitude: latitude.map(Degrees::from),
            longitude: longitude.map(Degrees::from),
            link: message.link,
            created_by: message.created_by.map(|user| user.to_string()),
            state: message.state.name(),
            state_changed_at: message.changed_at.to_string(),
            deadline: message.deadline.map(|at| at.to_string()),
            reference: message.reference,
            error: message.error,
            command_id: message.command.map(|command| command.to_string()),
            interval_seconds: message.interval_s,
            parts: None,
        }
    }
}

impl From<Conversation> for ConversationView {
    fn from(conversation: Conversation) -> Self {
        Self {
            device_id: conversation.device.to_string(),
            unread: conversation.unread,
            newest: conversation.newest.into(),
        }
    }
}
