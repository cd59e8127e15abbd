//! How submissions stand, by what memory has or else by the tables.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::actor::{Reach, Scope};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::license::{DeviceState, License};
use perigee_core::store::Result;

use super::facts::Fact;
use super::live::Live;
use crate::sql::locations::{Standing, Submission};
use crate::sql::query::for_ids;
use crate::{Row, Tx, params};

type Asked = (Scope, DeviceId);

/// How each submission stands.
pub(super) async fn standings(tx: &Tx, live: &Live, submissions: &[Submission]) -> Result<Vec<Standing>> {
    let asked: HashSet<Asked> = submissions.iter().map(|one| (one.scope, one.device)).collect();
    let facts = facts(tx, live, asked).await?;
    let mut over: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    let mut standings = Vec::with_capacity(submissions.len());
    for Submission { scope, device, .. } in submissions {
        let Some(fact) = facts.get(&(*scope, *device)) else {
            standings.push(Standing::Unknown);
            continue;
        };
        let is_active = fact.license.state(tx.now().max(fact.decided_at)) == DeviceState::Active;
        if fact.license.licensed && !is_active {
            over.entry(scope.account).or_default().push(device.as_i64());
        }
        standings.push(if is_active { Standing::Active } else { Standing::Expired });
    }
    // Seen to be over once, it stays so, whatever the clock does next.
    let sql = "UPDATE device SET licensed = FALSE, checksum = checksum - 1 \
               WHERE account_id = ?1 AND licensed = TRUE AND id IN ({ids})";
    for (account, devices) in &over {
        for_ids(tx, sql, params![*account], devices).await?;
    }
    if !over.is_empty() {
        live.facts_mut().forget();
    }
    Ok(standings)
}

/// What is known of the devices in sight, from memory where it is there.
async fn facts(tx: &Tx, live: &Live, asked: HashSet<Asked>) -> Result<HashMap<Asked, Fact>> {
    let (mut facts, mut missing, epoch) = (HashMap::new(), HashSet::new(), live.facts().epoch());
    {
        let known = live.facts();
        for (scope, device) in asked {
            match known.get(scope, device) {
                Some(fact) => drop(facts.insert((scope, device), fact)),
                None => drop(missing.insert((scope, device))),
            }
        }
    }
    let found = facts_of(tx, &missing).await?;
    let mut known = live.facts_mut();
    for ((scope, device), fact) in &found {
        known.put(epoch, *scope, *device, *fact);
    }
    facts.extend(found);
    Ok(facts)
}

/// What the tables say of the devices in sight.
pub(super) async fn facts_of(tx: &Tx, asked: &HashSet<Asked>) -> Result<HashMap<Asked, Fact>> {
    let mut devices: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    let mut members: BTreeMap<(AccountId, GroupId), Vec<i64>> = BTreeMap::new();
    for (scope, device) in asked {
        devices.entry(scope.account).or_default().push(device.as_i64());
        if let Reach::Group(group) = scope.reach {
            members.entry((scope.account, group)).or_default().push(device.as_i64());
        }
    }
    let sql = "SELECT d.id, d.licensed, d.expires, a.decided_at \
               FROM device d JOIN account a ON a.id = d.account_id \
               WHERE d.account_id = ?1 AND d.id IN ({ids})";
    let mut existing = HashMap::new();
    for (account, mut ids) in devices {
        ids.sort_unstable();
        ids.dedup();
        for row in for_ids(tx, sql, params![account], &ids).await? {
            existing.insert((account, DeviceId::from_i64(row.i64("id")?)), fact(&row)?);
        }
    }
    let mut within = HashSet::new();
    for ((account, group), ids) in members {
        let sql = "SELECT device_id FROM group_member \
                   WHERE account_id = ?1 AND group_id = ?2 AND device_id IN ({ids})";
        for row in for_ids(tx, sql, params![account, group], &ids).await? {
            within.insert((account, group, row.i64("device_id")?));
        }
    }
    let in_sight = |scope: Scope, device: DeviceId| match scope.reach {
        Reach::Account => true,
        Reach::Group(group) => within.contains(&(scope.account, group, device.as_i64())),
        Reach::Device(own) => own == device,
    };
    let fact = |(scope, device): &Asked| {
        let fact = existing.get(&(scope.account, *device)).filter(|_| in_sight(*scope, *device))?;
        Some(((*scope, *device), *fact))
    };
    Ok(asked.iter().filter_map(fact).collect())
}

fn fact(row: &Row) -> Result<Fact> {
    let license = License { licensed: row.bool("licensed")?, expires: row.opt_timestamp("expires")? };
    Ok(Fact { license, decided_at: row.timestamp("decided_at")? })
}
