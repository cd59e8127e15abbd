//! The end of a round: everything it found out, or nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::actor::Scope;
use perigee_core::alert::Alert;
use perigee_core::id::{AccountId, DeviceId, RuleId};
use perigee_core::location::Attribute;
use perigee_core::rule::{Change, Episode, Occurrence, Rule, Touched, reconcile};
use perigee_core::store::{DeviceRound, Result, Round};
use perigee_core::time::Timestamp;

use super::super::{alerts, scope};
use super::occurrence::{self, Key, Version};
use super::{trail, watch};
use crate::{Tx, params};

/// Keeps what a round found out; no when another node has made it, or the rules have changed meanwhile.
pub(super) async fn finish(tx: &Tx, round: Round) -> Result<bool> {
    let account = round.followed.account;
    tx.leave_facts();
    tx.lock_account(account).await?;
    let sql = "UPDATE rule_follower SET cursor = ?2, round = round + 1 \
               WHERE account_id = ?1 AND round = ?3 AND rules_revision = ?4";
    let values = params![account, round.cursor, round.followed.round, round.followed.rules_revision];
    if tx.execute(sql, values).await? == 0 {
        return Ok(false);
    }
    let named =
        round.devices.iter().map(|device| device.device).chain(round.statuses.iter().map(|one| one.device));
    let named: HashSet<DeviceId> = named.collect();
    let there: HashSet<DeviceId> = scope::devices_in_sight(tx, Scope::whole(account), named).await?;
    let rules: HashMap<RuleId, &Rule> = round.rules.iter().map(|rule| (rule.id, rule)).collect();
    // What was deleted meanwhile has neither alerts nor a status.
    for device in round.devices.iter().filter(|device| there.contains(&device.device)) {
        keep_device(tx, account, device, &rules).await?;
    }
    let statuses: Vec<_> = round.statuses.into_iter().filter(|one| there.contains(&one.device)).collect();
    watch::save(tx, account, &statuses).await?;
    Ok(true)
}

async fn keep_device(
    tx: &Tx,
    account: AccountId,
    round: &DeviceRound,
    rules: &HashMap<RuleId, &Rule>,
) -> Result<()> {
    let device = round.device;
    let mut due: Vec<(RuleId, Episode)> = Vec::new();
    if let Some(judgement) = &round.judgement {
        for rule in &judgement.dropped {
            super::end_occurrences(tx, account, *rule, Some(device)).await?;
        }
        due = settle_touched(tx, account, device, &judgement.touched, rules).await?;
        if round.save {
            trail::save(tx, account, device, judgement).await?;
        }
    }
    for rule in &round.heard {
        super::end_occurrences(tx, account, *rule, Some(device)).await?;
    }
    let silent =
        |(rule, at): &(RuleId, Timestamp)| (*rule, Episode { begin: *at, met: *at, end: None, place: None });
    due.extend(round.silent.iter().map(silent));
    raise(tx, account, device, &round.carried, due, rules).await
}

/// Compares what the rules say now with what was raised; gives what is to be raised.
async fn settle_touched(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    touched: &[Touched],
    rules: &HashMap<RuleId, &Rule>,
) -> Result<Vec<(RuleId, Episode)>> {
    let Some(from) = touched.iter().map(|one| one.from).min() else { return Ok(Vec::new()) };
    let raised = occurrence::of_device(tx, account, device, from).await?;
    let mut due = Vec::new();
    for one in touched {
        let Some(rule) = rules.get(&one.rule) else { continue };
        let mine = |(version, known): &(Version, Occurrence<Key>)| {
            *version == (rule.id, rule.generation) && known.end.is_none_or(|end| end > one.from)
        };
        let known: Vec<Occurrence<Key>> =
            raised.iter().filter(|known| mine(known)).map(|(_, known)| *known).collect();
        for change in reconcile(&known, &one.episodes) {
            match change {
                Change::Raise(episode) => due.push((one.rule, episode)),
                Change::Move(key, episode) => occurrence::change(tx, account, device, key, &episode).await?,
                Change::Withdraw(key) => occurrence::withdraw(tx, account, device, key).await?,
            }
        }
    }
    Ok(due)
}

async fn raise(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    carried: &[Alert],
    due: Vec<(RuleId, Episode)>,
    rules: &HashMap<RuleId, &Rule>,
) -> Result<()> {
    let due: Vec<(&Rule, Episode)> =
        due.into_iter().filter_map(|(rule, episode)| Some((*rules.get(&rule)?, episode))).collect();
    let own = due.iter().map(|(rule, episode)| alert(rule, episode));
    let all: Vec<Alert> = carried.iter().cloned().chain(own).collect();
    if all.is_empty() {
        return Ok(());
    }
    let raised = alerts::raise(tx, account, device, all).await?;
    for ((rule, episode), (_, alert)) in due.iter().zip(raised.iter().skip(carried.len())) {
        occurrence::add(tx, account, ((rule.id, rule.generation), device), *alert, episode).await?;
    }
    Ok(())
}

/// The alert a rule raises of an episode.
fn alert(rule: &Rule, episode: &Episode) -> Alert {
    let (settings, name) = (&rule.settings, rule.settings.alert_name());
    Alert {
        time: episode.met,
        critical: settings.critical || Alert::is_critical_by_name(&name),
        name,
        text: Some(settings.text.clone().unwrap_or_else(|| settings.name.clone())),
        position: episode.place,
        attributes: BTreeMap::from([("rule".to_owned(), Attribute::Text(rule.id.to_string()))]),
    }
}
