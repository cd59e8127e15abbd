//! Gateways of accounts, and their messages.

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use crate::gateways::gateway::Reporter;
use crate::gateways::message_contents::RequestMessage;
use crate::id::{AccountId, GatewayId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::store::Result;
use crate::time::Timestamp;

/// Reads and changes of gateways. Gateways concern the whole account: a user who sees only a part of it sees none.
#[async_trait]
pub trait AccountGateways: Send + Sync {
    /// Creates a gateway. Refused if the account has [`Gateway::COUNT_MAX`], or does not have the device.
    async fn create_gateway(
        &self,
        actor: &Actor,
        new: NewGateway,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Gateway>>;

    /// Lists the gateways of the account, by id.
    async fn list_gateways(&self, scope: Scope, page: PageRequest) -> Result<Page<Gateway>>;

    /// Replaces the settings if the revision is still `seen`. A polled gateway whose options change is polled at once,
    /// from the beginning unless only secrets changed.
    async fn replace_gateway(
        &self,
        actor: &Actor,
        id: GatewayId,
        seen: Revision,
        settings: GatewaySettings,
    ) -> Result<Gateway>;

    /// Gives a gateway a new secret. The current secret stays valid until `until`; the one before it becomes invalid.
    async fn renew_gateway_secret(
        &self,
        actor: &Actor,
        id: GatewayId,
        secret_hash: [u8; 32],
        until: Timestamp,
    ) -> Result<Gateway>;

    /// Deletes a gateway, which stops it immediately. The settings for decoding its messages again are kept. With
    /// `unless_messages_since` it is refused ([`crate::error::StoreError::InUse`]) if it received a message since then.
    async fn delete_gateway(
        &self,
        actor: &Actor,
        id: GatewayId,
        seen: Option<Revision>,
        unless_messages_since: Option<Timestamp>,
    ) -> Result<()>;

    /// The gateways of the scope's account with this feed, by id, whatever the reach: for sending to a device that the
    /// caller may see.
    async fn gateways_of_feed(&self, scope: Scope, feed: &'static str) -> Result<Vec<Gateway>>;

    /// Finds the gateway that received a message, even if it was deleted since: its feed, device and options are those
    /// at its deletion.
    async fn find_message_gateway(&self, account: AccountId, id: GatewayId) -> Result<Option<Gateway>>;

    /// Finds the gateway whose secret has this hash, or had it before it was renewed.
    async fn find_gateway(&self, secret_hash: [u8; 32]) -> Result<Option<Gateway>>;

    /// Finds devices of the gateway's account, one for each list of identifiers, which are tried in order. If the
    /// gateway has a device, it is found for every list. All lists take one read.
    async fn find_gateway_devices(
        &self,
        gateway: &Gateway,
        identifiers: Vec<Vec<String>>,
    ) -> Result<Vec<Option<Reporter>>>;

    /// Stores a message without locations: from an unknown device, or a test.
    async fn store_gateway_message(&self, gateway: &Gateway, message: RequestMessage) -> Result<()>;
}
