//! Follows the end of the log of each account in which polls wait: one task for an account, however many wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::access::actor::Scope;
use perigee_core::id::AccountId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Live;

/// The longest interval between two reads of the end: commits of other nodes are not signalled here.
const READ_AT_LEAST_EVERY: Duration = Duration::from_secs(1);
/// The shortest interval, so that a busy fleet does not cause a read with each commit.
const READ_AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// The number of the last event by account; none before the first read.
#[derive(Debug, Default)]
pub(super) struct LogEnds(Mutex<HashMap<AccountId, watch::Sender<Option<i64>>>>);

impl LogEnds {
    /// Changes whenever the end of an account's log moves. The end is read for as long as a receiver exists.
    pub(super) fn subscribe(&self, live: &Arc<Live>, account: AccountId) -> watch::Receiver<Option<i64>> {
        let mut accounts = self.0.lock();
        if let Some(sender) = accounts.get(&account) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        accounts.insert(account, sender.clone());
        live.parts.tasks.spawn_on(follow(Arc::clone(live), account, sender), &live.parts.runtime);
        receiver
    }

    /// Removes an account that has no receivers; true if it was removed.
    fn release(&self, account: AccountId, sender: &watch::Sender<Option<i64>>) -> bool {
        let mut accounts = self.0.lock();
        let is_unused = sender.receiver_count() == 0;
        if is_unused {
            accounts.remove(&account);
        }
        is_unused
    }
}

async fn follow(live: Arc<Live>, account: AccountId, sender: watch::Sender<Option<i64>>) {
    // Subscribed before the first read, so that no commit between two reads goes unnoticed.
    let mut commits = live.parts.store.commit_signals().of_account(account);
    while !live.log_ends.release(account, &sender) {
        match live.parts.store.event_end(Scope::for_background_job(account)).await {
            Ok(end) => {
                sender.send_if_modified(|known| {
                    let moved = *known != Some(end);
                    *known = Some(end);
                    moved
                });
            }
            Err(error) => {
                tracing::warn!(%account, error = &error as &dyn std::error::Error, "could not read where the log ends");
            }
        }
        let now = Instant::now();
        let rest = async {
            sleep_until(now + READ_AT_MOST_EVERY).await;
            let _commit_or_timeout = timeout_at(now + READ_AT_LEAST_EVERY, commits.changed()).await;
        };
        tokio::select! {
            () = live.parts.stopping.cancelled() => {
                live.log_ends.0.lock().remove(&account);
                return;
            }
            () = sender.closed() => {}
            () = rest => {}
        }
    }
}
