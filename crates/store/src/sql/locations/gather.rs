//! Submissions that arrive while a commit runs share the next one.
//!
//! Callers leave what they have and wait; a flusher takes all that waits, stores it in one transaction and answers
//! each. One caller alone is flushed at once. What went wrong for one submission is its own answer; when a whole
//! transaction fails for a reason that is not the database's absence, each submission is tried by itself. A flusher that
//! has answered many waits a moment until most of them are back, so that a commit serves many.

use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::error::StoreError;
use perigee_core::location::{CompactionBudget, Outcome};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::lanes::{Answer, Caller, Submission, lane_of};
use crate::{Database, Engine, Tx, postgres, sqlite};

/// Devices packed at a time when no more fit into memory and nobody else packs.
const DEVICES_AT_CAP: usize = 8;

/// Stores a submission together with whatever else waits.
pub(super) async fn submit(database: &Database, submission: Submission) -> Result<Vec<Outcome>> {
    let (reply, answered) = oneshot::channel();
    let lane = lane_of(database.engine(), submission.scope.account);
    if database.gatherer().push(lane, submission, Caller { runtime: Handle::current(), reply })? {
        // A task of its own: it works for all, whoever goes away.
        database.gatherer().spawn(flush(database.clone(), lane));
    }
    let gone = || Err(StoreError::Unavailable("the store has stopped".into()));
    if database.engine() == Engine::Sqlite {
        return answered.await.unwrap_or_else(|_gone| gone());
    }
    // It may have to wait for a commit that hangs before it is stored itself.
    match tokio::time::timeout(database.answer_within(), answered).await {
        Ok(answer) => answer.unwrap_or_else(|_gone| gone()),
        Err(_elapsed) => Err(StoreError::Unknown("the database did not confirm it in time".into())),
    }
}

async fn flush(database: Database, lane: usize) {
    // Lets those who are about to submit on this runtime do so first.
    tokio::task::yield_now().await;
    // How many there seem to be who send one after the other.
    let mut crowd = 0;
    while let Some(batch) = database.gatherer().take(lane) {
        let arriving = make_room(&database).await;
        let (submissions, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let together = callers.len();
        let results = store(&database, Arc::new(submissions)).await;
        drop(arriving);
        crowd = (crowd * 3 / 4).max(together + database.gatherer().count(lane));
        answer(callers.into_iter().zip(results));
        database.gatherer().await_company(lane, crowd).await;
    }
}

/// Answers everyone. Waking one task of another thread costs a call of the system, so those that wait on one are
/// answered there, together.
fn answer(answers: impl Iterator<Item = (Caller, Answer)>) {
    type Answers = Vec<(oneshot::Sender<Answer>, Answer)>;
    let here = Handle::current().id();
    let mut elsewhere: Vec<(Handle, Answers)> = Vec::new();
    for (Caller { runtime, reply }, result) in answers {
        if runtime.id() == here {
            // Whoever asked may have gone; what is stored stays.
            let _ = reply.send(result);
        } else if let Some((_, answers)) = elsewhere.iter_mut().find(|(other, _)| other.id() == runtime.id())
        {
            answers.push((reply, result));
        } else {
            elsewhere.push((runtime, vec![(reply, result)]));
        }
    }
    for (runtime, answers) in elsewhere {
        runtime.spawn(async move {
            for (reply, result) in answers {
                let _ = reply.send(result);
            }
        });
    }
}

/// Waits for whoever erases locations, and until memory has room for more: then packing goes before storing.
async fn make_room(database: &Database) -> Option<tokio::sync::MutexGuard<'_, ()>> {
    let live = database.live()?;
    while live.is_full() {
        if live.await_room().await {
            continue;
        }
        let budget = CompactionBudget { devices: DEVICES_AT_CAP, everything: false };
        if let Err(error) = sqlite::locations::compact(database, live, budget).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not pack locations to make room");
            break;
        }
    }
    Some(live.arriving.lock().await)
}

/// Stores a batch in one transaction and gives each submission's result.
async fn store(database: &Database, batch: Arc<Vec<Submission>>) -> Vec<Result<Vec<Outcome>>> {
    #[cfg(feature = "unsafe-early-ack")]
    if crate::early_ack::is_on() {
        let answers = batch.iter().map(|each| Ok(vec![Outcome::Accepted; each.locations.len()])).collect();
        let database = database.clone();
        let job =
            async move { database.write(move |tx| async move { ingest(tx, &batch).await }.boxed()).await };
        tokio::spawn(job);
        return answers;
    }
    let everyone = 0..batch.len();
    let shared = Arc::clone(&batch);
    let job = database.write(move |tx| async move { ingest(tx, &shared).await }.boxed());
    match job.await {
        Ok(results) => results,
        Err(StoreError::Unavailable(cause)) => {
            let cause = cause.to_string();
            everyone.map(|_| Err(StoreError::Unavailable(cause.clone().into()))).collect()
        }
        Err(StoreError::Unknown(cause)) => {
            let cause = cause.to_string();
            everyone.map(|_| Err(StoreError::Unknown(cause.clone().into()))).collect()
        }
        Err(error) if batch.len() == 1 => vec![Err(error)],
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a batch failed, trying each by itself");
            let mut results = Vec::with_capacity(batch.len());
            for place in everyone {
                let shared = Arc::clone(&batch);
                let job = database.write(move |tx| {
                    async move { ingest(tx, shared.get(place..=place).unwrap_or_default()).await }.boxed()
                });
                results.push(job.await.and_then(|mut result| {
                    result.pop().unwrap_or_else(|| Err(StoreError::Internal("no result".into())))
                }));
            }
            results
        }
    }
}

/// Stores submissions in the way that is the engine's own.
async fn ingest(tx: &Tx, batch: &[Submission]) -> Result<Vec<Result<Vec<Outcome>>>> {
    match (tx.live(), tx.as_postgres()) {
        (Some(live), _) => sqlite::locations::ingest(tx, live, batch).await,
        (_, Some(session)) => postgres::locations::ingest(tx, session, batch).await,
        (None, None) => Err(StoreError::Internal("a store of neither engine".into())),
    }
}
