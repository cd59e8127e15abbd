//! Health of feeds, and polls that are due.

use std::time::Duration;

use crate::app::App;

/// Pause when no poll is due.
const REST: Duration = Duration::from_secs(2);

/// Saves what came by gateways, and announces those that refused requests or are late.
pub async fn watch_feeds(app: &App) {
    let watched = async {
        app.ingest.save_feed_reports().await?;
        app.ingest.announce_late_feeds().await
    };
    if let Err(error) = watched.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save how feeds are doing");
    }
}

/// Makes a poll that is due, and gives the pause until the next. A poll that is under way when the service stops is given
/// up: it is made again after its lease.
pub async fn poll_feeds(app: &App) -> Duration {
    let Some(polled) = app.signals.stopping().run_until_cancelled(app.poller.turn()).await else {
        return REST;
    };
    match polled {
        Ok(true) => Duration::ZERO,
        Ok(false) => REST,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not store what a provider answered"
            );
            REST
        }
    }
}
