//! Rules about trips: evaluated in the transaction that changes the trips, so that trips and alerts are committed together.
//!
//! The episodes are those of all trips from the first changed one to the newest, computed anew and reconciled with the
//! occurrences that are stored. What was stored before, in which order and by which node, therefore does not matter: an
//! episode that overlaps an occurrence is the same one and raises no second alert.

use std::collections::{BTreeMap, BTreeSet};

use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::rules::rule::{
    Change, DRIVING_CONTEXT_MS, Episode, LOOK_BACK_MS, Occurrence, Rule, Trip, TripContext,
};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::read;
use super::rule_engine::finish::alert;
use super::rule_engine::occurrence::{self, Changes, Key, Version};
use crate::sql::alerts::{self, NewAlert};
use crate::sql::{ids, timeline};
use crate::{Tx, params};

/// Evaluates the rules about trips for devices, each with the first instant from which its trips have changed. The account
/// is locked.
pub(in crate::sql) async fn evaluate(
    tx: &Tx,
    account: AccountId,
    changed: &BTreeMap<DeviceId, Timestamp>,
) -> Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let rules = read::about_trips(tx, account).await?;
    if rules.is_empty() {
        return Ok(());
    }
    for (device, from) in changed {
        let groups = groups_of(tx, account, *device, &rules).await?;
        let applies = |rule: &&Rule| {
            let target = &rule.settings.target;
            let by_group = || target.groups.iter().any(|group| groups.contains(group));
            target.all || target.devices.binary_search(device).is_ok() || by_group()
        };
        let rules: Vec<&Rule> = rules.iter().filter(applies).collect();
        if !rules.is_empty() {
            evaluate_device(tx, account, *device, *from, &rules).await?;
        }
    }
    Ok(())
}

/// The groups of a device, if a rule names groups.
async fn groups_of(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    rules: &[Rule],
) -> Result<BTreeSet<GroupId>> {
    if rules.iter().all(|rule| rule.settings.target.groups.is_empty()) {
        return Ok(BTreeSet::new());
    }
    let sql = "SELECT group_id FROM group_member WHERE account_id = ?1 AND device_id = ?2";
    let rows = tx.query(sql, params![account, device]).await?;
    rows.iter().map(|row| Ok(GroupId::from_i64(row.i64("group_id")?))).collect()
}

async fn evaluate_device(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    from: Timestamp,
    rules: &[&Rule],
) -> Result<()> {
    // Trips of long ago are not evaluated again, because their occurrences may have been deleted.
    let settled = tx.now().plus_millis(-LOOK_BACK_MS);
    let from = from.max(settled);
    let is_any_driving = rules.iter().any(|rule| rule.settings.watches_driving());
    let read_from = if is_any_driving { from.plus_millis(-DRIVING_CONTEXT_MS) } else { from };
    let stored = timeline::trips_from(tx, account, device, read_from).await?;
    let mut trips: Vec<Trip> = stored.iter().filter_map(Trip::of).collect();
    let mut at = TripContext { now: tx.now(), created: Timestamp::MIN, settled };
    if rules.iter().any(|rule| rule.settings.no_trip_ms().is_some()) {
        // The time without a trip begins with the end of the one before.
        let before = timeline::last_trip_before(tx, account, device, read_from).await?;
        trips.splice(0..0, before.as_ref().and_then(Trip::of));
        let sql = "SELECT creation FROM device WHERE account_id = ?1 AND id = ?2";
        at.created = tx.query_one(sql, params![account, device]).await?.timestamp("creation")?;
    }
    let first = rules.iter().map(|rule| rule.trip_window(&trips, from)).min().unwrap_or(from);
    let mut stored = occurrence::of_devices(tx, account, &BTreeMap::from([(device, first)])).await?;
    let known = stored.remove(&device).unwrap_or_default();
    let (mut changes, mut due) = (Changes::new(account), Vec::new());
    for rule in rules {
        let version = (rule.id, rule.generation);
        let mine = |(of, _): &&(Version, Occurrence<Key>)| *of == version;
        let known: Vec<Occurrence<Key>> = known.iter().filter(mine).map(|(_, known)| *known).collect();
        for change in rule.reconcile_trips(&known, &trips, from, &at) {
            match change {
                Change::Raise(episode) => due.push((*rule, episode)),
                Change::Move(key, episode) => changes.shift((version, device), key, &episode),
                Change::Withdraw(key) => changes.withdraw((version, device), key, tx.now()),
            }
        }
    }
    raise(tx, account, device, due, &mut changes).await?;
    changes.save(tx).await
}

async fn raise(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    due: Vec<(&Rule, Episode)>,
    changes: &mut Changes,
) -> Result<()> {
    if due.is_empty() {
        return Ok(());
    }
    let new = |(rule, episode): &(&Rule, Episode)| {
        let routing = &rule.settings.routing;
        let routing = (*routing != AlertRouting::default()).then(|| routing.clone());
        NewAlert { routing, ..NewAlert::of_device(alert(rule, episode)) }
    };
    let all = vec![(device, due.iter().map(new).collect())];
    let raised = alerts::raise_all(tx, account, all).await?;
    let first = ids::fresh_ids(tx, "rule_occurrence", account, due.len()).await?;
    let raised = raised.iter().flat_map(|(_, raised)| raised);
    for (((rule, episode), (_, alert)), id) in due.iter().zip(raised).zip(first..) {
        changes.add(((rule.id, rule.generation), device), id, *alert, episode);
    }
    Ok(())
}
