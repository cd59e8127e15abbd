//! Commands that wait: wakes devices that are connected here, and notes deadlines that are over.

use crate::app::App;

/// Does one round. What it could not do is done in the next.
pub async fn run_commands(app: &App) {
    if let Err(error) = app.ingest.run_commands().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not look for queued commands");
    }
}
