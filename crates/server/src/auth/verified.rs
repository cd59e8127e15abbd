//! Remembers tokens that were verified, so that each signature is checked once and not with every request.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perigee_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::token::Claims;

const SHARDS: usize = 16;

type Digest = [u8; 32];

/// A bounded memory of verified tokens. Each sixteenth has its own lock, held for one look-up.
///
/// It knows nothing of users and keys that were disabled since: the caller asks for those with every request.
pub struct VerifiedTokens {
    shards: [Mutex<Shard>; SHARDS],
    most_each: usize,
}

#[derive(Default)]
struct Shard {
    claims: HashMap<Digest, Arc<Claims>>,
    /// Every remembered token once, in the order in which they came.
    order: VecDeque<Digest>,
}

impl VerifiedTokens {
    /// Remembers about this many.
    pub fn new(most: usize) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self { shards, most_each: most.div_ceil(SHARDS).max(1) }
    }

    /// What the token says, if it was verified before and is still good.
    pub fn get(&self, token: &str, now: Timestamp) -> Option<Arc<Claims>> {
        let digest = digest(token);
        let claims = self.shard(&digest).claims.get(&digest).map(Arc::clone)?;
        (!claims.is_expired(now)).then_some(claims)
    }

    /// Remembers a token that was just verified. Expired ones make room, then the oldest.
    pub fn insert(&self, token: &str, claims: Arc<Claims>, now: Timestamp) {
        let digest = digest(token);
        let mut shard = self.shard(&digest);
        if shard.claims.insert(digest, claims).is_some() {
            return;
        }
        shard.order.push_back(digest);
        if shard.claims.len() > self.most_each {
            shard.retain(|claims| !claims.is_expired(now));
        }
        // Down by an eighth, so that a full shard is not searched for expired ones with every new token.
        let room = self.most_each - self.most_each / 8;
        if shard.claims.len() > self.most_each {
            while shard.claims.len() > room.max(1) {
                let Some(oldest) = shard.order.pop_front() else { break };
                shard.claims.remove(&oldest);
            }
        }
    }

    /// Forgets every token.
    pub fn clear(&self) {
        for shard in &self.shards {
            *lock(shard) = Shard::default();
        }
    }

    fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).claims.len()).sum()
    }

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, Shard> {
        lock(&self.shards[usize::from(digest[0]) % SHARDS])
    }
}

impl Shard {
    fn retain(&mut self, keep: impl Fn(&Claims) -> bool) {
        self.claims.retain(|_, claims| keep(claims));
        self.order.retain(|digest| self.claims.contains_key(digest));
    }
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedTokens").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A shard is whole after every statement, so a panic elsewhere does not spoil it.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tokens are remembered by hash: a memory dump gives nobody a token.
fn digest(token: &str) -> Digest {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use perigee_core::id::{AccountId, KeyId, UserId};

    use super::*;

    fn claims(exp: i64, key: i64) -> Arc<Claims> {
        Arc::new(Claims {
            iss: String::new(),
            aud: String::new(),
            sub: UserId::from_i64(1),
            exp,
            iat: 0,
            jti: String::new(),
            key: KeyId::from_i64(key),
            acc: AccountId::from_i64(1),
        })
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn remembers_until_expiry() {
        let memory = VerifiedTokens::new(100);
        memory.insert("token", claims(10, 1), at(0));
        assert_eq!(memory.get("token", at(9)), Some(claims(10, 1)));
        assert_eq!(memory.get("token", at(10)), None);
        assert_eq!(memory.get("other", at(0)), None);
    }

    #[test]
    fn forgets_the_oldest_when_full() {
        let memory = VerifiedTokens::new(320);
        for number in 0..10_000 {
            memory.insert(&number.to_string(), claims(10, 1), at(0));
            assert!(memory.get(&number.to_string(), at(0)).is_some());
            assert!(memory.len() <= 320);
        }
        assert!(memory.len() > 200);
        assert_eq!(memory.get("0", at(0)), None);
        for shard in &memory.shards {
            let shard = lock(shard);
            assert_eq!(shard.order.len(), shard.claims.len());
        }
    }

    #[test]
    fn expired_ones_make_room_first() {
        let memory = VerifiedTokens::new(16);
        memory.insert("stays", claims(100, 1), at(0));
        for number in 0..1000 {
            memory.insert(&number.to_string(), claims(10, 1), at(20));
        }
        assert!(memory.get("stays", at(20)).is_some());
    }

    #[test]
    fn is_shared_between_threads() {
        let memory = VerifiedTokens::new(1000);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let memory = &memory;
                scope.spawn(move || {
                    for number in 0..500 {
                        let token = format!("{thread} {number}");
                        memory.insert(&token, claims(10, thread), at(0));
                        memory.get(&token, at(0));
                    }
                });
            }
        });
        assert!(memory.len() <= 1008);
    }
}
