//! A message as passed to a channel, and the result of sending it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::Channel;
use crate::id::{AccountId, NotificationId};

/// A message to one recipient, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The notification it belongs to. The same on every attempt, so that receivers can recognise a repetition.
    pub id: NotificationId,
    /// The channel that sends it.
    pub channel: Channel,
    /// The address of the recipient, in the format of the channel.
    pub to: String,
    /// The subject of an e-mail, or the title of a message of another channel; empty for SMS.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as HTML; e-mails only.
    pub html: Option<String>,
    /// URL of one-click unsubscription (RFC 8058); e-mails only.
    pub mail_link: Option<String>,
    /// How a push service treats it; messages of the channel `push` only.
    pub push: Option<PushHandling>,
    /// A file that comes with it; e-mails only. Added just before it is sent.
    pub attachment: Option<Attachment>,
    /// Pictures that the HTML shows; e-mails only.
    pub pictures: Vec<InlinePicture>,
}

/// A picture that is part of an e-mail, so that reading it tells nobody anything.
#[derive(Clone, PartialEq, Eq)]
pub struct InlinePicture {
    /// By this the HTML refers to it, after `cid:`.
    pub content_id: &'static str,
    /// The media type of its bytes.
    pub media_type: &'static str,
    /// The content, which copies of the message share.
    pub bytes: Arc<Vec<u8>>,
}

impl InlinePicture {
    /// The logo of the account.
    pub const LOGO: &'static str = "logo@perigee";
    /// The map of the position.
    pub const MAP: &'static str = "map@perigee";
}

impl fmt::Debug for InlinePicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlinePicture({}, {} bytes)", self.content_id, self.bytes.len())
    }
}

/// How a push service treats a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushHandling {
    /// The account whose user subscribed the browser.
    pub account: AccountId,
    /// Seconds for which the push service keeps it for a browser that is not connected.
    pub ttl_s: u32,
    /// Whether it wakes a device that saves energy.
    pub urgency: PushUrgency,
    /// Replaces a waiting message with the same topic: at most 32 characters of URL-safe base64.
    pub topic: Option<String>,
}

/// The urgency of a push (RFC 8030, section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushUrgency {
    /// On power or Wi-Fi; for alerts without need for action.
    Low,
    /// Not while the device is in a state of low power.
    Normal,
    /// At once, whatever the state of the device.
    High,
}

impl PushUrgency {
    /// The value of the header `Urgency`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// A file that is sent with a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the file.
    pub name: String,
    /// The media type of its bytes.
    pub media_type: String,
    /// The content, which copies of the message share.
    pub bytes: Arc<Vec<u8>>,
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.media_type, self.bytes.len())
    }
}

/// The result of an attempt to send a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The other side accepted it.
    Sent {
        /// The other side's id of the message, for delivery receipts and support.
        reference: Option<String>,
    },
    /// The other side refused it for good; nothing was sent.
    Refused {
        /// Shown to people who look into it.
        reason: String,
    },
    /// The other side did not accept it now; nothing was sent, and it is retried.
    RetryLater {
        /// Shown to people who look into it.
        reason: String,
        /// Seconds that the other side asks to wait.
        wait: Option<u32>,
    },
    /// There was no answer after the message was passed on: it may or may not have been accepted.
    Unclear {
        /// Shown to people who look into it.
        reason: String,
    },
}

/// Sends messages by one channel. An attempt ends within a bounded time and never panics.
#[async_trait]
pub trait Sender: Send + Sync {
    /// Makes one attempt to send.
    async fn send(&self, message: &Message) -> SendOutcome;

    /// How many messages it can send at the same time. Further ones would only wait for a connection.
    fn at_once(&self) -> usize {
        usize::MAX
    }
}
