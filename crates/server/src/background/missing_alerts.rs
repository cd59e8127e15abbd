//! The search for alerts that earlier versions did not store with their messages, once after an upgrade.

use std::time::Duration;

use crate::app::App;

/// Pause between two steps, so that requests are not held up.
const BETWEEN_STEPS: Duration = Duration::from_millis(50);
const AFTER_FAILURE: Duration = Duration::from_mins(1);
/// Pause after all messages were searched. A later migration on another node may require another search.
const AFTER_ALL: Duration = Duration::from_hours(24);

/// Searches some messages; returns the pause until the next step.
pub async fn store_missing_alerts(app: &App) -> Duration {
    match app.reprocessing.store_missing_alerts().await {
        Ok(None) => AFTER_ALL,
        Ok(Some(0)) => BETWEEN_STEPS,
        Ok(Some(alerts)) => {
            tracing::warn!(alerts, "stored alerts that an earlier version had lost");
            BETWEEN_STEPS
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not search for missing alerts");
            AFTER_FAILURE
        }
    }
}
