//! Rules judge locations off the threads that serve connections, a piece at a time.

use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use perigee_core::error::StoreError;
use perigee_core::location::StoredLocation;
use perigee_core::rule::{Judge, Judgement, Rule, RuleFences};
use perigee_core::time::Timestamp;
use tokio::sync::Semaphore;

/// A judge that can be sent to another thread.
pub(crate) type SharedJudge = Judge<Arc<Rule>, Arc<RuleFences>>;

/// Locations times rules that are judged where the caller is: some tens of microseconds.
const SMALL: usize = 1_000;

/// Pieces judged at once, of all accounts; who waits is served in the order of arrival. One core is left for others.
static PLACES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from).max(2) - 1));

/// Shows locations to a judge.
pub(crate) async fn see(
    mut judge: SharedJudge,
    part: Vec<StoredLocation>,
) -> Result<SharedJudge, StoreError> {
    let cost = part.len().saturating_mul(judge.rule_count());
    let work = move || {
        for stored in part {
            judge.see(stored);
        }
        judge
    };
    if cost <= SMALL {
        return Ok(work());
    }
    compute(work).await
}

/// Shows the last locations to a judge and ends.
pub(crate) async fn finish(
    judge: SharedJudge,
    part: Vec<StoredLocation>,
    now: Timestamp,
) -> Result<Judgement, StoreError> {
    Ok(see(judge, part).await?.finish(now))
}

/// Computes on the blocking pool when there is a place.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let place = PLACES.acquire().await.map_err(|closed| StoreError::Internal(closed.into()))?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(place);
        done
    });
    done.await.map_err(|lost| StoreError::Internal(lost.into()))
}
