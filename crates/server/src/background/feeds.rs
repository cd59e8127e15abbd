//! The jobs that save the health of gateways and make polls that are due.

use std::time::Duration;

use crate::app::App;

/// Pause when no poll is due.
const PAUSE: Duration = Duration::from_secs(2);

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

/// Makes a poll that is due, and returns how long to wait before the next. A poll that is running when the service stops is
/// cancelled, and made again when its lease has ended.
pub async fn poll_feeds(app: &App) -> Duration {
    let Some(polled) = app.signals.stopping().run_until_cancelled(app.poller.turn()).await else {
        return PAUSE;
    };
    match polled {
        Ok(true) => Duration::ZERO,
        Ok(false) => PAUSE,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not store the answer of a provider"
            );
            PAUSE
        }
    }
}
