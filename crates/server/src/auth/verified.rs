//! Caches verified tokens, so that each signature is checked once and not with every request.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use perigee_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::token::Claims;
use crate::cache::BoundedMap;

const SHARDS: usize = 16;

type Digest = [u8; 32];

/// A bounded cache of verified tokens. Each of its shards has its own lock, held for one lookup.
///
/// Users and keys may have been disabled since the token was verified: the caller checks them with every request.
pub struct VerifiedTokens {
    shards: [Mutex<Shard>; SHARDS],
}

type Shard = BoundedMap<Digest, Arc<Claims>>;

impl VerifiedTokens {
    /// An empty cache of at most about this many tokens.
    pub fn new(max: usize) -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::new(BoundedMap::new(max.div_ceil(SHARDS)))) }
    }

    /// The claims of a token, if it was verified before and is not expired.
    pub fn get(&self, token: &str, now: Timestamp) -> Option<Arc<Claims>> {
        let digest = digest(token);
        let claims = self.shard(&digest).get(&digest).map(Arc::clone)?;
        (!claims.is_expired(now)).then_some(claims)
    }

    /// Inserts a token that was just verified.
    pub fn insert(&self, token: &str, claims: Arc<Claims>, now: Timestamp) {
        let digest = digest(token);
        self.shard(&digest).insert(digest, claims, |claims| !claims.is_expired(now));
    }

    /// Removes every token, valid or not.
    pub fn clear(&self) {
        for shard in &self.shards {
            shard.lock().clear();
        }
    }

    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, Shard> {
        self.shards[usize::from(digest[0]) % SHARDS].lock()
    }
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedTokens").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Tokens are kept as hashes: a memory dump reveals no token.
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
    fn tokens_are_cached_until_they_expire() {
        let cache = VerifiedTokens::new(100);
        cache.insert("token", claims(10, 1), at(0));
        assert_eq!(cache.get("token", at(9)), Some(claims(10, 1)));
        assert_eq!(cache.get("token", at(10)), None);
        assert_eq!(cache.get("other", at(0)), None);
    }

    #[test]
    fn a_full_cache_removes_the_oldest() {
        let cache = VerifiedTokens::new(320);
        for number in 0..10_000 {
            cache.insert(&number.to_string(), claims(10, 1), at(0));
            assert!(cache.get(&number.to_string(), at(0)).is_some());
            assert!(cache.len() <= 320);
        }
        assert!(cache.len() > 200);
        assert_eq!(cache.get("0", at(0)), None);
    }

    #[test]
    fn expired_tokens_are_removed_first() {
        let cache = VerifiedTokens::new(16);
        cache.insert("stays", claims(100, 1), at(0));
        for number in 0..1000 {
            cache.insert(&number.to_string(), claims(10, 1), at(20));
        }
        assert!(cache.get("stays", at(20)).is_some());
    }

    #[test]
    fn is_shared_between_threads() {
        let cache = VerifiedTokens::new(1000);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    for number in 0..500 {
                        let token = format!("{thread} {number}");
                        cache.insert(&token, claims(10, thread), at(0));
                        cache.get(&token, at(0));
                    }
                });
            }
        });
        assert!(cache.len() <= 1008);
    }
}
