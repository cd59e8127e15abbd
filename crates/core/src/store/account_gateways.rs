//! Gateways of accounts, and what arrives by them.

use async_trait::async_trait;

use super::Result;
use crate::account_gateway::{Gateway, NewGateway};
use crate::actor::{Actor, Scope};
use crate::gateway::{MessageResult, NewMessage, Reporter};
use crate::id::{DeviceId, GatewayId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};

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

    /// Deletes a gateway, which stops it at once.
    async fn delete_gateway(&self, actor: &Actor, id: GatewayId) -> Result<()>;

    /// Finds the gateway whose secret has this hash.
    async fn find_gateway(&self, secret_hash: [u8; 32]) -> Result<Option<Gateway>>;

    /// Finds the device of the gateway's account that has one of these identifiers, which are tried in order; without
    /// identifiers, the gateway's own device.
    async fn find_gateway_device(
        &self,
        gateway: &Gateway,
        identifiers: &[String],
    ) -> Result<Option<Reporter>>;

    /// Stores a message without locations: that of no device, of several, or a test of one.
    async fn store_gateway_message(
        &self,
        gateway: &Gateway,
        device: Option<DeviceId>,
        message: NewMessage,
        result: MessageResult,
    ) -> Result<()>;
}
