//! Takes the steps of escalations that are due. It writes their messages to the outbox, which sends them.

use std::time::Duration;

use metrics::counter;
use perigee_core::error::StoreError;

use crate::app::App;

/// Steps that one run takes.
const STEPS_PER_RUN: u32 = 100;
/// The longest pause: another node may have stored an alert meanwhile.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// The shortest pause, when the store's clock is a little behind.
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// Takes the steps that are due, and returns how long to wait before the next run.
pub async fn escalate(app: &App) -> Duration {
    match take_due(app).await {
        Ok(pause) => pause,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not escalate alerts");
            PAUSE_MAX
        }
    }
}

async fn take_due(app: &App) -> Result<Duration, StoreError> {
    let due = app.store.due_steps(STEPS_PER_RUN).await?;
    let is_full = due.len() >= usize::try_from(STEPS_PER_RUN).unwrap_or(usize::MAX);
    for step in due {
        if app.store.take_step(step).await? {
            counter!("perigee_escalation_steps_total").increment(1);
            tracing::info!(alert = %step.alert, "an alert was not acknowledged; the next step of its escalation was taken");
        }
    }
    if is_full {
        return Ok(PAUSE_MIN);
    }
    let next = app.store.next_step_due().await?;
    let millis = next.map_or(i64::MAX, |next| next.as_millis() - app.clock.now().as_millis());
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)).clamp(PAUSE_MIN, PAUSE_MAX))
}
