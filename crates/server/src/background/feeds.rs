//! The jobs that save the health of gateways and make polls that are due.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::app::App;

/// Pause when no poll is due.
const REST: Duration = Duration::from_secs(5);

/// Saves what arrived at gateways, and announces refused requests and late gateways.
pub async fn watch_feeds(app: &App) {
    let watched = async {
        app.ingest.save_feed_reports().await?;
        app.ingest.announce_late_feeds().await
    };
    if let Err(error) = watched.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the health of gateways");
    }
}

/// Starts a poll that is due once fewer than `polls` allows are under way, and gives the pause until the next look. One task
/// looks for all of them. A poll that is under way when the service stops is given up: it is made again after its lease.
pub async fn poll_feeds(app: &App, polls: Arc<Semaphore>, tasks: &TaskTracker) -> Duration {
    let lease = async {
        let permit = polls.acquire_owned().await.ok()?;
        Some((app.poller.lease().await, permit))
    };
    let Some(Some((leased, permit))) = app.signals.stopping().run_until_cancelled(lease).await else {
        return REST;
    };
    match leased {
        Ok(Some(poll)) => {
            let app = app.clone();
            tasks.spawn(async move {
                let _permit = permit;
                let made = app.signals.stopping().run_until_cancelled(app.poller.make(&poll)).await;
                if let Some(Err(error)) = made {
                    warn(&error);
                }
            });
            Duration::ZERO
        }
        Ok(None) => REST,
        Err(error) => {
            warn(&error);
            REST
        }
    }
}

fn warn(error: &StoreError) {
    tracing::warn!(error = error as &dyn std::error::Error, "could not store what a provider answered");
}
