//! Announces devices that expire. Their state follows from the instant and never waits for this.

use std::time::Duration;

use crate::app::App;

/// The longest rest: a change made meanwhile is announced no later than this.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// The shortest rest, when the store's clock is a little behind ours.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// Announces every expiry that has come or is near, and says how long to rest until the next one.
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
