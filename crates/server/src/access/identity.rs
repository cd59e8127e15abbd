//! What is known of the users who ask, read from the store at most every two seconds each.
//!
//! A change made here acts at once; one made by another node or by command acts when the entry is read anew,
//! well within the promised five seconds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use perigee_core::credential::{Identity, SecretHash, Session};
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::store::{Result, Store};
use perigee_core::time::{Clock, Monotonic};
use tokio::sync::watch;

const FRESH: Duration = Duration::from_secs(2);
/// A key that was just refused is not looked for again within this time, so that an old token cannot have the store
/// read with every request.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
const KEPT: usize = 10_000;

/// The users and sessions asked for lately.
#[derive(Debug)]
pub struct Identities {
    clock: Arc<dyn Clock>,
    users: Mutex<HashMap<UserId, (Monotonic, Arc<Identity>)>>,
    sessions: Mutex<HashMap<SecretHash, (Monotonic, Session)>>,
    /// The keys that the store was asked for again lately.
    asked_again: Mutex<HashMap<(UserId, KeyId), Monotonic>>,
    /// Counts what was forgotten, so that a read under way meanwhile is not remembered.
    forgotten: AtomicU64,
    /// Changes whenever somebody was changed here.
    changed: watch::Sender<()>,
}

impl Identities {
    /// Nobody yet; spans are measured by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            users: Mutex::default(),
            sessions: Mutex::default(),
            asked_again: Mutex::default(),
            forgotten: AtomicU64::default(),
            changed: watch::Sender::default(),
        }
    }

    /// The user, at most two seconds old.
    pub async fn user(&self, store: &dyn Store, id: UserId) -> Result<Option<Arc<Identity>>> {
        let now = self.clock.monotonic();
        if let Some(known) = fresh(&self.users, &id, now) {
            return Ok(Some(known));
        }
        self.read_user(store, id, now).await
    }

    /// The user as the store has them now, for a key that what is remembered does not fit: it may be newer. None
    /// when this key was looked for a moment ago.
    pub async fn user_again(
        &self,
        store: &dyn Store,
        id: UserId,
        key: KeyId,
    ) -> Result<Option<Arc<Identity>>> {
        let now = self.clock.monotonic();
        if self.may_ask_again(id, key, now) { self.read_user(store, id, now).await } else { Ok(None) }
    }

    fn may_ask_again(&self, id: UserId, key: KeyId, now: Monotonic) -> bool {
        let is_recent = |asked: &Monotonic| now.since(*asked) < LOOK_AGAIN;
        let mut asked = lock(&self.asked_again);
        if asked.get(&(id, key)).is_some_and(is_recent) {
            return false;
        }
        if asked.len() >= KEPT {
            asked.retain(|_, asked| is_recent(asked));
        }
        asked.insert((id, key), now);
        true
    }

    async fn read_user(
        &self,
        store: &dyn Store,
        id: UserId,
        now: Monotonic,
    ) -> Result<Option<Arc<Identity>>> {
        let before = self.forgotten.load(Ordering::SeqCst);
        let found = store.find_identity(id).await?.map(Arc::new);
        self.remember(&self.users, id, found.clone(), now, before);
        Ok(found)
    }

    /// The session with this secret, at most two seconds old.
    pub async fn session(&self, store: &dyn Store, hash: &SecretHash) -> Result<Option<Session>> {
        let now = self.clock.monotonic();
        if let Some(known) = fresh(&self.sessions, hash, now) {
            return Ok(Some(known));
        }
        let before = self.forgotten.load(Ordering::SeqCst);
        let found = store.find_session(hash).await?;
        self.remember(&self.sessions, *hash, found, now, before);
        Ok(found)
    }

    /// Forgets a user and their sessions, because they were changed here.
    pub fn forget_user(&self, id: UserId) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        lock(&self.users).remove(&id);
        lock(&self.sessions).retain(|_, (_, session)| session.user != id);
        self.changed.send_replace(());
    }

    /// Forgets the users of an account, because it was changed here.
    pub fn forget_account(&self, account: AccountId) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        lock(&self.users).retain(|_, (_, identity)| identity.account.id != account);
        self.changed.send_replace(());
    }

    /// What changes whenever somebody was changed here: whose request goes on is looked at again at once.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn remember<K: Eq + std::hash::Hash, V>(
        &self,
        known: &Known<K, V>,
        key: K,
        value: Option<V>,
        now: Monotonic,
        before: u64,
    ) {
        let mut known = lock(known);
        if known.len() >= KEPT {
            known.retain(|_, (read_at, _)| now.since(*read_at) < FRESH);
        }
        match value {
            Some(value) if self.forgotten.load(Ordering::SeqCst) == before => {
                known.insert(key, (now, value));
            }
            _ => {
                known.remove(&key);
            }
        }
    }
}

type Known<K, V> = Mutex<HashMap<K, (Monotonic, V)>>;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fresh<K: Eq + std::hash::Hash, V: Clone>(known: &Known<K, V>, key: &K, now: Monotonic) -> Option<V> {
    let known = lock(known);
    let (read_at, value) = known.get(key)?;
    (now.since(*read_at) < FRESH).then(|| value.clone())
}

#[cfg(test)]
mod tests {
    use perigee_core::time::{MockClock, Timestamp};

    use super::*;

    #[test]
    fn an_old_key_is_looked_for_now_and_then_only() {
        let clock = MockClock::at(Timestamp::from_millis(0));
        let identities = Identities::new(Arc::new(clock));
        let ask = |user, key, millis| {
            let (user, key) = (UserId::from_i64(user), KeyId::from_i64(key));
            identities.may_ask_again(user, key, Monotonic::from_start(Duration::from_millis(millis)))
        };
        assert!(ask(1, 1, 1_000));
        assert!(!ask(1, 1, 1_199));
        assert!(ask(1, 2, 1_199), "a new key does not wait for an old one");
        assert!(ask(2, 1, 1_199));
        assert!(ask(1, 1, 1_200));
    }
}
