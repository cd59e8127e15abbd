//! Trails: the state of the rules for each device, with checkpoints of earlier states.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::rules::rule::{
    Checkpoint, Evaluation, LOOK_BACK_MS, Snapshot, Trail, prunable_checkpoints,
};
use perigee_core::store::{DeviceTrail, Result, TrailDepth};
use perigee_core::time::Timestamp;

use crate::damage::{Damaged, Table};
use crate::error::describe;
use crate::sql::column;
use crate::sql::query::{for_ids, insert_many};
use crate::sql::scope;
use crate::{Row, Tx, params};

/// Loads the trails of these devices; deleted ones are left out.
pub(super) async fn load(
    tx: &Tx,
    account: AccountId,
    devices: Vec<DeviceId>,
    depth: TrailDepth,
) -> Result<Vec<DeviceTrail>> {
    let existing =
        scope::existing_devices(tx, &devices.iter().map(|id| (account, *id)).collect::<Vec<_>>()).await?;
    let mut known: BTreeMap<DeviceId, DeviceTrail> = existing
        .into_iter()
        .map(|(_, device)| (device, DeviceTrail { device, groups: Vec::new(), trail: Trail::default() }))
        .collect();
    let ids: Vec<i64> = known.keys().map(|device| device.as_i64()).collect();
    for (device, groups) in groups_of(tx, account, &ids).await? {
        if let Some(known) = known.get_mut(&device) {
            known.groups = groups;
        }
    }
    if depth == TrailDepth::Nothing {
        return Ok(known.into_values().collect());
    }
    let sql = "SELECT device_id, snapshot FROM rule_trail WHERE account_id = ?1 AND device_id IN ({ids})";
    for row in for_ids(tx, sql, params![account], &ids).await? {
        if let Some(known) = known.get_mut(&DeviceId::from_i64(row.i64("device_id")?)) {
            known.trail.current = readable(tx, account, Table::RuleTrail, &row)?.map(Arc::new);
        }
    }
    if depth == TrailDepth::Checkpoints {
        let sql = "SELECT device_id, at, snapshot FROM rule_checkpoint \
                   WHERE account_id = ?1 AND device_id IN ({ids}) ORDER BY at";
        for row in for_ids(tx, sql, params![account], &ids).await? {
            if let Some(known) = known.get_mut(&DeviceId::from_i64(row.i64("device_id")?)) {
                known.trail.checkpoints.extend(readable(tx, account, Table::RuleCheckpoint, &row)?);
            }
        }
    }
    Ok(known.into_values().collect())
}

/// The rule state in a row, or what is known of the row if it is damaged.
pub(crate) fn checked(
    row: &Row,
    account: AccountId,
    table: Table,
) -> Result<std::result::Result<Snapshot, Damaged>> {
    let device = DeviceId::from_i64(row.i64("device_id")?);
    let damaged = |error: StoreError| Damaged::new(table, describe(&error)).of(account, Some(device));
    Ok(column::json(row, "snapshot").map_err(damaged))
}

/// The rule state in a row; a damaged row is recorded, and the rules start again without it.
fn readable(tx: &Tx, account: AccountId, table: Table, row: &Row) -> Result<Option<Snapshot>> {
    Ok(checked(row, account, table)?.map_err(|damaged| tx.damage().note(&damaged)).ok())
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

/// Devices with a rule whose condition is met by the passing of time, without a further location.
pub(super) async fn due(tx: &Tx, account: AccountId, limit: u32) -> Result<Vec<DeviceId>> {
    let sql = "SELECT device_id FROM rule_trail WHERE due IS NOT NULL AND due <= ?2 AND account_id = ?1 \
               ORDER BY due LIMIT ?3";
    let rows = tx.query(sql, params![account, tx.now(), limit]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("device_id")?))).collect()
}

