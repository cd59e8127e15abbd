//! A row of the outbox: one message to one recipient, with its state.

use super::Channel;
use crate::id::{AccountId, AlertId, DeviceId, NotificationId};
use crate::notifications::routing::Preferences;
use crate::time::Timestamp;

macro_rules! words {
    ($(#[$outer:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$doc])* $variant,)+
        }

        impl $type {
            /// Every value, in the order of the API's description.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the API and in the store.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = UnknownState;

            fn from_str(text: &str) -> Result<Self, UnknownState> {
                Self::ALL.iter().copied().find(|known| known.name() == text).ok_or(UnknownState)
            }
        }
    };
}

words! {
    /// The state of a message.
    NotificationState {
        /// To be sent, now or after a pause.
        Waiting = "waiting",
        /// Counted and being sent by a worker.
        Sending = "sending",
        /// Accepted by the mail server or provider.
        Sent = "sent",
        /// Not sent on purpose; see [`SuppressedReason`].
        Suppressed = "suppressed",
        /// Not accepted, and not retried.
        Failed = "failed",
        /// Not known whether it was accepted. Counted as sent and not retried.
        Unclear = "unclear",
    }
}

words! {
    /// Why a message was not sent on purpose.
    SuppressedReason {
        /// The device reached its daily limit.
        Limit = "limit",
        /// The rest of the daily limit is reserved for critical alerts.
        CriticalReserve = "critical-reserve",
        /// The recipient was notified of the same alert a short time ago.
        Repeated = "repeated",
        /// Outside the hours of the recipient's schedule.
        Schedule = "schedule",
        /// The channel is not configured, or the operator switched it off.
        ChannelOff = "channel-off",
        /// The account switched the channel off.
        AccountOff = "account-off",
        /// SMS to this number's country are not allowed.
        Country = "country",
        /// The account reached its SMS segments of the day.
        SmsDailyCap = "sms-daily-cap",
        /// The account reached its SMS segments of the month.
        SmsMonthlyCap = "sms-monthly-cap",
        /// The account reached what it may send by this channel in a day.
        DailyCap = "daily-cap",
        /// The account reached what it may send by this channel in a month.
        MonthlyCap = "monthly-cap",
        /// The account reached its e-mails of the day.
        EmailDailyCap = "email-daily-cap",
        /// The account reached the operator's ceiling of e-mails of the day, which holds for critical alerts too.
        EmailCeiling = "email-ceiling",
        /// The account reached its e-mails to this recipient in this hour.
        EmailRecipientCap = "email-recipient-cap",
        /// The recipient unsubscribed from mail of this account.
        Unsubscribed = "unsubscribed",
        /// The recipient has not confirmed yet that they want mail of this account.
        Unconfirmed = "unconfirmed",
    }
}

/// The error for a text that is not a state or reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a state or reason of a notification")]
pub struct UnknownState;

/// One message to one recipient, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Its id, the same on every attempt.
    pub id: NotificationId,
    /// The device it is about.
    pub device: Option<DeviceId>,
    /// The alert it is about; `None` for limits and reports.
    pub alert: Option<AlertId>,
    /// The name of the alert or event it is about.
    pub name: String,
    /// Whether the alert is critical.
    pub critical: bool,
    /// The step of an escalation that it belongs to, from 1; 0 for the messages of the alert itself.
    pub step: u32,
    /// The channel by which it is sent.
    pub channel: Channel,
    /// The e-mail address, telephone number or other address of the recipient.
    pub address: String,
    /// Language, units and name of the recipient.
    pub preferences: Preferences,
    /// Delivery state; `reason` explains it.
    pub state: NotificationState,
    /// The name of a [`SuppressedReason`], or the answer of the provider.
    pub reason: Option<String>,
    /// Attempts to send it so far.
    pub attempts: u32,
    /// When it is tried next, or when the lease of the present attempt ends.
    pub due: Option<Timestamp>,
    /// The account's date on which it is counted, as `YYYY-MM-DD`.
    pub counted_on: Option<String>,
    /// Segments of an SMS; 0 for other messages.
    pub segments: u32,
    /// The provider's id of the message.
    pub reference: Option<String>,
    /// When it was written to the outbox.
    pub created: Timestamp,
    /// When the other side accepted it.
    pub sent_at: Option<Timestamp>,
    /// When the telephone received it, by the provider's delivery receipt.
    pub delivered_at: Option<Timestamp>,
}

/// Which notifications to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationFilter {
    /// Only messages about this device.
    pub device: Option<DeviceId>,
    /// Only messages about this alert.
    pub alert: Option<AlertId>,
    /// Only messages in this state.
    pub state: Option<NotificationState>,
    /// Only messages by this channel.
    pub channel: Option<Channel>,
    /// Only messages written at this instant or later.
    pub from: Option<Timestamp>,
    /// Only messages written at this instant or before.
    pub to: Option<Timestamp>,
}

/// How many messages about a device, or about none, were written in a period by one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCounts {
    /// The device; `None` for messages about the account, such as reports.
    pub device: Option<DeviceId>,
    /// The channel.
    pub channel: Channel,
    /// Messages that were sent, or that may have been.
    pub sent: u64,
    /// Messages that were not accepted.
    pub failed: u64,
    /// Messages that were not sent on purpose.
    pub suppressed: u64,
    /// What the messages cost in the unit of the channel: segments of SMS, messages of others.
    pub units: u64,
}

/// A message that a worker wants to send; not counted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The account that sends it.
    pub account: AccountId,
    /// The notification to be reserved.
    pub id: NotificationId,
    /// SMS segments of its text, or why composing it failed.
    pub segments: Result<u32, String>,
}

/// Permission for one attempt to send; already counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// The account that sends it.
    pub account: AccountId,
    /// The notification to be sent.
    pub id: NotificationId,
    /// Fencing token: grows with every reservation, so that a worker with an older one cannot settle.
    pub token: i64,
}

/// A delivery receipt: the later report of a provider about an SMS it accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The provider's id of the message.
    pub reference: String,
    /// Why it was not delivered; `None` if it was.
    pub failure: Option<String>,
}
