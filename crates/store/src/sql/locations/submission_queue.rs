//! Queues of submissions that wait for their group commit.
//!
//! Each queue has one committer, and a device always uses the same queue, so that what it sends is stored in that order.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::gateway::NewMessage;
use perigee_core::id::DeviceId;
use perigee_core::location::{DuplicateRule, Location, Outcome};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use super::pending_location::PendingLocation;

/// Submissions that may be queued before more are refused.
const SUBMISSIONS_MAX: usize = 10_000;
/// Locations that may be queued; a single submission is always accepted.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction; bounds the time that the first of them waits for the last, and that others wait for it.
const BATCH_MAX: usize = 4_000;
/// Locations of a submission that need not wait behind larger ones: what devices report, not what they have buffered.
const SMALL: usize = 16;
/// Locations that small submissions may add to a full transaction.
const ROOM_FOR_SMALL: usize = 1_000;
/// The least number of callers for which a wait before the commit pays.
const MIN_CALLERS_TO_WAIT: usize = 16;
/// The longest wait before a commit. Timers have about this resolution.
const GROUP_COMMIT_WAIT: Duration = Duration::from_millis(1);
/// Queues of a store; an engine may use fewer.
const QUEUES_MAX: usize = 4;

/// Locations that a caller submitted for a device.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) scope: Scope,
    pub(crate) device: DeviceId,
    pub(crate) locations: Vec<PendingLocation>,
    /// The message that the locations were read from, to be stored with them.
    pub(crate) message: Option<NewMessage>,
}

impl Submission {
    pub(crate) fn new(scope: Scope, device: DeviceId, locations: &[Location]) -> Self {
        Self::by(scope, device, locations, DuplicateRule::Content)
    }

    /// The same, where locations count as stored by these means.
    pub(crate) fn by(
        scope: Scope,
        device: DeviceId,
        locations: &[Location],
        duplicate_rule: DuplicateRule,
    ) -> Self {
        Self { scope, device, locations: PendingLocation::pack_all(locations, duplicate_rule), message: None }
    }

    /// The same, stored together with the message it came in.
    pub(crate) fn with_message(self, message: NewMessage) -> Self {
        Self { message: Some(message), ..self }
    }
}

/// The outcome of each location of a submission.
pub(super) type Answer = Result<Vec<Outcome>>;

/// A caller that waits for its answer, and the runtime it waits on.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) runtime: Handle,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// The submission queues of a store.
#[derive(Debug)]
pub(crate) struct SubmissionQueues {
    queues: Mutex<[Queue; QUEUES_MAX]>,
    /// The runtime of the committers. Not one that serves connections: there a committer would be scheduled behind
    /// request bodies, and the writer would idle meanwhile.
    runtime: Handle,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Waiting,
    /// How many locations the submissions in `waiting` hold.
    locations: usize,
    has_committer: bool,
    /// How many submissions the committer waits for, 0 if it does not wait; `arrived` is signalled when they are there.
    wanted: usize,
    arrived: Arc<Notify>,
}

/// The queue of a device, of so many in use. The low bits of an id are random.
pub(super) fn queue_of(device: DeviceId, queues: usize) -> usize {
    usize::from(device.as_i64().to_le_bytes()[0]) % queues.clamp(1, QUEUES_MAX)
}

