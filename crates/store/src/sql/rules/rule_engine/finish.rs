//! Saving a round of the rule engine: all of it or nothing, with few statements for any number of devices.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::access::actor::Scope;
use perigee_core::alerts::alert::Alert;
use perigee_core::id::{AccountId, DeviceId, RuleId};
use perigee_core::locations::location::Attribute;
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::rules::rule::{Change, Episode, Occurrence, Rule, reconcile};
use perigee_core::store::{DeviceRound, Result, Round};
use perigee_core::time::Timestamp;

use super::occurrence::{self, Changes, Key, Version};
use super::trail::{self, SerialisedTrail};
use super::watch;
use crate::sql::alerts::NewAlert;
use crate::sql::rules::trip_rules;
use crate::sql::{alerts, ids, scope};
use crate::{Tx, params};

/// The serialised trail of each device.
pub(super) type Trails = HashMap<DeviceId, SerialisedTrail>;

/// Serialises the trails that a round saves.
pub(super) fn serialise(round: &Round) -> Result<Trails> {
    let saved = round.devices.iter().filter(|device| device.save);
    let evaluated = saved.filter_map(|device| Some((device.device, device.evaluation.as_ref()?)));
    evaluated.map(|(device, evaluation)| Ok((device, SerialisedTrail::of(evaluation)?))).collect()
}

type Rules<'r> = HashMap<RuleId, &'r Rule>;

/// Saves a round; false if another node has saved it, or the rules have changed meanwhile. Extends the lease of its
/// owner.
pub(super) async fn finish(
    tx: &Tx,
    round: Round,
    written: Trails,
    (owner, lease_ms): (String, i64),
) -> Result<bool> {
    let account = round.round_start.account;
    // A round that found nothing only moves the cursor, and does not keep submissions waiting.
    if !round.devices.is_empty() || !round.statuses.is_empty() {
        tx.lock_account_beside(account).await?;
    }
    // A lease of another node is left alone; the round number ensures that a round is saved once.
    let sql = "UPDATE rule_follower SET cursor = ?2, round = round + 1, caught_up_to = ?5, caught_up_end = ?6, \
                   leased_until = CASE WHEN owner = ?7 THEN ?8 ELSE leased_until END \
               WHERE account_id = ?1 AND round = ?3 AND rules_revision = ?4";
    let (to, end) = round.catch_up.map(|progress| (progress.after, progress.end)).unzip();
    let until = tx.now().plus_millis(lease_ms);
    let (number, revision) = (round.round_start.round, round.round_start.rules_revision);
    let values = params![account, round.cursor, number, revision, to, end, owner, until];
    if tx.execute(sql, values).await? == 0 {
        return Ok(false);
    }
    let named =
        round.devices.iter().map(|device| device.device).chain(round.statuses.iter().map(|one| one.device));
    let named: HashSet<DeviceId> = named.collect();
    // Devices that were deleted meanwhile are skipped.
    let existing: HashSet<DeviceId> =
        scope::visible_devices(tx, Scope::for_store_check(account), named).await?;
    let rules: Rules<'_> = round.rules.iter().map(|rule| (rule.id, rule)).collect();
    let devices: Vec<&DeviceRound> =
        round.devices.iter().filter(|device| existing.contains(&device.device)).collect();
    keep(tx, account, &devices, written, &rules).await?;
    let statuses: Vec<_> = round.statuses.into_iter().filter(|one| existing.contains(&one.device)).collect();
    watch::save(tx, account, &statuses).await?;
    Ok(true)
}

/// Saves the evaluations of devices, raises alerts and updates occurrences.
async fn keep(
    tx: &Tx,
    account: AccountId,
    devices: &[&DeviceRound],
    mut written: Trails,
    rules: &Rules<'_>,
) -> Result<()> {
    let mut ended: BTreeMap<RuleId, Vec<DeviceId>> = BTreeMap::new();
    for round in devices {
        let dropped = round.evaluation.iter().flat_map(|evaluation| &evaluation.dropped);
        for rule in dropped.chain(&round.heard) {
            ended.entry(*rule).or_default().push(round.device);
        }
    }
    for (rule, devices) in ended {
        occurrence::end_of_devices(tx, account, rule, &devices).await?;
    }
    let mut changes = Changes::new(account);
    let mut due = reconcile_touched(tx, account, devices, rules, &mut changes).await?;
    let saved = devices.iter().filter_map(|round| {
        let written = written.remove(&round.device)?;
        Some((round.device, round.evaluation.as_ref()?, written))
    });
    trail::save(tx, account, saved.collect()).await?;
    let silent = |(rule, at): &(RuleId, Timestamp)| {
        (*rule, Episode { begin: *at, met: *at, end: None, position: None })
    };
    let announced = announced_silences(tx, account, devices).await?;
    for round in devices.iter().filter(|round| !round.silent.is_empty()) {
        let is_new = |(rule, _): &&(RuleId, Timestamp)| !announced.contains(&(round.device, *rule));
        due.entry(round.device).or_default().extend(round.silent.iter().filter(is_new).map(silent));
    }
    raise(tx, account, devices, due, rules, &mut changes).await?;
    changes.save(tx).await?;
    evaluate_absences(tx, account, devices).await
}

/// Evaluates the rules about trips for devices that have made none for long enough, unless that was announced.
async fn evaluate_absences(tx: &Tx, account: AccountId, devices: &[&DeviceRound]) -> Result<()> {
    let absent = || devices.iter().filter(|round| !round.absent.is_empty());
    let since = absent().map(|round| (round.device, Timestamp::MAX)).collect();
    let open = occurrence::of_devices(tx, account, &since).await?;
    let is_announced = |device: DeviceId, rule: RuleId| {
        open.get(&device).is_some_and(|known| known.iter().any(|((of, _), _)| *of == rule))
    };
    let news = absent().filter(|round| round.absent.iter().any(|rule| !is_announced(round.device, *rule)));
    let changed = news.map(|round| (round.device, tx.now())).collect();
    trip_rules::evaluate(tx, account, &changed).await
}

