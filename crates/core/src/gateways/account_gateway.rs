//! Gateways of an account: addresses to which a satellite network or a phone sends messages.

use serde::{Deserialize, Serialize};

use crate::access::actor::Scope;
use crate::gateways::feed_health::GatewayState;
use crate::id::{AccountId, DeviceId, GatewayId, UserId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A gateway to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGateway {
    /// The provider or the app whose messages it takes, for example `osmand`.
    pub feed: String,
    /// Shown in lists.
    pub name: Option<String>,
    /// The device of all messages, such as a phone with a secret of its own; `None` to find the device by the
    /// identifiers in each message.
    pub device: Option<DeviceId>,
    /// Settings of the feed as a JSON object, as text.
    pub options: String,
    /// SHA-256 of the secret in its address.
    pub secret_hash: [u8; 32],
    /// Whether the service fetches its messages; providers and phones send them otherwise.
    #[serde(default)]
    pub polled: bool,
}

/// The settings of a gateway that a client can change. Its feed cannot change: messages of another provider need
/// another gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Shown in lists.
    pub name: Option<String>,
    /// The device of all messages; `None` to find the device by the identifiers in each message.
    pub device: Option<DeviceId>,
    /// Settings of the feed as a JSON object, as text.
    pub options: String,
}

/// A gateway as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Assigned by the service; never changes.
    pub id: GatewayId,
    /// The account whose devices report through it.
    pub account: AccountId,
    /// As last created or updated.
    pub settings: NewGateway,
    /// Counts changes of the settings.
    #[serde(default = "first_revision")]
    pub revision: Revision,
    /// The user who created it; `None` for the operator.
    pub created_by: Option<UserId>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it; `None` if nobody did.
    #[serde(default)]
    pub last_modified: Option<Timestamp>,
    /// Until when its previous address is accepted too.
    #[serde(default)]
    pub previous_until: Option<Timestamp>,
    /// The health of its messages.
    #[serde(default)]
    pub state: GatewayState,
}

const fn first_revision() -> Revision {
    Revision::FIRST
}

impl Gateway {
    /// Maximum number of gateways of an account.
    pub const COUNT_MAX: u32 = 1_000;
    /// Maximum number of bytes of the settings of a feed.
    pub const OPTIONS_MAX: usize = 16 * 1024;

    /// Settings that are secrets: accepted, used, and not shown again. Decoding does not need them.
    pub const SECRET_OPTIONS: [&'static str; 7] =
        ["password", "apiKey", "token", "feedPassword", "sendKey", "sendPassword", "sendToken"];

    /// The scope of its messages: the devices of its account.
    pub const fn scope(&self) -> Scope {
        Scope::for_gateway(self.account)
    }
}
