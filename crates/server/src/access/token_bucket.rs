//! Token buckets by key, refilled by monotonic time so that setting the machine's clock neither fills nor empties them.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::time::Monotonic;

const SHARDS: usize = 16;
/// Number of keys in a shard above which keys whose buckets are full again are removed.
const SWEEP_ABOVE: usize = 4_096;

/// Size of a bucket and the rate at which it refills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// Tokens in a full bucket.
    pub burst: u32,
    /// Microseconds in which one token is added.
    pub interval_us: i64,
}

impl Quota {
    /// A bucket of this size that refills at this rate.
    pub fn per_second(rate: u32, burst: u32) -> Self {
        Self { burst: burst.max(1), interval_us: (1_000_000 / i64::from(rate.max(1))).max(1) }
    }

    /// A bucket of this size that refills within a minute.
    pub fn per_minute(count: u32) -> Self {
        Self { burst: count.max(1), interval_us: 60_000_000 / i64::from(count.max(1)) }
    }

    /// Seconds in which a spent bucket is full again, rounded up.
    pub fn window_s(self) -> i64 {
        (i64::from(self.burst) * self.interval_us).div_ceil_euclid(1_000_000)
    }
}

trait DivCeil {
    fn div_ceil_euclid(self, by: Self) -> Self;
}

impl DivCeil for i64 {
    fn div_ceil_euclid(self, by: Self) -> Self {
        (self + by - 1).div_euclid(by)
    }
}

/// The result of taking a token from a bucket, or of looking for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Whether there was a token.
    pub allowed: bool,
    /// Tokens left in the bucket.
    pub remaining: u32,
    /// Seconds until the bucket is full; if there was no token, seconds until a retry can succeed.
    pub wait_s: i64,
}

/// Token buckets by key, each full when it is first used.
///
/// This is the generic cell rate algorithm: one number for a key, the time at which its bucket will be full.
#[derive(Debug)]
pub struct TokenBuckets<K> {
    quota: Quota,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<K, i64>>>,
}

impl<K: Eq + Hash + Clone> TokenBuckets<K> {
    /// Buckets of this quota.
    pub fn new(quota: Quota) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect();
        Self { quota, hasher: RandomState::new(), shards }
    }

    /// The quota of every bucket.
    pub const fn quota(&self) -> Quota {
        self.quota
    }

    /// Takes a token if there is one.
    pub fn take(&self, key: &K, now: Monotonic) -> Allowance {
        self.check(key, now, true)
    }

    /// Whether there is a token, without taking it.
    pub fn peek(&self, key: &K, now: Monotonic) -> Allowance {
        self.check(key, now, false)
    }

    /// Whether this many tokens are there, without taking them.
    pub fn has(&self, key: &K, count: u32, now: Monotonic) -> bool {
        self.check(key, now, false).remaining >= count
    }

    /// Takes this many tokens even if the bucket has fewer, and returns the time until the missing ones are refilled.
    pub fn spend(&self, key: &K, count: u32, now: Monotonic) -> Duration {
        let now_us = now.as_micros();
        let size_us = i64::from(self.quota.burst) * self.quota.interval_us;
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let mut full_at = self.shards[shard].lock();
        let due = full_at.get(key).copied().unwrap_or(now_us).max(now_us);
        let after = due.saturating_add(i64::from(count).saturating_mul(self.quota.interval_us));
        if full_at.len() >= SWEEP_ABOVE && !full_at.contains_key(key) {
            full_at.retain(|_, due| *due > now_us);
        }
        full_at.insert(key.clone(), after);
        Duration::from_micros(u64::try_from(after - now_us - size_us).unwrap_or(0))
    }

    /// Returns a token that was taken.
    pub fn give_back(&self, key: &K, now: Monotonic) {
        let now_us = now.as_micros();
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let mut full_at = self.shards[shard].lock();
        if let Some(due) = full_at.get_mut(key) {
            *due -= self.quota.interval_us;
            if *due <= now_us {
                full_at.remove(key);
            }
        }
    }

    fn check(&self, key: &K, now: Monotonic, take: bool) -> Allowance {
        let now_us = now.as_micros();
        let size_us = i64::from(self.quota.burst) * self.quota.interval_us;
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let mut full_at = self.shards[shard].lock();

        let due = full_at.get(key).copied().unwrap_or(now_us).clamp(now_us, now_us + size_us);
        let after = due + self.quota.interval_us;
        let allowed = after - now_us <= size_us;
        let due = if allowed && take {
            if full_at.len() >= SWEEP_ABOVE && !full_at.contains_key(key) {
                full_at.retain(|_, due| *due > now_us);
            }
            full_at.insert(key.clone(), after);
            after
        } else {
            due
        };
        let left_us = size_us - (due - now_us);
        let wait_us = if allowed { due - now_us } else { after - now_us - size_us };
        Allowance {
            allowed,
            remaining: u32::try_from(left_us / self.quota.interval_us).unwrap_or(0),
            wait_s: wait_us.div_ceil_euclid(1_000_000).max(i64::from(!allowed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Monotonic {
        Monotonic::from_start(Duration::from_millis(millis))
    }

    #[test]
    fn many_tokens_are_taken_at_once() {
        let buckets = TokenBuckets::new(Quota::per_second(10, 100));
        assert!(buckets.has(&"b", 100, at(0)) && !buckets.has(&"b", 101, at(0)));
        assert_eq!(buckets.spend(&"b", 100, at(0)), Duration::ZERO);
        assert_eq!(buckets.spend(&"b", 20, at(0)), Duration::from_secs(2));
        assert_eq!(buckets.spend(&"b", 0, at(2_000)), Duration::ZERO);
    }

    #[test]
    fn gives_the_burst_then_the_rate() {
        let buckets = TokenBuckets::new(Quota::per_second(10, 3));
        let left: Vec<_> = (0..3).map(|_| buckets.take(&"a", at(0)).remaining).collect();
        assert_eq!(left, [2, 1, 0]);
        let refused = buckets.take(&"a", at(0));
        assert_eq!((refused.allowed, refused.wait_s), (false, 1));
        assert!(buckets.take(&"b", at(0)).allowed, "another key has its own bucket");
        assert!(!buckets.take(&"a", at(99)).allowed);
        assert!(buckets.take(&"a", at(100)).allowed);
        assert_eq!(buckets.peek(&"a", at(60_000)).remaining, 3);
    }

    #[test]
    fn a_look_takes_nothing() {
        let buckets = TokenBuckets::new(Quota::per_minute(1));
        assert!(buckets.peek(&1, at(0)).allowed);
        assert!(buckets.take(&1, at(0)).allowed);
        assert!(!buckets.peek(&1, at(0)).allowed);
        assert_eq!(buckets.quota().window_s(), 60);
    }

    #[test]
    fn returned_tokens_can_be_taken_again() {
        let buckets = TokenBuckets::new(Quota::per_minute(2));
        assert!(buckets.take(&1, at(0)).allowed && buckets.take(&1, at(0)).allowed);
        assert!(!buckets.take(&1, at(0)).allowed);
        buckets.give_back(&1, at(0));
        assert_eq!(buckets.peek(&1, at(0)).remaining, 1);
        buckets.give_back(&1, at(0));
        buckets.give_back(&1, at(0));
        assert_eq!(buckets.peek(&1, at(0)).remaining, 2, "never more than the bucket holds");
    }
}
