//! One round: evaluates a part of an account's log, and rules that have become due by time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use metrics::{counter, gauge};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, RuleId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::rules::rule::{RuleSet, Trail, carried_alerts};
use perigee_core::store::{
    DeviceRound, DeviceTrail, LogScan, LogScanLimits, Result, Round, RoundStart, StatusChange, TrailDepth,
};

use super::engine::{Outcome, RuleEngine};
use super::evaluate_device::UpTo;
use super::evaluation::{RoundError, RoundResult, STEPS_MAX, Turns};
use super::slice_size::EPISODES_MAX;
use super::state_cache::StateCache;
use super::{evaluate_device, slice_size, status};

/// Limits of a round of an account without rules.
const WITHOUT_RULES: LogScanLimits = LogScanLimits { locations: 50_000, devices: 1_000, carriers: 1_000 };
/// Locations from which on a round counts as large.
const LARGE_ROUND: usize = 1_000;
/// Maximum number of devices of one round with due rules.
const DUE_MAX: u32 = 500;

impl RuleEngine {
    /// Evaluates the next part of an account's log.
    pub(super) async fn round(&self, account: AccountId) -> RoundResult<Outcome> {
        let Some(mut round_start) = self.take(account).await? else { return Ok(Outcome::Nothing) };
        let Some(set) = self.rules(&round_start).await? else { return Ok(Outcome::Nothing) };
        // The rules may be newer than the lease. The transaction at the end checks that they are not older.
        round_start.rules_revision = set.revision;
        if round_start.catch_up.is_some() {
            return self.catch_up(round_start, &set).await;
        }
        let started = Instant::now();
        let limits = if set.is_empty() { WITHOUT_RULES } else { self.sizes.limits(account) };
        let part = match self.app.store.scan_log(account, round_start.cursor, limits).await {
            Err(StoreError::CursorExpired) => return self.catch_up(round_start, &set).await,
            part => part?,
        };
        if let Some(oldest) = part.oldest {
            #[expect(clippy::cast_precision_loss, reason = "a lag is far below 2^53 ms")]
            let lag_s = (round_start.now.as_millis() - oldest.as_millis()).max(0) as f64 / 1000.0;
            gauge!("perigee_rules_lag_seconds").set(lag_s);
        }
        counter!("perigee_rules_locations_total").increment(u64::try_from(part.count).unwrap_or(0));
        let due = if part.more { Vec::new() } else { self.app.store.devices_due(account, DUE_MAX).await? };
        let mut cache = self.state_caches.take(&round_start);
        let steps = if part.count > slice_size::LEAST { STEPS_MAX } else { u64::MAX };
        let mut turns = Turns::new(&self.app.budget, account, steps);
        let evaluated = self.evaluate_all(&round_start, &set, &part, &due, &mut cache, &mut turns).await;
        if matches!(evaluated, Err(RoundError::OutOfSteps(_))) {
            let (steps, turns) = (turns.used(), turns.taken());
            tracing::info!(%account, steps, turns, "locations cost too much for one round; taking fewer");
            self.sizes.shrink_to_least(account);
            return Ok(Outcome::More);
        }
        let mut devices = evaluated?;
        if devices.values().map(episodes).sum::<usize>() > EPISODES_MAX
            && self.sizes.shrink(account, part.count)
        {
            return Ok(Outcome::More);
        }
        let statuses =
            self.update_statuses(&round_start, &set, &part.devices, &mut devices, &mut cache).await?;
        let moved = part.next != round_start.cursor;
        if !moved && devices.is_empty() && statuses.is_empty() {
            self.state_caches.put_back(&round_start, cache);
            return Ok(Outcome::Nothing);
        }
        cache.update(&mut devices, &due, round_start.now);
        devices.retain(|_, device| device.save || has_findings(device));
        let round = finished(round_start, part.next, &set, devices, statuses);
        let stored = self.app.store.finish_round(round, self.lease()).await?;
        if stored {
            self.state_caches.put(&round_start, cache);
        }
        if !set.is_empty() {
            self.sizes.note(account, part.count, started.elapsed());
        }
        Ok(match part.count {
            _ if part.more || !stored => Outcome::More,
            LARGE_ROUND.. if !set.is_empty() => Outcome::DoneALot,
            _ => Outcome::Done,
        })
    }

    /// The alerts that locations carry and the evaluations, by device. Devices that have neither are left out.
    async fn evaluate_all(
        &self,
        round_start: &RoundStart,
        set: &RuleSet,
        part: &LogScan,
        due: &[DeviceId],
        cache: &mut StateCache,
        turns: &mut Turns,
    ) -> RoundResult<BTreeMap<DeviceId, DeviceRound>> {
        let mut devices: BTreeMap<DeviceId, DeviceRound> = BTreeMap::new();
        for (device, stored) in &part.carriers {
            let carried = carried_alerts(&stored.location);
            if !carried.is_empty() {
                devices.entry(*device).or_insert_with(|| blank(*device)).carried.extend(carried);
            }
        }
        // Without rules only devices with due state are processed: the state of deleted rules is discarded.
        let arrived = part.devices.iter().filter(|_| !set.is_empty());
        let ids: BTreeSet<DeviceId> = arrived.chain(due).copied().collect();
        let known = self.known(round_start.account, set, ids, cache).await?;
        let mut new = self.new_of(round_start, part, &known).await?;
        for (known, is_behind) in known {
            let device = known.device;
            let stored = new.remove(&device).unwrap_or_default();
            let reach = UpTo { number: part.next, is_behind };
            let evaluated =
                evaluate_device::evaluate(&*self.app.store, round_start, set, known, stored, reach, turns)
                    .await?;
            if let Some(evaluation) = evaluated {
                devices.entry(device).or_insert_with(|| blank(device)).evaluation = Some(evaluation);
            }
            tokio::task::yield_now().await;
        }
        Ok(devices)
    }

