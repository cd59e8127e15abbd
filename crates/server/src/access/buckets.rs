//! Token buckets by key, refilled by monotonic time so that setting the machine's clock neither fills nor empties them.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

use perigee_core::time::Monotonic;

const SHARDS: usize = 16;
/// Keys a shard keeps before it forgets those whose buckets are full again.
const SWEEP_ABOVE: usize = 4_096;

/// How many at once, and how long until a spent bucket is full again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// The bucket's size.
    pub burst: u32,
    /// Microseconds until one is given back.
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

/// What a bucket says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Whether there was one to take.
    pub allowed: bool,
    /// How many are left.
    pub remaining: u32,
    /// Seconds until it is worth trying again, or until the bucket is full.
    pub wait_s: i64,
}

/// Buckets, one a key, each made full when first asked for.
///
/// The generic cell rate algorithm: one number a key, the instant at which the bucket will be full.
#[derive(Debug)]
pub struct Buckets<K> {
    quota: Quota,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<K, i64>>>,
}

impl<K: Eq + Hash + Clone> Buckets<K> {
    /// Buckets of this quota.
    pub fn new(quota: Quota) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect();
        Self { quota, hasher: RandomState::new(), shards }
    }

    /// Their quota.
    pub const fn quota(&self) -> Quota {
        self.quota
    }

    /// Takes one if there is one.
    pub fn take(&self, key: &K, now: Monotonic) -> Allowance {
        self.ask(key, now, true)
    }

    /// Looks without taking.
    pub fn look(&self, key: &K, now: Monotonic) -> Allowance {
        self.ask(key, now, false)
    }

    /// Gives one back that was taken.
    pub fn give_back(&self, key: &K, now: Monotonic) {
        let now_us = now.as_micros();
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let mut full_at = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(due) = full_at.get_mut(key) {
            *due -= self.quota.interval_us;
            if *due <= now_us {
                full_at.remove(key);
            }
        }
    }

    fn ask(&self, key: &K, now: Monotonic, take: bool) -> Allowance {
        let now_us = now.as_micros();
        let size_us = i64::from(self.quota.burst) * self.quota.interval_us;
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let mut full_at = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);

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
    use std::time::Duration;

    use super::*;

    fn at(millis: u64) -> Monotonic {
        Monotonic::from_start(Duration::from_millis(millis))
    }

    #[test]
    fn gives_the_burst_then_the_rate() {
        let buckets = Buckets::new(Quota::per_second(10, 3));
        let left: Vec<_> = (0..3).map(|_| buckets.take(&"a", at(0)).remaining).collect();
        assert_eq!(left, [2, 1, 0]);
        let refused = buckets.take(&"a", at(0));
        assert_eq!((refused.allowed, refused.wait_s), (false, 1));
        assert!(buckets.take(&"b", at(0)).allowed, "another key has its own bucket");
        assert!(!buckets.take(&"a", at(99)).allowed);
        assert!(buckets.take(&"a", at(100)).allowed);
        assert_eq!(buckets.look(&"a", at(60_000)).remaining, 3);
    }

    #[test]
    fn a_look_takes_nothing() {
        let buckets = Buckets::new(Quota::per_minute(1));
        assert!(buckets.look(&1, at(0)).allowed);
        assert!(buckets.take(&1, at(0)).allowed);
        assert!(!buckets.look(&1, at(0)).allowed);
        assert_eq!(buckets.quota().window_s(), 60);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let buckets = Buckets::new(Quota::per_minute(2));
        assert!(buckets.take(&1, at(0)).allowed && buckets.take(&1, at(0)).allowed);
        assert!(!buckets.take(&1, at(0)).allowed);
        buckets.give_back(&1, at(0));
        assert_eq!(buckets.look(&1, at(0)).remaining, 1);
        buckets.give_back(&1, at(0));
        buckets.give_back(&1, at(0));
        assert_eq!(buckets.look(&1, at(0)).remaining, 2, "never more than the bucket holds");
    }
}
