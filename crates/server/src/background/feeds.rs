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
        app.ingest.feeds.save(&*app.store).await?;
        app.ingest.raw.save(&*app.store).await?;
        let announced = app.store.announce_late_gateways().await?;
        metrics::counter!("perigee_feed_events_total", "type" => "feed.late").increment(announced);
        Ok::<_, StoreError>(())
    };
    if let Err(error) = watched.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the health of gateways");
    }
}

/// Maximum number of parallel polls of a node, so that slow providers do not delay others. The store limits the polls
/// of one account.
const POLLS_AT_ONCE: usize = 16;

/// The running polls of a node.
#[derive(Debug)]
pub struct Polls {
    slots: Arc<Semaphore>,
    /// Notified when a poll ends, because another poll of its account may then start.
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
        app.tasks.stopping.run_until_cancelled(ended).await;
        Duration::ZERO
    }
}

/// Starts a due poll once fewer than the maximum are running, and returns the pause until the next search for a due
/// poll. A poll that is running at shutdown is aborted, and repeated after its lease.
pub async fn poll_feeds(app: &App, polls: &Arc<Polls>, tasks: &TaskTracker) -> Duration {
    let lease = async {
        let permit = Arc::clone(&polls.slots).acquire_owned().await.ok()?;
        Some((app.poller.lease().await, permit))
    };
    let Some(Some((leased, permit))) = app.tasks.stopping.run_until_cancelled(lease).await else {
        return REST;
    };
    match leased {
        Ok(Some(poll)) => {
            let (app, polls) = (app.clone(), Arc::clone(polls));
            tasks.spawn(async move {
                let made = app.tasks.stopping.run_until_cancelled(app.poller.make(&poll)).await;
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
    tracing::warn!(error = error as &dyn std::error::Error, "could not store the answer of a provider");
}
