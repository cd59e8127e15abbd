//! What is known of the users who ask, read from the store at most every two seconds each.
//!
//! A change made here acts at once; one made by another node or by command acts when the entry is read anew,
//! well within the promised five seconds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::credential::{Identity, SecretHash, Session};
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::store::{Result, Store};
use perigee_core::time::Timestamp;
use tokio::sync::watch;

const FRESH_MS: i64 = 2_000;
/// A key that was just refused is not looked for again within this time, so that an old token cannot have the store
/// read with every request.
const LOOK_AGAIN_MS: i64 = 200;
const KEPT: usize = 10_000;

/// The users and sessions asked for lately.
#[derive(Debug, Default)]
pub struct Identities {
    users: Mutex<HashMap<UserId, (Timestamp, Arc<Identity>)>>,
    sessions: Mutex<HashMap<SecretHash, (Timestamp, Session)>>,
    /// The keys that the store was asked for again lately.
    asked_again: Mutex<HashMap<(UserId, KeyId), Timestamp>>,
    /// Counts what was forgotten, so that a read under way meanwhile is not remembered.
    forgotten: AtomicU64,
    /// Changes whenever somebody was changed here.
    changed: watch::Sender<()>,
}

impl Identities {
    /// The user, at most two seconds old.
    pub async fn user(&self, store: &dyn Store, id: UserId, now: Timestamp) -> Result<Option<Arc<Identity>>> {
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
        now: Timestamp,
    ) -> Result<Option<Arc<Identity>>> {
        if self.may_ask_again(id, key, now) { self.read_user(store, id, now).await } else { Ok(None) }
    }

    fn may_ask_again(&self, id: UserId, key: KeyId, now: Timestamp) -> bool {
        let is_recent =
            |asked: &Timestamp| (0..LOOK_AGAIN_MS).contains(&(now.as_millis() - asked.as_millis()));
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
        now: Timestamp,
    ) -> Result<Option<Arc<Identity>>> {
        let before = self.forgotten.load(Ordering::SeqCst);
        let found = store.find_identity(id).await?.map(Arc::new);
        self.remember(&self.users, id, found.clone(), now, before);
        Ok(found)
    }

    /// The session with this secret, at most two seconds old.
    pub async fn session(
        &self,
        store: &dyn Store,
        hash: &SecretHash,
        now: Timestamp,
    ) -> Result<Option<Session>> {
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
        now: Timestamp,
        before: u64,
    ) {
        let mut known = lock(known);
        if known.len() >= KEPT {
            known.retain(|_, (read_at, _)| now.as_millis() - read_at.as_millis() < FRESH_MS);
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

type Known<K, V> = Mutex<HashMap<K, (Timestamp, V)>>;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fresh<K: Eq + std::hash::Hash, V: Clone>(known: &Known<K, V>, key: &K, now: Timestamp) -> Option<V> {
    let known = lock(known);
    let (read_at, value) = known.get(key)?;
    let age = now.as_millis() - read_at.as_millis();
    (0..FRESH_MS).contains(&age).then(|| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_key_is_looked_for_now_and_then_only() {
        let identities = Identities::default();
        let ask = |user, key, millis| {
            let (user, key) = (UserId::from_i64(user), KeyId::from_i64(key));
            identities.may_ask_again(user, key, Timestamp::from_millis(millis))
        };
        assert!(ask(1, 1, 1_000));
        assert!(!ask(1, 1, 1_199));
        assert!(ask(1, 2, 1_199), "a new key does not wait for an old one");
        assert!(ask(2, 1, 1_199));
        assert!(ask(1, 1, 1_200));
        assert!(ask(1, 1, 500), "a clock that went back locks nobody out");
    }
}
