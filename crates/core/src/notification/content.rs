//! Everything a text may say of an occasion, and the trait of whoever writes the text.

use async_trait::async_trait;

use super::{Channel, Message};
use crate::alert::StoredAlert;
use crate::id::{AccountId, DeviceId, NotificationId};
use crate::location::StoredLocation;
use crate::overview::Overview;
use crate::routing::Preferences;
use crate::severity::Severity;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A device as a text names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its id.
    pub id: DeviceId,
    /// Its name.
    pub name: String,
    /// What the hardware calls itself.
    pub identifier: Option<String>,
}

/// Why somebody is written to.
#[derive(Clone, Debug, PartialEq)]
pub enum Occasion {
    /// Something happened to the device.
    Alert {
        /// What.
        alert: Box<StoredAlert>,
        /// How much it matters.
        severity: Severity,
    },
    /// The device used up its messages of the day; for the owner.
    LimitReached {
        /// The channel whose limit it was.
        channel: Channel,
    },
    /// A day or a week of the account is over; for its owners.
    Overview(Box<Overview>),
    /// The recipient is asked whether they take e-mail of the account.
    ConfirmRecipient,
    /// What it was to tell of is gone, so that there is nothing to say.
    Gone,
}

/// Everything a text may show. Texts given by people may hold any character; whoever writes them into a message
/// makes them harmless there.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The notification the text is for.
    pub id: NotificationId,
    /// The account.
    pub account: AccountId,
    /// The account's name.
    pub account_name: String,
    /// The channel it goes by.
    pub channel: Channel,
    /// The address or number.
    pub to: String,
    /// How the recipient likes to read.
    pub preferences: Preferences,
    /// The zone of the times the recipient reads.
    pub time_zone: Zone,
    /// Why.
    pub occasion: Occasion,
    /// The device it is about.
    pub device: Option<DeviceFacts>,
    /// Where the device was last, when the alert itself does not say where.
    pub last_location: Option<StoredLocation>,
    /// Where the service's pages are, without a slash at the end.
    pub base_url: String,
    /// Where the recipient ends or confirms e-mail of this account; none but in e-mails.
    pub mail_link: Option<String>,
    /// When it was put into the outbox.
    pub created: Timestamp,
    /// Whether somebody began to send it and was not heard of again.
    pub is_lost: bool,
    /// The present.
    pub now: Timestamp,
}

/// A message and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// The message.
    pub message: Message,
    /// The segments of an SMS, at least 1; 0 for an e-mail.
    pub segments: u32,
}

/// Why a text could not be written; a template of a user's making may be broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ComposeError(pub String);

/// Writes messages. It may read templates from a store; it sends nothing.
#[async_trait]
pub trait Compose: Send + Sync {
    /// The message for this content. The same content gives the same message, so that a repetition is one.
    async fn compose(&self, content: &Content) -> Result<Composed, ComposeError>;
}
