//! Deletes locations that are older than the retention of their account or device.

use crate::app::App;

/// Deletes expired locations. After a failure it is tried again the next time.
pub async fn delete_expired_locations(app: &App) {
    match app.store.delete_expired_locations().await {
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
