//! Bounded caches in memory.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::time::Monotonic;

/// A map of limited size. When it is full, stale entries are removed, then the oldest eighth.
#[derive(Debug)]
pub struct BoundedMap<K, V> {
    entries: HashMap<K, V>,
    /// Every key once, in order of insertion.
    order: VecDeque<K>,
    max: usize,
}

impl<K: Eq + Hash + Clone, V> BoundedMap<K, V> {
    /// An empty map of at most `max` entries, at least one.
    pub fn new(max: usize) -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new(), max: max.max(1) }
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// Inserts or replaces a value. `is_fresh` decides which entries are kept when the map is full.
    pub fn insert(&mut self, key: K, value: V, is_fresh: impl Fn(&V) -> bool) {
        if self.entries.insert(key.clone(), value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.entries.len() <= self.max {
            return;
        }
        self.retain(|_, value| is_fresh(value));
        if self.entries.len() <= self.max {
            return;
        }
        // An eighth at once, so that a full map is not searched for stale entries with every insertion.
        let keep = (self.max - self.max / 8).max(1);
        while self.entries.len() > keep {
            let Some(oldest) = self.order.pop_front() else { break };
            self.entries.remove(&oldest);
        }
    }

    /// Removes the entry of a key.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let removed = self.entries.remove(key);
        if removed.is_some() {
            self.order.retain(|other| other != key);
        }
        removed
    }

    /// Removes every entry for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        self.entries.retain(|key, value| keep(key, value));
        self.order.retain(|key| self.entries.contains_key(key));
    }

    /// Removes every entry, fresh or not.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }

    /// Entries in the map, stale ones included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A shared cache of limited size whose entries expire. Time is monotonic, so that setting the machine's clock changes
/// nothing.
#[derive(Debug)]
pub struct TtlCache<K, V> {
    ttl: Duration,
    entries: Mutex<BoundedMap<K, (Monotonic, V)>>,
}

impl<K: Eq + Hash + Clone, V: Clone> TtlCache<K, V> {
    /// An empty cache of at most `max` entries, each used for `ttl` after it was inserted.
    pub fn new(max: usize, ttl: Duration) -> Self {
        Self { ttl, entries: Mutex::new(BoundedMap::new(max)) }
    }

    /// The value of a key, unless it is expired.
    pub fn get(&self, key: &K, now: Monotonic) -> Option<V> {
        let entries = self.entries.lock();
        let (inserted_at, value) = entries.get(key)?;
        (now.since(*inserted_at) < self.ttl).then(|| value.clone())
    }

    /// Inserts or replaces a value that was read at `now`.
    pub fn insert(&self, key: K, value: V, now: Monotonic) {
        self.entries.lock().insert(key, (now, value), |(inserted_at, _)| now.since(*inserted_at) < self.ttl);
    }

    /// Replaces the value of a key, or removes it if there is none or `is_current` is false. The condition is checked
    /// under the lock: an entry that is removed after the condition changed is not inserted again.
    pub fn replace_if(&self, key: K, value: Option<V>, now: Monotonic, is_current: impl Fn() -> bool) {
        let mut entries = self.entries.lock();
        match value.filter(|_| is_current()) {
            Some(value) => {
                entries.insert(key, (now, value), |(inserted_at, _)| now.since(*inserted_at) < self.ttl);
            }
            None => drop(entries.remove(&key)),
        }
    }

    /// Removes the entry of a key.
    pub fn remove(&self, key: &K) {
        self.entries.lock().remove(key);
    }

    /// Removes every entry for whose value `keep` is false.
    pub fn retain(&self, keep: impl Fn(&V) -> bool) {
        self.entries.lock().retain(|_, (_, value)| keep(value));
    }

    /// Removes every entry, fresh or not.
    pub fn clear(&self) {
        self.entries.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Monotonic {
        Monotonic::from_start(Duration::from_millis(millis))
    }

    #[test]
    fn a_full_map_removes_stale_entries_first_and_then_the_oldest() {
        let mut map = BoundedMap::new(16);
        for number in 0..16 {
            map.insert(number, number >= 4, |fresh| *fresh);
        }
        map.insert(16, true, |fresh| *fresh);
        assert_eq!((map.len(), map.get(&3), map.get(&4)), (13, None, Some(&true)));
        for number in 17..21 {
            map.insert(number, true, |fresh| *fresh);
        }
        assert_eq!((map.len(), map.get(&6), map.get(&7)), (14, None, Some(&true)));
        assert_eq!(map.order.len(), map.entries.len());
    }

    #[test]
    fn a_removed_key_can_be_inserted_again() {
        let mut map = BoundedMap::new(2);
        map.insert(1, 'a', |_| true);
        assert_eq!(map.remove(&1), Some('a'));
        map.insert(1, 'b', |_| true);
        map.insert(1, 'c', |_| true);
        assert_eq!((map.get(&1), map.order.len()), (Some(&'c'), 1));
        map.clear();
        assert!(map.is_empty());
    }

    #[test]
    fn entries_of_a_cache_expire_and_can_be_removed() {
        let cache = TtlCache::new(10, Duration::from_secs(2));
        cache.insert("a", 1, at(0));
        cache.insert("b", 2, at(1_000));
        assert_eq!((cache.get(&"a", at(1_999)), cache.get(&"a", at(2_000))), (Some(1), None));
        cache.retain(|value| *value != 2);
        assert_eq!(cache.get(&"b", at(1_000)), None);
        cache.insert("b", 3, at(1_000));
        cache.remove(&"b");
        assert_eq!(cache.get(&"b", at(1_000)), None);
    }
}
