//! Webhooks: URLs that receive events, and the deliveries to them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::events::event::EventFilter;
use crate::id::{AccountId, DeliveryId, DeviceId, UserId, WebhookId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// How long a delivery is retried, and how long the log is kept for a webhook that is behind, in milliseconds.
pub const WINDOW_MS: i64 = 72 * 60 * 60 * 1000;
/// Number of waiting deliveries from which on no more events are taken from the log for a webhook.
pub const WAITING_MAX: u32 = 10_000;

/// The settings of a webhook that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSettings {
    /// Shown in lists; need not be unique.
    pub name: Option<String>,
    /// The URL that events are posted to.
    pub url: String,
    /// Which events are sent to it.
    pub filter: EventFilter,
    /// Whether events are sent at all.
    pub enabled: bool,
}

/// The HMAC key of signatures. Both sides need it, so it is stored in the clear.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret(pub Vec<u8>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(hidden)")
    }
}

/// A webhook as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Assigned by the service; never changes.
    pub id: WebhookId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: WebhookSettings,
    /// The secret that signs every message.
    pub secret: WebhookSecret,
    /// The previous secret, and until when messages are also signed with it.
    pub previous: Option<(WebhookSecret, Timestamp)>,
    /// Its cursor: the number of the log up to which events were taken for it.
    pub read_to: i64,
    /// Nothing is sent before this instant, because the receiver sent `Retry-After`.
    pub held_until: Option<Timestamp>,
    /// When and why the service disabled it.
    pub disabled: Option<(Timestamp, String)>,
    /// The latest gap: events that were trimmed from the log before they were taken.
    pub gap: Option<Gap>,
    /// The user who created it; `None` if since deleted.
    pub created_by: Option<UserId>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

impl Webhook {
    /// Maximum number of webhooks of an account.
    pub const PER_ACCOUNT_MAX: u32 = 100;
    /// Maximum number of characters that a URL may have.
    pub const URL_MAX: usize = 2_000;
    /// Maximum number of devices, and of groups, that its filter may name.
    pub const NAMED_MAX: usize = 1_000;
}

/// Events that a webhook never received, because they were trimmed from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// When it was found.
    pub at: Timestamp,
    /// The number after which it begins.
    pub from: i64,
    /// The last number that may be missing.
    pub to: i64,
}

/// A message to be delivered to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The `webhook-id` header, the same on every attempt.
    pub message: String,
    /// The name of the event's type.
    pub kind: String,
    /// The device it concerns.
    pub device: Option<DeviceId>,
    /// The exact body that is sent.
    pub body: String,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// To be sent, now or later.
    Waiting,
    /// The receiver answered with a 2xx status.
    Delivered,
    /// Not retried.
    Failed,
}

impl DeliveryState {
    /// Every state, in the order of the API's description.
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

/// The error for a text that is not a state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a state of a delivery")]
pub struct UnknownState;

/// A delivery to a webhook, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Assigned by the service; later deliveries have larger ids.
    pub id: DeliveryId,
    /// The message and its subject.
    pub content: NewDelivery,
    /// Whether it waits, arrived or was given up.
    pub state: DeliveryState,
    /// Attempts to send it so far.
    pub attempts: u32,
    /// When it is tried next, while waiting.
    pub next_at: Timestamp,
    /// When it is given up if still waiting.
    pub expires: Timestamp,
    /// When the last attempt was made.
    pub last_at: Option<Timestamp>,
    /// HTTP status of the last answer.
    pub last_status: Option<u16>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// Set by the service on creation.
    pub creation: Timestamp,
}

/// A delivery leased to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// The id of the delivery.
    pub id: DeliveryId,
    /// Fencing token of the lease: a worker whose lease has passed to another cannot settle.
    pub fence: i64,
    /// Sent as the `webhook-id` header; the same for every attempt.
    pub message: String,
    /// The exact body that is sent.
    pub body: String,
    /// Attempts made before this lease.
    pub attempts: u32,
}

/// The result of an attempt, reported by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The delivery that was tried.
    pub id: DeliveryId,
    /// The fencing token of the lease.
    pub fence: i64,
    /// HTTP status of the answer, if there was one.
    pub status: Option<u16>,
    /// Why the attempt failed, if it did.
    pub error: Option<String>,
    /// The next state of the delivery.
    pub outcome: AttemptOutcome,
}

/// The state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver accepted it.
    Delivered,
    /// Retried after `wait_ms`, unless it expires before.
    Retry {
        /// Milliseconds to wait before the next attempt.
        wait_ms: i64,
        /// Whether all deliveries to this webhook wait this long.
        all: bool,
    },
    /// The receiver answered 410: the webhook is disabled.
    Gone,
}

/// Deliveries of one webhook, leased to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryLease {
    /// The webhook in its present state.
    pub webhook: Webhook,
    /// The deliveries to send now.
    pub deliveries: Vec<LeasedDelivery>,
}
