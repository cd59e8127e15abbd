//! The queue of submissions that wait for their group commit.
//!
//! Where the engine runs several commits at once, reports and batches are committed separately, so that a report
//! never waits for a batch of another device. A commit takes no submission of a device that another commit is storing
//! or that has an older submission waiting, so that the submissions of a device are stored in order. A further commit
//! of reports starts beside others only when many reports wait: several small commits cost more than they gain, above
//! all where nodes share a database. Submissions with alerts are committed separately too: they lock their account,
//! and submissions of locations alone must not wait for that.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::access::actor::Scope;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::emergency::EmergencyStep;
use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::devices::conversation::NewText;
use perigee_core::devices::device_file::NewDeviceFile;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, StoredContents};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{DuplicateRule, Location};
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot};
use tokio::time::Instant;

use super::pending_location::PendingLocation;

/// Submissions that may be queued before more are refused.
const SUBMISSIONS_MAX: usize = 10_000;
/// Maximum number of locations that may be queued; a single submission is always accepted.
const LOCATIONS_MAX: usize = 200_000;
/// Locations of one transaction; bounds the time that the first of them waits for the last, and that others wait for
/// it.
const BATCH_MAX: usize = 4_000;
/// The most locations in a report. A submission of more, such as locations that a device has buffered, is a batch.
const REPORT_MAX: usize = 16;
/// Locations that reports may add to a full transaction.
const ROOM_FOR_REPORTS: usize = 1_000;
/// Alerts, steps, files and texts of one transaction; a single submission may have more. Each alert may create messages to
/// fifty recipients, and others wait meanwhile.
const ATTACHED_MAX: usize = 50;
/// Commits of submissions with alerts that run at the same time, each for another account.
const COMMITS_WITH_ALERTS: usize = 2;
/// The least number of callers for which a wait before the commit pays.
const MIN_CALLERS_TO_WAIT: usize = 16;
/// The longest wait before a commit. Timers have about this resolution.
const GROUP_COMMIT_WAIT: Duration = Duration::from_millis(1);
/// Waiting reports at which another commit of reports starts beside a running one.
const ENOUGH_REPORTS: usize = 32;
/// Waiting locations at which another commit of batches starts beside a running one.
const ENOUGH_LOCATIONS: usize = 1_000;
/// Retries of locked submissions that may run at once.
const RETRIES_MAX: usize = 2;
/// After this time one more commit may start: the running ones may wait for a lock that concerns only their
/// submissions.
pub(super) const OVERDUE: Duration = Duration::from_millis(50);

/// Locations that a caller submitted for a device.
#[derive(Debug)]
#[cfg_attr(feature = "unsafe-early-ack", derive(Clone))]
pub(crate) struct Submission {
    pub(crate) scope: Scope,
    pub(crate) device: DeviceId,
    /// The identifier that the device must still have, if the device was remembered by it.
    pub(crate) identifier: Option<Box<str>>,
    pub(crate) locations: Vec<PendingLocation>,
    /// The message that the locations were read from, to be stored with them.
    pub(crate) message: Option<NewMessage>,
    /// The other content of the message. Most messages have none.
    pub(crate) attached: Option<Box<Attached>>,
}

/// The content of a message besides locations; never empty.
#[derive(Debug)]
#[cfg_attr(feature = "unsafe-early-ack", derive(Clone))]
pub(crate) struct Attached {
    pub(crate) alerts: Vec<Alert>,
    pub(crate) steps: Vec<EmergencyStep>,
    pub(crate) files: Vec<NewDeviceFile>,
    pub(crate) texts: Vec<NewText>,
    /// Whether alerts are stored as ended and nobody is notified.
    pub(crate) is_past: bool,
    /// The SOS of which people are notified if the device is expired.
    pub(crate) sos: Option<SosNotice>,
}

impl Submission {
    pub(crate) fn new(scope: Scope, device: DeviceId, locations: &[Location]) -> Self {
        Self::by(scope, device, locations, DuplicateRule::Content)
    }

    /// Like [`Self::new`], with the rule that decides which locations are duplicates.
    pub(crate) fn by(
        scope: Scope,
        device: DeviceId,
        locations: &[Location],
        duplicate_rule: DuplicateRule,
    ) -> Self {
        let locations = PendingLocation::pack_all(locations, duplicate_rule);
        Self { scope, device, identifier: None, locations, message: None, attached: None }
    }