impl SubmissionQueues {
    /// Empty queues whose committers run on this runtime.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { queues: Mutex::default(), runtime }
    }

    fn queues(&self) -> MutexGuard<'_, [Queue; QUEUES_MAX]> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many locations wait for their group commit.
    pub(crate) fn waiting(&self) -> u64 {
        self.queues().iter().map(|queue| queue.locations as u64).sum()
    }

    /// Starts the task that commits the queue.
    pub(super) fn spawn(&self, committer: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(committer);
    }

    /// Queues a submission, and says whether a committer must be started for the queue.
    pub(super) fn push(&self, queue: usize, submission: Submission, caller: Caller) -> Result<bool> {
        let mut queues = self.queues();
        let count = submission.locations.len();
        let submissions = queues.iter().map(|queue| queue.waiting.len()).sum::<usize>();
        let locations = queues.iter().map(|queue| queue.locations).sum::<usize>();
        if submissions >= SUBMISSIONS_MAX || (locations + count > LOCATIONS_MAX && submissions > 0) {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        let queue = &mut queues[queue];
        queue.waiting.push((submission, caller));
        queue.locations += count;
        if queue.wanted > 0 && queue.is_worth_a_commit(queue.wanted) {
            queue.wanted = 0;
            queue.arrived.notify_one();
        }
        Ok(!std::mem::replace(&mut queue.has_committer, true))
    }

    /// Waits up to [`GROUP_COMMIT_WAIT`] until three quarters of so many callers are queued. Without it, commits follow
    /// each other as fast as they can, each for a few callers, and the processor is busy with committing. Half of the
    /// callers would not do: they could split into two halves that always wait for each other's commit.
    pub(super) async fn wait_for_callers(&self, queue: usize, callers: usize) {
        let most = callers * 3 / 4;
        let arrived = {
            let queue = &mut self.queues()[queue];
            if callers < MIN_CALLERS_TO_WAIT || queue.is_worth_a_commit(most) {
                return;
            }
            queue.wanted = most;
            Arc::clone(&queue.arrived)
        };
        let _arrived_or_elapsed = tokio::time::timeout(GROUP_COMMIT_WAIT, arrived.notified()).await;
        self.queues()[queue].wanted = 0;
    }

    /// Submissions in a queue.
    pub(super) fn count(&self, queue: usize) -> usize {
        self.queues()[queue].waiting.len()
    }

    /// The next batch of a queue, of at most so many accounts. `None` when it is empty: the committer must then end.
    pub(super) fn take(&self, queue: usize, accounts_max: usize) -> Option<Waiting> {
        let queue = &mut self.queues()[queue];
        if queue.waiting.is_empty() {
            queue.has_committer = false;
            return None;
        }
        let (batch, rest) = split(std::mem::take(&mut queue.waiting), accounts_max);
        queue.waiting = rest;
        queue.locations -= batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        Some(batch)
    }
}

type Waiting = Vec<(Submission, Caller)>;

/// The next batch, and what is left. The oldest submission is always in it, and larger ones go in their order. Small ones go
/// first if none of their device is left, so that a report waits for one transaction and not for all that is queued.
fn split(waiting: Waiting, accounts_max: usize) -> (Waiting, Waiting) {
    let (mut batch, mut rest) = (Waiting::with_capacity(waiting.len()), Waiting::new());
    let (mut count, mut accounts, mut left) = (0, HashSet::new(), HashSet::new());
    let mut has_left_large = false;
    for (submission, caller) in waiting {
        let (size, account) = (submission.locations.len(), submission.scope.account);
        let fits = if size <= SMALL {
            count + size <= BATCH_MAX + ROOM_FOR_SMALL
        } else {
            count + size <= BATCH_MAX && !has_left_large
        };
        let is_known = accounts.contains(&account) || accounts.len() < accounts_max;
        if batch.is_empty() || (fits && is_known && !left.contains(&submission.device)) {
            count += size;
            accounts.insert(account);
            batch.push((submission, caller));
        } else {
            has_left_large |= size > SMALL;
            left.insert(submission.device);
            rest.push((submission, caller));
        }
    }
    (batch, rest)
}

