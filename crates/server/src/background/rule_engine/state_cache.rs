//! Caches the state of rules between two rounds, so that it is stored only every few minutes.
//!
//! The state of a device can be computed again from its last stored state and its history. The node that made the last
//! round has it in memory; any other node reads the history since.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::devices::device::DeviceStatus;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::rules::rule::{Evaluation, Snapshot};
use perigee_core::store::{DeviceRound, RoundStart, StatusChange};
use perigee_core::time::Timestamp;

/// Milliseconds after which the state of a reporting device is stored, at least and at most. The time differs by device,
/// so that a fleet that started together is not stored together.
const STORE_AFTER_MS: (i64, i64) = (3 * 60 * 1000, 6 * 60 * 1000);
/// States of rules and devices in the caches of all accounts together, at most.
const STATES_MAX: usize = 500_000;

/// The caches of all accounts, each with the number of the round for which it is valid.
#[derive(Debug, Default)]
pub(super) struct StateCaches(Mutex<HashMap<AccountId, (i64, StateCache)>>);

/// The cached state of an account's devices.
#[derive(Debug, Default)]
pub(super) struct StateCache {
    devices: HashMap<DeviceId, CachedState>,
    states: usize,
    /// Devices whose stored status is online.
    online: HashSet<DeviceId>,
}

#[derive(Debug)]
struct CachedState {
    /// None while a round is working on it.
    snapshot: Option<Arc<Snapshot>>,
    states: usize,
    /// When a rule becomes due, as stored.
    due: Option<Timestamp>,
    stored_at: Timestamp,
}

impl StateCaches {
    /// Takes the cache of an account; an empty one when another node has made a round since.
    pub(super) fn take(&self, round_start: &RoundStart) -> StateCache {
        let taken = self.0.lock().remove(&round_start.account);
        taken.filter(|(round, _)| *round == round_start.round).map(|(_, cache)| cache).unwrap_or_default()
    }

    /// Puts back an unchanged cache.
    pub(super) fn put_back(&self, round_start: &RoundStart, cache: StateCache) {
        self.0.lock().insert(round_start.account, (round_start.round, cache));
    }

    /// Puts the cache back after a round that was stored.
    pub(super) fn put(&self, round_start: &RoundStart, cache: StateCache) {
        let mut all = self.0.lock();
        all.insert(round_start.account, (round_start.round + 1, cache));
        let mut size: usize = all.values().map(|(_, cache)| cache.size()).sum();
        // The largest of the others is removed first, so that few accounts lose their cache.
        while size > STATES_MAX
            && let Some((largest, of)) = all
                .iter()
                .filter(|(account, _)| **account != round_start.account)
                .map(|(account, (_, cache))| (*account, cache.size()))
                .max_by_key(|(_, size)| *size)
        {
            all.remove(&largest);
            size -= of;
        }
    }
}

impl StateCache {
    /// States and online devices in the cache.
    fn size(&self) -> usize {
        self.states + self.online.len()
    }

    /// Whether the state of a device is cached.
    pub(super) fn has(&self, device: DeviceId) -> bool {
        self.devices.get(&device).is_some_and(|cached| cached.snapshot.is_some())
    }

    /// Whether the cached state of a device includes the progress of a rule.
    pub(super) fn was_evaluated(&self, device: DeviceId) -> bool {
        self.devices.get(&device).is_some_and(|cached| cached.states > 0)
    }

    /// Takes the state of a device out of the cache, to continue from it.
    pub(super) fn take(&mut self, device: DeviceId) -> Option<Arc<Snapshot>> {
        self.devices.get_mut(&device)?.snapshot.take()
    }

    /// Whether the stored status of a device is online.
    pub(super) fn is_online(&self, device: DeviceId) -> bool {
        self.online.contains(&device)
    }

    /// Records that devices have reported.
    pub(super) fn set_online(&mut self, devices: Vec<DeviceId>) {
        self.online.extend(devices);
    }

    /// Records a change of status.
    pub(super) fn note(&mut self, change: &StatusChange) {
        if change.to == DeviceStatus::Online {
            self.online.insert(change.device);
        } else {
            self.online.remove(&change.device);
        }
    }

    /// Takes over the state after a round, and decides for which devices it is stored. It is always stored for those
    /// that were due, or they would stay due.
    pub(super) fn update(
        &mut self,
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
        due: &[DeviceId],
        now: Timestamp,
    ) {
        for round in devices.values_mut() {
            let Some(evaluation) = &round.evaluation else { continue };
            let before = self.devices.remove(&round.device);
            self.states -= before.as_ref().map_or(0, |before| before.states);
            let states = evaluation.snapshot.progresses.len();
            let has_room = self.size() + states <= STATES_MAX;
            round.save = !has_room
                || due.contains(&round.device)
                || before.as_ref().is_none_or(|before| before.must_be_stored(round.device, evaluation, now));
            let (due, stored_at) = match before {
                Some(before) if !round.save => (before.due, before.stored_at),
                _ => (evaluation.due, now),
            };
            if !has_room {
                continue;
            }
            self.states += states;
            let snapshot = Some(Arc::clone(&evaluation.snapshot));
            self.devices.insert(round.device, CachedState { snapshot, states, due, stored_at });
        }
    }
}

impl CachedState {
    fn must_be_stored(&self, device: DeviceId, evaluation: &Evaluation, now: Timestamp) -> bool {
        let sooner = evaluation.due.is_some_and(|due| self.due.is_none_or(|stored| due < stored));
        // New occurrences do not force a save: evaluated again from the stored state they are found again and stored once.
        let changed = evaluation.began
            || !evaluation.checkpoints.is_empty()
            || !evaluation.dropped.is_empty()
            || evaluation.forget_from.is_some();
        // A negative age means that the clock was set back; then the state is stored too.
        let age_ms = now.as_millis() - self.stored_at.as_millis();
        sooner || changed || !(0..store_after_ms(device)).contains(&age_ms)
    }
}

fn store_after_ms(device: DeviceId) -> i64 {
    // Devices created together have consecutive ids; Fibonacci hashing spreads them evenly.
    let spread = device.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    STORE_AFTER_MS.0 + spread.cast_signed() % (STORE_AFTER_MS.1 - STORE_AFTER_MS.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stored_together_are_not_stored_together_again() {
        let now = Timestamp::from_millis(1_000_000);
        let snapshot = Snapshot {
            at: now,
            position: None,
            last_checkpoint: None,
            since_checkpoint: 0,
            progresses: Vec::new(),
        };
        let nothing = Evaluation {
            snapshot: Arc::new(snapshot),
            due: None,
            checkpoints: Vec::new(),
            forget_from: None,
            touched: Vec::new(),
            began: false,
            dropped: Vec::new(),
            too_old: 0,
        };
        let stored_after = |ms: i64| {
            let devices = (0..1_000).map(|number| DeviceId::from_i64((1 << 60) + number));
            let cached = CachedState { snapshot: None, states: 0, due: None, stored_at: now };
            devices.filter(|device| cached.must_be_stored(*device, &nothing, now.plus_millis(ms))).count()
        };
        assert_eq!(stored_after(STORE_AFTER_MS.0 - 1), 0);
        assert!((450..550).contains(&stored_after(i64::midpoint(STORE_AFTER_MS.0, STORE_AFTER_MS.1))));
        assert_eq!(stored_after(STORE_AFTER_MS.1), 1_000);
        assert_eq!(stored_after(-1), 1_000, "a clock that was set back delays nothing");
    }
}
