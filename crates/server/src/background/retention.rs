//! Deletes locations that were kept as long as their accounts and devices want.

use crate::app::App;

/// Deletes what is older than its retention. What fails is tried again the next time.
pub async fn retire_locations(app: &App) {
    match app.store.retire_locations().await {
        Ok(0) => {}
        Ok(locations) => tracing::info!(locations, "deleted locations by their retention"),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not delete locations by their retention"
            );
        }
    }
}
