//! A row of the outbox: one message to one person, and how it stands.

use super::Channel;
use crate::id::{AccountId, AlertId, DeviceId, NotificationId};
use crate::routing::Preferences;
use crate::time::Timestamp;

macro_rules! words {
    ($(#[$outer:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$doc])* $variant,)+
        }

        impl $type {
            /// Every one there is.
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
    /// How a message stands.
    NotificationState {
        /// It is to be sent, now or after a pause.
        Waiting = "waiting",
        /// It is counted, and somebody is sending it.
        Sending = "sending",
        /// The other side took it.
        Sent = "sent",
        /// It was not sent, and the reason is a rule.
        Suppressed = "suppressed",
        /// The other side certainly did not take it, and it is tried no more.
        Failed = "failed",
        /// Nobody knows whether the other side took it. It is counted as sent and tried no more.
        Unclear = "unclear",
    }
}

words! {
    /// The rule by which a message was not sent.
    SuppressedReason {
        /// The device's messages of the day are used up.
        Limit = "limit",
        /// What is left of them is kept for critical alerts.
        CriticalReserve = "critical-reserve",
        /// The recipient was told of the same a moment ago.
        Repeated = "repeated",
        /// The recipient does not want to be told at this time.
        Schedule = "schedule",
        /// The channel is not configured, or the operator switched it off.
        ChannelOff = "channel-off",
        /// The account switched the channel off.
        AccountOff = "account-off",
        /// SMS do not go to this number's country.
        Country = "country",
        /// The account's segments of the day are used up.
        SmsDailyCap = "sms-daily-cap",
        /// The account's segments of the month are used up.
        SmsMonthlyCap = "sms-monthly-cap",
        /// The account's e-mails of the day are used up.
        EmailDailyCap = "email-daily-cap",
        /// The account's e-mails to this recipient in this hour are used up.
        EmailRecipientCap = "email-recipient-cap",
        /// The recipient ended e-mail of this account by the link in a mail.
        Unsubscribed = "unsubscribed",
        /// The recipient did not confirm yet that they take e-mail of this account.
        Unconfirmed = "unconfirmed",
    }
}

/// A text that names nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a state or reason of a notification")]
pub struct UnknownState;

/// One message to one person, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Its id, the same on every attempt.
    pub id: NotificationId,
    /// The device it is about.
    pub device: Option<DeviceId>,
    /// The alert it tells of; none when it tells the owner of a limit.
    pub alert: Option<AlertId>,
    /// The alert's name, or the event's.
    pub name: String,
    /// Whether the alert cannot wait.
    pub critical: bool,
    /// The channel.
    pub channel: Channel,
    /// The address or number.
    pub address: String,
    /// How the recipient likes to read.
    pub preferences: Preferences,
    /// How it stands.
    pub state: NotificationState,
    /// Why: a [`SuppressedReason`], or what was learnt from the other side.
    pub reason: Option<String>,
    /// Attempts made.
    pub attempts: u32,
    /// When it is tried next, or when the attempt under way is given up for lost.
    pub due: Option<Timestamp>,
    /// The day it is counted on.
    pub counted_on: Option<String>,
    /// The segments of an SMS.
    pub segments: u32,
    /// What the provider calls it.
    pub reference: Option<String>,
    /// When it was written.
    pub created: Timestamp,
    /// When the other side took it.
    pub sent_at: Option<Timestamp>,
    /// When it reached the telephone, by the provider's receipt.
    pub delivered_at: Option<Timestamp>,
}

/// Which notifications to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationFilter {
    /// Of this device.
    pub device: Option<DeviceId>,
    /// Of this alert.
    pub alert: Option<AlertId>,
    /// In this state.
    pub state: Option<NotificationState>,
    /// By this channel.
    pub channel: Option<Channel>,
    /// Written at this instant or later.
    pub from: Option<Timestamp>,
    /// Written at this instant or before.
    pub to: Option<Timestamp>,
}

/// A message somebody wants to send, not counted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its account.
    pub account: AccountId,
    /// Which.
    pub id: NotificationId,
    /// What its text costs, or why it has none.
    pub segments: Result<u32, String>,
}

/// The right to make one attempt, counted already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// The account.
    pub account: AccountId,
    /// The message.
    pub id: NotificationId,
    /// Rises with every reservation: whoever settles with an older one comes too late.
    pub token: i64,
}

/// What a provider says later of an SMS it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What the provider calls the message.
    pub reference: String,
    /// Why it did not arrive, or nothing when it did.
    pub failure: Option<String>,
}
