//! Evaluates rules off the threads that serve connections, a part of a history at a time.

use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use perigee_core::error::StoreError;
use perigee_core::location::StoredLocation;
use perigee_core::rule::{Evaluation, Evaluator, Rule, RuleFences};
use perigee_core::time::Timestamp;
use tokio::sync::Semaphore;

/// An evaluator that can be moved to another thread.
pub(super) type SharedEvaluator = Evaluator<Arc<Rule>, Arc<RuleFences>>;

/// Locations times rules up to which evaluation runs on the caller's thread: some tens of microseconds.
const INLINE_MAX: usize = 1_000;

/// Parts evaluated at the same time, of all accounts; the others queue in order. One core is left for requests.
static PERMITS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from).max(2) - 1));

/// Evaluates locations, in order of time.
pub(super) async fn see(
    mut judge: SharedEvaluator,
    part: Vec<StoredLocation>,
) -> Result<SharedEvaluator, StoreError> {
    let cost = part.len().saturating_mul(judge.rule_count());
    let work = move || {
        for stored in part {
            judge.push(stored);
        }
        judge
    };
    if cost <= INLINE_MAX {
        return Ok(work());
    }
    compute(work).await
}

/// Evaluates the last locations and returns the result.
pub(super) async fn finish(
    judge: SharedEvaluator,
    part: Vec<StoredLocation>,
    now: Timestamp,
) -> Result<Evaluation, StoreError> {
    Ok(see(judge, part).await?.finish(now))
}

/// Runs on the blocking pool, once there is a permit.
async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let permit = PERMITS.acquire().await.map_err(|closed| StoreError::Internal(closed.into()))?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(permit);
        done
    });
    done.await.map_err(|lost| StoreError::Internal(lost.into()))
}
