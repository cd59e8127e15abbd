//! The queue of submissions that wait for their group commit.
//!
//! A commit takes what is queued, but nothing of a device that another commit is storing, so that what a device sends is stored
//! in that order. A second commit begins beside the first for many submissions, or if the first is large: several small commits
//! cost more than they gain, above all where several nodes share a database. While all commits are large, one more begins for
//! small submissions.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::gateway::NewMessage;
use perigee_core::id::DeviceId;
use perigee_core::location::{DuplicateRule, Location, Outcome};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

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
/// Submissions for which another commit begins beside one that runs.
const ENOUGH: usize = 32;
/// Locations for which it does. A commit of so many is large: it takes so long that others do not wait for it.
const LARGE: usize = 1_000;
/// After this time a commit keeps nobody waiting: it may be held up by a lock that concerns others only.
pub(super) const OVERDUE: Duration = Duration::from_millis(20);

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

/// The submission queue of a store.
#[derive(Debug)]
pub(crate) struct SubmissionQueue {
    state: Mutex<State>,
    /// Signalled when the submissions are there that a committer waits for.
    arrived: Notify,
    /// The runtime of the committers. Not one that serves connections: there a committer would be scheduled behind
    /// request bodies, and the writer would idle meanwhile.
    runtime: Handle,
}

#[derive(Debug, Default)]
struct State {
    waiting: Waiting,
    /// How many locations the submissions in `waiting` hold.
    locations: usize,
    committers: usize,
    /// How many commits under way are large.
    large_commits: usize,
    /// When the last commit began.
    begun: Option<Instant>,
    /// Devices whose submissions are being stored.
    busy: HashSet<DeviceId>,
    /// How many submissions a committer waits for, 0 if none does.
    wanted: usize,
}

impl SubmissionQueue {
    /// An empty queue whose committers run on this runtime.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { state: Mutex::default(), arrived: Notify::new(), runtime }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many locations wait for their group commit.
    pub(crate) fn waiting(&self) -> u64 {
        self.state().locations as u64
    }

    /// Starts a task that commits.
    pub(super) fn spawn(&self, committer: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(committer);
    }

    /// Queues a submission, and says whether a committer must be started, of which there may be so many.
    pub(super) fn push(&self, submission: Submission, caller: Caller, committers_max: usize) -> Result<bool> {
        let mut state = self.state();
        let (count, submissions) = (submission.locations.len(), state.waiting.len());
        if submissions >= SUBMISSIONS_MAX || (state.locations + count > LOCATIONS_MAX && submissions > 0) {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        state.waiting.push((submission, caller));
        state.locations += count;
        if state.wanted > 0 && state.is_worth_a_commit(state.wanted) {
            state.wanted = 0;
            self.arrived.notify_one();
        }
        Ok(state.admit_committer(committers_max))
    }

    /// Says whether a committer must be started, for somebody who has waited for [`OVERDUE`].
    pub(super) fn is_overdue(&self, committers_max: usize) -> bool {
        self.state().admit_committer(committers_max)
    }

    /// Waits up to [`GROUP_COMMIT_WAIT`] until three quarters of so many callers are queued, unless another committer waits.
    /// Without it, commits follow each other as fast as they can, each for a few callers, and the processor is busy with
    /// committing. Half of the callers would not do: they could split into two halves that always wait for each other's
    /// commit.
    pub(super) async fn wait_for_callers(&self, callers: usize) {
        let most = callers * 3 / 4;
        {
            let mut state = self.state();
            if callers < MIN_CALLERS_TO_WAIT || state.wanted > 0 || state.is_worth_a_commit(most) {
                return;
            }
            state.wanted = most;
        }
        let _arrived_or_elapsed = tokio::time::timeout(GROUP_COMMIT_WAIT, self.arrived.notified()).await;
        self.state().wanted = 0;
    }

    /// Submissions in the queue.
    pub(super) fn count(&self) -> usize {
        self.state().waiting.len()
    }

    /// The next batch, of at most so many accounts. `None` if there is none, or too little for one more commit: the committer
    /// must then end.
    pub(super) fn take(&self, accounts_max: usize, committers_max: usize) -> Option<Waiting> {
        let mut state = self.state();
        let batch = if state.committers > 1 && !state.is_enough() {
            Vec::new()
        } else {
            let room = if state.committers > committers_max { 0 } else { BATCH_MAX };
            let waiting = std::mem::take(&mut state.waiting);
            let (batch, rest) = split(waiting, accounts_max, room, &state.busy);
            state.waiting = rest;
            batch
        };
        if batch.is_empty() {
            state.committers -= 1;
            return None;
        }
        let locations: usize = batch.iter().map(|(submission, _)| submission.locations.len()).sum();
        state.locations -= locations;
        state.large_commits += usize::from(locations >= LARGE);
        state.busy.extend(batch.iter().map(|(submission, _)| submission.device));
        state.begun = Some(Instant::now());
        Some(batch)
    }

    /// Says that the commit of this batch has ended.
    pub(super) fn ended(&self, batch: &[Submission]) {
        let mut state = self.state();
        for submission in batch {
            state.busy.remove(&submission.device);
        }
        let locations = batch.iter().map(|submission| submission.locations.len()).sum::<usize>();
        state.large_commits -= usize::from(locations >= LARGE);
    }
}

impl State {
    /// Whether this many submissions are queued, or as many locations as a commit takes.
    fn is_worth_a_commit(&self, submissions: usize) -> bool {
        self.waiting.len() >= submissions || self.locations >= BATCH_MAX
    }

