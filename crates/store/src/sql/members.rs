//! Which device is in which group: one relation, set from either side, and both sides change with it.

use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::store::Result;

use super::event_append::{NewEvent, append_events};
use super::query::{for_ids, insert_many};
use crate::{Tx, Value, params};

/// What only the first of two lists has, which the second has not.
fn without<T: Ord + Copy>(list: &[T], other: &[T]) -> Vec<T> {
    let other: std::collections::BTreeSet<T> = other.iter().copied().collect();
    list.iter().copied().filter(|item| !other.contains(item)).collect()
}

/// Moves a device from these groups to those. The groups that gain or lose it change with it.
pub(crate) async fn move_device(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: &[GroupId],
    after: &[GroupId],
) -> Result<()> {
    let (left, joined) = (without(before, after), without(after, before));
    let left_ids: Vec<i64> = left.iter().map(|group| group.as_i64()).collect();
    let leave =
        "DELETE FROM group_membership WHERE account_id = ?1 AND device_id = ?2 AND group_id IN ({ids})";
    for_ids(tx, leave, params![account, device], &left_ids).await?;
    insert(tx, account, &joined, &[device]).await?;
    touch_groups(tx, account, &[left, joined].concat()).await
}

/// Fills a group with those devices instead of these. The devices that come or go change with it.
pub(crate) async fn fill_group(
    tx: &Tx,
    account: AccountId,
    group: GroupId,
    before: &[DeviceId],
    after: &[DeviceId],
) -> Result<()> {
    let (gone, come) = (without(before, after), without(after, before));
    let gone_ids: Vec<i64> = gone.iter().map(|device| device.as_i64()).collect();
    let leave =
        "DELETE FROM group_membership WHERE account_id = ?1 AND group_id = ?2 AND device_id IN ({ids})";
    for_ids(tx, leave, params![account, group], &gone_ids).await?;
    insert(tx, account, &[group], &come).await?;
    touch_devices(tx, account, &[gone, come].concat()).await
}

/// Puts devices into groups, in the edition that each of these shows.
async fn insert(tx: &Tx, account: AccountId, groups: &[GroupId], devices: &[DeviceId]) -> Result<()> {
    if groups.is_empty() || devices.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
    let sql = "SELECT id, edition FROM device_group WHERE account_id = ?1 AND id IN ({ids})";
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        let (group, edition) = (row.i64("id")?, row.i64("edition")?);
        rows.extend(devices.iter().map(|device| params![account, group, edition, *device].to_vec()));
    }
    let head = "INSERT INTO group_membership (account_id, group_id, edition, device_id)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}

/// How many are in only one of two lists.
pub(crate) fn difference<T: Ord + Copy>(before: &[T], after: &[T]) -> usize {
    without(before, after).len() + without(after, before).len()
}

/// Notes a change of each of these groups.
pub(crate) async fn touch_groups(tx: &Tx, account: AccountId, groups: &[GroupId]) -> Result<()> {
    let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
    let sql = "UPDATE device_group SET revision = revision + 1, last_modified = ?2 \
               WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, revision";
    let mut notes = Vec::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![account, tx.now()], &ids).await? {
        let subject = GroupId::from_i64(row.i64("id")?).to_string();
        notes.push(NewEvent {
            subject,
            device: None,
            data: format!(r#"{{"revision":{}}}"#, row.i64("revision")?),
        });
    }
    append_events(tx, account, EventKind::GroupUpdated, notes).await
}

/// Notes a change of each of these devices.
pub(crate) async fn touch_devices(tx: &Tx, account: AccountId, devices: &[DeviceId]) -> Result<()> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let sql = "UPDATE device SET revision = revision + 1, last_modified = ?2, \
                   checksum = checksum + 1 + CAST(?2 AS BIGINT) - last_modified \
               WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, revision";
    let mut notes = Vec::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![account, tx.now()], &ids).await? {
        let device = DeviceId::from_i64(row.i64("id")?);
        let data = format!(r#"{{"revision":{}}}"#, row.i64("revision")?);
        notes.push(NewEvent { subject: device.to_string(), device: Some(device), data });
    }
    append_events(tx, account, EventKind::DeviceUpdated, notes).await
}
