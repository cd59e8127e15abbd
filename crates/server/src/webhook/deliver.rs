//! Sends the deliveries of one webhook, a few at the same time, until none is due.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, WebhookId};
use perigee_core::webhooks::webhook::{LeasedDelivery, Settlement, Webhook};
use tokio::sync::Notify;

use super::attempt::attempt;
use super::permits::{Permit, Permits};
use super::run::Webhooks;
use crate::config;

/// Milliseconds by which a lease is longer than an attempt can take, to store the outcome.
const LEASE_MARGIN_MS: i64 = 30_000;

/// The webhooks that are being sent to, and the limits on sending.
#[derive(Debug)]
pub(super) struct Sending {
    /// One task sends to each of these; it is notified when there is more to send.
    webhooks: Mutex<HashMap<WebhookId, Arc<Notify>>>,
    permits: Permits,
    per_endpoint: usize,
}

/// Marks a webhook as being sent to, until it is dropped, also by a panic.
struct SendTask {
    webhooks: Arc<Webhooks>,
    webhook: WebhookId,
    more: Arc<Notify>,
}

impl SendTask {
    /// Whether more was found meanwhile; if not, the next delivery starts a new task.
    fn has_more(&self) -> bool {
        let mut running = self.webhooks.sending.webhooks.lock();
        let was_notified = self.more.notified().now_or_never().is_some();
        if !was_notified {
            running.remove(&self.webhook);
        }
        was_notified
    }
}

impl Drop for SendTask {
    fn drop(&mut self) {
        let mut running = self.webhooks.sending.webhooks.lock();
        if running.get(&self.webhook).is_some_and(|more| Arc::ptr_eq(more, &self.more)) {
            running.remove(&self.webhook);
        }
    }
}

impl Sending {
    pub(super) fn new(settings: &config::Webhooks) -> Self {
        let permits = Permits::new(settings.concurrency_per_account, settings.concurrency);
        Self { webhooks: Mutex::default(), permits, per_endpoint: settings.concurrency_per_endpoint }
    }
}

/// Starts to send to every webhook for which a delivery is due.
pub(super) async fn deliver_all(webhooks: &Arc<Webhooks>) -> Result<(), StoreError> {
    for (account, webhook) in webhooks.parts.store.webhooks_due().await? {
        begin(webhooks, account, webhook);
    }
    Ok(())
}

/// Starts a task that sends to a webhook, or notifies the one that runs.
pub(super) fn begin(webhooks: &Arc<Webhooks>, account: AccountId, webhook: WebhookId) {
    let more = Arc::new(Notify::new());
    {
        let mut running = webhooks.sending.webhooks.lock();
        if let Some(more) = running.get(&webhook) {
            more.notify_one();
            return;
        }
        running.insert(webhook, Arc::clone(&more));
    }
    let task = SendTask { webhooks: Arc::clone(webhooks), webhook, more };
    webhooks.parts.tasks.spawn(async move {
        loop {
            if let Err(error) = deliver(&task.webhooks, account, webhook, &task.more).await {
                tracing::warn!(error = &error as &dyn std::error::Error, %webhook, "could not deliver to a webhook");
            }
            if !task.has_more() {
                return;
            }
        }
    });
}

/// Leases, sends and settles deliveries until none is due and every lease is settled.
async fn deliver(
    webhooks: &Webhooks,
    account: AccountId,
    id: WebhookId,
    more: &Notify,
) -> Result<(), StoreError> {
    let Sending { permits: limits, per_endpoint, .. } = &webhooks.sending;
    let of_account = limits.of(account);
    let lease_ms = i64::try_from(webhooks.client.timeout.as_millis()).unwrap_or(i64::MAX / 2);
    let lease_ms = lease_ms.saturating_add(LEASE_MARGIN_MS);
    let mut in_flight = FuturesUnordered::new();
    let mut settled = Vec::new();
    loop {
        let is_stopping = webhooks.parts.stopping.is_cancelled();
        let mut permits = Vec::new();
        if !is_stopping {
            let free = per_endpoint.saturating_sub(in_flight.len());
            // Outcomes are stored before a permit is waited for.
            permits = limits.take(&of_account, free, in_flight.is_empty() && settled.is_empty()).await;
        }
        let wanted = u32::try_from(permits.len()).unwrap_or(u32::MAX);
        let settling = std::mem::take(&mut settled);
        let lease =
            webhooks.parts.store.settle_and_lease_deliveries(account, id, settling, wanted, lease_ms).await?;
        let Some(lease) = lease else { return Ok(()) };
        let webhook = Arc::new(lease.webhook);
        for (delivery, permit) in lease.deliveries.into_iter().zip(permits) {
            in_flight.push(send(webhooks, Arc::clone(&webhook), delivery, permit));
        }
        if in_flight.is_empty() {
            if wanted > 0 || is_stopping {
                return Ok(());
            }
            continue;
        }
        // A slow delivery does not delay a new one while the limit allows both.
        let has_room = in_flight.len() < *per_endpoint;
        tokio::select! {
            ended = in_flight.next() => settled.extend(ended),
            () = more.notified(), if has_room => {}
        }
        while let Some(Some(ended)) = in_flight.next().now_or_never() {
            settled.push(ended);
        }
    }
}

async fn send(
    webhooks: &Webhooks,
    webhook: Arc<Webhook>,
    delivery: LeasedDelivery,
    _permit: Permit,
) -> Settlement {
    let settlement = attempt(&webhooks.client, &webhook, &delivery, webhooks.parts.clock.now()).await;
    let outcome = if settlement.error.is_none() { "delivered" } else { "failed" };
    metrics::counter!("perigee_webhook_attempts_total", "outcome" => outcome).increment(1);
    settlement
}