    /// The content of a message about one device.
    pub(crate) fn of(reporter: &Reporter, contents: MessageContents, duplicate_rule: DuplicateRule) -> Self {
        let has_attachments = contents.attachments() > 0 || contents.sos.is_some();
        let MessageContents { locations, alerts, steps, files, texts, sos } = contents;
        let attached =
            has_attachments.then(|| Box::new(Attached { alerts, steps, files, texts, is_past: false, sos }));
        Self { attached, ..Self::by(reporter.scope, reporter.device, &locations, duplicate_rule) }
    }

    /// Sets whether its alerts are of the past.
    pub(crate) fn marked_past(mut self, is_past: bool) -> Self {
        if let Some(attached) = &mut self.attached {
            attached.is_past = is_past;
        }
        self
    }

    /// Alerts, steps, files and texts.
    fn attachments(&self) -> usize {
        let count = |attached: &Attached| {
            attached.alerts.len() + attached.steps.len() + attached.files.len() + attached.texts.len()
        };
        self.attached.as_deref().map_or(0, count)
    }

    /// Adds the message that the submission came in, to be stored with it.
    pub(crate) fn with_message(self, message: NewMessage) -> Self {
        Self { message: Some(message), ..self }
    }
}

/// The outcome of everything in a submission.
pub(super) type Answer = Result<StoredContents>;

/// A caller that waits for its answer, and the runtime it waits on.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) runtime: Handle,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// The work that a committer takes from the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Reports, and batches too where the engine commits one group at a time.
    Reports,
    Batches,
    /// Submissions with alerts, where the engine stores several groups at once.
    WithAlerts,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Reports, Self::Batches, Self::WithAlerts];
}

/// The submission queue of a store.
#[derive(Debug)]
pub(crate) struct SubmissionQueue {
    state: Mutex<State>,
    /// How many groups the engine stores at the same time.
    concurrent_commits: usize,
    /// Whether a commit has submissions of one account only, as on a cluster. Commits of an account then follow each
    /// other, and those of several accounts run at the same time, however few submissions they have.
    by_account: bool,
    /// Permits to retry locked submissions.
    retries: Semaphore,
    /// The runtime of the committers. Not one that serves connections: there a committer would be scheduled behind
    /// request bodies, and the writer would idle meanwhile.
    runtime: Handle,
}

#[derive(Debug, Default)]
struct State {
    waiting: Waiting,
    /// Devices whose submissions are being stored.
    busy: HashSet<DeviceId>,
    /// Accounts whose alerts are being stored: another commit for one of them would only wait for its lock. On a cluster
    /// also those of other commits.
    storing: HashSet<(Kind, AccountId)>,
    reports: Commits,
    batches: Commits,
    with_alerts: Commits,
}

/// The commits of one kind, and what waits for them.
#[derive(Debug, Default)]
struct Commits {
    /// Submissions that wait, and their locations.
    submissions: usize,
    locations: usize,
    committers: usize,
    /// When the last commit began.
    begun: Option<Instant>,
    /// How many submissions a committer waits for, 0 if none does; `arrived` is signalled when they are there.
    wanted: usize,
    arrived: Arc<Notify>,
}

impl SubmissionQueue {
    /// An empty queue whose committers run on this runtime, for an engine that stores this many groups at the same
    /// time, each of one account if `by_account`.
    pub(crate) fn new(runtime: Handle, concurrent_commits: usize, by_account: bool) -> Self {
        let retries = Semaphore::new(RETRIES_MAX);
        Self { state: Mutex::default(), concurrent_commits, by_account, retries, runtime }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit to retry locked submissions, once one is free.
    pub(super) async fn retry_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.retries.acquire().await.ok()
    }

    /// How many locations wait for their group commit.
    pub(crate) fn waiting(&self) -> u64 {
        let state = self.state();
        state.locations() as u64
    }

    /// The kind of commit that takes a submission.
    pub(super) fn kind_of(&self, submission: &Submission) -> Kind {
        if self.concurrent_commits == 1 {
            Kind::Reports
        } else if submission.attached.is_some() {
            Kind::WithAlerts
        } else if submission.locations.len() > REPORT_MAX {
            Kind::Batches
        } else {
            Kind::Reports
        }
    }

