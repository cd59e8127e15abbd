//! Messages of conversations that providers deliver: handed over when they are due.

use std::time::Duration;

use crate::app::App;

/// Pause when nothing is due. A message of this node ends it early.
const REST: Duration = Duration::from_secs(5);

/// Runs one round, and returns the pause until the next one.
pub async fn hand_over_messages(app: &App) -> Duration {
    match app.downlinks.turn().await {
        Ok(0) => REST,
        Ok(_) => Duration::ZERO,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not hand over messages");
            REST
        }
    }
}
