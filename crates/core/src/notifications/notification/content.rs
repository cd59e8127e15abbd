//! The content of a message, and the trait that turns it into text.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Channel, Message};
use crate::access::credential::LinkPurpose;
use crate::accounts::branding::{Colour, Logo};
use crate::alerts::alert::StoredAlert;
use crate::alerts::severity::Severity;
use crate::alerts::sos_notice::SosNotice;
use crate::id::{AccountId, DeviceId, FileId, NotificationId};
use crate::locations::location::StoredLocation;
use crate::notifications::overview::Overview;
use crate::notifications::routing::Preferences;
use crate::reports::ReportNotice;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A device as messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageDevice {
    /// The id of the device.
    pub id: DeviceId,
    /// The name set by users.
    pub name: String,
    /// The identifier of the hardware.
    pub identifier: Option<String>,
}

/// Why a message is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Occasion {
    /// An alert of the device.
    Alert {
        /// The alert as stored.
        alert: Box<StoredAlert>,
        /// The severity of the alert.
        severity: Severity,
        /// The step of an escalation, from 1; 0 for the messages of the alert itself.
        step: u32,
    },
    /// The device reached its daily limit of messages; sent to owners.
    LimitReached {
        /// The channel whose limit was reached.
        channel: Channel,
    },
    /// An overview report of a day or a week; sent to owners or chosen recipients.
    Overview(Box<Overview>),
    /// A scheduled report, with its file or a link to its page.
    ScheduledReport(Box<ReportNotice>),
    /// An SOS of a device that is not registered, or that has expired; sent to recipients of the device, owners or
    /// operators.
    UnregisteredSos(Box<SosNotice>),
    /// A test: somebody wants to see that messages reach the recipient.
    Test,
    /// Lets a user set a password, by a link that is created when the message is sent.
    PasswordLink {
        /// Whether it is the first password or a new one.
        purpose: LinkPurpose,
    },
    /// Asks the recipient to confirm that they want mail of the account.
    ConfirmRecipient,
    /// The alert or device was deleted in the meantime, so that nothing is sent.
    Deleted,
}

/// The look of e-mails of an account. Its pictures are part of the e-mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    /// The colour of buttons, if the account has its own.
    pub colour: Option<Colour>,
    /// The ID of the logo, if there is one.
    pub logo_id: Option<FileId>,
    /// The logo, read just before the e-mail is composed.
    pub logo: Option<Logo>,
    /// A map of the position as PNG, drawn just before the e-mail is composed.
    pub map: Option<Arc<Vec<u8>>>,
}

/// Everything that a message can show. Texts written by users may contain any character; the composer escapes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The notification that the text is for.
    pub id: NotificationId,
    /// The account that sends it.
    pub account: AccountId,
    /// Shown in the text as the sender.
    pub account_name: String,
    /// How e-mails of the account look.
    pub appearance: Appearance,
    /// The channel by which it is sent.
    pub channel: Channel,
    /// The address of the recipient.
    pub to: String,
    /// Language, units and name of the recipient.
    pub preferences: Preferences,
    /// Time zone of the times in the text.
    pub time_zone: Zone,
    /// Why the message is sent.
    pub occasion: Occasion,
    /// The device it is about.
    pub device: Option<MessageDevice>,
    /// The last location of the device, if the alert has no position.
    pub last_location: Option<StoredLocation>,
    /// Base URL of the service, without a slash at the end.
    pub base_url: String,
    /// Whether the recipient is neither a user of the account nor has confirmed that they want its mail.
    pub is_stranger: bool,
    /// Link by which the recipient unsubscribes or confirms; only in e-mails.
    pub mail_link: Option<String>,
    /// Link by which the recipient acknowledges the alert, with or without an account.
    pub acknowledge_link: Option<String>,
    /// When it was written to the outbox.
    pub created: Timestamp,
    /// Whether an earlier attempt began and its result is not known.
    pub is_lost: bool,
    /// The time at which the text is written.
    pub now: Timestamp,
}

/// A composed message and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// The message, ready to be sent.
    pub message: Message,
    /// The segments of an SMS, at least 1; 0 for an e-mail.
    pub segments: u32,
}

/// Why a text could not be composed, for example an error in an account's own template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ComposeError(pub String);

/// Placeholder in a composed message for the secret of a link, which is created when the message is about to be sent.
pub const LINK_SECRET: &str = "LINK-SECRET-OF-THIS-MESSAGE";

/// Composes messages. It may read templates from a store; it sends nothing.
#[async_trait]
pub trait Compose: Send + Sync {
    /// The message for this content. The same content gives the same message, so that receivers can recognise a
    /// repetition.
    async fn compose(&self, content: &Content) -> Result<Composed, ComposeError>;
}