    /// Starts a task that commits.
    pub(super) fn spawn(&self, committer: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(committer);
    }

    /// Queues a submission, and returns whether a committer of its kind must be started.
    pub(super) fn push(&self, submission: Submission, caller: Caller) -> Result<bool> {
        let kind = self.kind_of(&submission);
        let mut state = self.state();
        let (count, submissions) = (submission.locations.len(), state.waiting.len());
        let is_busy = state.busy.contains(&submission.device);
        let locations = state.locations();
        if submissions >= SUBMISSIONS_MAX || (locations + count > LOCATIONS_MAX && submissions > 0) {
            return Err(StoreError::Unavailable("too many locations are waiting".into()));
        }
        state.waiting.push((submission, caller));
        let commits = state.of(kind);
        commits.submissions += 1;
        commits.locations += count;
        if commits.wanted > 0 && commits.is_worth_a_commit(commits.wanted) {
            commits.wanted = 0;
            commits.arrived.notify_one();
        }
        // If the device is being stored already, the end of that commit leads to the next one.
        Ok(!is_busy && self.admit_committer(commits, kind))
    }

    /// Whether a committer must be started. Called each time that a submission has waited for another [`OVERDUE`].
    pub(super) fn admit_overdue(&self, kind: Kind) -> bool {
        self.admit_committer(self.state().of(kind), kind)
    }

    /// Counts one more committer if one must be started.
    fn admit_committer(&self, commits: &mut Commits, kind: Kind) -> bool {
        let is_needed = commits.submissions > 0 && self.is_allowed(commits, kind, commits.committers);
        commits.committers += usize::from(is_needed);
        is_needed
    }

    /// Whether a commit may run beside this many others of its kind.
    fn is_allowed(&self, commits: &Commits, kind: Kind, others: usize) -> bool {
        if others == 0 || self.concurrent_commits == 1 {
            return others == 0;
        }
        let of_batches = self.concurrent_commits / 2;
        let (most, is_enough) = match kind {
            Kind::Reports => (self.concurrent_commits - of_batches, commits.submissions >= ENOUGH_REPORTS),
            Kind::Batches => (of_batches, commits.locations >= ENOUGH_LOCATIONS),
            Kind::WithAlerts => (COMMITS_WITH_ALERTS, true),
        };
        let is_enough = is_enough || self.by_account;
        let is_overdue = || commits.begun.is_some_and(|begun| begun.elapsed() >= OVERDUE);
        (others < most && is_enough) || (others <= most && is_overdue())
    }

    /// Waits up to [`GROUP_COMMIT_WAIT`] until three quarters of this many callers are queued, unless another
    /// committer waits. Without the wait, commits follow each other as fast as they can, each for a few callers, and
    /// the processor is busy with committing. Waiting for half of the callers would not help: they could split into
    /// two halves that always wait for each other's commit.
    pub(super) async fn wait_for_callers(&self, kind: Kind, callers: usize) {
        let most = callers * 3 / 4;
        let arrived = {
            let mut state = self.state();
            let commits = state.of(kind);
            if callers < MIN_CALLERS_TO_WAIT || commits.wanted > 0 || commits.is_worth_a_commit(most) {
                return;
            }
            commits.wanted = most;
            Arc::clone(&commits.arrived)
        };
        let _arrived_or_elapsed = tokio::time::timeout(GROUP_COMMIT_WAIT, arrived.notified()).await;
        self.state().of(kind).wanted = 0;
    }