/// The rules that have already raised an alert for the current silence of a device. An open occurrence of an earlier
/// silence does not count: its rule did not apply to the device when that silence ended.
async fn announced_silences(
    tx: &Tx,
    account: AccountId,
    devices: &[&DeviceRound],
) -> Result<HashSet<(DeviceId, RuleId)>> {
    let silent = devices.iter().filter(|round| !round.silent.is_empty());
    let silent = silent.map(|round| (round.device, Timestamp::MAX)).collect();
    let open = occurrence::of_devices(tx, account, &silent).await?;
    let last_seen: HashMap<DeviceId, Timestamp> =
        devices.iter().filter_map(|round| Some((round.device, round.last_seen?))).collect();
    let announced = |(device, known): (DeviceId, Vec<(Version, Occurrence<Key>)>)| {
        let last_seen = last_seen.get(&device).copied().unwrap_or(Timestamp::MIN);
        let of_now = known.into_iter().filter(move |(_, occurrence)| occurrence.begin > last_seen);
        of_now.map(move |((rule, _), _)| (device, rule))
    };
    Ok(open.into_iter().flat_map(announced).collect())
}

type DueEpisodes = BTreeMap<DeviceId, Vec<(RuleId, Episode)>>;

/// Reconciles the evaluated episodes with the raised occurrences; returns the episodes to raise.
async fn reconcile_touched(
    tx: &Tx,
    account: AccountId,
    devices: &[&DeviceRound],
    rules: &Rules<'_>,
    changes: &mut Changes,
) -> Result<DueEpisodes> {
    let mut since: BTreeMap<DeviceId, Timestamp> = BTreeMap::new();
    for round in devices {
        let touched = round.evaluation.iter().flat_map(|evaluation| &evaluation.touched);
        if let Some(from) = touched.map(|one| one.from).min() {
            since.insert(round.device, from);
        }
    }
    let raised = occurrence::of_devices(tx, account, &since).await?;
    let mut due = DueEpisodes::new();
    for round in devices {
        let raised = raised.get(&round.device).map(Vec::as_slice).unwrap_or_default();
        for one in round.evaluation.iter().flat_map(|evaluation| &evaluation.touched) {
            let Some(rule) = rules.get(&one.rule) else { continue };
            let version = (rule.id, rule.generation);
            let mine = |(of, known): &&(Version, Occurrence<Key>)| {
                *of == version && known.end.is_none_or(|end| end > one.from)
            };
            let known: Vec<Occurrence<Key>> = raised.iter().filter(mine).map(|(_, known)| *known).collect();
            for change in reconcile(&known, &one.episodes) {
                match change {
                    Change::Raise(episode) => due.entry(round.device).or_default().push((one.rule, episode)),
                    Change::Move(key, episode) => changes.shift((version, round.device), key, &episode),
                    Change::Withdraw(key) => changes.withdraw((version, round.device), key, tx.now()),
                }
            }
        }
    }
    Ok(due)
}

/// Raises the alerts that locations carry and those of rules, and records the occurrences of the latter.
async fn raise(
    tx: &Tx,
    account: AccountId,
    devices: &[&DeviceRound],
    mut due: DueEpisodes,
    rules: &Rules<'_>,
    changes: &mut Changes,
) -> Result<()> {
    let (mut all, mut own) = (Vec::new(), Vec::new());
    for round in devices {
        let due = due.remove(&round.device).unwrap_or_default();
        let due: Vec<(&Rule, Episode)> =
            due.into_iter().filter_map(|(rule, episode)| Some((*rules.get(&rule)?, episode))).collect();
        let by_rules = due.iter().map(|(rule, episode)| {
            let routing = &rule.settings.routing;
            let routing = (*routing != AlertRouting::default()).then(|| routing.clone());
            NewAlert { routing, ..NewAlert::of_device(alert(rule, episode)) }
        });
        let carried = round.carried.iter().cloned().map(NewAlert::of_device);
        let alerts: Vec<NewAlert> = carried.chain(by_rules).collect();
        if !alerts.is_empty() {
            all.push((round.device, alerts));
            own.push((round.carried.len(), due));
        }
    }
    let count: usize = own.iter().map(|(_, due)| due.len()).sum();
    let raised = alerts::raise_all(tx, account, all).await?;
    if count == 0 {
        return Ok(());
    }
    let first = ids::fresh_ids(tx, "rule_occurrence", account, count).await?;
    let raised = raised.iter().zip(&own).flat_map(|((device, raised), (carried, due))| {
        due.iter().zip(raised.iter().skip(*carried)).map(|(due, (_, alert))| (*device, due, *alert))
    });
    for ((device, (rule, episode), alert), id) in raised.zip(first..) {
        changes.add(((rule.id, rule.generation), device), id, alert, episode);
    }
    Ok(())
}

/// The alert that a rule raises for an episode.
pub(in crate::sql::rules) fn alert(rule: &Rule, episode: &Episode) -> Alert {
    let (settings, name) = (&rule.settings, rule.settings.alert_name());
    Alert {
        time: episode.met,
        critical: settings.critical || Alert::is_critical_by_name(&name),
        name,
        text: Some(settings.text.clone().unwrap_or_else(|| settings.name.clone())),
        position: episode.position,
        attributes: BTreeMap::from([("rule".to_owned(), Attribute::Text(rule.id.to_string()))]),
    }
}
