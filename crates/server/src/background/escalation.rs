//! Takes the steps of escalations that are due. Sending their messages is left to the outbox.

use std::time::Duration;

use metrics::counter;
use perigee_core::error::StoreError;

use crate::app::App;

/// Steps that one run takes.
const AT_ONCE: u32 = 100;
/// The longest pause: another node may have stored an alert meanwhile.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// The shortest pause, when the store's clock is a little behind.
const SHORTEST_REST: Duration = Duration::from_millis(100);

/// Takes the steps that are due, and gives the pause until the next.
pub async fn escalate(app: &App) -> Duration {
    match take_due(app).await {
        Ok(rest) => rest,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not escalate alerts");
            LONGEST_REST
        }
    }
}

async fn take_due(app: &App) -> Result<Duration, StoreError> {
    let due = app.store.due_steps(AT_ONCE).await?;
    let is_full = due.len() >= usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
    for step in due {
        if app.store.take_step(step).await? {
            counter!("perigee_escalation_steps_total").increment(1);
            tracing::info!(alert = %step.alert, "nobody acknowledged an alert; its next step was taken");
        }
    }
    if is_full {
        return Ok(SHORTEST_REST);
    }
    let next = app.store.next_step_due().await?;
    let millis = next.map_or(i64::MAX, |next| next.as_millis() - app.clock.now().as_millis());
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)).clamp(SHORTEST_REST, LONGEST_REST))
}
