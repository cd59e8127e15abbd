//! Delivers events to open streams and waiting polls. One task reads the log of each watched account; an event is
//! encoded once and shared by every stream. Waiting polls share one reader of the log's end, and the answer.

mod batch;
mod channel;
mod event_stream;
mod log_ends;
mod permits;
mod poll;
mod poll_answer;
mod share_cache;
mod shared_read;

pub use batch::Batch;
pub use channel::Channel;
pub use event_stream::{EventStream, Pings, Recheck, Viewer};
pub use permits::{LimitReached, Permit};
pub use poll::{Poll, Wake};
pub use poll_answer::{EventPollKey, FeedPollKey, PollAnswer};
pub use share_cache::{OpenLink, PageError, PageKey, ShareCache, SharePage};
pub use shared_read::SharedReads;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::{AccountId, UserId};
use perigee_core::store::Store;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Events;
use crate::event_format::EventFormat;
use log_ends::LogEnds;
use permits::Permits;

/// Streams that read the log themselves at the same time, because they resume after a gap; the others queue.
const CATCHING_UP_MAX: usize = 16;

/// The streams and waiting polls of a node.
pub struct Live {
    parts: LiveParts,
    channels: Mutex<HashMap<AccountId, Arc<Channel>>>,
    streams: Arc<Permits>,
    polls: Arc<Permits>,
    log_ends: LogEnds,
    catching_up: Semaphore,
}

/// Dependencies of reading and delivering events.
pub struct LiveParts {
    /// Where the log is.
    pub store: Arc<dyn Store>,
    /// The time at which the state of devices is written.
    pub clock: Arc<dyn Clock>,
    /// Stops the readers of the log.
    pub stopping: CancellationToken,
    /// How events are written.
    pub format: EventFormat,
    /// Awaited when the service stops.
    pub tasks: TaskTracker,
    /// Where the readers run: not on the thread of the connection that started them, because they serve others too.
    pub runtime: Handle,
}

impl Live {
    /// No streams yet, and limits as configured.
    pub fn new(parts: LiveParts, limits: &Events) -> Self {
        let streams =
            Permits::new("perigee_streams_open", limits.streams_per_user, limits.streams_per_account);
        let polls = Permits::new("perigee_polls_waiting", limits.polls_per_user, limits.polls_per_account);
        Self {
            parts,
            channels: Mutex::default(),
            streams: Arc::new(streams),
            polls: Arc::new(polls),
            log_ends: LogEnds::default(),
            catching_up: Semaphore::new(CATCHING_UP_MAX),
        }
    }

    /// Permits one more stream, unless the user or the account is at its limit.
    pub fn permit_stream(&self, account: AccountId, user: UserId) -> Result<Permit, LimitReached> {
        self.streams.take(account, user)
    }

    /// Permits one more poll to wait, unless the user or the account is at its limit.
    fn permit_poll(&self, account: AccountId, user: UserId) -> Result<Permit, LimitReached> {
        self.polls.take(account, user)
    }

    /// Polls of an account that wait on this node.
    pub fn polls_waiting(&self, account: AccountId) -> usize {
        self.polls.taken_by(account)
    }

    /// The channel of an account's events. Its log is read for as long as a stream holds the channel.
    pub fn channel(self: &Arc<Self>, account: AccountId) -> Arc<Channel> {
        let mut channels = self.channels.lock();
        let channel = channels.entry(account).or_insert_with(|| {
            let channel = Arc::new(Channel::new(account));
            let reader = channel::read(Arc::clone(self), Arc::clone(&channel));
            self.parts.tasks.spawn_on(reader, &self.parts.runtime);
            channel
        });
        Arc::clone(channel)
    }

    /// Removes a channel that only its reader and the map still hold; true if it was removed.
    fn release(&self, channel: &Arc<Channel>) -> bool {
        let mut channels = self.channels.lock();
        let is_unused = Arc::strong_count(channel) <= 2;
        if is_unused {
            channels.remove(&channel.account());
        }
        is_unused
    }
}
