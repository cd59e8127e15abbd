//! Saves the unknown devices that were heard and the identifiers that reported from two networks, announces the SOS of
//! unknown devices, and stores the kept messages of devices that were claimed.

use crate::app::App;

/// Saves what was found about identifiers, and stores the kept messages of claimed devices. Findings and heard devices
/// that could not be saved are recorded again when the devices report again.
pub async fn replay_claimed(app: &App) {
    if let Err(error) = app.ingest.networks.save(&*app.store).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "could not save which identifiers reported from two networks"
        );
    }
    match app.reprocessing.replay_claimed().await {
        Ok(0) => {}
        Ok(messages) => tracing::info!(messages, "stored earlier messages of claimed devices"),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not store earlier messages of claimed devices"
            );
        }
    }
}

/// Notifies people of every SOS of unknown and expired devices that was recorded.
pub async fn announce_recorded_sos(app: &App) {
    if let Err(error) = app.store.announce_recorded_sos().await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "an SOS of an unknown or expired device could not be announced; it is tried again"
        );
    }
}
