//! Whether the devices of submissions are admitted, from the device cache or else from the tables.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::accounts::license::{DeviceState, License};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::store::Result;

use super::device_cache::CachedDevice;
use super::memory::LocationMemory;
use crate::sql::locations::{Admission, Submission};
use crate::sql::query::for_ids;
use crate::{Row, Tx, params};

/// A device, as a submitter's scope sees it.
type Key = (Scope, DeviceId);

/// The admission of each submission.
pub(super) async fn admissions(
    tx: &Tx,
    memory: &LocationMemory,
    submissions: &[Submission],
) -> Result<Vec<Admission>> {
    let keys: HashSet<Key> = submissions.iter().map(|one| (one.scope, one.device)).collect();
    let devices = cached_or_read(tx, memory, keys).await?;
    let mut expired: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    let mut admissions = Vec::with_capacity(submissions.len());
    for Submission { scope, device, .. } in submissions {
        let Some(known) = devices.get(&(*scope, *device)) else {
            admissions.push(Admission::NotVisible);
            continue;
        };
        let is_active = known.license.state(tx.now().max(known.decided_at)) == DeviceState::Active;
        if known.license.licensed && !is_active {
            expired.entry(scope.account).or_default().push(device.as_i64());
        }
        admissions.push(if is_active { Admission::Active } else { Admission::Expired });
    }
    // A licence that was once seen to be expired stays so, even if the clock is set back.
    let sql = "UPDATE device SET licensed = FALSE, lapsed = TRUE, checksum = checksum - 1 \
               WHERE account_id = ?1 AND licensed = TRUE AND id IN ({ids})";
    for (account, devices) in &expired {
        for_ids(tx, sql, params![*account], devices).await?;
    }
    Ok(admissions)
}

/// The visible devices among these: from the cache, or else from the tables.
async fn cached_or_read(
    tx: &Tx,
    memory: &LocationMemory,
    keys: HashSet<Key>,
) -> Result<HashMap<Key, CachedDevice>> {
    let (mut devices, mut missing, epoch) = (HashMap::new(), HashSet::new(), memory.device_cache().epoch());
    {
        let cache = memory.device_cache();
        for (scope, device) in keys {
            match cache.get(scope, device) {
                Some(cached) => drop(devices.insert((scope, device), cached)),
                None => drop(missing.insert((scope, device))),
            }
        }
    }
    let found = read_visible(tx, &missing).await?;
    let mut cache = memory.device_cache_mut();
    for ((scope, device), cached) in &found {
        cache.put(epoch, *scope, *device, *cached);
    }
    devices.extend(found);
    Ok(devices)
}

/// Reads the visible devices among these from the tables.
pub(crate) async fn read_visible(tx: &Tx, keys: &HashSet<Key>) -> Result<HashMap<Key, CachedDevice>> {
    let mut devices: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    let mut members: BTreeMap<(AccountId, GroupId), Vec<i64>> = BTreeMap::new();
    for (scope, device) in keys {
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
            existing.insert((account, DeviceId::from_i64(row.i64("id")?)), from_row(&row)?);
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
    let is_visible = |scope: Scope, device: DeviceId| match scope.reach {
        Reach::Account => true,
        Reach::Group(group) => within.contains(&(scope.account, group, device.as_i64())),
        Reach::Device(own) => own == device,
    };
    let visible = |(scope, device): &Key| {
        let found = existing.get(&(scope.account, *device)).filter(|_| is_visible(*scope, *device))?;
        Some(((*scope, *device), *found))
    };
    Ok(keys.iter().filter_map(visible).collect())
}

fn from_row(row: &Row) -> Result<CachedDevice> {
    let license = License { licensed: row.bool("licensed")?, expires: row.opt_timestamp("expires")? };
    Ok(CachedDevice { license, decided_at: row.timestamp("decided_at")? })
}
