//! Announces devices that expire. Whether a device is expired is computed from the time and does not depend on this
//! job.

use std::time::Duration;

use crate::app::App;

/// The longest pause: an expiry that was changed meanwhile is announced within this time.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// The shortest pause, when the store's clock is a little behind.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// Announces every expiry that has come or is near, and returns the pause until the next one.
pub async fn announce_expiries(app: &App) -> Duration {
    match app.store.announce_expiries().await {
        Ok(announced) if announced.is_empty() => {}
        Ok(announced) => tracing::info!(devices = announced.len(), "expiries announced"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not announce expiries");
            return LONGEST_REST;
        }
    }
    let next = app.store.next_expiry().await.ok().flatten();
    let millis = next.map_or(i64::MAX, |next| next.as_millis() - app.clock.now().as_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or(0)).clamp(SHORTEST_REST, LONGEST_REST)
}
