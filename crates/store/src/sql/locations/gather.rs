//! Submissions that arrive while a commit runs share the next one.
//!
//! Callers leave what they have and wait; a flusher takes all that waits, stores it in one transaction and answers
//! each. One caller alone is flushed at once. What went wrong for one submission is its own answer; when a whole
//! transaction fails for a reason that is not the database's absence, each submission is tried by itself. A flusher that
//! has answered many waits a moment until half of them are back, so that a commit serves many.
//!
//! There is a flusher to each lane, and an account is always in the same lane: two flushers that had submissions of
//! one account would wait for each other in the database, holding other accounts meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{CompactionBudget, Location, Outcome};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use super::sent::Sent;
use crate::{Database, Engine, Tx, postgres, sqlite};

/// Submissions that may wait before more are refused.
const WAITING_MAX: usize = 10_000;
/// Locations that may wait; a single submission is always taken.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction, so that the first of them is not kept waiting for the last.
const BATCH_MAX: usize = 8_000;
/// Devices packed at a time when no more fit into memory and nobody else packs.
const DEVICES_AT_CAP: usize = 8;
/// How many callers there must be for it to pay to wait for half of them.
const MANY: usize = 16;
/// How long to wait for them, about: timers are no finer than this.
const COMPANY: Duration = Duration::from_millis(1);

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

/// Whoever waits for an answer, and where.
#[derive(Debug)]
struct Caller {
    runtime: Handle,
    reply: oneshot::Sender<Result<Vec<Outcome>>>,
}

/// What waits to be stored.
#[derive(Debug)]
pub(crate) struct Gatherer {
    state: Mutex<State>,
    /// Where flushers run. Not where connections are served: a flusher that waits there for its turn, behind bodies
    /// that are being read, keeps the writer waiting too.
    runtime: Handle,
}

#[derive(Debug, Default)]
struct State {
    lanes: [Lane; LANES],
    submissions: usize,
    locations: usize,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: Vec<(Submission, Caller)>,
    /// Locations among them.
    locations: usize,
    has_flusher: bool,
    /// How many submissions the flusher waits for; it is told when they are there.
    wanted: usize,
    arrived: Arc<Notify>,
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
    /// One whose flushers run here.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { state: Mutex::default(), runtime }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locations that wait to be stored.
    pub(crate) fn waiting(&self) -> u64 {
        self.state().locations as u64
    }

    /// Takes a submission, and says whether a flusher of the lane must be started.
    fn push(&self, lane: usize, submission: Submission, caller: Caller) -> Result<bool> {
        let mut state = self.state();
        let count = submission.locations.len();
        let full = state.submissions >= WAITING_MAX || state.locations + count > LOCATIONS_MAX;
        if full && state.submissions > 0 {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        state.submissions += 1;
        state.locations += count;
        let lane = &mut state.lanes[lane];
        lane.waiting.push((submission, caller));
        lane.locations += count;
        if lane.wanted > 0 && lane.is_worth_a_commit(lane.wanted) {
            lane.wanted = 0;
            lane.arrived.notify_one();
        }
        Ok(!std::mem::replace(&mut lane.has_flusher, true))
    }

    /// Waits a moment until half of so many callers wait. Commits that follow each other as fast as they can leave the
    /// processor to the work of committing, each for a few.
    async fn await_company(&self, lane: usize, callers: usize) {
        let arrived = {
            let mut state = self.state();
            let lane = &mut state.lanes[lane];
            if callers < MANY || lane.is_worth_a_commit(callers / 2) {
                return;
            }
            lane.wanted = callers / 2;
            Arc::clone(&lane.arrived)
        };
        let _enough_or_not = tokio::time::timeout(COMPANY, arrived.notified()).await;
        self.state().lanes[lane].wanted = 0;
    }

    /// Submissions that wait in a lane.
    fn count(&self, lane: usize) -> usize {
        self.state().lanes[lane].waiting.len()
    }

    /// The next batch of a lane; none when nothing waits, and then the flusher that asks ends.
    fn take(&self, lane: usize) -> Option<Vec<(Submission, Caller)>> {
        let mut state = self.state();
        let lane = &mut state.lanes[lane];
        let waiting = &mut lane.waiting;
        if waiting.is_empty() {
            lane.has_flusher = false;
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
        let locations = batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        lane.locations -= locations;
        state.submissions -= batch.len();
        state.locations -= locations;
        Some(batch)
    }
}

impl Lane {
    /// Whether this many wait, or as many locations as half of a commit takes.
    fn is_worth_a_commit(&self, submissions: usize) -> bool {
        self.waiting.len() >= submissions || self.locations >= BATCH_MAX / 2
    }
}

/// Stores a submission together with whatever else waits.
pub(super) async fn submit(database: &Database, submission: Submission) -> Result<Vec<Outcome>> {
    let (reply, answered) = oneshot::channel();
    let lane = lane_of(database.engine(), submission.scope.account);
    if database.gatherer().push(lane, submission, Caller { runtime: Handle::current(), reply })? {
        // A task of its own: it works for all, whoever goes away.
        database.gatherer().runtime.spawn(flush(database.clone(), lane));
    }
    answered.await.unwrap_or_else(|_gone| Err(StoreError::Unavailable("the store has stopped".into())))
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
fn answer(answers: impl Iterator<Item = (Caller, Result<Vec<Outcome>>)>) {
    type Answers = Vec<(oneshot::Sender<Result<Vec<Outcome>>>, Result<Vec<Outcome>>)>;
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
