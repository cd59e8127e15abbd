//! Compacts the location log into chunks, and trims the logs.

use std::time::{Duration, Instant};

use perigee_core::locations::location::CompactionBudget;

use crate::app::App;

/// Maximum number of devices that one call compacts.
const BUDGET: CompactionBudget = CompactionBudget { devices: 64, everything: false };
/// Pause when there is nothing to compact.
const IDLE: Duration = Duration::from_secs(2);

/// Compacts due locations, and returns the pause until the next call. During a backlog the pause is as long as the work,
/// which leaves half of a core free; a backlog that fills memory is compacted without pause.
pub async fn compact_locations(app: &App) -> Duration {
    let begun = Instant::now();
    app.health.compaction.set_running(true);
    let done = app.store.compact(BUDGET).await;
    app.health.compaction.set_running(false);
    if let Ok(done) = &done {
        app.health.compaction.add(done.locations);
    }
    match done {
        Ok(done) if done.pressed => Duration::ZERO,
        Ok(done) if done.more => begun.elapsed(),
        Ok(_) => IDLE,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not compact locations");
            IDLE
        }
    }
}

/// Retention of deliveries to webhooks, in milliseconds: seven days.
const DELIVERIES_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Trims the logs to the retention of the location feed and of events, and deletes old deliveries to webhooks.
pub async fn trim_logs(app: &App) {
    let kept_ms = app.config.events.kept_ms();
    match app.store.trim_location_log(kept_ms).await {
        Ok(rows) => tracing::debug!(rows, "trimmed the location log"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not trim the location log");
        }
    }
    match app.store.trim_events(kept_ms).await {
        Ok(rows) => tracing::debug!(rows, "trimmed the event log"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not trim the event log");
        }
    }
    match app.store.trim_deliveries(DELIVERIES_KEPT_MS).await {
        Ok(rows) => tracing::debug!(rows, "deleted old deliveries to webhooks"),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not delete old deliveries to webhooks"
            );
        }
    }
}
