//! Where the log of an account ends, read by one task for everybody who waits for something to happen in the account.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::actor::Scope;
use perigee_core::id::AccountId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::app::App;

/// How long a look is put off at the most: what another node stored is not announced here.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How soon after a look the next one is made: a busy fleet would have it look all the time.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// The ends of the accounts that somebody waits for; none until it was read once.
#[derive(Debug, Default)]
pub(super) struct Ends(Mutex<HashMap<AccountId, watch::Sender<Option<i64>>>>);

impl Ends {
    /// What changes when the end of an account's log moves. It is read for as long as somebody holds this.
    pub(super) fn subscribe(&self, app: &App, account: AccountId) -> watch::Receiver<Option<i64>> {
        let mut accounts = self.lock();
        if let Some(sender) = accounts.get(&account) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        accounts.insert(account, sender.clone());
        app.background.spawn_on(follow(app.clone(), account, sender), &app.runtime);
        receiver
    }

    /// Forgets an account for which nobody waits; says whether it did.
    fn release(&self, account: AccountId, sender: &watch::Sender<Option<i64>>) -> bool {
        let mut accounts = self.lock();
        let is_unused = sender.receiver_count() == 0;
        if is_unused {
            accounts.remove(&account);
        }
        is_unused
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, watch::Sender<Option<i64>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn follow(app: App, account: AccountId, sender: watch::Sender<Option<i64>>) {
    // Before the first look, so that nothing is announced unheard between two looks.
    let mut bell = app.signals.of_account(account);
    while !app.live.ends.release(account, &sender) {
        match app.store.event_end(Scope::whole(account)).await {
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
            sleep_until(now + LOOK_AFTER).await;
            let _announced_or_not = timeout_at(now + LOOK_EVERY, bell.changed()).await;
        };
        tokio::select! {
            () = app.signals.stopping().cancelled() => {
                app.live.ends.lock().remove(&account);
                return;
            }
            () = sender.closed() => {}
            () = rest => {}
        }
    }
}
