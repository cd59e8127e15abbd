//! A message as it is handed to a channel, and the answer: what the sender knows of its fate.

use async_trait::async_trait;

use super::Channel;
use crate::id::NotificationId;

/// A message to one person, written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The notification it belongs to. The same on every attempt, so that receivers can tell a repetition.
    pub id: NotificationId,
    /// Where it goes by.
    pub channel: Channel,
    /// The address or the number in international form.
    pub to: String,
    /// The subject of an e-mail; empty for SMS.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same for readers of HTML; e-mails only.
    pub html: Option<String>,
    /// Where the recipient ends e-mail of this account by one request (RFC 8058); e-mails only.
    pub mail_link: Option<String>,
}

/// What is known of a message after an attempt to send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was taken, and this is what the other side calls it.
    Sent {
        /// For delivery receipts and questions to the provider.
        reference: Option<String>,
    },
    /// It was certainly not taken and never will be: nothing was sent.
    Refused {
        /// For the person who looks why.
        reason: String,
    },
    /// It was certainly not taken, and may be later: nothing was sent.
    Later {
        /// For the person who looks why.
        reason: String,
        /// How long the other side asks to wait, in seconds.
        wait: Option<u32>,
    },
    /// It may or may not have been taken: the answer did not come.
    Unclear {
        /// For the person who looks why.
        reason: String,
    },
}

/// Sends by one channel. An attempt ends within a bounded time and never panics.
#[async_trait]
pub trait Sender: Send + Sync {
    /// Makes one attempt.
    async fn send(&self, message: &Message) -> Delivery;

    /// Messages it can have under way at once. More would wait for each other, and their attempts with them.
    fn at_once(&self) -> usize {
        usize::MAX
    }
}
