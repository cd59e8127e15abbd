//! The jobs that save the health of gateways and make polls that are due.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use tokio::sync::{Notify, Semaphore};
use tokio_util::task::TaskTracker;

use crate::app::App;

/// Pause when no poll is due.
const REST: Duration = Duration::from_secs(5);

/// Saves what arrived at gateways, and announces refused requests and late gateways.
pub async fn watch_feeds(app: &App) {
    let watched = async {
        app.ingest.save_feed_reports().await?;
        app.ingest.save_raw_usage().await?;
        app.ingest.announce_late_feeds().await
    };
    if let Err(error) = watched.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the health of gateways");
    }
}

/// Polls that a node makes at the same time: providers that hang do not delay those of others. An account has few of them.
const POLLS_AT_ONCE: usize = 16;

/// The polls of a node that are under way.
#[derive(Debug)]
pub struct Polls {
    slots: Arc<Semaphore>,
    /// Told when one ends: its account may have another.
    ended: Notify,
}

impl Default for Polls {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(POLLS_AT_ONCE)), ended: Notify::new() }
    }
}

impl Polls {
    /// Waits until a poll ends, or for the usual pause.
    async fn rest(&self, app: &App) -> Duration {
        let ended = tokio::time::timeout(REST, self.ended.notified());
        app.signals.stopping().run_until_cancelled(ended).await;
        Duration::ZERO
    }
}

/// Starts a poll that is due once fewer than are allowed are under way, and gives the pause until the next look. One task
/// looks for all of them. A poll that is under way when the service stops is given up: it is made again after its lease.
pub async fn poll_feeds(app: &App, polls: &Arc<Polls>, tasks: &TaskTracker) -> Duration {
    let lease = async {
        let permit = Arc::clone(&polls.slots).acquire_owned().await.ok()?;
        Some((app.poller.lease().await, permit))
    };
    let Some(Some((leased, permit))) = app.signals.stopping().run_until_cancelled(lease).await else {
        return REST;
    };
    match leased {
        Ok(Some(poll)) => {
            let (app, polls) = (app.clone(), Arc::clone(polls));
            tasks.spawn(async move {
                let made = app.signals.stopping().run_until_cancelled(app.poller.make(&poll)).await;
                if let Some(Err(error)) = made {
                    warn(&error);
                }
                drop(permit);
                polls.ended.notify_one();
            });
            Duration::ZERO
        }
        Ok(None) => polls.rest(app).await,
        Err(error) => {
            warn(&error);
            REST
        }
    }
}

fn warn(error: &StoreError) {
    tracing::warn!(error = error as &dyn std::error::Error, "could not store what a provider answered");
}
