//! Sends what waits for one webhook, a few messages at once, until nothing is due any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, WebhookId};
use perigee_core::webhook::{LeasedDelivery, Settlement, Webhook};
use tokio::sync::Notify;

use super::attempt::attempt;
use super::places::{Place, Places};
use crate::app::App;
use crate::config;

/// How much longer a message is lent than an attempt can take, in milliseconds: time to settle it.
const LEASE_MARGIN_MS: i64 = 30_000;

/// Who is being sent to, and how much at once.
#[derive(Debug)]
pub(super) struct Busy {
    /// Each has a task that sends to it, and that is told here of more to send.
    webhooks: Mutex<HashMap<WebhookId, Arc<Notify>>>,
    places: Places,
    per_endpoint: usize,
}

/// Gives a webhook back, also when its task panics.
struct Turn {
    app: App,
    webhook: WebhookId,
    more: Arc<Notify>,
}

impl Turn {
    /// Whether there is more to send after all; if not, the next who finds something begins anew.
    fn goes_on(&self) -> bool {
        let mut webhooks = lock(&self.app.webhooks.busy.webhooks);
        let was_told = self.more.notified().now_or_never().is_some();
        if !was_told {
            webhooks.remove(&self.webhook);
        }
        was_told
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut webhooks = lock(&self.app.webhooks.busy.webhooks);
        if webhooks.get(&self.webhook).is_some_and(|more| Arc::ptr_eq(more, &self.more)) {
            webhooks.remove(&self.webhook);
        }
    }
}

impl Busy {
    pub(super) fn new(settings: &config::Webhooks) -> Self {
        let places = Places::new(settings.concurrency_per_account, settings.concurrency);
        Self { webhooks: Mutex::default(), places, per_endpoint: settings.concurrency_per_endpoint }
    }
}

/// Begins to send to every webhook for which something is due.
pub(super) async fn deliver_all(app: &App) -> Result<(), StoreError> {
    for (account, webhook) in app.store.webhooks_due().await? {
        begin(app, account, webhook);
    }
    Ok(())
}

/// Begins to send to a webhook, or tells who does that there is more.
pub(super) fn begin(app: &App, account: AccountId, webhook: WebhookId) {
    let more = Arc::new(Notify::new());
    {
        let mut webhooks = lock(&app.webhooks.busy.webhooks);
        if let Some(more) = webhooks.get(&webhook) {
            more.notify_one();
            return;
        }
        webhooks.insert(webhook, Arc::clone(&more));
    }
    let turn = Turn { app: app.clone(), webhook, more };
    app.background.spawn(async move {
        loop {
            if let Err(error) = deliver(&turn.app, account, webhook, &turn.more).await {
                tracing::warn!(error = &error as &dyn std::error::Error, %webhook, "could not deliver to a webhook");
            }
            if !turn.goes_on() {
                return;
            }
        }
    });
}

/// Lends, sends and settles until nothing more is due and everything lent is settled.
async fn deliver(app: &App, account: AccountId, id: WebhookId, more: &Notify) -> Result<(), StoreError> {
    let Busy { places, per_endpoint: at_once, .. } = &app.webhooks.busy;
    let room = places.of(account);
    let lease_ms = i64::try_from(app.webhooks.client.timeout.as_millis()).unwrap_or(i64::MAX / 2);
    let lease_ms = lease_ms.saturating_add(LEASE_MARGIN_MS);
    let mut flights = FuturesUnordered::new();
    let mut settled = Vec::new();
    loop {
        let is_stopping = app.signals.stopping().is_cancelled();
        let mut permits = Vec::new();
        if !is_stopping {
            let free = at_once.saturating_sub(flights.len());
            // What has landed is settled before anything else is waited for.
            permits = places.take(&room, free, flights.is_empty() && settled.is_empty()).await;
        }
        let wanted = u32::try_from(permits.len()).unwrap_or(u32::MAX);
        let settling = std::mem::take(&mut settled);
        let lease = app.store.work_deliveries(account, id, settling, wanted, lease_ms).await?;
        let Some(lease) = lease else { return Ok(()) };
        let webhook = Arc::new(lease.webhook);
        for (delivery, permit) in lease.deliveries.into_iter().zip(permits) {
            flights.push(fly(app, Arc::clone(&webhook), delivery, permit));
        }
        if flights.is_empty() {
            if wanted > 0 || is_stopping {
                return Ok(());
            }
            continue;
        }
        // One that takes long keeps nothing new waiting while there is room beside it.
        let has_room = flights.len() < *at_once;
        tokio::select! {
            landed = flights.next() => settled.extend(landed),
            () = more.notified(), if has_room => {}
        }
        while let Some(Some(landed)) = flights.next().now_or_never() {
            settled.push(landed);
        }
    }
}

async fn fly(app: &App, webhook: Arc<Webhook>, delivery: LeasedDelivery, _place: Place) -> Settlement {
    let settlement = attempt(&app.webhooks.client, &webhook, &delivery, app.clock.now()).await;
    let outcome = if settlement.error.is_none() { "delivered" } else { "failed" };
    metrics::counter!("perigee_webhook_attempts_total", "outcome" => outcome).increment(1);
    settlement
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