/// The devices of an account after this one, by id.
pub(super) async fn list(
    tx: &Tx,
    account: AccountId,
    after: Option<DeviceId>,
    limit: u32,
) -> Result<Vec<DeviceId>> {
    let sql = "SELECT id FROM device WHERE account_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
    let after = after.map_or(i64::MIN, DeviceId::as_i64);
    let rows = tx.query(sql, params![account, after, limit]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("id")?))).collect()
}

/// The serialised state of a device, made before the transaction to keep it short.
pub(super) struct SerialisedTrail {
    current: String,
    checkpoints: Vec<String>,
}

impl SerialisedTrail {
    pub(super) fn of(evaluation: &Evaluation) -> Result<Self> {
        let checkpoints = evaluation.checkpoints.iter().map(text).collect::<Result<_>>()?;
        Ok(Self { current: text(&evaluation.snapshot)?, checkpoints })
    }
}

/// Saves the current rule state of devices, and new checkpoints.
pub(super) async fn save(
    tx: &Tx,
    account: AccountId,
    all: Vec<(DeviceId, &Evaluation, SerialisedTrail)>,
) -> Result<()> {
    let (mut trails, mut checkpoints) = (Vec::with_capacity(all.len()), Vec::new());
    let mut grown = BTreeMap::new();
    for (device, evaluation, written) in all {
        trails.push(params![account, device, evaluation.due, written.current].to_vec());
        for (one, text) in evaluation.checkpoints.iter().zip(written.checkpoints) {
            checkpoints.push(params![account, device, one.at, tx.now(), text].to_vec());
            grown.insert(device, evaluation.snapshot.at);
        }
        if let Some(from) = evaluation.forget_from {
            let sql = "DELETE FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 AND at >= ?3";
            tx.execute(sql, params![account, device, from]).await?;
        }
    }
    let head = "INSERT INTO rule_trail (account_id, device_id, due, snapshot)";
    let tail =
        "ON CONFLICT (account_id, device_id) DO UPDATE SET due = excluded.due, snapshot = excluded.snapshot";
    insert_many(tx, head, &trails, tail).await?;
    let head = "INSERT INTO rule_checkpoint (account_id, device_id, at, made, snapshot)";
    insert_many(tx, head, &checkpoints, "ON CONFLICT DO NOTHING").await?;
    thin_checkpoints(tx, account, grown).await
}

/// Deletes checkpoints that are no longer needed, and occurrences that ended before the oldest remaining one.
async fn thin_checkpoints(tx: &Tx, account: AccountId, newest: BTreeMap<DeviceId, Timestamp>) -> Result<()> {
    let ids: Vec<i64> = newest.keys().map(|device| device.as_i64()).collect();
    let sql = "SELECT device_id, at, made FROM rule_checkpoint \
               WHERE account_id = ?1 AND device_id IN ({ids}) ORDER BY at";
    let mut checkpoints: BTreeMap<DeviceId, Vec<Checkpoint>> = BTreeMap::new();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        let checkpoint = Checkpoint { at: row.timestamp("at")?, made: row.timestamp("made")? };
        checkpoints.entry(DeviceId::from_i64(row.i64("device_id")?)).or_default().push(checkpoint);
    }
    for (device, checkpoints) in checkpoints {
        let Some(newest) = newest.get(&device) else { continue };
        let prunable = prunable_checkpoints(&checkpoints, *newest, tx.now());
        if prunable.is_empty() {
            continue;
        }
        let instants: Vec<i64> = prunable.iter().map(|at| at.as_millis()).collect();
        let sql = "DELETE FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 AND at IN ({ids})";
        for_ids(tx, sql, params![account, device], &instants).await?;
        let oldest = checkpoints.iter().map(|checkpoint| checkpoint.at).find(|at| !prunable.contains(at));
        if let Some(oldest) = oldest {
            // Within the look-back, evaluation may restart before the first checkpoint.
            let oldest = oldest.min(newest.plus_millis(-LOOK_BACK_MS));
            let sql = "DELETE FROM rule_occurrence WHERE account_id = ?1 AND device_id = ?2 AND ends < ?3";
            tx.execute(sql, params![account, device, oldest]).await?;
        }
    }
    Ok(())
}
