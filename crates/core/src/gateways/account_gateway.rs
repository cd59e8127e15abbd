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
    /// Shown in lists; what it is for.
    pub name: Option<String>,
    /// The device of all messages, such as a phone with a secret of its own; `None` to find it by their identifiers.
    pub device: Option<DeviceId>,
    /// Settings of the feed as a JSON object, as text.
    pub options: String,
    /// SHA-256 of the secret in its address.
    pub secret_hash: [u8; 32],
    /// Whether the service fetches its messages; providers and phones send them otherwise.
    #[serde(default)]
    pub polled: bool,
}

/// What a client can change of a gateway. Its feed stays: messages of another provider come to another gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Shown in lists; what it is for.
    pub name: Option<String>,
    /// The device of all messages; `None` to find it by their identifiers.
    pub device: Option<DeviceId>,
    /// Settings of the feed as a JSON object, as text.
    pub options: String,
}

/// A gateway as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Assigned by the service; never changes.
    pub id: GatewayId,
    /// The account whose devices it hears.
    pub account: AccountId,
    /// Its settings as of now.
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
    /// Until when the address before the present one is answered too.
    #[serde(default)]
    pub previous_until: Option<Timestamp>,
    /// What is known of its messages.
    #[serde(default)]
    pub state: GatewayState,
}

const fn first_revision() -> Revision {
    Revision::FIRST
}

impl Gateway {
    /// Gateways that an account may have.
    pub const COUNT_MAX: u32 = 1_000;
    /// Bytes that the settings of a feed may have.
    pub const OPTIONS_MAX: usize = 16 * 1024;

    /// Settings that are secrets: accepted, used, and not shown again. Decoding does not need them.
    pub const SECRET_OPTIONS: [&'static str; 4] = ["password", "apiKey", "token", "feedPassword"];

    /// What its messages may reach: the devices of its account.
    pub const fn scope(&self) -> Scope {
        Scope::for_gateway(self.account)
    }
}
