//! What a node remembers of devices between two rounds, so that little of it has to be kept each time.
//!
//! What rules know of a device follows from what was last kept of it and from its history, so it is kept only now and
//! then. The node that made the last round remembers the rest; any other reads the history since.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::rule::{Judgement, Snapshot};
use perigee_core::store::{DeviceRound, Followed};
use perigee_core::time::Timestamp;

/// How long what is known of a device that reports goes without being kept, at the least and at the most. Each device
/// has its own time between, or a fleet that came at once would be kept at once for ever.
const UNKEPT_MS: (i64, i64) = (3 * 60 * 1000, 6 * 60 * 1000);
/// States of rules remembered at the most, of all accounts together.
const MOST: usize = 500_000;

/// What is remembered of all accounts.
#[derive(Debug, Default)]
pub(super) struct Memories(Mutex<HashMap<AccountId, (i64, Memory)>>);

/// What is remembered of an account's devices.
#[derive(Debug, Default)]
pub(super) struct Memory {
    devices: HashMap<DeviceId, Remembered>,
    states: usize,
}

#[derive(Debug)]
struct Remembered {
    snapshot: Snapshot,
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

    /// Remembers what a round found out that was kept.
    pub(super) fn put(&self, followed: &Followed, mut memory: Memory, found: Vec<Found>) {
        for (device, snapshot, due, saved) in found {
            memory.learn(device, snapshot, due, saved, followed.now);
        }
        let mut all = self.lock();
        all.insert(followed.account, (followed.round + 1, memory));
        if all.values().map(|(_, memory)| memory.states).sum::<usize>() > MOST {
            all.clear();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AccountId, (i64, Memory)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a round found out of a device: what is known now, when a rule will hold, and whether that is kept.
pub(super) type Found = (DeviceId, Snapshot, Option<Timestamp>, bool);

impl Memory {
    /// What is remembered of a device.
    pub(super) fn get(&self, device: DeviceId) -> Option<&Snapshot> {
        self.devices.get(&device).map(|remembered| &remembered.snapshot)
    }

    /// Decides of which devices what is known is kept. Those of which something was due are: or it would be for ever.
    pub(super) fn decide(
        &self,
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
        due: &[DeviceId],
        now: Timestamp,
    ) {
        for round in devices.values_mut() {
            let Some(judgement) = &round.judgement else { continue };
            let remembered = self.devices.get(&round.device);
            round.save = due.contains(&round.device)
                || remembered.is_none_or(|remembered| remembered.must_be_kept(round.device, judgement, now));
        }
    }

    /// What a round found out.
    pub(super) fn of(devices: &BTreeMap<DeviceId, DeviceRound>) -> Vec<Found> {
        let found = devices.values().filter_map(|round| {
            let judgement = round.judgement.as_ref()?;
            Some((round.device, judgement.snapshot.clone(), judgement.due, round.save))
        });
        found.collect()
    }

    fn learn(
        &mut self,
        device: DeviceId,
        snapshot: Snapshot,
        due: Option<Timestamp>,
        saved: bool,
        now: Timestamp,
    ) {
        self.states += snapshot.progresses.len();
        let before = self.devices.remove(&device);
        self.states -= before.as_ref().map_or(0, |before| before.snapshot.progresses.len());
        let (due, kept) = match before {
            Some(before) if !saved => (before.due, before.kept),
            _ => (due, now),
        };
        self.devices.insert(device, Remembered { snapshot, due, kept });
    }
}

impl Remembered {
    fn must_be_kept(&self, device: DeviceId, judgement: &Judgement, now: Timestamp) -> bool {
        let sooner = judgement.due.is_some_and(|due| self.due.is_none_or(|kept| due < kept));
        // What was raised is no reason: judged again from what was kept, the same episodes are the same occurrences.
        let changed = !judgement.checkpoints.is_empty()
            || !judgement.dropped.is_empty()
            || judgement.forget_from.is_some();
        sooner || changed || now.as_millis() - self.kept.as_millis() >= patience_ms(device)
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
        let snapshot = Snapshot { at: now, place: None, since_checkpoint: 0, progresses: Vec::new() };
        let nothing = Judgement {
            snapshot: snapshot.clone(),
            due: None,
            checkpoints: Vec::new(),
            forget_from: None,
            touched: Vec::new(),
            dropped: Vec::new(),
            too_old: 0,
        };
        let kept_after = |ms: i64| {
            let devices = (0..1_000).map(|number| DeviceId::from_i64((1 << 60) + number));
            let remembered = Remembered { snapshot: snapshot.clone(), due: None, kept: now };
            devices.filter(|device| remembered.must_be_kept(*device, &nothing, now.plus_millis(ms))).count()
        };
        assert_eq!(kept_after(UNKEPT_MS.0 - 1), 0);
        assert!((450..550).contains(&kept_after(i64::midpoint(UNKEPT_MS.0, UNKEPT_MS.1))));
        assert_eq!(kept_after(UNKEPT_MS.1), 1_000);
    }
}
