//! Saves which unknown devices were heard, and stores what was kept of those that were claimed.

use crate::app::App;

/// Saves and stores it. What could not be saved is lost, and its devices are heard again.
pub async fn replay_claimed(app: &App) {
    match app.ingest.replay_claimed().await {
        Ok(0) => {}
        Ok(messages) => tracing::info!(messages, "stored what claimed devices had sent before"),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not store what claimed devices had sent before"
            );
        }
    }
}
