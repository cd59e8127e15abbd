//! Group membership: one relation, set from the device or the group, with a new revision on both sides.

use std::collections::BTreeMap;

use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::store::Result;

use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::query::{for_ids, insert_many};
use crate::sql::timeline;
use crate::{Tx, Value, params};

/// The items of the first list that are not in the second.
fn without<T: Ord + Copy>(list: &[T], other: &[T]) -> Vec<T> {
    let other: std::collections::BTreeSet<T> = other.iter().copied().collect();
    list.iter().copied().filter(|item| !other.contains(item)).collect()
}

/// Moves a device between groups. The groups that gain or lose it get a new revision.
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
    if !left.is_empty() || !joined.is_empty() {
        timeline::regrouped(tx, account, &[device]).await?;
    }
    touch_groups(tx, account, &[left, joined].concat()).await
}

/// Adds new devices to groups. Each of the groups gets one new revision.
pub(crate) async fn join_new(
    tx: &Tx,
    account: AccountId,
    joining: &BTreeMap<GroupId, Vec<DeviceId>>,
) -> Result<()> {
    for (group, devices) in joining {
        insert(tx, account, &[*group], devices).await?;
    }
    let groups: Vec<GroupId> = joining.keys().copied().collect();
    touch_groups(tx, account, &groups).await
}

/// Replaces the members of a group. The devices that join or leave get a new revision.
pub(crate) async fn fill_group(
    tx: &Tx,
    account: AccountId,
    group: GroupId,
    before: &[DeviceId],
    after: &[DeviceId],
) -> Result<()> {
    let (removed, added) = (without(before, after), without(after, before));
    let removed_ids: Vec<i64> = removed.iter().map(|device| device.as_i64()).collect();
    let leave =
        "DELETE FROM group_membership WHERE account_id = ?1 AND group_id = ?2 AND device_id IN ({ids})";
    for_ids(tx, leave, params![account, group], &removed_ids).await?;
    insert(tx, account, &[group], &added).await?;
    touch_devices(tx, account, &[removed, added].concat()).await
}

/// Adds devices to groups, in the published edition of each group.
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

/// How many items are in only one of two lists.
pub(crate) fn difference<T: Ord + Copy>(before: &[T], after: &[T]) -> usize {
    without(before, after).len() + without(after, before).len()
}

/// Raises the revision of each of these groups, with an event.
pub(crate) async fn touch_groups(tx: &Tx, account: AccountId, groups: &[GroupId]) -> Result<()> {
    let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
    let sql = "UPDATE device_group SET revision = revision + 1, last_modified = ?2 \
               WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, revision";
    let mut events = Vec::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![account, tx.now()], &ids).await? {
        let subject = GroupId::from_i64(row.i64("id")?).to_string();
        events.push(NewEvent {
            subject,
            device: None,
            data: format!(r#"{{"revision":{}}}"#, row.i64("revision")?),
        });
    }
    append_events(tx, account, EventKind::GroupUpdated, events).await
}

/// Raises the revision of each of these devices, whose groups changed, with an event.
pub(crate) async fn touch_devices(tx: &Tx, account: AccountId, devices: &[DeviceId]) -> Result<()> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let sql = "UPDATE device SET revision = revision + 1, last_modified = ?2, \
                   checksum = checksum + 1 + CAST(?2 AS BIGINT) - last_modified \
               WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, revision";
    let mut events = Vec::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![account, tx.now()], &ids).await? {
        let device = DeviceId::from_i64(row.i64("id")?);
        let data = format!(r#"{{"revision":{}}}"#, row.i64("revision")?);
        events.push(NewEvent { subject: device.to_string(), device: Some(device), data });
    }
    append_events(tx, account, EventKind::DeviceUpdated, events).await?;
    timeline::regrouped(tx, account, devices).await
}
