//! Submissions that arrive while a commit runs share the next one.
//!
//! Callers leave what they have and wait; a flusher takes all that waits, stores it in one transaction and answers
//! each. One caller alone is flushed at once. What went wrong for one submission is its own answer; when a whole
//! transaction fails for a reason that is not the database's absence, each submission is tried by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::location::{CompactionBudget, Location, Outcome};
use perigee_core::store::Result;
use tokio::sync::oneshot;

use super::ingest::ingest;
use crate::codec::pack_readings;
use crate::{Database, Engine, sqlite};

/// Submissions that may wait before more are refused.
const WAITING_MAX: usize = 10_000;
/// Locations that may wait; a single submission is always taken.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction, so that the first of them is not kept waiting for the last.
const BATCH_MAX: usize = 20_000;
/// Devices packed at a time when no more fit into memory.
const DEVICES_AT_CAP: usize = 64;

/// Locations of a device, as somebody sent them.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) scope: Scope,
    pub(crate) device: DeviceId,
    pub(crate) locations: Vec<Location>,
    /// The readings of each, packed before anybody waits for it.
    pub(crate) readings: Vec<Box<[u8]>>,
}

impl Submission {
    pub(super) fn new(scope: Scope, device: DeviceId, locations: Vec<Location>) -> Self {
        let readings = locations.iter().map(|location| pack_readings(&location.readings).into()).collect();
        Self { scope, device, locations, readings }
    }
}

type Answer = oneshot::Sender<Result<Vec<Outcome>>>;

/// What waits to be stored, and how many flushers are at work on it.
#[derive(Debug, Default)]
pub(crate) struct Gatherer(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: Vec<(Submission, Answer)>,
    locations: usize,
    flushers: usize,
}

/// SQLite has one writer; on PostgreSQL accounts do not wait for each other.
const fn flushers_max(engine: Engine) -> usize {
    match engine {
        Engine::Sqlite => 1,
        Engine::Postgres => 4,
    }
}

impl Gatherer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a submission, and says whether a flusher must be started.
    fn push(&self, submission: Submission, answer: Answer, most: usize) -> Result<bool> {
        let mut state = self.state();
        let count = submission.locations.len();
        let full = state.waiting.len() >= WAITING_MAX || state.locations + count > LOCATIONS_MAX;
        if full && !state.waiting.is_empty() {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        state.locations += count;
        state.waiting.push((submission, answer));
        let start = state.flushers < most;
        state.flushers += usize::from(start);
        Ok(start)
    }

    /// The next batch; none when nothing waits, and then the flusher that asks ends.
    fn take(&self) -> Option<Vec<(Submission, Answer)>> {
        let mut state = self.state();
        if state.waiting.is_empty() {
            state.flushers -= 1;
            return None;
        }
        let mut count = 0;
        let fitting = state.waiting.iter().take_while(|(submission, _)| {
            count += submission.locations.len();
            count <= BATCH_MAX
        });
        let size = fitting.count().max(1);
        let rest = state.waiting.split_off(size);
        let batch = std::mem::replace(&mut state.waiting, rest);
        state.locations -= batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        Some(batch)
    }
}

/// Stores a submission together with whatever else waits.
pub(super) async fn submit(database: &Database, submission: Submission) -> Result<Vec<Outcome>> {
    let (answer, answered) = oneshot::channel();
    if database.gatherer().push(submission, answer, flushers_max(database.engine()))? {
        // A task of its own: it works for all, whoever goes away.
        tokio::spawn(flush(database.clone()));
    }
    answered.await.unwrap_or_else(|_gone| Err(StoreError::Unavailable("the store has stopped".into())))
}

async fn flush(database: Database) {
    // Lets those who are about to submit do so first.
    tokio::task::yield_now().await;
    while let Some(batch) = database.gatherer().take() {
        let arriving = make_room(&database).await;
        let (submissions, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        for (result, answer) in store(&database, Arc::new(submissions)).await.into_iter().zip(answers) {
            // Whoever asked may have gone; what is stored stays.
            let _ = answer.send(result);
        }
        drop(arriving);
        tokio::task::yield_now().await;
    }
}

/// Waits for whoever erases locations, and until memory has room for more: then packing goes before storing.
async fn make_room(database: &Database) -> Option<tokio::sync::MutexGuard<'_, ()>> {
    let live = database.live()?;
    while live.is_full() {
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
    let everyone = 0..batch.len();
    let shared = Arc::clone(&batch);
    let job = database.write(move |tx| async move { ingest(tx, &shared).await }.boxed());
    match job.await {
        Ok(results) => results,
        Err(StoreError::Unavailable(cause)) => {
            let cause = cause.to_string();
            everyone.map(|_| Err(StoreError::Unavailable(cause.clone().into()))).collect()
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
