//! The loop of webhooks: reads new events, stores deliveries, and sends those that are due.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::store::Store;
use perigee_core::time::Clock;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::address::Guard;
use super::client::{Client, ClientError};
use super::deliver::{Sending, deliver_all};
use super::follow::{Cursors, follow_all};
use crate::config;
use crate::event_format::EventFormat;

/// The longest interval between two runs: retries become due, and commits of other nodes are not signalled here.
const RUN_AT_LEAST_EVERY: Duration = Duration::from_secs(1);
/// The shortest interval between two runs.
const RUN_AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// The state of webhooks on a node.
pub struct Webhooks {
    pub(super) parts: WebhookParts,
    pub(super) client: Client,
    pub(super) sending: Sending,
    pub(super) cursors: Cursors,
}

/// Dependencies of reading and sending.
pub struct WebhookParts {
    /// Where log, webhooks and deliveries are.
    pub store: Arc<dyn Store>,
    /// The time of signatures and of the state of devices.
    pub clock: Arc<dyn Clock>,
    /// Ends sending when the service stops.
    pub stopping: CancellationToken,
    /// How events are written.
    pub format: EventFormat,
    /// Awaited when the service stops.
    pub tasks: TaskTracker,
}

impl Webhooks {
    /// Builds the client that sends, as configured.
    pub fn new(parts: WebhookParts, settings: &config::Webhooks) -> Result<Self, ClientError> {
        let guard = Guard::configured(settings);
        Ok(Self {
            parts,
            client: Client::new(guard, Duration::from_secs(settings.timeout_seconds.into()))?,
            sending: Sending::new(settings),
            cursors: Cursors::default(),
        })
    }

    /// Decides which addresses webhooks may have.
    pub fn guard(&self) -> &Guard {
        &self.client.guard
    }
}

/// Serves webhooks until it is stopped.
pub async fn run(webhooks: Arc<Webhooks>, stop: CancellationToken) {
    let mut commits = webhooks.parts.store.commit_signals().of_any_account();
    while !stop.is_cancelled() {
        let begun = Instant::now();
        if let Err(error) = turn(&webhooks).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not look for events and deliveries of webhooks"
            );
        }
        let wait = async {
            sleep_until(begun + RUN_AT_MOST_EVERY).await;
            let _commit_or_timeout = timeout_at(begun + RUN_AT_LEAST_EVERY, commits.changed()).await;
        };
        stop.run_until_cancelled(wait).await;
    }
}

/// Stores deliveries of new events and starts to send those that are due; sending continues in other tasks.
pub async fn turn(webhooks: &Arc<Webhooks>) -> Result<(), StoreError> {
    follow_all(webhooks).await?;
    deliver_all(webhooks).await
}
