//! The channel of an account: one task reads its log as it grows and broadcasts it to every stream.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventFilter;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::batch::Batch;
use super::{Live, LiveParts};
use crate::cache::TtlCache;

/// Events of one batch at most.
const BATCH_EVENTS: u32 = 1_000;
/// Number of batches that a stream may be behind before it is closed as too slow.
const BATCHES_BEHIND_MAX: usize = 64;
/// Pause between two batches, so that the events of a busy fleet go out together.
const BATCH_PAUSE: Duration = Duration::from_millis(50);
/// The longest interval between two reads of the log: commits of other nodes are not signalled here.
const READ_AT_LEAST_EVERY: Duration = Duration::from_secs(1);
/// How long the cached devices of a group are used.
const MEMBERS_TTL: Duration = Duration::from_secs(2);
/// Maximum number of groups of an account whose devices are cached.
const GROUPS_MAX: usize = 10_000;
/// The position before the reader has started.
const NOT_BEGUN: i64 = -1;

/// The events of an account as they happen.
#[derive(Debug)]
pub struct Channel {
    account: AccountId,
    sender: broadcast::Sender<Arc<Batch>>,
    /// Up to which number the log was read and sent.
    position: watch::Sender<i64>,
    /// Held while a batch is sent and the position moves, so that a stream that joins sees both or neither.
    joining: Mutex<()>,
    members: TtlCache<GroupId, Members>,
    /// Held while members are read, so that streams of one group share a read.
    reading_members: tokio::sync::Mutex<()>,
}

/// The devices of a group.
type Members = Arc<HashSet<DeviceId>>;

impl Channel {
    pub(super) fn new(account: AccountId) -> Self {
        Self {
            account,
            sender: broadcast::Sender::new(BATCHES_BEHIND_MAX),
            position: watch::Sender::new(NOT_BEGUN),
            joining: Mutex::default(),
            members: TtlCache::new(GROUPS_MAX, MEMBERS_TTL),
            reading_members: tokio::sync::Mutex::default(),
        }
    }

    /// The account whose events it carries.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Up to which number everything was sent.
    pub(super) fn position(&self) -> i64 {
        *self.position.borrow()
    }

    /// Waits until the reader has found the end of the log.
    pub(super) async fn begun(&self) {
        let mut position = self.position.subscribe();
        // Never an error: the sender belongs to this channel.
        let _begun = position.wait_for(|position| *position != NOT_BEGUN).await.is_ok();
    }

    /// A receiver of the batches after a number, and this number.
    pub(super) fn join(&self) -> (broadcast::Receiver<Arc<Batch>>, i64) {
        let _joining = self.joining.lock();
        (self.sender.subscribe(), self.position())
    }

    fn send(&self, batch: Batch) {
        let to = batch.to();
        let _joining = self.joining.lock();
        // An error means that there is no receiver at present.
        let _received = self.sender.send(Arc::new(batch));
        self.position.send_replace(to);
    }

    /// The devices of a group, at most two seconds old, and read after every change that was sent.
    pub(super) async fn members(&self, parts: &LiveParts, group: GroupId) -> Result<Members, StoreError> {
        let _one_reader = self.reading_members.lock().await;
        let now = parts.clock.monotonic();
        if let Some(members) = self.members.get(&group, now) {
            return Ok(members);
        }
        let scope = Scope::for_background_job(self.account).limited_to(Reach::Group(group));
        let found = parts.store.find_group(scope, group).await?;
        let devices = found.into_iter().flat_map(|group| group.settings.devices).collect();
        let members = Arc::new(devices);
        self.members.insert(group, Arc::clone(&members), now);
        Ok(members)
    }
}

/// Reads the log of a channel's account until no stream holds the channel or the service stops.
pub(super) async fn read(live: Arc<Live>, channel: Arc<Channel>) {
    let mut commits = live.parts.store.commit_signals().of_account(channel.account);
    let stopping = live.parts.stopping.clone();
    while !stopping.is_cancelled() {
        let begun = Instant::now();
        let progress = match advance(&live, &channel).await {
            Ok(progress) => progress,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, account = %channel.account, "could not read events for streams");
                false
            }
        };
        let wait = async {
            if progress {
                sleep_until(begun + BATCH_PAUSE).await;
            } else {
                let _commit_or_timeout = timeout_at(begun + READ_AT_LEAST_EVERY, commits.changed()).await;
            }
        };
        stopping.run_until_cancelled(wait).await;
        if live.release(&channel) {
            return;
        }
    }
}

/// Reads and sends the next batch; true if there was one.
async fn advance(live: &Live, channel: &Channel) -> Result<bool, StoreError> {
    let LiveParts { store, clock, format, .. } = &live.parts;
    let scope = Scope::for_background_job(channel.account);
    let position = channel.position();
    if position == NOT_BEGUN {
        let end = store.event_end(scope).await?;
        channel.position.send_replace(end);
        return Ok(true);
    }
    let page = store.read_events(scope, &EventFilter::default(), position, BATCH_EVENTS).await?;
    if page.next == position {
        return Ok(false);
    }
    let batch = Batch::new(page.events, page.next, clock.now(), *format);
    if batch.changes_members() {
        let _one_reader = channel.reading_members.lock().await;
        channel.members.clear();
    }
    channel.send(batch);
    Ok(true)
}
