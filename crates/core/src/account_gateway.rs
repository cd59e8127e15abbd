//! Gateways of an account: addresses to which a satellite network or a phone sends messages.

use serde::{Deserialize, Serialize};

use crate::actor::Scope;
use crate::feed_health::GatewayState;
use crate::id::{AccountId, DeviceId, GatewayId, UserId};
use crate::time::Timestamp;

/// A gateway to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGateway {
    /// The provider or the app whose messages it takes, for example `osmand`.
    pub feed: String,
    /// Shown in lists; what it is for.
    pub name: Option<String>,
    /// The device of messages that name none, such as a phone with a secret of its own.
    pub device: Option<DeviceId>,
    /// Settings of the feed as a JSON object, as text.
    pub options: String,
    /// SHA-256 of the secret in its address.
    pub secret_hash: [u8; 32],
    /// Whether the service fetches its messages; providers and phones send them otherwise.
    #[serde(default)]
    pub polled: bool,
}

/// A gateway as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Assigned by the service; never changes.
    pub id: GatewayId,
    /// The account whose devices it hears.
    pub account: AccountId,
    /// What was set when it was created.
    pub settings: NewGateway,
    /// The user who created it; `None` for the operator.
    pub created_by: Option<UserId>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// What is known of its messages.
    #[serde(default)]
    pub state: GatewayState,
}

impl Gateway {
    /// Gateways that an account may have.
    pub const COUNT_MAX: u32 = 1_000;
    /// Bytes that the settings of a feed may have.
    pub const OPTIONS_MAX: usize = 16 * 1024;

    /// What its messages may reach: the devices of its account.
    pub const fn scope(&self) -> Scope {
        Scope::for_gateway(self.account)
    }
}
