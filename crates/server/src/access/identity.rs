//! Caches users and sessions, each read from the store at most every two seconds.
//!
//! A change on this node takes effect immediately; a change by another node or the command line takes effect when the
//! entry expires, well within the promised five seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use perigee_core::access::credential::{Identity, SecretHash, Session};
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::store::{Result, Store};
use perigee_core::time::{Clock, Monotonic};
use tokio::sync::watch;

use crate::cache::TtlCache;

/// How long a user or session is used before it is read again.
const TTL: Duration = Duration::from_secs(2);
/// A key that was just refused is not read again within this time, so that an old token does not cause a read of the
/// store with every request.
const REFUSED_TTL: Duration = Duration::from_millis(200);
/// Users, sessions or refused keys in each cache, at most.
const ENTRIES_MAX: usize = 10_000;

/// The users and sessions of recent requests.
#[derive(Debug)]
pub struct Identities {
    clock: Arc<dyn Clock>,
    users: TtlCache<UserId, Arc<Identity>>,
    sessions: TtlCache<SecretHash, Session>,
    /// Keys for which the store was read again although the user was cached.
    reread: TtlCache<(UserId, KeyId), ()>,
    /// Counts invalidations, so that a read that was running meanwhile is not cached.
    invalidations: AtomicU64,
    /// Changes with each invalidation.
    changed: watch::Sender<()>,
}

impl Identities {
    /// An empty cache; ages are measured by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            users: TtlCache::new(ENTRIES_MAX, TTL),
            sessions: TtlCache::new(ENTRIES_MAX, TTL),
            reread: TtlCache::new(ENTRIES_MAX, REFUSED_TTL),
            invalidations: AtomicU64::default(),
            changed: watch::Sender::default(),
        }
    }

    /// The user, at most two seconds old.
    pub async fn user(&self, store: &dyn Store, id: UserId) -> Result<Option<Arc<Identity>>> {
        let now = self.clock.monotonic();
        if let Some(cached) = self.users.get(&id, now) {
            return Ok(Some(cached));
        }
        self.read_user(store, id, now).await
    }

    /// The current user in the store, for a key that does not match the cached user and may be newer. None if this key
    /// was looked up less than 200 ms ago.
    pub async fn user_again(
        &self,
        store: &dyn Store,
        id: UserId,
        key: KeyId,
    ) -> Result<Option<Arc<Identity>>> {
        let now = self.clock.monotonic();
        if self.may_reread(id, key, now) { self.read_user(store, id, now).await } else { Ok(None) }
    }

    fn may_reread(&self, id: UserId, key: KeyId, now: Monotonic) -> bool {
        if self.reread.get(&(id, key), now).is_some() {
            return false;
        }
        self.reread.insert((id, key), (), now);
        true
    }

    async fn read_user(
        &self,
        store: &dyn Store,
        id: UserId,
        now: Monotonic,
    ) -> Result<Option<Arc<Identity>>> {
        let before = self.invalidations.load(Ordering::SeqCst);
        let found = store.find_identity(id).await?.map(Arc::new);
        self.update(&self.users, id, found.clone(), now, before);
        Ok(found)
    }

    /// The session with this secret, at most two seconds old.
    pub async fn session(&self, store: &dyn Store, hash: &SecretHash) -> Result<Option<Session>> {
        let now = self.clock.monotonic();
        if let Some(cached) = self.sessions.get(hash, now) {
            return Ok(Some(cached));
        }
        let before = self.invalidations.load(Ordering::SeqCst);
        let found = store.find_session(hash).await?;
        self.update(&self.sessions, *hash, found, now, before);
        Ok(found)
    }

    /// Invalidates a user and their sessions after a change on this node.
    pub fn invalidate_user(&self, id: UserId) {
        self.invalidations.fetch_add(1, Ordering::SeqCst);
        self.users.remove(&id);
        self.sessions.retain(|session| session.user != id);
        self.changed.send_replace(());
    }

    /// Invalidates the users of an account after a change on this node.
    pub fn invalidate_account(&self, account: AccountId) {
        self.invalidations.fetch_add(1, Ordering::SeqCst);
        self.users.retain(|identity| identity.account.id != account);
        self.changed.send_replace(());
    }

    /// Changes after each invalidation, so that the callers of open streams are checked again immediately.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn update<K: Eq + std::hash::Hash + Clone, V: Clone>(
        &self,
        cache: &TtlCache<K, V>,
        key: K,
        value: Option<V>,
        now: Monotonic,
        before: u64,
    ) {
        cache.replace_if(key, value, now, || self.invalidations.load(Ordering::SeqCst) == before);
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::time::{MockClock, Timestamp};

    use super::*;

    #[test]
    fn an_old_key_is_read_again_only_every_200_ms() {
        let clock = MockClock::at(Timestamp::from_millis(0));
        let identities = Identities::new(Arc::new(clock));
        let ask = |user, key, millis| {
            let (user, key) = (UserId::from_i64(user), KeyId::from_i64(key));
            identities.may_reread(user, key, Monotonic::from_start(Duration::from_millis(millis)))
        };
        assert!(ask(1, 1, 1_000));
        assert!(!ask(1, 1, 1_199));
        assert!(ask(1, 2, 1_199), "a new key does not wait for an old one");
        assert!(ask(2, 1, 1_199));
        assert!(ask(1, 1, 1_200));
    }
}
