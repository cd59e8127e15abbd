//! Saves what is counted in memory and forgets what is over.

use crate::app::App;

/// Saves the calls and the openings of share links that were counted. What cannot be saved now is kept for the next
/// time.
pub async fn save_usage(app: &App) {
    if let Err(error) = app.usage.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of calls");
    }
    if let Err(error) = app.views.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of views");
    }
}

/// Forgets sessions, links and idempotency keys that are over.
pub async fn forget_expired(app: &App) {
    match app.store.forget_expired().await {
        Ok(rows) => tracing::debug!(rows, "forgot what is over"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not forget what is over");
        }
    }
}
