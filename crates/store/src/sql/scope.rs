//! Restricting statements to what a scope can see; the rest is not found. `?1` is the account in every statement here.

use std::collections::{BTreeMap, HashSet};

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::store::Result;

use super::query::{Query, for_ids};
use crate::{Tx, params};

/// Restricts a query over devices to the visible ones; `column` holds the device's id.
pub(crate) fn keep_devices(query: &mut Query, scope: Scope, column: &str) {
    match scope.reach {
        Reach::Account => {}
        Reach::Group(group) => query.push_with(
            &format!(
                " AND {column} IN (SELECT s.device_id FROM group_member s \
                 WHERE s.account_id = ?1 AND s.group_id = {{}})"
            ),
            group,
        ),
        Reach::Device(device) => query.push_with(&format!(" AND {column} = {{}}"), device),
    }
}

/// Restricts a query over groups to the visible ones; `column` holds the group's id.
pub(crate) fn keep_groups(query: &mut Query, scope: Scope, column: &str) {
    match scope.reach {
        Reach::Account => {}
        Reach::Group(group) => query.push_with(&format!(" AND {column} = {{}}"), group),
        Reach::Device(_) => query.push(" AND FALSE"),
    }
}

/// Restricts a query over devices to the members of this group; to none if the group is not visible.
pub(crate) fn keep_members(query: &mut Query, scope: Scope, group: GroupId, column: &str) {
    if sees_group(scope, group) {
        query.push_with(
            &format!(
                " AND {column} IN (SELECT f.device_id FROM group_member f \
                 WHERE f.account_id = ?1 AND f.group_id = {{}})"
            ),
            group,
        );
    } else {
        query.push(" AND FALSE");
    }
}

/// Whether a scope can see a group, if it exists.
pub(crate) fn sees_group(scope: Scope, group: GroupId) -> bool {
    match scope.reach {
        Reach::Account => true,
        Reach::Group(own) => own == group,
        Reach::Device(_) => false,
    }
}

/// Fails unless all of these groups exist and are visible.
pub(crate) async fn require_groups(tx: &Tx, scope: Scope, groups: &[GroupId]) -> Result<()> {
    let unknown = |group: GroupId| StoreError::UnknownReference { kind: Kind::Group, id: group.to_string() };
    if let Some(hidden) = groups.iter().find(|group| !sees_group(scope, **group)) {
        return Err(unknown(*hidden));
    }
    let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
    let sql = "SELECT g.id FROM device_group g WHERE g.account_id = ?1 AND g.id IN ({ids})";
    let mut found = HashSet::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![scope.account], &ids).await? {
        found.insert(GroupId::from_i64(row.i64("id")?));
    }
    groups.iter().find(|group| !found.contains(group)).map_or(Ok(()), |missing| Err(unknown(*missing)))
}

/// Fails unless all of these devices exist and are visible.
pub(crate) async fn require_devices(tx: &Tx, scope: Scope, devices: &[DeviceId]) -> Result<()> {
    let visible = visible_devices(tx, scope, devices.iter().copied().collect()).await?;
    match devices.iter().find(|device| !visible.contains(device)) {
        Some(missing) => Err(StoreError::UnknownReference { kind: Kind::Device, id: missing.to_string() }),
        None => Ok(()),
    }
}

/// Fails unless this device exists and is visible.
pub(crate) async fn require_device(tx: &Tx, scope: Scope, device: DeviceId) -> Result<()> {
    let mut query = Query::new(
        "SELECT d.id FROM device d WHERE d.account_id = ?1 AND d.id = ?2",
        params![scope.account, device],
    );
    keep_devices(&mut query, scope, "d.id");
    query.row(tx).await?.map(|_| ()).ok_or(StoreError::NotFound(Kind::Device))
}

/// The visible devices among these.
pub(crate) async fn visible_devices(
    tx: &Tx,
    scope: Scope,
    devices: HashSet<DeviceId>,
) -> Result<HashSet<DeviceId>> {
    let ids: Vec<i64> = devices.into_iter().map(DeviceId::as_i64).collect();
    let base = "SELECT d.id FROM device d WHERE d.account_id = ?1 AND d.id IN ({ids})";
    let rows = match scope.reach {
        Reach::Account => for_ids(tx, base, params![scope.account], &ids).await?,
        Reach::Group(group) => {
            let sql = format!(
                "{base} AND d.id IN (SELECT s.device_id FROM group_member s \
                 WHERE s.account_id = ?1 AND s.group_id = ?2)"
            );
            for_ids(tx, &sql, params![scope.account, group], &ids).await?
        }
        Reach::Device(own) => {
            for_ids(tx, &format!("{base} AND d.id = ?2"), params![scope.account, own], &ids).await?
        }
    };
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("id")?))).collect()
}

/// The existing devices among these, of any account.
pub(crate) async fn existing_devices(
    tx: &Tx,
    devices: &[(AccountId, DeviceId)],
) -> Result<HashSet<(AccountId, DeviceId)>> {
    let mut by_account: BTreeMap<AccountId, HashSet<DeviceId>> = BTreeMap::new();
    for (account, device) in devices {
        by_account.entry(*account).or_default().insert(*device);
    }
    let mut existing = HashSet::new();
    for (account, devices) in by_account {
        let found = visible_devices(tx, Scope::for_store_check(account), devices).await?;
        existing.extend(found.into_iter().map(|device| (account, device)));
    }
    Ok(existing)
}
