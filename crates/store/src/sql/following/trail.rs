//! What rules know of devices, as it is kept.

use std::collections::{BTreeMap, HashMap};

use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::rule::{Checkpoint, Judgement, Snapshot, Trail, thin};
use perigee_core::store::{Depth, FollowedDevice, Result};

use super::super::column;
use super::super::query::{for_ids, insert_many};
use super::super::scope;
use crate::{Row, Tx, Value, params};

/// What is known of these devices; those that are gone are left out.
pub(super) async fn load(
    tx: &Tx,
    account: AccountId,
    devices: Vec<DeviceId>,
    depth: Depth,
) -> Result<Vec<FollowedDevice>> {
    let there =
        scope::existing_devices(tx, &devices.iter().map(|id| (account, *id)).collect::<Vec<_>>()).await?;
    let mut known: BTreeMap<DeviceId, FollowedDevice> = there
        .into_iter()
        .map(|(_, device)| (device, FollowedDevice { device, groups: Vec::new(), trail: Trail::default() }))
        .collect();
    let ids: Vec<i64> = known.keys().map(|device| device.as_i64()).collect();
    for (device, groups) in groups_of(tx, account, &ids).await? {
        if let Some(known) = known.get_mut(&device) {
            known.groups = groups;
        }
    }
    if depth == Depth::Nothing {
        return Ok(known.into_values().collect());
    }
    let sql = "SELECT device_id, snapshot FROM rule_trail WHERE account_id = ?1 AND device_id IN ({ids})";
    for row in for_ids(tx, sql, params![account], &ids).await? {
        if let Some(known) = known.get_mut(&DeviceId::from_i64(row.i64("device_id")?)) {
            known.trail.current = Some(snapshot(&row)?);
        }
    }
    if depth == Depth::Checkpoints {
        let sql = "SELECT device_id, at, snapshot FROM rule_checkpoint \
                   WHERE account_id = ?1 AND device_id IN ({ids}) ORDER BY at";
        for row in for_ids(tx, sql, params![account], &ids).await? {
            if let Some(known) = known.get_mut(&DeviceId::from_i64(row.i64("device_id")?)) {
                known.trail.checkpoints.push(snapshot(&row)?);
            }
        }
    }
    Ok(known.into_values().collect())
}

fn snapshot(row: &Row) -> Result<Snapshot> {
    column::json(row, "snapshot")
}

fn text(snapshot: &Snapshot) -> Result<String> {
    serde_json::to_string(snapshot).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The groups of these devices.
pub(super) async fn groups_of(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<HashMap<DeviceId, Vec<GroupId>>> {
    let sql = "SELECT device_id, group_id FROM group_member WHERE account_id = ?1 AND device_id IN ({ids})";
    let mut groups: HashMap<DeviceId, Vec<GroupId>> = HashMap::new();
    for row in for_ids(tx, sql, params![account], devices).await? {
        let (device, group) = (row.i64("device_id")?, row.i64("group_id")?);
        groups.entry(DeviceId::from_i64(device)).or_default().push(GroupId::from_i64(group));
    }
    Ok(groups)
}

/// Devices of which a rule will hold by now if no location came.
pub(super) async fn due(tx: &Tx, account: AccountId, limit: u32) -> Result<Vec<DeviceId>> {
    let sql = "SELECT device_id FROM rule_trail WHERE due IS NOT NULL AND due <= ?2 AND account_id = ?1 \
               ORDER BY due LIMIT ?3";
    let rows = tx.query(sql, params![account, tx.now(), limit]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("device_id")?))).collect()
}

/// Every device of an account of which rules know something, after this one.
pub(super) async fn list(
    tx: &Tx,
    account: AccountId,
    after: Option<DeviceId>,
    limit: u32,
) -> Result<Vec<DeviceId>> {
    let sql = "SELECT device_id FROM rule_trail WHERE account_id = ?1 AND device_id > ?2 \
               ORDER BY device_id LIMIT ?3";
    let after = after.map_or(i64::MIN, DeviceId::as_i64);
    let rows = tx.query(sql, params![account, after, limit]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("device_id")?))).collect()
}

/// Keeps what rules know of a device now, and what they knew on the way.
pub(super) async fn save(tx: &Tx, account: AccountId, device: DeviceId, judgement: &Judgement) -> Result<()> {
    let sql = "INSERT INTO rule_trail (account_id, device_id, due, snapshot) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (account_id, device_id) DO UPDATE SET due = excluded.due, snapshot = excluded.snapshot";
    tx.execute(sql, params![account, device, judgement.due, text(&judgement.snapshot)?]).await?;
    if let Some(from) = judgement.forget_from {
        let sql = "DELETE FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 AND at >= ?3";
        tx.execute(sql, params![account, device, from]).await?;
    }
    if judgement.checkpoints.is_empty() {
        return Ok(());
    }
    let row = |one: &Snapshot| -> Result<Vec<Value>> {
        Ok(params![account, device, one.at, tx.now(), text(one)?].to_vec())
    };
    let rows = judgement.checkpoints.iter().map(row).collect::<Result<Vec<_>>>()?;
    let head = "INSERT INTO rule_checkpoint (account_id, device_id, at, made, snapshot)";
    insert_many(tx, head, &rows, "ON CONFLICT DO NOTHING").await?;
    tidy(tx, account, device, judgement).await
}

/// Lets checkpoints go that are not needed any more, and what ended before the oldest that stays.
async fn tidy(tx: &Tx, account: AccountId, device: DeviceId, judgement: &Judgement) -> Result<()> {
    let sql = "SELECT at, made FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 ORDER BY at";
    let rows = tx.query(sql, params![account, device]).await?;
    let checkpoints = rows
        .iter()
        .map(|row| Ok(Checkpoint { at: row.timestamp("at")?, made: row.timestamp("made")? }))
        .collect::<Result<Vec<_>>>()?;
    let gone = thin(&checkpoints, judgement.snapshot.at, tx.now());
    for at in &gone {
        let sql = "DELETE FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 AND at = ?3";
        tx.execute(sql, params![account, device, *at]).await?;
    }
    let oldest = checkpoints.iter().map(|checkpoint| checkpoint.at).find(|at| !gone.contains(at));
    if let (Some(oldest), false) = (oldest, gone.is_empty()) {
        let sql = "DELETE FROM rule_occurrence WHERE account_id = ?1 AND device_id = ?2 AND ends < ?3";
        tx.execute(sql, params![account, device, oldest]).await?;
    }
    Ok(())
}
