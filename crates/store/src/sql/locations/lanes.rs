//! Submissions that wait to be stored.
//!
//! There is a flusher to each lane, and an account is always in the same lane: two flushers that had submissions of
//! one account would wait for each other in the database, holding other accounts meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Location, Outcome};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use super::sent::Sent;
use crate::Engine;

/// Submissions that may wait before more are refused.
const WAITING_MAX: usize = 10_000;
/// Locations that may wait; a single submission is always taken.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction, so that the first of them is not kept waiting for the last.
const BATCH_MAX: usize = 8_000;
/// How many callers there must be for it to pay to wait for most of them.
const MANY: usize = 16;
/// How long to wait for them, about: timers are no finer than this.
const COMPANY: Duration = Duration::from_millis(1);
/// Transactions that PostgreSQL has at once from here.
const LANES: usize = 4;

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

/// What became of each location of a submission.
pub(super) type Answer = Result<Vec<Outcome>>;

/// Whoever waits for an answer, and where.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) runtime: Handle,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// What waits to be stored.
#[derive(Debug)]
pub(crate) struct Gatherer {
    lanes: Mutex<[Lane; LANES]>,
    /// Where flushers run. Not where connections are served: a flusher that waits there for its turn, behind bodies
    /// that are being read, keeps the writer waiting too.
    runtime: Handle,
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

/// The lane of an account: the first on SQLite, which has one writer.
pub(super) fn lane_of(engine: Engine, account: AccountId) -> usize {
    match engine {
        Engine::Sqlite => 0,
        // The low bits of an id are chance.
        Engine::Postgres => usize::from(account.as_i64().to_le_bytes()[0]) % LANES,
    }
}

impl Gatherer {
    /// One whose flushers run here.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { lanes: Mutex::default(), runtime }
    }

    fn lanes(&self) -> MutexGuard<'_, [Lane; LANES]> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locations that wait to be stored.
    pub(crate) fn waiting(&self) -> u64 {
        self.lanes().iter().map(|lane| lane.locations as u64).sum()
    }

    /// Runs a flusher.
    pub(super) fn spawn(&self, flusher: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(flusher);
    }

    /// Takes a submission, and says whether a flusher of the lane must be started.
    pub(super) fn push(&self, lane: usize, submission: Submission, caller: Caller) -> Result<bool> {
        let mut lanes = self.lanes();
        let count = submission.locations.len();
        let submissions = lanes.iter().map(|lane| lane.waiting.len()).sum::<usize>();
        let locations = lanes.iter().map(|lane| lane.locations).sum::<usize>();
        if submissions >= WAITING_MAX || (locations + count > LOCATIONS_MAX && submissions > 0) {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        let lane = &mut lanes[lane];
        lane.waiting.push((submission, caller));
        lane.locations += count;
        if lane.wanted > 0 && lane.is_worth_a_commit(lane.wanted) {
            lane.wanted = 0;
            lane.arrived.notify_one();
        }
        Ok(!std::mem::replace(&mut lane.has_flusher, true))
    }

    /// Waits a moment until most of so many callers wait. Commits that follow each other as fast as they can leave the
    /// processor to the work of committing, each for a few; and callers that part into two halves, of which one waits
    /// for the commit of the other, stay so when half of them is enough.
    pub(super) async fn await_company(&self, lane: usize, callers: usize) {
        let most = callers * 3 / 4;
        let arrived = {
            let lane = &mut self.lanes()[lane];
            if callers < MANY || lane.is_worth_a_commit(most) {
                return;
            }
            lane.wanted = most;
            Arc::clone(&lane.arrived)
        };
        let _enough_or_not = tokio::time::timeout(COMPANY, arrived.notified()).await;
        self.lanes()[lane].wanted = 0;
    }

    /// Submissions that wait in a lane.
    pub(super) fn count(&self, lane: usize) -> usize {
        self.lanes()[lane].waiting.len()
    }

    /// The next batch of a lane; none when nothing waits, and then the flusher that asks ends.
    pub(super) fn take(&self, lane: usize) -> Option<Vec<(Submission, Caller)>> {
        let lane = &mut self.lanes()[lane];
        if lane.waiting.is_empty() {
            lane.has_flusher = false;
            return None;
        }
        let mut count = 0;
        let fitting = lane.waiting.iter().take_while(|(submission, _)| {
            count += submission.locations.len();
            count <= BATCH_MAX
        });
        let size = fitting.count().max(1);
        let rest = lane.waiting.split_off(size);
        let batch = std::mem::replace(&mut lane.waiting, rest);
        lane.locations -= batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        Some(batch)
    }
}

impl Lane {
    /// Whether this many wait, or as many locations as half of a commit takes.
    fn is_worth_a_commit(&self, submissions: usize) -> bool {
        self.waiting.len() >= submissions || self.locations >= BATCH_MAX / 2
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::time::Instant;

    use super::*;

    const LANE: usize = 0;

    /// Somebody sends something without waiting for the answer.
    fn send(gatherer: &Gatherer) {
        let scope = Scope::whole(AccountId::from_i64(1));
        let submission = Submission::new(scope, DeviceId::from_i64(2), &[]);
        let caller = Caller { runtime: Handle::current(), reply: oneshot::channel().0 };
        gatherer.push(LANE, submission, caller).expect("there is room");
    }

    #[tokio::test(start_paused = true)]
    async fn most_of_a_crowd_are_company_enough() {
        let gatherer = Gatherer::new(Handle::current());
        let begin = Instant::now();
        let mut company = std::pin::pin!(gatherer.await_company(LANE, 40));
        for sent in 0..30 {
            assert!(company.as_mut().now_or_never().is_none(), "{sent} of 40 are not most of them");
            send(&gatherer);
        }
        company.await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        gatherer.await_company(LANE, 40).await;
        assert_eq!(begin.elapsed(), Duration::ZERO, "they are there already");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_long_for_company_nor_when_few_send() {
        let gatherer = Gatherer::new(Handle::current());
        let begin = Instant::now();
        gatherer.await_company(LANE, MANY - 1).await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        gatherer.await_company(LANE, MANY).await;
        assert_eq!(begin.elapsed(), COMPANY);
    }
}
