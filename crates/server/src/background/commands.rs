//! Waiting commands: wakes devices that are connected here, and marks expired commands.

use crate::app::App;

/// Runs one round. Failed parts are repeated in the next.
pub async fn run_commands(app: &App) {
    if let Err(error) = app.ingest.commands.run().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not read queued commands");
    }
}
