//! One round: a part of an account's log, and what is due by now.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use metrics::{counter, gauge};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, RuleId};
use perigee_core::location::StoredLocation;
use perigee_core::rule::{RuleSet, Trail, carried_alerts};
use perigee_core::store::{
    Depth, DeviceRound, Followed, FollowedDevice, Result, Round, SkimLimits, Skimmed, StatusChange,
};

use super::judge::UpTo;
use super::memory::Memory;
use super::node::{Follower, Outcome};
use super::slice::EPISODES;
use super::{judge, status};

/// What a round passes over where there is no rule.
const PASSED: SkimLimits = SkimLimits { locations: 50_000, devices: 1_000, carriers: 1_000 };
/// From so many on a round was a large one.
const LOT: usize = 1_000;
/// Devices of which something is due that one round looks at.
const DUE: u32 = 500;

impl Follower {
    /// Judges the next part of an account's log.
    pub(super) async fn round(&self, account: AccountId) -> Result<Outcome> {
        let Some(mut followed) = self.take(account).await? else { return Ok(Outcome::Nothing) };
        let set = self.rules(&followed).await?;
        // They may be newer than the account was when it was taken; what counts is that they are no older in the end.
        followed.rules_revision = set.revision;
        if followed.catching_up.is_some() {
            return self.catch_up(followed, &set).await;
        }
        let started = Instant::now();
        let limits = if set.is_empty() { PASSED } else { self.sizes.limits(account) };
        let part = match self.app.store.skim_log(account, followed.cursor, limits).await {
            Err(StoreError::CursorExpired) => return self.catch_up(followed, &set).await,
            part => part?,
        };
        if let Some(oldest) = part.oldest {
            #[expect(clippy::cast_precision_loss, reason = "a lag that long shows anyway")]
            let lag_s = (followed.now.as_millis() - oldest.as_millis()).max(0) as f64 / 1000.0;
            gauge!("perigee_rules_lag_seconds").set(lag_s);
        }
        counter!("perigee_rules_locations_total").increment(u64::try_from(part.count).unwrap_or(0));
        let due = if part.more { Vec::new() } else { self.app.store.due_by_rule(account, DUE).await? };
        let mut memory = self.memories.take(&followed);
        let mut devices = self.judge_all(&followed, &set, &part, &due, &mut memory).await?;
        if devices.values().map(episodes).sum::<usize>() > EPISODES && self.sizes.shrink(account, part.count)
        {
            return Ok(Outcome::More);
        }
        let statuses =
            self.look_at_statuses(&followed, &set, &part.devices, &mut devices, &mut memory).await?;
        let moved = part.next != followed.cursor;
        if !moved && devices.is_empty() && statuses.is_empty() {
            self.memories.put_back(&followed, memory);
            return Ok(Outcome::Nothing);
        }
        let told =
            devices.values().any(says_something) || statuses.iter().any(|one| one.from != Some(one.to));
        memory.learn(&mut devices, &due, followed.now);
        devices.retain(|_, device| device.save || says_something(device));
        let round = finished(followed, part.next, &set, devices, statuses);
        let kept = self.app.store.finish_round(round, self.lease()).await?;
        if kept {
            self.memories.put(&followed, memory);
        }
        if !set.is_empty() {
            self.sizes.note(account, part.count, started.elapsed());
        }
        if kept && told {
            self.app.signals.announce(account);
        }
        Ok(match part.count {
            _ if part.more || !kept => Outcome::More,
            LOT.. if !set.is_empty() => Outcome::DoneALot,
            _ => Outcome::Done,
        })
    }

    /// What carried alerts and rules say of each device; those of which they say nothing are left out.
    async fn judge_all(
        &self,
        followed: &Followed,
        set: &RuleSet,
        part: &Skimmed,
        due: &[DeviceId],
        memory: &mut Memory,
    ) -> Result<BTreeMap<DeviceId, DeviceRound>> {
        let mut devices: BTreeMap<DeviceId, DeviceRound> = BTreeMap::new();
        for (device, stored) in &part.carriers {
            let carried = carried_alerts(&stored.location);
            if !carried.is_empty() {
                devices.entry(*device).or_insert_with(|| blank(*device)).carried.extend(carried);
            }
        }
        // Without rules there is nothing to judge, but what is due of those there were is to be forgotten.
        let arrived = part.devices.iter().filter(|_| !set.is_empty());
        let ids: BTreeSet<DeviceId> = arrived.chain(due).copied().collect();
        let known = self.known(followed.account, set, ids, memory).await?;
        let mut new = self.new_of(followed, part, &known).await?;
        for (known, is_behind) in known {
            let device = known.device;
            let stored = new.remove(&device).unwrap_or_default();
            let reach = UpTo { number: part.next, is_behind };
            let judged = judge::judge(&*self.app.store, followed, set, known, stored, reach).await?;
            if let Some(judgement) = judged {
                devices.entry(device).or_insert_with(|| blank(device)).judgement = Some(judgement);
            }
            tokio::task::yield_now().await;
        }
        Ok(devices)
    }

