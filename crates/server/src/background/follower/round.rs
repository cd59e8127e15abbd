//! One round: a part of an account's log, and what is due by now.

use std::collections::{BTreeMap, BTreeSet};

use metrics::{counter, gauge};
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, RuleId};
use perigee_core::location::StoredLocation;
use perigee_core::rule::{RuleSet, carried_alerts};
use perigee_core::store::{Depth, DeviceRound, Followed, Result, Round, StatusChange};

use super::judge::UpTo;
use super::memory::Memory;
use super::node::{Follower, Outcome};
use super::{judge, status};

/// Locations one round judges.
const LOCATIONS: u32 = 5_000;
/// Devices of which something is due that one round looks at.
const DUE: u32 = 500;

impl Follower {
    /// Judges the next part of an account's log.
    pub(super) async fn round(&self, account: AccountId) -> Result<Outcome> {
        let Some(mut followed) = self.take(account).await? else { return Ok(Outcome::Nothing) };
        let set = self.rules(&followed).await?;
        // They may be newer than the account was when it was taken; what counts is that they are no older in the end.
        followed.rules_revision = set.revision;
        let feed = self.app.store.list_location_feed(Scope::whole(account), followed.cursor, LOCATIONS).await;
        let feed = match feed {
            Err(StoreError::CursorExpired) => return self.catch_up(followed, &set).await,
            feed => feed?,
        };
        let more = feed.items.len() >= usize::try_from(LOCATIONS).unwrap_or(usize::MAX);
        if let Some((_, oldest)) = feed.items.first() {
            #[expect(clippy::cast_precision_loss, reason = "a lag that long shows anyway")]
            let lag_s = (followed.now.as_millis() - oldest.received_at.as_millis()).max(0) as f64 / 1000.0;
            gauge!("perigee_rules_lag_seconds").set(lag_s);
        }
        counter!("perigee_rules_locations_total").increment(u64::try_from(feed.items.len()).unwrap_or(0));
        let mut new: BTreeMap<DeviceId, Vec<StoredLocation>> = BTreeMap::new();
        for (device, stored) in feed.items {
            new.entry(device).or_default().push(stored);
        }
        let heard: Vec<DeviceId> = new.keys().copied().collect();
        let due = if more { Vec::new() } else { self.app.store.due_by_rule(account, DUE).await? };
        let memory = self.memories.take(&followed);
        let mut devices = self.judge_all(&followed, &set, &new, &due, (feed.next, &memory)).await?;
        let statuses = self.look_at_statuses(&followed, &set, &heard, &mut devices).await?;
        let moved = feed.next != followed.cursor;
        if !moved && devices.is_empty() && statuses.is_empty() {
            self.memories.put_back(&followed, memory);
            return Ok(Outcome::Nothing);
        }
        let told =
            devices.values().any(says_something) || statuses.iter().any(|one| one.from != Some(one.to));
        memory.decide(&mut devices, &due, followed.now);
        let known = Memory::of(&devices);
        let round = finished(followed, feed.next, &set, devices, statuses);
        let kept = self.app.store.finish_round(round).await?;
        if kept {
            self.memories.put(&followed, memory, known);
        }
        if kept && told {
            self.app.arrivals.announce(account);
        }
        Ok(if more || !kept { Outcome::More } else { Outcome::Done })
    }

    /// What carried alerts and rules say of each device; those of which they say nothing are left out.
    async fn judge_all(
        &self,
        followed: &Followed,
        set: &RuleSet,
        new: &BTreeMap<DeviceId, Vec<StoredLocation>>,
        due: &[DeviceId],
        (up_to, memory): (i64, &Memory),
    ) -> Result<BTreeMap<DeviceId, DeviceRound>> {
        let mut devices = BTreeMap::new();
        for (device, stored) in new {
            let carried: Vec<_> = stored.iter().flat_map(|stored| carried_alerts(&stored.location)).collect();
            if !carried.is_empty() {
                devices.insert(*device, DeviceRound { carried, ..blank(*device) });
            }
        }
        // Without rules there is nothing to judge, but what is due of those there were is to be forgotten.
        let arrived = new.keys().filter(|_| !set.is_empty());
        let ids: BTreeSet<DeviceId> = arrived.chain(due).copied().collect();
        let (remembered, others): (Vec<DeviceId>, Vec<DeviceId>) =
            ids.into_iter().partition(|device| memory.get(*device).is_some());
        for (ids, depth) in [(remembered, Depth::Nothing), (others, Depth::Current)] {
            if ids.is_empty() {
                continue;
            }
            for mut known in self.app.store.load_followed(followed.account, &ids, depth).await? {
                let device = known.device;
                if depth == Depth::Nothing {
                    known.trail.current = memory.get(device).cloned();
                }
                let stored = new.get(&device).map(Vec::as_slice).unwrap_or_default();
                let reach = UpTo { number: up_to, is_behind: depth == Depth::Current };
                let judged = judge::judge(&*self.app.store, followed, set, known, stored, reach).await?;
                if let Some(judgement) = judged {
                    devices.entry(device).or_insert_with(|| blank(device)).judgement = Some(judgement);
                }
                tokio::task::yield_now().await;
            }
        }
        Ok(devices)
    }

    /// Which devices are late, offline or back.
    async fn look_at_statuses(
        &self,
        followed: &Followed,
        set: &RuleSet,
        heard: &[DeviceId],
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
    ) -> Result<Vec<StatusChange>> {
        let mut statuses = Vec::new();
        for watched in self.app.store.load_watched(followed.account, heard, DUE).await? {
            let found = status::look(&watched, set, followed.now);
            statuses.push(found.change);
            if !found.silent.is_empty() || !found.heard.is_empty() {
                let device = devices.entry(watched.device).or_insert_with(|| blank(watched.device));
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

/// A device of which nothing is known yet.
pub(super) const fn blank(device: DeviceId) -> DeviceRound {
    DeviceRound {
        device,
        carried: Vec::new(),
        judgement: None,
        save: false,
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
    Round { followed, cursor, rules, devices: devices.into_values().collect(), statuses }
}