    /// The state of those devices that a rule covers or covered, and whether it is older than the cursor.
    async fn known(
        &self,
        account: AccountId,
        set: &RuleSet,
        devices: BTreeSet<DeviceId>,
        cache: &mut StateCache,
    ) -> Result<Vec<(DeviceTrail, bool)>> {
        let (cached, others): (Vec<DeviceId>, Vec<DeviceId>) =
            devices.into_iter().partition(|device| cache.has(*device));
        let mut all = Vec::with_capacity(cached.len() + others.len());
        for mut known in self.cached_devices(account, set, cached).await? {
            let by_location = || !set.location_rules_of(known.device, &known.groups).is_empty();
            if cache.was_evaluated(known.device) || by_location() {
                known.trail.current = cache.take(known.device);
                all.push((known, false));
            }
        }
        if !others.is_empty() {
            let others = self.app.store.load_trails(account, &others, TrailDepth::Current).await?;
            let evaluated = others.into_iter().filter(|known| evaluate_device::is_evaluated(set, known));
            all.extend(evaluated.map(|known| (known, true)));
        }
        Ok(all)
    }

    /// These devices, with their groups if a rule targets groups. A deleted device is noticed when results are stored.
    async fn cached_devices(
        &self,
        account: AccountId,
        set: &RuleSet,
        devices: Vec<DeviceId>,
    ) -> Result<Vec<DeviceTrail>> {
        if set.targets_groups() && !devices.is_empty() {
            return self.app.store.load_trails(account, &devices, TrailDepth::Nothing).await;
        }
        let bare = |device| DeviceTrail { device, groups: Vec::new(), trail: Trail::default() };
        Ok(devices.into_iter().map(bare).collect())
    }

    /// The new locations of these devices.
    async fn new_of(
        &self,
        round_start: &RoundStart,
        part: &LogScan,
        known: &[(DeviceTrail, bool)],
    ) -> Result<BTreeMap<DeviceId, Vec<StoredLocation>>> {
        let sent = |device: &DeviceId| part.devices.binary_search(device).is_ok();
        let ids: Vec<DeviceId> = known.iter().map(|(known, _)| known.device).filter(sent).collect();
        let mut new: BTreeMap<DeviceId, Vec<StoredLocation>> = BTreeMap::new();
        if ids.is_empty() {
            return Ok(new);
        }
        let span = (round_start.cursor, part.next);
        for (device, stored) in self.app.store.read_log(round_start.account, span, &ids).await? {
            new.entry(device).or_default().push(stored);
        }
        Ok(new)
    }

    /// Devices that became late or offline, or report again.
    async fn update_statuses(
        &self,
        round_start: &RoundStart,
        set: &RuleSet,
        arrived: &[DeviceId],
        devices: &mut BTreeMap<DeviceId, DeviceRound>,
        cache: &mut StateCache,
    ) -> Result<Vec<StatusChange>> {
        let mut statuses = Vec::new();
        let heard: Vec<DeviceId> =
            arrived.iter().copied().filter(|device| !cache.is_online(*device)).collect();
        let (account, with_trips) = (round_start.account, set.watches_absence());
        let watched = self.app.store.load_status_checks(account, &heard, DUE_MAX, with_trips).await?;
        // Devices that reported are online unless a change below says otherwise.
        cache.set_online(heard);
        for watched in watched {
            let found = status::check_status(&watched, set, round_start.now);
            cache.note(&found.change);
            statuses.push(found.change);
            if !(found.silent.is_empty() && found.heard.is_empty() && found.absent.is_empty()) {
                let device = devices.entry(watched.device).or_insert_with(|| blank(watched.device));
                device.last_seen = watched.last_seen;
                (device.silent, device.heard, device.absent) = (found.silent, found.heard, found.absent);
            }
        }
        Ok(statuses)
    }
}

/// Whether the round found an alert or an episode of the device.
fn has_findings(device: &DeviceRound) -> bool {
    let evaluated = device.evaluation.as_ref().is_some_and(|evaluation| !evaluation.touched.is_empty());
    let by_time = [device.silent.len(), device.heard.len(), device.absent.len()];
    evaluated || !device.carried.is_empty() || by_time.iter().any(|count| *count > 0)
}

/// Alerts and episodes found for a device.
fn episodes(device: &DeviceRound) -> usize {
    let evaluated = device.evaluation.iter().flat_map(|evaluation| &evaluation.touched);
    device.carried.len() + evaluated.map(|touched| touched.episodes.len()).sum::<usize>()
}

/// A device without findings.
pub(super) const fn blank(device: DeviceId) -> DeviceRound {
    DeviceRound {
        device,
        carried: Vec::new(),
        evaluation: None,
        save: false,
        last_seen: None,
        silent: Vec::new(),
        heard: Vec::new(),
        absent: Vec::new(),
    }
}

/// The results of a round, with the rules that its devices refer to.
pub(super) fn finished(
    round_start: RoundStart,
    cursor: i64,
    set: &RuleSet,
    devices: BTreeMap<DeviceId, DeviceRound>,
    statuses: Vec<StatusChange>,
) -> Round {
    let mut named: BTreeSet<RuleId> = BTreeSet::new();
    for device in devices.values() {
        let evaluated = device.evaluation.iter().flat_map(|evaluation| &evaluation.touched);
        named.extend(evaluated.map(|touched| touched.rule));
        named.extend(device.silent.iter().map(|(rule, _)| *rule));
    }
    let rules = named.into_iter().filter_map(|rule| set.rule(rule).cloned()).collect();
    Round { round_start, cursor, catch_up: None, rules, devices: devices.into_values().collect(), statuses }
}
