//! Events on their way to those who watch: one reader of the log for each account that is watched, each event written
//! once and shared by every stream. Polls that wait share one reader of the log's end, and the answer.

mod batch;
mod channel;
mod ends;
mod poll;
mod poll_answer;
mod seats;
mod share;
mod shared_read;
mod watcher;

pub use batch::Batch;
pub use channel::Channel;
pub use poll::Poll;
pub use poll_answer::{EventPollKey, FeedPollKey, PollAnswer};
pub use seats::{Full, Seat};
pub use share::{Asked, Busy, Page, SharePages};
pub use shared_read::SharedReads;
pub use watcher::Watcher;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::id::{AccountId, UserId};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::config::Events;
use ends::Ends;
use seats::Seats;

/// Streams that read the log by themselves at once, because they were away: the rest wait their turn.
const CATCHING_UP: usize = 16;

/// The streams of a node.
#[derive(Debug)]
pub struct Live {
    channels: Mutex<HashMap<AccountId, Arc<Channel>>>,
    seats: Arc<Seats>,
    polls: Arc<Seats>,
    ends: Ends,
    catching_up: Semaphore,
}

impl Live {
    /// No streams, and room for as many as the settings say.
    pub fn new(events: &Events) -> Self {
        Self {
            channels: Mutex::default(),
            seats: Arc::new(Seats::new(
                "perigee_streams_open",
                events.streams_per_user,
                events.streams_per_account,
            )),
            polls: Arc::new(Seats::new(
                "perigee_polls_waiting",
                events.polls_per_user,
                events.polls_per_account,
            )),
            ends: Ends::default(),
            catching_up: Semaphore::new(CATCHING_UP),
        }
    }

    /// A place for one more stream, unless there are enough.
    pub fn sit(&self, account: AccountId, user: UserId) -> Result<Seat, Full> {
        self.seats.take(account, user)
    }

    /// A place for one more poll that waits, unless there are enough.
    fn sit_down_to_wait(&self, account: AccountId, user: UserId) -> Result<Seat, Full> {
        self.polls.take(account, user)
    }

    /// How many polls of an account wait here.
    pub fn polls_waiting(&self, account: AccountId) -> usize {
        self.polls.taken_by(account)
    }

    /// The channel of an account's events, which is read for as long as somebody holds it.
    pub fn channel(&self, app: &App, account: AccountId) -> Arc<Channel> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = channels.entry(account).or_insert_with(|| {
            let channel = Arc::new(Channel::new(account));
            // Not where its first listener is served: it reads for all of them.
            app.background.spawn_on(channel::read(app.clone(), Arc::clone(&channel)), &app.runtime);
            channel
        });
        Arc::clone(channel)
    }

    /// Lets a channel go that nobody holds any more but its reader and this; says whether it did.
    fn release(&self, channel: &Arc<Channel>) -> bool {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unused = Arc::strong_count(channel) <= 2;
        if is_unused {
            channels.remove(&channel.account());
        }
        is_unused
    }
}