    /// What is known of those of these devices of which a rule says or said something, and whether that is of some
    /// time ago.
    async fn known(
        &self,
        account: AccountId,
        set: &RuleSet,
        devices: BTreeSet<DeviceId>,
        memory: &mut Memory,
    ) -> Result<Vec<(FollowedDevice, bool)>> {
        let (remembered, others): (Vec<DeviceId>, Vec<DeviceId>) =
            devices.into_iter().partition(|device| memory.has(*device));
        let mut all = Vec::with_capacity(remembered.len() + others.len());
        for mut known in self.remembered(account, set, remembered).await? {
            let by_location = || !set.rules_by_location(known.device, &known.groups).is_empty();
            if memory.was_judged(known.device) || by_location() {
                known.trail.current = memory.take(known.device);
                all.push((known, false));
            }
        }
        if !others.is_empty() {
            let others = self.app.store.load_followed(account, &others, Depth::Current).await?;
            let judged = others.into_iter().filter(|known| judge::is_judged(set, known));
            all.extend(judged.map(|known| (known, true)));
        }
        Ok(all)
    }

    /// These devices with their groups, if it matters which. Without that, one that is gone is found out in the end.
    async fn remembered(
        &self,
        account: AccountId,
        set: &RuleSet,
        devices: Vec<DeviceId>,
    ) -> Result<Vec<FollowedDevice>> {
        if set.asks_for_groups() && !devices.is_empty() {
            return self.app.store.load_followed(account, &devices, Depth::Nothing).await;
        }
        let bare = |device| FollowedDevice { device, groups: Vec::new(), trail: Trail::default() };
        Ok(devices.into_iter().map(bare).collect())
    }

    /// What these devices sent.
    async fn new_of(
        &self,
        followed: &Followed,
        part: &Skimmed,
        known: &[(FollowedDevice, bool)],
    ) -> Result<BTreeMap<DeviceId, Vec<StoredLocation>>> {
        let sent = |device: &DeviceId| part.devices.binary_search(device).is_ok();
        let ids: Vec<DeviceId> = known.iter().map(|(known, _)| known.device).filter(sent).collect();
        let mut new: BTreeMap<DeviceId, Vec<StoredLocation>> = BTreeMap::new();
        if ids.is_empty() {
            return Ok(new);
        }
        let span = (followed.cursor, part.next);
        for (device, stored) in self.app.store.read_log(followed.account, span, &ids).await? {
            new.entry(device).or_default().push(stored);
        }
        Ok(new)
    }

    /// Which devices are late, offline or back.
    async fn look_at_statuses(
        &self,
        followed: &Followed,
        set: &RuleSet,
        arrived: &[DeviceId],
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
        memory: &mut Memory,
    ) -> Result<Vec<StatusChange>> {
        let mut statuses = Vec::new();
        let heard: Vec<DeviceId> =
            arrived.iter().copied().filter(|device| !memory.is_online(*device)).collect();
        let watched = self.app.store.load_watched(followed.account, &heard, DUE).await?;
        // Those heard of which nothing else is told are online.
        memory.hear(heard);
        for watched in watched {
            let found = status::look(&watched, set, followed.now);
            memory.note(&found.change);
            statuses.push(found.change);
            if !found.silent.is_empty() || !found.heard.is_empty() {
                let device = devices.entry(watched.device).or_insert_with(|| blank(watched.device));
                device.last_seen = watched.last_seen;
                (device.silent, device.heard) = (found.silent, found.heard);
            }
        }
        Ok(statuses)
    }
}

/// Whether somebody may want to hear of what was found.
fn says_something(device: &DeviceRound) -> bool {
    let judged = device.judgement.as_ref().is_some_and(|judgement| !judgement.touched.is_empty());
    judged || !(device.carried.is_empty() && device.silent.is_empty() && device.heard.is_empty())
}

/// How many alerts and episodes were found.
fn episodes(device: &DeviceRound) -> usize {
    let judged = device.judgement.iter().flat_map(|judgement| &judgement.touched);
    device.carried.len() + judged.map(|touched| touched.episodes.len()).sum::<usize>()
}

/// A device of which nothing is known yet.
pub(super) const fn blank(device: DeviceId) -> DeviceRound {
    DeviceRound {
        device,
        carried: Vec::new(),
        judgement: None,
        save: false,
        last_seen: None,
        silent: Vec::new(),
        heard: Vec::new(),
    }
}

/// The round with the rules that its devices name.
pub(super) fn finished(
    followed: Followed,
    cursor: i64,
    set: &RuleSet,
    devices: BTreeMap<DeviceId, DeviceRound>,
    statuses: Vec<StatusChange>,
) -> Round {
    let mut named: BTreeSet<RuleId> = BTreeSet::new();
    for device in devices.values() {
        let judged = device.judgement.iter().flat_map(|judgement| &judgement.touched);
        named.extend(judged.map(|touched| touched.rule));
        named.extend(device.silent.iter().map(|(rule, _)| *rule));
    }
    let rules = named.into_iter().filter_map(|rule| set.rule(rule).cloned()).collect();
    Round { followed, cursor, catching_up: None, rules, devices: devices.into_values().collect(), statuses }
}