impl Queue {
    /// Whether this many submissions are queued, or as many locations as a commit takes.
    fn is_worth_a_commit(&self, submissions: usize) -> bool {
        self.waiting.len() >= submissions || self.locations >= BATCH_MAX
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use perigee_core::id::AccountId;
    use perigee_core::location::{Latitude, Longitude, Readings};
    use perigee_core::time::Timestamp;
    use tokio::time::Instant;

    use super::*;

    const QUEUE: usize = 0;

    /// Queues an empty submission without waiting for the answer.
    fn send(submission_queues: &SubmissionQueues) {
        let scope = Scope::for_store_check(AccountId::from_i64(1));
        let submission = Submission::new(scope, DeviceId::from_i64(2), &[]);
        let caller = Caller { runtime: Handle::current(), reply: oneshot::channel().0 };
        submission_queues.push(QUEUE, submission, caller).expect("there is room");
    }

    /// Submissions of so many locations each, as `(device, locations)`.
    fn waiting(submissions: &[(i64, usize)]) -> Waiting {
        let one = |(device, count): &(i64, usize)| {
            let location = Location {
                time: Timestamp::MIN,
                latitude: Latitude::from_e7(0),
                longitude: Longitude::from_e7(0),
                readings: Readings::default(),
            };
            let scope = Scope::for_store_check(AccountId::from_i64(1));
            let submission = Submission::new(scope, DeviceId::from_i64(*device), &vec![location; *count]);
            (submission, Caller { runtime: Handle::current(), reply: oneshot::channel().0 })
        };
        submissions.iter().map(one).collect()
    }

    fn devices(waiting: &Waiting) -> Vec<i64> {
        waiting.iter().map(|(submission, _)| submission.device.as_i64()).collect()
    }

    #[tokio::test]
    async fn a_report_does_not_wait_behind_batches() {
        let queued = waiting(&[(1, BATCH_MAX), (2, BATCH_MAX), (3, 100), (4, 1), (5, SMALL)]);
        let (batch, rest) = split(queued, 1);
        assert_eq!(devices(&batch), [1, 4, 5]);
        assert_eq!(devices(&rest), [2, 3], "larger ones stay in their order");
        let (batch, rest) = split(rest, 1);
        assert_eq!((devices(&batch), devices(&rest)), (vec![2], vec![3]));
    }

    #[tokio::test]
    async fn a_device_does_not_pass_itself_and_reports_do_not_keep_batches_waiting() {
        let (batch, rest) = split(waiting(&[(1, BATCH_MAX), (2, 100), (2, 1), (3, 1)]), 1);
        assert_eq!((devices(&batch), devices(&rest)), (vec![1, 3], vec![2, 2]));
        let reports = (10..).map(|device| (device, 1)).take(BATCH_MAX + ROOM_FOR_SMALL + 1);
        let queued: Vec<_> = std::iter::once((1, BATCH_MAX + 1)).chain(reports).collect();
        let (batch, rest) = split(waiting(&queued), 1);
        assert_eq!(devices(&batch)[0], 1, "the oldest is always stored");
        assert_eq!(batch.len() - 1, ROOM_FOR_SMALL - 1);
        assert_eq!(rest.len(), BATCH_MAX + 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_when_three_quarters_are_queued() {
        let submission_queues = SubmissionQueues::new(Handle::current());
        let begin = Instant::now();
        let mut wait = std::pin::pin!(submission_queues.wait_for_callers(QUEUE, 40));
        for queued in 0..30 {
            assert!(wait.as_mut().now_or_never().is_none(), "{queued} of 40 are not most of them");
            send(&submission_queues);
        }
        wait.await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        submission_queues.wait_for_callers(QUEUE, 40).await;
        assert_eq!(begin.elapsed(), Duration::ZERO, "they are there already");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_is_short_and_few_callers_do_not_wait() {
        let submission_queues = SubmissionQueues::new(Handle::current());
        let begin = Instant::now();
        submission_queues.wait_for_callers(QUEUE, MIN_CALLERS_TO_WAIT - 1).await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        submission_queues.wait_for_callers(QUEUE, MIN_CALLERS_TO_WAIT).await;
        assert_eq!(begin.elapsed(), GROUP_COMMIT_WAIT);
    }
}
