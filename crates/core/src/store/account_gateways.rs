//! Gateways of accounts, and what arrives by them.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use crate::gateways::gateway::{MessageResult, NewMessage, Reporter};
use crate::id::{AccountId, DeviceId, GatewayId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;

/// Reads and changes of gateways. They concern the whole account: who sees a part of it sees none.
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

    /// Replaces the settings if the revision is still `seen`. A fetched gateway whose options change is fetched at once,
    /// from the beginning unless only secrets changed.
    async fn replace_gateway(
        &self,
        actor: &Actor,
        id: GatewayId,
        seen: Revision,
        settings: GatewaySettings,
    ) -> Result<Gateway>;

    /// Gives a gateway a new secret. The present one is answered too until `until`; the one before it no longer.
    async fn renew_gateway_secret(
        &self,
        actor: &Actor,
        id: GatewayId,
        secret_hash: [u8; 32],
        until: Timestamp,
    ) -> Result<Gateway>;

    /// Deletes a gateway, which stops it at once. What is needed to decode its messages again stays. With `unless_messages_since` it is refused ([`crate::error::StoreError::InUse`]) if a message
    /// came by it since then.
    async fn delete_gateway(
        &self,
        actor: &Actor,
        id: GatewayId,
        seen: Option<Revision>,
        unless_messages_since: Option<Timestamp>,
    ) -> Result<()>;

    /// Finds the gateway that a message came by, also if it was deleted since: its feed, device and options are those of
    /// the time when it was deleted.
    async fn find_message_gateway(&self, account: AccountId, id: GatewayId) -> Result<Option<Gateway>>;

    /// Finds the gateway whose secret has this hash, or had it before it was renewed.
    async fn find_gateway(&self, secret_hash: [u8; 32]) -> Result<Option<Gateway>>;

    /// Finds devices of the gateway's account, one for each list of identifiers, which are tried in order; of a gateway with
    /// a device of its own always that one. One read, however many lists there are.
    async fn find_gateway_devices(
        &self,
        gateway: &Gateway,
        identifiers: Vec<Vec<String>>,
    ) -> Result<Vec<Option<Reporter>>>;

    /// Stores a message without locations: that of no device, of several, or a test of one.
    async fn store_gateway_message(
        &self,
        gateway: &Gateway,
        device: Option<DeviceId>,
        message: NewMessage,
        result: MessageResult,
    ) -> Result<()>;
}