    /// Submissions that wait for a commit of this kind.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.state().of(kind).submissions
    }

    /// The next batch, of at most this many accounts. `None` if there is none, or too little for one more commit: the
    /// committer must then end.
    pub(super) fn take(&self, kind: Kind, accounts_max: usize) -> Option<Waiting> {
        let mut guard = self.state();
        let state = &mut *guard;
        let others = state.of(kind).committers - 1;
        let mut batch = Vec::new();
        if self.is_allowed(state.of(kind), kind, others) {
            let waiting = std::mem::take(&mut state.waiting);
            let is_taken = |submission: &Submission| {
                self.kind_of(submission) == kind && !state.storing.contains(&(kind, submission.scope.account))
            };
            let accounts_max = if kind == Kind::WithAlerts { 1 } else { accounts_max };
            (batch, state.waiting) = split(waiting, accounts_max, is_taken, &state.busy);
        }
        let commits = state.of(kind);
        if batch.is_empty() {
            commits.committers -= 1;
            return None;
        }
        commits.submissions -= batch.len();
        commits.locations -= batch.iter().map(|(submission, _)| submission.locations.len()).sum::<usize>();
        commits.begun = Some(Instant::now());
        state.busy.extend(batch.iter().map(|(submission, _)| submission.device));
        if self.is_exclusive(kind) {
            state.storing.extend(batch.iter().map(|(submission, _)| (kind, submission.scope.account)));
        }
        Some(batch)
    }

    /// Whether an account has one commit of this kind at a time.
    fn is_exclusive(&self, kind: Kind) -> bool {
        kind == Kind::WithAlerts || self.by_account
    }

    /// Records that the commit of these submissions has ended. Other submissions of their devices may have waited for
    /// it: returns the other kinds for which a committer must be started.
    pub(super) fn ended<'s>(&self, kind: Kind, batch: impl IntoIterator<Item = &'s Submission>) -> Vec<Kind> {
        let mut state = self.state();
        for submission in batch {
            state.busy.remove(&submission.device);
            state.storing.remove(&(kind, submission.scope.account));
        }
        // A retry of locked submissions has no committer that goes on with the same kind.
        let others = Kind::ALL.into_iter().filter(|other| *other != kind || self.by_account);
        others.filter(|other| self.admit_committer(state.of(*other), *other)).collect()
    }
}

impl State {
    fn of(&mut self, kind: Kind) -> &mut Commits {
        match kind {
            Kind::Reports => &mut self.reports,
            Kind::Batches => &mut self.batches,
            Kind::WithAlerts => &mut self.with_alerts,
        }
    }

    /// Number of locations in the queue.
    fn locations(&self) -> usize {
        self.reports.locations + self.batches.locations + self.with_alerts.locations
    }
}

impl Commits {
    /// Whether this many submissions are queued, or as many locations as a commit takes.
    fn is_worth_a_commit(&self, submissions: usize) -> bool {
        self.submissions >= submissions || self.locations >= BATCH_MAX
    }
}

pub(super) type Waiting = Vec<(Submission, Caller)>;

/// Splits the queue into the next batch and the rest. Submissions of busy devices stay. The oldest of the others is
/// always in the batch, and batches keep their order. Reports may overtake batches, unless an older submission of
/// their device stays, so that they wait for one transaction and not for everything that is queued.
fn split(
    waiting: Waiting,
    accounts_max: usize,
    is_taken: impl Fn(&Submission) -> bool,
    busy: &HashSet<DeviceId>,
) -> (Waiting, Waiting) {
    let (mut batch, mut rest) = (Waiting::with_capacity(waiting.len()), Waiting::new());
    let (mut count, mut attached, mut accounts, mut left) = (0, 0, HashSet::new(), HashSet::new());
    let mut has_left_batch = false;
    for (submission, caller) in waiting {
        let (size, account) = (submission.locations.len(), submission.scope.account);
        let may_go =
            is_taken(&submission) && !busy.contains(&submission.device) && !left.contains(&submission.device);
        let fits = if size <= REPORT_MAX {
            count + size <= BATCH_MAX + ROOM_FOR_REPORTS
        } else {
            count + size <= BATCH_MAX && !has_left_batch
        };
        let more = submission.attachments();
        let fits = fits && (more == 0 || attached == 0 || attached + more <= ATTACHED_MAX);
        let has_account = accounts.contains(&account) || accounts.len() < accounts_max;
        if may_go && (batch.is_empty() || (fits && has_account)) {
            count += size;
            attached += more;
            accounts.insert(account);
            batch.push((submission, caller));
        } else {
            has_left_batch |= may_go && size > REPORT_MAX;
            left.insert(submission.device);
            rest.push((submission, caller));
        }
    }
    (batch, rest)
}

#[cfg(test)]
mod tests;
