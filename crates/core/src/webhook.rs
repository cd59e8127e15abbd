//! Webhooks: addresses that are told of events, and what is on its way to them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::EventFilter;
use crate::id::{AccountId, DeliveryId, DeviceId, UserId, WebhookId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// How long a delivery is tried, and how long the log waits for a webhook that is behind.
pub const WINDOW_MS: i64 = 72 * 60 * 60 * 1000;
/// Deliveries of a webhook that may wait before no more events are taken for it.
pub const WAITING_MAX: u32 = 10_000;

/// What a client sets of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSettings {
    /// What it is for.
    pub name: Option<String>,
    /// Where events are sent.
    pub url: String,
    /// Which events.
    pub filter: EventFilter,
    /// Whether any are.
    pub enabled: bool,
}

/// The key that signs what is sent. Both sides need it, so that it is kept as it is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret(pub Vec<u8>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(hidden)")
    }
}

/// An address that is told of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The account it belongs to.
    pub account: AccountId,
    /// How often a client changed it.
    pub revision: Revision,
    /// What a client set.
    pub settings: WebhookSettings,
    /// What signs.
    pub secret: WebhookSecret,
    /// What signed before, and until when it still does.
    pub previous: Option<(WebhookSecret, Timestamp)>,
    /// Up to which number of the log events were taken for it.
    pub read_to: i64,
    /// Until when its receiver asked for rest.
    pub held_until: Option<Timestamp>,
    /// When and why the service switched it off.
    pub disabled: Option<(Timestamp, String)>,
    /// The latest part of the log that was gone before it was read.
    pub gap: Option<Gap>,
    /// Who made it.
    pub created_by: Option<UserId>,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

impl Webhook {
    /// Webhooks one account may have.
    pub const MOST: u32 = 100;
    /// Characters in an address.
    pub const URL_MAX: usize = 2_000;
    /// Devices, and groups, it may name.
    pub const NAMED_MAX: usize = 1_000;
}

/// Events that a webhook was not told of, because they were gone from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// When it was found.
    pub at: Timestamp,
    /// After which number it begins.
    pub from: i64,
    /// The last number that may be missing.
    pub to: i64,
}

/// A message to be delivered to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its name, the same on every attempt.
    pub message: String,
    /// The type of the event.
    pub kind: String,
    /// The device it concerns.
    pub device: Option<DeviceId>,
    /// What is sent, to the letter.
    pub body: String,
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is tried, now or later.
    Waiting,
    /// It was taken.
    Delivered,
    /// It is not tried any more.
    Failed,
}

impl DeliveryState {
    /// Every state there is.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Failed];

    /// Its name in the API and in a store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

impl std::str::FromStr for DeliveryState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL.into_iter().find(|state| state.name() == text).ok_or(UnknownState)
    }
}

/// A text that names no state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a state of a delivery")]
pub struct UnknownState;

/// A message on its way to a webhook, or there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The message.
    pub content: NewDelivery,
    /// How far it has come.
    pub state: DeliveryState,
    /// Attempts made.
    pub attempts: u32,
    /// When it is tried next, while it waits.
    pub next_at: Timestamp,
    /// When it is given up.
    pub expires: Timestamp,
    /// When it was last tried.
    pub last_at: Option<Timestamp>,
    /// The status that came back.
    pub last_status: Option<u16>,
    /// What went wrong.
    pub last_error: Option<String>,
    /// When it was made.
    pub creation: Timestamp,
}

/// A delivery lent to a worker for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// Names the loan: what was lent to somebody else since cannot be settled with it.
    pub fence: i64,
    /// The message's name.
    pub message: String,
    /// What is sent.
    pub body: String,
    /// Attempts made before.
    pub attempts: u32,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The delivery.
    pub id: DeliveryId,
    /// The loan.
    pub fence: i64,
    /// The status that came back, if one did.
    pub status: Option<u16>,
    /// What went wrong, if anything.
    pub error: Option<String>,
    /// What follows from it.
    pub fate: Fate,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was taken.
    Delivered,
    /// It is tried again after so many milliseconds, unless its time is over by then.
    Again {
        /// How long to wait.
        wait_ms: i64,
        /// Whether everything for this receiver waits so long.
        all: bool,
    },
    /// The receiver is gone for good: nothing more is sent to it.
    Gone,
}

/// Some deliveries of a webhook, lent to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The webhook as it is now.
    pub webhook: Webhook,
    /// What to send.
    pub deliveries: Vec<LeasedDelivery>,
}
