//! Submissions that arrive while a commit runs share the next one.
//!
//! Callers leave what they have and wait; a flusher takes all that waits, stores it in one transaction and answers
//! each. One caller alone is flushed at once. What went wrong for one submission is its own answer; when a whole
//! transaction fails for a reason that is not the database's absence, each submission is tried by itself.
//!
//! There is a flusher to each lane, and an account is always in the same lane: two flushers that had submissions of
//! one account would wait for each other in the database, holding other accounts meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{CompactionBudget, Location, Outcome};
use perigee_core::store::Result;
use tokio::sync::oneshot;

use super::sent::Sent;
use crate::{Database, Engine, Tx, postgres, sqlite};

/// Submissions that may wait before more are refused.
const WAITING_MAX: usize = 10_000;
/// Locations that may wait; a single submission is always taken.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction, so that the first of them is not kept waiting for the last.
const BATCH_MAX: usize = 8_000;
/// Devices packed at a time when no more fit into memory.
const DEVICES_AT_CAP: usize = 64;

/// Locations of a device, as somebody sent them.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) scope: Scope,
    pub(crate) device: DeviceId,
    pub(crate) locations: Vec<Sent>,
}

impl Submission {
    pub(crate) fn new(scope: Scope, device: DeviceId, locations: &[Location]) -> Self {
        Self { scope, device, locations: Sent::all(locations) }
    }
}

type Answer = oneshot::Sender<Result<Vec<Outcome>>>;

/// What waits to be stored.
#[derive(Debug, Default)]
pub(crate) struct Gatherer(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    lanes: [Lane; LANES],
    submissions: usize,
    locations: usize,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: Vec<(Submission, Answer)>,
    has_flusher: bool,
}

/// Transactions that PostgreSQL has at once from here.
const LANES: usize = 4;

/// The lane of an account: the first on SQLite, which has one writer.
fn lane_of(engine: Engine, account: AccountId) -> usize {
    match engine {
        Engine::Sqlite => 0,
        // The low bits of an id are chance.
        Engine::Postgres => usize::from(account.as_i64().to_le_bytes()[0]) % LANES,
    }
}

impl Gatherer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locations that wait to be stored.
    pub(crate) fn waiting(&self) -> u64 {
        self.state().locations as u64
    }

    /// Takes a submission, and says whether a flusher of the lane must be started.
    fn push(&self, lane: usize, submission: Submission, answer: Answer) -> Result<bool> {
        let mut state = self.state();
        let count = submission.locations.len();
        let full = state.submissions >= WAITING_MAX || state.locations + count > LOCATIONS_MAX;
        if full && state.submissions > 0 {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        state.submissions += 1;
        state.locations += count;
        let lane = &mut state.lanes[lane];
        lane.waiting.push((submission, answer));
        Ok(!std::mem::replace(&mut lane.has_flusher, true))
    }

    /// The next batch of a lane; none when nothing waits, and then the flusher that asks ends.
    fn take(&self, lane: usize) -> Option<Vec<(Submission, Answer)>> {
        let mut state = self.state();
        let Lane { waiting, has_flusher } = &mut state.lanes[lane];
        if waiting.is_empty() {
            *has_flusher = false;
            return None;
        }
        let mut count = 0;
        let fitting = waiting.iter().take_while(|(submission, _)| {
            count += submission.locations.len();
            count <= BATCH_MAX
        });
        let size = fitting.count().max(1);
        let rest = waiting.split_off(size);
        let batch = std::mem::replace(waiting, rest);
        state.submissions -= batch.len();
        state.locations -= batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        Some(batch)
    }
}

/// Stores a submission together with whatever else waits.
pub(super) async fn submit(database: &Database, submission: Submission) -> Result<Vec<Outcome>> {
    let (answer, answered) = oneshot::channel();
    let lane = lane_of(database.engine(), submission.scope.account);
    if database.gatherer().push(lane, submission, answer)? {
        // A task of its own: it works for all, whoever goes away.
        tokio::spawn(flush(database.clone(), lane));
    }
    answered.await.unwrap_or_else(|_gone| Err(StoreError::Unavailable("the store has stopped".into())))
}

async fn flush(database: Database, lane: usize) {
    // Lets those who are about to submit do so first.
    tokio::task::yield_now().await;
    while let Some(batch) = database.gatherer().take(lane) {
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
