//! Webhooks and what is on its way to them.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::{AccountId, DeliveryId, WebhookId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::webhook::{
    DeliveryState, Lease, NewDelivery, Settlement, Webhook, WebhookDelivery, WebhookSecret, WebhookSettings,
};

/// Webhooks of an account, as its admins see them.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Adds one that is told of what happens from now on; devices and groups it names must be the account's.
    async fn create_webhook(
        &self,
        actor: &Actor,
        settings: WebhookSettings,
        secret: WebhookSecret,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Webhook>>;

    /// One of the account's.
    async fn find_webhook(&self, scope: Scope, id: WebhookId) -> Result<Option<Webhook>>;

    /// The account's, by id.
    async fn list_webhooks(&self, scope: Scope, page: PageRequest) -> Result<Page<Webhook>>;

    /// Changes what a client can set, on condition that nobody did meanwhile. Switched on again, it goes on where it
    /// stopped.
    async fn replace_webhook(
        &self,
        actor: &Actor,
        id: WebhookId,
        seen: Revision,
        settings: WebhookSettings,
    ) -> Result<Webhook>;

    /// Signs with another secret from now on, and with the present one too until an instant.
    async fn rotate_webhook_secret(
        &self,
        actor: &Actor,
        id: WebhookId,
        secret: WebhookSecret,
        until: Timestamp,
    ) -> Result<Webhook>;

    /// Removes it and what was on its way to it.
    async fn delete_webhook(&self, actor: &Actor, id: WebhookId, seen: Option<Revision>) -> Result<()>;

    /// Its deliveries, newest first, in one state or any; `after` is the id of the last one seen.
    async fn list_deliveries(
        &self,
        scope: Scope,
        webhook: WebhookId,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>>;

    /// Sends a message that is no event, to try the webhook.
    async fn add_delivery(
        &self,
        actor: &Actor,
        webhook: WebhookId,
        new: NewDelivery,
    ) -> Result<WebhookDelivery>;

    /// Tries a delivery again from now on, whatever became of it.
    async fn retry_delivery(
        &self,
        actor: &Actor,
        webhook: WebhookId,
        delivery: DeliveryId,
    ) -> Result<WebhookDelivery>;
}

/// What workers do for webhooks of every account.
#[async_trait]
pub trait WebhookWork: Send + Sync {
    /// Webhooks that are switched on, behind their log and not overwhelmed already.
    async fn webhooks_behind(&self) -> Result<Vec<Webhook>>;

    /// Takes events for a webhook: moves it on in its log and adds what is to be delivered, both or neither. No when
    /// it is not at `from` any more, since another node was quicker.
    async fn advance_webhook(
        &self,
        account: AccountId,
        id: WebhookId,
        from: i64,
        to: i64,
        deliveries: Vec<NewDelivery>,
    ) -> Result<bool>;

    /// Notes that a webhook's place in the log is gone, and moves it to the beginning of what is kept.
    async fn note_webhook_gap(&self, account: AccountId, id: WebhookId) -> Result<()>;

    /// Webhooks that something can be sent to now.
    async fn webhooks_due(&self) -> Result<Vec<(AccountId, WebhookId)>>;

    /// Settles attempts and lends further deliveries for so long. Nothing is lent of a webhook that is switched off
    /// or asked for rest; none when it is gone.
    async fn work_deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        settled: Vec<Settlement>,
        wanted: u32,
        lease_ms: i64,
    ) -> Result<Option<Lease>>;

    /// Gives up deliveries whose time is over, and forgets those made this long ago that do not wait. Gives how many
    /// were forgotten.
    async fn trim_deliveries(&self, keep_ms: i64) -> Result<u64>;
}
