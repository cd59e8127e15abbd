//! Loads signing keys that an operator rotated while the service runs.

use crate::app::App;

/// Loads newer keys, which other nodes and the command line write to the store.
pub async fn load_signing_keys(app: &App) {
    match app.access.authenticator.load_keys().await {
        Ok(true) => tracing::info!("new tokens are signed with a new key"),
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not look for newer signing keys");
        }
    }
}
