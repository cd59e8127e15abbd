//! Events on their way to those who watch: one reader of the log for each account that is watched, each event written
//! once and shared by every stream.

mod batch;
mod channel;
mod seats;
mod watcher;

pub use batch::Batch;
pub use channel::Channel;
pub use seats::{Full, Seat};
pub use watcher::Watcher;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::id::{AccountId, UserId};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::config::Events;
use seats::Seats;

/// Streams that read the log by themselves at once, because they were away: the rest wait their turn.
const CATCHING_UP: usize = 16;

/// The streams of a node.
#[derive(Debug)]
pub struct Live {
    channels: Mutex<HashMap<AccountId, Arc<Channel>>>,
    seats: Arc<Seats>,
    catching_up: Semaphore,
}

impl Live {
    /// No streams, and room for as many as the settings say.
    pub fn new(events: &Events) -> Self {
        Self {
            channels: Mutex::default(),
            seats: Arc::new(Seats::new(events.streams_per_user, events.streams_per_account)),
            catching_up: Semaphore::new(CATCHING_UP),
        }
    }

    /// A place for one more stream, unless there are enough.
    pub fn sit(&self, account: AccountId, user: UserId) -> Result<Seat, Full> {
        self.seats.take(account, user)
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
