//! What a node remembers of devices between two rounds, so that little of it has to be kept each time.
//!
//! What rules know of a device follows from what was last kept of it and from its history, so it is kept only now and
//! then. The node that made the last round remembers the rest; any other reads the history since.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::device::DeviceStatus;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::rule::{Judgement, Snapshot};
use perigee_core::store::{DeviceRound, Followed, StatusChange};
use perigee_core::time::Timestamp;

/// How long what is known of a device that reports goes without being kept, at the least and at the most. Each device
/// has its own time between, or a fleet that came at once would be kept at once for ever.
const UNKEPT_MS: (i64, i64) = (3 * 60 * 1000, 6 * 60 * 1000);
/// States of rules and devices remembered at the most, of all accounts together.
const MOST: usize = 500_000;

/// What is remembered of all accounts.
#[derive(Debug, Default)]
pub(super) struct Memories(Mutex<HashMap<AccountId, (i64, Memory)>>);

/// What is remembered of an account's devices.
#[derive(Debug, Default)]
pub(super) struct Memory {
    devices: HashMap<DeviceId, Remembered>,
    states: usize,
    /// Those that were told to be online.
    online: HashSet<DeviceId>,
}

#[derive(Debug)]
struct Remembered {
    /// What is known, unless somebody has taken it to go on from.
    snapshot: Option<Arc<Snapshot>>,
    states: usize,
    /// When a rule would hold, and since when that and the rest are kept.
    due: Option<Timestamp>,
    kept: Timestamp,
}

impl Memories {
    /// Takes what is remembered of an account, unless another node has made a round since.
    pub(super) fn take(&self, followed: &Followed) -> Memory {
        let taken = self.lock().remove(&followed.account);
        taken.filter(|(round, _)| *round == followed.round).map(|(_, memory)| memory).unwrap_or_default()
    }

    /// Puts back what was not used.
    pub(super) fn put_back(&self, followed: &Followed, memory: Memory) {
        self.lock().insert(followed.account, (followed.round, memory));
    }

    /// Remembers an account after a round that was kept.
    pub(super) fn put(&self, followed: &Followed, memory: Memory) {
        let mut all = self.lock();
        all.insert(followed.account, (followed.round + 1, memory));
        let mut size: usize = all.values().map(|(_, memory)| memory.size()).sum();
        // The largest of the others goes first, so that few accounts lose what is remembered of them.
        while size > MOST
            && let Some((largest, of)) = all
                .iter()
                .filter(|(account, _)| **account != followed.account)
                .map(|(account, (_, memory))| (*account, memory.size()))
                .max_by_key(|(_, size)| *size)
        {
            all.remove(&largest);
            size -= of;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AccountId, (i64, Memory)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// How much is remembered.
    fn size(&self) -> usize {
        self.states + self.online.len()
    }

    /// Whether something is remembered of a device.
    pub(super) fn has(&self, device: DeviceId) -> bool {
        self.devices.get(&device).is_some_and(|remembered| remembered.snapshot.is_some())
    }

    /// Whether a rule judged a device of which something is remembered.
    pub(super) fn was_judged(&self, device: DeviceId) -> bool {
        self.devices.get(&device).is_some_and(|remembered| remembered.states > 0)
    }

    /// Takes what is remembered of a device, to be judged on.
    pub(super) fn take(&mut self, device: DeviceId) -> Option<Arc<Snapshot>> {
        self.devices.get_mut(&device)?.snapshot.take()
    }

    /// Whether a device was told to be online.
    pub(super) fn is_online(&self, device: DeviceId) -> bool {
        self.online.contains(&device)
    }

    /// Notes that devices are heard.
    pub(super) fn hear(&mut self, heard: Vec<DeviceId>) {
        self.online.extend(heard);
    }

    /// Notes what is told of how a device is heard.
    pub(super) fn note(&mut self, change: &StatusChange) {
        if change.to == DeviceStatus::Online {
            self.online.insert(change.device);
        } else {
            self.online.remove(&change.device);
        }
    }

    /// Learns what a round found out, and decides of which devices it is kept. Those of which something was due are: or
    /// it would be for ever.
    pub(super) fn learn(
        &mut self,
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
        due: &[DeviceId],
        now: Timestamp,
    ) {
        for round in devices.values_mut() {
            let Some(judgement) = &round.judgement else { continue };
            let before = self.devices.remove(&round.device);
            self.states -= before.as_ref().map_or(0, |before| before.states);
            let states = judgement.snapshot.progresses.len();
            let has_room = self.size() + states <= MOST;
            round.save = !has_room
                || due.contains(&round.device)
                || before.as_ref().is_none_or(|before| before.must_be_kept(round.device, judgement, now));
            let (due, kept) = match before {
                Some(before) if !round.save => (before.due, before.kept),
                _ => (judgement.due, now),
            };
            if !has_room {
                continue;
            }
            self.states += states;
            let snapshot = Some(Arc::clone(&judgement.snapshot));
            self.devices.insert(round.device, Remembered { snapshot, states, due, kept });
        }
    }
}

impl Remembered {
    fn must_be_kept(&self, device: DeviceId, judgement: &Judgement, now: Timestamp) -> bool {
        let sooner = judgement.due.is_some_and(|due| self.due.is_none_or(|kept| due < kept));
        // What was raised is no reason: judged again from what was kept, the same episodes are the same occurrences.
        let changed = judgement.began
            || !judgement.checkpoints.is_empty()
            || !judgement.dropped.is_empty()
            || judgement.forget_from.is_some();
        // What was kept at a later time was kept before the clock was set back.
        let age_ms = now.as_millis() - self.kept.as_millis();
        sooner || changed || !(0..patience_ms(device)).contains(&age_ms)
    }
}

fn patience_ms(device: DeviceId) -> i64 {
    // Devices made at once have numbers close together: Fibonacci hashing spreads them evenly.
    let spread = device.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    UNKEPT_MS.0 + spread.cast_signed() % (UNKEPT_MS.1 - UNKEPT_MS.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_kept_at_once_are_not_kept_again_at_once() {
        let now = Timestamp::from_millis(1_000_000);
        let snapshot = Snapshot {
            at: now,
            place: None,
            last_checkpoint: None,
            since_checkpoint: 0,
            progresses: Vec::new(),
        };
        let nothing = Judgement {
            snapshot: Arc::new(snapshot),
            due: None,
            checkpoints: Vec::new(),
            forget_from: None,
            touched: Vec::new(),
            began: false,
            dropped: Vec::new(),
            too_old: 0,
        };
        let kept_after = |ms: i64| {
            let devices = (0..1_000).map(|number| DeviceId::from_i64((1 << 60) + number));
            let remembered = Remembered { snapshot: None, states: 0, due: None, kept: now };
            devices.filter(|device| remembered.must_be_kept(*device, &nothing, now.plus_millis(ms))).count()
        };
        assert_eq!(kept_after(UNKEPT_MS.0 - 1), 0);
        assert!((450..550).contains(&kept_after(i64::midpoint(UNKEPT_MS.0, UNKEPT_MS.1))));
        assert_eq!(kept_after(UNKEPT_MS.1), 1_000);
        assert_eq!(kept_after(-1), 1_000, "a clock that was set back puts nothing off");
    }
}