    /// Whether a commit beside others pays: for what is queued, because another is large, or because they take too long.
    fn is_enough(&self) -> bool {
        self.waiting.len() >= ENOUGH
            || self.locations >= LARGE
            || self.large_commits > 0
            || self.begun.is_some_and(|begun| begun.elapsed() >= OVERDUE)
    }

    /// Counts one more committer if one must be started.
    fn admit_committer(&mut self, committers_max: usize) -> bool {
        // One more for small submissions if all others are busy with large ones.
        let most = committers_max + usize::from(committers_max > 1 && self.large_commits >= committers_max);
        let is_needed = !self.waiting.is_empty()
            && (self.committers == 0 || (self.committers < most && self.is_enough()));
        self.committers += usize::from(is_needed);
        is_needed
    }
}

type Waiting = Vec<(Submission, Caller)>;

/// The next batch, and what is left. Busy devices wait. The oldest submission of the others is always in it, and larger ones go
/// in their order. Small ones go first if none of their device is left, so that a report waits for one transaction and not for
/// all that is queued. Without room for larger ones, there are only small ones in it.
fn split(waiting: Waiting, accounts_max: usize, room: usize, busy: &HashSet<DeviceId>) -> (Waiting, Waiting) {
    let (mut batch, mut rest) = (Waiting::with_capacity(waiting.len()), Waiting::new());
    let (mut count, mut accounts, mut left) = (0, HashSet::new(), HashSet::new());
    let mut has_left_large = false;
    for (submission, caller) in waiting {
        if busy.contains(&submission.device) {
            rest.push((submission, caller));
            continue;
        }
        let (size, account) = (submission.locations.len(), submission.scope.account);
        let fits = if size <= SMALL {
            count + size <= room + ROOM_FOR_SMALL
        } else {
            (batch.is_empty() || count + size <= room) && room > 0 && !has_left_large
        };
        let is_known = accounts.contains(&account) || accounts.len() < accounts_max;
        if fits && is_known && !left.contains(&submission.device) {
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use perigee_core::id::AccountId;
    use perigee_core::location::{Latitude, Longitude, Readings};
    use perigee_core::time::Timestamp;

    use super::*;

    /// Queues a submission of this device without waiting for the answer; says whether a committer must be started.
    fn send(queue: &SubmissionQueue, device: i64) -> bool {
        send_many(queue, device, 0)
    }

    /// The same with so many locations.
    fn send_many(queue: &SubmissionQueue, device: i64, count: usize) -> bool {
        let (submission, caller) = waiting(&[(device, count)]).pop().expect("one");
        queue.push(submission, caller, 2).expect("there is room")
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

    fn submissions(batch: Waiting) -> Vec<Submission> {
        batch.into_iter().map(|(submission, _)| submission).collect()
    }

    #[tokio::test]
    async fn a_report_does_not_wait_behind_batches() {
        let queued = waiting(&[(1, BATCH_MAX), (2, BATCH_MAX), (3, 100), (4, 1), (5, SMALL)]);
        let (batch, rest) = split(queued, 1, BATCH_MAX, &HashSet::new());
        assert_eq!(devices(&batch), [1, 4, 5]);
        assert_eq!(devices(&rest), [2, 3], "larger ones stay in their order");
        let (batch, rest) = split(rest, 1, BATCH_MAX, &HashSet::new());
        assert_eq!((devices(&batch), devices(&rest)), (vec![2], vec![3]));
    }

    #[tokio::test]
    async fn a_device_does_not_pass_itself_and_reports_do_not_keep_batches_waiting() {
        let (batch, rest) =
            split(waiting(&[(1, BATCH_MAX), (2, 100), (2, 1), (3, 1)]), 1, BATCH_MAX, &HashSet::new());
        assert_eq!((devices(&batch), devices(&rest)), (vec![1, 3], vec![2, 2]));
        let reports = (10..).map(|device| (device, 1)).take(BATCH_MAX + ROOM_FOR_SMALL + 1);
        let queued: Vec<_> = std::iter::once((1, BATCH_MAX + 1)).chain(reports).collect();
        let (batch, rest) = split(waiting(&queued), 1, BATCH_MAX, &HashSet::new());
        assert_eq!(devices(&batch)[0], 1, "the oldest is always stored");
        assert_eq!(batch.len() - 1, ROOM_FOR_SMALL - 1);
        assert_eq!(rest.len(), BATCH_MAX + 2);
    }

    #[tokio::test]
    async fn busy_devices_wait_and_hold_up_no_others() {
        let busy = HashSet::from([DeviceId::from_i64(1)]);
        let queued = waiting(&[(1, BATCH_MAX), (2, BATCH_MAX), (1, 1), (3, 1)]);
        let (batch, rest) = split(queued, 1, BATCH_MAX, &busy);
        assert_eq!((devices(&batch), devices(&rest)), (vec![2, 3], vec![1, 1]));
    }

    #[tokio::test(start_paused = true)]
    async fn another_commit_begins_when_there_is_enough_for_it() {
        let queue = SubmissionQueue::new(Handle::current());
        assert!(send(&queue, 1), "nobody commits");
        let first = queue.take(1, 2).expect("a batch");
        for device in 2..=31 {
            assert!(!send(&queue, device), "{device}");
        }
        assert!(!queue.is_overdue(2));
        // The device that is being stored is counted, but not taken.
        assert!(!send(&queue, 1));
        assert!(send(&queue, 32));
        let second = queue.take(1, 2).expect("another batch");
        assert_eq!(devices(&second), (2..=32).collect::<Vec<_>>());
        assert!(!send(&queue, 33), "two are enough");
        queue.ended(&submissions(second));
        assert!(queue.take(1, 2).is_none(), "too little for one more beside the first");
        queue.ended(&submissions(first));
        assert_eq!(devices(&queue.take(1, 2).expect("the rest")), [1, 33]);
    }

    #[tokio::test(start_paused = true)]
    async fn large_commits_keep_no_report_waiting() {
        let queue = SubmissionQueue::new(Handle::current());
        assert!(send_many(&queue, 1, LARGE));
        let first = queue.take(1, 2).expect("a batch");
        assert!(send_many(&queue, 2, LARGE), "the first is large");
        let _second = queue.take(1, 2).expect("another batch");
        assert!(send_many(&queue, 3, LARGE) && !send(&queue, 4), "one more, for small ones");
        let third = queue.take(1, 2).expect("a small batch");
        assert_eq!(devices(&third), [4]);
        assert!(!send(&queue, 5), "that is all");
        queue.ended(&submissions(third));
        let fourth = queue.take(1, 2).expect("what came meanwhile");
        assert_eq!(devices(&fourth), [5]);
        queue.ended(&submissions(first));
        assert!(queue.take(1, 2).is_none(), "there are two without it");
        queue.ended(&submissions(fourth));
        assert_eq!(devices(&queue.take(1, 2).expect("a large one again")), [3]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_that_takes_long_keeps_nobody_waiting() {
        let queue = SubmissionQueue::new(Handle::current());
        assert!(send(&queue, 1));
        let _held_up = queue.take(1, 2).expect("a batch");
        assert!(!send(&queue, 2));
        tokio::time::advance(OVERDUE).await;
        assert!(queue.is_overdue(2));
        assert_eq!(devices(&queue.take(1, 2).expect("another batch")), [2]);
        assert!(!send(&queue, 1) && !queue.is_overdue(2), "two are enough");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_when_three_quarters_are_queued() {
        let queue = SubmissionQueue::new(Handle::current());
        let begin = Instant::now();
        let mut wait = std::pin::pin!(queue.wait_for_callers(40));
        for queued in 0..30 {
            assert!(wait.as_mut().now_or_never().is_none(), "{queued} of 40 are not most of them");
            send(&queue, 2);
        }
        wait.await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        queue.wait_for_callers(40).await;
        assert_eq!(begin.elapsed(), Duration::ZERO, "they are there already");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_is_short_and_few_callers_do_not_wait() {
        let queue = SubmissionQueue::new(Handle::current());
        let begin = Instant::now();
        queue.wait_for_callers(MIN_CALLERS_TO_WAIT - 1).await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        queue.wait_for_callers(MIN_CALLERS_TO_WAIT).await;
        assert_eq!(begin.elapsed(), GROUP_COMMIT_WAIT);
    }
}
