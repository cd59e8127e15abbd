//! The channel of an account: its log read once, as it grows, for everybody who watches.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use perigee_core::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::event::EventFilter;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::batch::Batch;
use crate::app::App;

/// Events one batch has at the most.
const BATCH: u32 = 1_000;
/// Batches a stream may be behind before it is cut off.
const BEHIND: usize = 64;
/// How long after a batch the next one is put off, so that a busy fleet's events go out together.
const GATHER: Duration = Duration::from_millis(50);
/// How long a look at the log is put off at the most: what another node or the service itself did is not announced.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How old what is known of a group's devices may be.
const MEMBERS_FRESH: Duration = Duration::from_secs(2);
/// No place in the log: the reader has not begun.
const NOWHERE: i64 = -1;

/// The events of an account as they happen.
#[derive(Debug)]
pub struct Channel {
    account: AccountId,
    sender: broadcast::Sender<Arc<Batch>>,
    /// Up to which number the log was read and sent.
    position: watch::Sender<i64>,
    /// Held while a batch is sent and the position moves, so that who joins sees both or neither.
    joining: Mutex<()>,
    members: tokio::sync::Mutex<HashMap<GroupId, (Instant, Members)>>,
}

/// The devices of a group.
type Members = Arc<HashSet<DeviceId>>;

impl Channel {
    pub(super) fn new(account: AccountId) -> Self {
        Self {
            account,
            sender: broadcast::Sender::new(BEHIND),
            position: watch::Sender::new(NOWHERE),
            joining: Mutex::default(),
            members: tokio::sync::Mutex::default(),
        }
    }

    /// Whose events it carries.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Up to which number everything was sent.
    pub(super) fn position(&self) -> i64 {
        *self.position.borrow()
    }

    /// Waits until the reader has begun.
    pub(super) async fn begun(&self) {
        let mut position = self.position.subscribe();
        // The sender is our own: it cannot be gone.
        let _begun = position.wait_for(|position| *position != NOWHERE).await.is_ok();
    }

    /// Receives every batch after the number given beside.
    pub(super) fn join(&self) -> (broadcast::Receiver<Arc<Batch>>, i64) {
        let _joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        (self.sender.subscribe(), self.position())
    }

    fn send(&self, batch: Batch) {
        let to = batch.to();
        let _joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that nobody listens at present.
        let _heard = self.sender.send(Arc::new(batch));
        self.position.send_replace(to);
    }

    /// The devices of a group, at most two seconds old, and newer than any change that was sent.
    pub(super) async fn members(&self, app: &App, group: GroupId) -> Result<Members, StoreError> {
        let mut known = self.members.lock().await;
        if let Some((read_at, members)) = known.get(&group)
            && read_at.elapsed() < MEMBERS_FRESH
        {
            return Ok(Arc::clone(members));
        }
        let scope = Scope { account: self.account, reach: Reach::Group(group) };
        let read_at = Instant::now();
        let found = app.store.find_group(scope, group).await?;
        let devices = found.into_iter().flat_map(|group| group.settings.devices).collect();
        let members = Arc::new(devices);
        known.insert(group, (read_at, Arc::clone(&members)));
        Ok(members)
    }
}

/// Reads the log of a channel's account until nobody wants it or the service stops.
pub(super) async fn read(app: App, channel: Arc<Channel>) {
    let mut news = app.signals.of_account(channel.account);
    let stopping = app.signals.stopping().clone();
    while !stopping.is_cancelled() {
        let begun = Instant::now();
        let progress = match advance(&app, &channel).await {
            Ok(progress) => progress,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, account = %channel.account, "could not read events for streams");
                false
            }
        };
        let wait = async {
            if progress {
                sleep_until(begun + GATHER).await;
            } else {
                let _news_or_not = timeout_at(begun + LOOK_EVERY, news.changed()).await;
            }
        };
        stopping.run_until_cancelled(wait).await;
        if app.live.release(&channel) {
            return;
        }
    }
}

/// Reads and sends what is there; says whether there was anything.
async fn advance(app: &App, channel: &Channel) -> Result<bool, StoreError> {
    let scope = Scope::whole(channel.account);
    let position = channel.position();
    if position == NOWHERE {
        let end = app.store.event_end(scope).await?;
        channel.position.send_replace(end);
        return Ok(true);
    }
    let page = app.store.read_events(scope, &EventFilter::default(), position, BATCH).await?;
    if page.next == position {
        return Ok(false);
    }
    let batch = Batch::new(page.events, page.next, app.clock.now());
    if batch.moves_members() {
        channel.members.lock().await.clear();
    }
    channel.send(batch);
    Ok(true)
}
