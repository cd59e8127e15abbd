//! Whether those who submit may: their devices are in sight and licensed.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::actor::Reach;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::license::{DeviceState, License};
use perigee_core::store::Result;

use super::super::query::for_ids;
use super::gather::Submission;
use crate::{Row, Tx, params};

/// How a submission's device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is not in sight, or does not exist.
    Unknown,
    /// It is heard but stores nothing.
    Expired,
    /// It stores.
    Active,
}

/// How each submission stands. The accounts are locked.
pub(super) async fn of(tx: &Tx, submissions: &[Submission]) -> Result<Vec<Standing>> {
    let mut devices: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    let mut members: BTreeMap<(AccountId, GroupId), Vec<i64>> = BTreeMap::new();
    for Submission { scope, device, .. } in submissions {
        devices.entry(scope.account).or_default().push(device.as_i64());
        if let Reach::Group(group) = scope.reach {
            members.entry((scope.account, group)).or_default().push(device.as_i64());
        }
    }
    let mut active = HashMap::new();
    for (account, mut ids) in devices {
        ids.sort_unstable();
        ids.dedup();
        look(tx, account, &ids, &mut active).await?;
    }
    let mut within = HashSet::new();
    for ((account, group), ids) in members {
        let sql = "SELECT device_id FROM group_member \
                   WHERE account_id = ?1 AND group_id = ?2 AND device_id IN ({ids})";
        for row in for_ids(tx, sql, params![account, group], &ids).await? {
            within.insert((account, group, row.i64("device_id")?));
        }
    }
    let standing = |Submission { scope, device, .. }: &Submission| {
        let in_sight = match scope.reach {
            Reach::Account => true,
            Reach::Group(group) => within.contains(&(scope.account, group, device.as_i64())),
            Reach::Device(own) => own == *device,
        };
        match active.get(&(scope.account, *device)) {
            Some(true) if in_sight => Standing::Active,
            Some(false) if in_sight => Standing::Expired,
            _ => Standing::Unknown,
        }
    };
    Ok(submissions.iter().map(standing).collect())
}

/// Which of these devices exist, and whether they are active.
async fn look(
    tx: &Tx,
    account: AccountId,
    ids: &[i64],
    active: &mut HashMap<(AccountId, DeviceId), bool>,
) -> Result<()> {
    let sql = "SELECT d.id, d.licensed, d.expires, a.decided_at \
               FROM device d JOIN account a ON a.id = d.account_id \
               WHERE d.account_id = ?1 AND d.id IN ({ids})";
    let mut over = Vec::new();
    for row in for_ids(tx, sql, params![account], ids).await? {
        let device = row.i64("id")?;
        let license = license(&row)?;
        let is_active = license.state(tx.now().max(row.timestamp("decided_at")?)) == DeviceState::Active;
        if license.licensed && !is_active {
            over.push(device);
        }
        active.insert((account, DeviceId::from_i64(device)), is_active);
    }
    // Seen to be over once, it stays so, whatever the clock does next.
    let sql = "UPDATE device SET licensed = FALSE WHERE account_id = ?1 AND id IN ({ids})";
    for_ids(tx, sql, params![account], &over).await?;
    Ok(())
}

fn license(row: &Row) -> Result<License> {
    Ok(License { licensed: row.bool("licensed")?, expires: row.opt_timestamp("expires")? })
}
