//! Webhooks and their deliveries.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::id::{AccountId, DeliveryId, WebhookId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::webhooks::webhook::{
    DeliveryLease, DeliveryState, NewDelivery, Settlement, Webhook, WebhookDelivery, WebhookSecret,
    WebhookSettings,
};

/// Webhooks of an account, as its admins see them.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Creates a webhook that gets events from now on. Devices and groups it names must belong to the account.
    async fn create_webhook(
        &self,
        actor: &Actor,
        settings: WebhookSettings,
        secret: WebhookSecret,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Webhook>>;

    /// Finds a webhook of the account.
    async fn find_webhook(&self, scope: Scope, id: WebhookId) -> Result<Option<Webhook>>;

    /// Lists the webhooks of the account, by id.
    async fn list_webhooks(&self, scope: Scope, page: PageRequest) -> Result<Page<Webhook>>;

    /// Replaces the settings if the revision is still `seen`. When enabled again, the webhook continues where it
    /// stopped.
    async fn replace_webhook(
        &self,
        actor: &Actor,
        id: WebhookId,
        seen: Revision,
        settings: WebhookSettings,
    ) -> Result<Webhook>;

    /// Signs with a new secret from now on, and also with the old one until `until`.
    async fn rotate_webhook_secret(
        &self,
        actor: &Actor,
        id: WebhookId,
        secret: WebhookSecret,
        until: Timestamp,
    ) -> Result<Webhook>;

    /// Deletes a webhook with its deliveries.
    async fn delete_webhook(&self, actor: &Actor, id: WebhookId, seen: Option<Revision>) -> Result<()>;

    /// Lists its deliveries, newest first, in one state or any; `after` is the id of the last one seen.
    async fn list_deliveries(
        &self,
        scope: Scope,
        webhook: WebhookId,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Page<WebhookDelivery>>;

    /// Adds a delivery that is not an event, to test the webhook.
    async fn add_delivery(
        &self,
        actor: &Actor,
        webhook: WebhookId,
        new: NewDelivery,
    ) -> Result<WebhookDelivery>;

    /// Schedules a delivery again, whatever its state.
    async fn retry_delivery(
        &self,
        actor: &Actor,
        webhook: WebhookId,
        delivery: DeliveryId,
    ) -> Result<WebhookDelivery>;
}

/// Background work for webhooks of all accounts.
#[async_trait]
pub trait WebhookWork: Send + Sync {
    /// Lists enabled webhooks that have unread events and few waiting deliveries.
    async fn webhooks_behind(&self) -> Result<Vec<Webhook>>;

    /// Moves a webhook's cursor and adds the deliveries for the events passed, in one transaction. Returns false if
    /// the cursor is no longer at `from`, because another node was faster.
    async fn advance_webhook(
        &self,
        account: AccountId,
        id: WebhookId,
        from: i64,
        to: i64,
        deliveries: Vec<NewDelivery>,
    ) -> Result<bool>;

    /// Records that events at a webhook's cursor were trimmed, and moves the cursor to the oldest stored event.
    async fn record_webhook_gap(&self, account: AccountId, id: WebhookId) -> Result<()>;

    /// Lists webhooks with deliveries that can be sent now.
    async fn webhooks_due(&self) -> Result<Vec<(AccountId, WebhookId)>>;

    /// Settles attempts and leases further deliveries for `lease_ms`. A disabled or paused webhook gets none; `None`
    /// if it was deleted.
    async fn settle_and_lease_deliveries(
        &self,
        account: AccountId,
        webhook: WebhookId,
        settled: Vec<Settlement>,
        wanted: u32,
        lease_ms: i64,
    ) -> Result<Option<DeliveryLease>>;

    /// Gives up expired deliveries, and deletes those created longer than `keep_ms` ago that are not waiting. Returns
    /// how many were deleted.
    async fn trim_deliveries(&self, keep_ms: i64) -> Result<u64>;
}
