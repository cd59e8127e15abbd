//! Editions of a group's members: a large change is written in slices, published at once, and followed up in slices.
//!
//! It writes the complete list of members as a new, hidden edition, publishes it in one short transaction, and then
//! records the change of each device that joined or left. No transaction touches more than [`SLICE`] members, so that
//! other writers wait for a few milliseconds only.

use std::collections::BTreeMap;

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::groups::group::GroupSettings;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::store::Result;

use crate::sql::groups::members::touch_devices;
use crate::sql::query::insert_many;
use crate::sql::scope;
use crate::{Row, Tx, Value, params};

/// Members that one transaction writes, removes or follows up.
pub(in crate::sql) const SLICE: usize = GroupSettings::SMALL_CHANGE_MAX;
/// The edition that a change replaces when the group is new.
pub(in crate::sql) const NO_EDITION: i64 = -1;
/// After this time a hidden edition is taken to be abandoned by its writer.
const ABANDONED_MS: i64 = 10 * 60 * 1000;

/// An edition of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql) struct Edition {
    pub(in crate::sql) account: AccountId,
    pub(in crate::sql) group: GroupId,
    pub(in crate::sql) number: i64,
}

/// Begins a hidden edition.
pub(in crate::sql) async fn begin(tx: &Tx, account: AccountId, group: GroupId) -> Result<Edition> {
    tx.lock_account(account).await?;
    let edition = Edition { account, group, number: next(tx, account, group).await? };
    note(tx, edition, NO_EDITION, false).await?;
    Ok(edition)
}

/// The next unused edition number.
async fn next(tx: &Tx, account: AccountId, group: GroupId) -> Result<i64> {
    let sql = "SELECT COALESCE(MAX(e.edition), -1) + 1 AS next FROM ( \
                   SELECT edition FROM device_group WHERE account_id = ?1 AND id = ?2 \
                   UNION ALL SELECT edition FROM group_change WHERE account_id = ?1 AND group_id = ?2) e";
    Ok(tx.query_one(sql, params![account, group]).await?.i64("next")?)
}

async fn note(tx: &Tx, edition: Edition, replaces: i64, shown: bool) -> Result<()> {
    let sql = "INSERT INTO group_change \
                   (account_id, group_id, edition, replaces, shown, after_device, creation) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Edition { account, group, number } = edition;
    tx.execute(sql, params![account, group, number, replaces, shown, i64::MIN, tx.now()]).await?;
    Ok(())
}

/// Adds members to an edition; they must be visible to the scope.
pub(in crate::sql) async fn write(
    tx: &Tx,
    scope: Scope,
    edition: Edition,
    devices: Vec<DeviceId>,
) -> Result<()> {
    tx.lock_account(edition.account).await?;
    scope::require_devices(tx, scope, &devices).await?;
    let Edition { account, group, number } = edition;
    let row = |device: &DeviceId| params![account, group, number, *device].to_vec();
    let rows: Vec<Vec<Value>> = devices.iter().map(row).collect();
    let head = "INSERT INTO group_membership (account_id, group_id, edition, device_id)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}

/// Publishes an edition instead of another.
pub(in crate::sql) async fn show(tx: &Tx, edition: Edition, replaces: i64) -> Result<()> {
    let sql = "UPDATE group_change SET shown = TRUE, replaces = ?4 \
               WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 AND shown = FALSE";
    let Edition { account, group, number } = edition;
    if tx.execute(sql, params![account, group, number, replaces]).await? == 0 {
        return Err(StoreError::Unavailable("writing the members took too long".into()));
    }
    Ok(())
}

/// Records that a group which showed this edition is deleted.
pub(in crate::sql) async fn hide(tx: &Tx, account: AccountId, group: GroupId, shown: i64) -> Result<()> {
    let number = next(tx, account, group).await?.max(shown + 1);
    note(tx, Edition { account, group, number }, shown, true).await
}

/// Removes a slice of a hidden edition; returns whether there is more.
pub(in crate::sql) async fn discard_some(tx: &Tx, edition: Edition) -> Result<bool> {
    tx.lock_account(edition.account).await?;
    let Edition { account, group, number } = edition;
    let some = members_after(tx, edition, number, i64::MIN).await?;
    remove(tx, edition, number, (i64::MIN, some.last().copied().unwrap_or(i64::MIN))).await?;
    if some.len() >= SLICE {
        return Ok(true);
    }
    let sql = "DELETE FROM group_change \
               WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 AND shown = FALSE";
    tx.execute(sql, params![account, group, number]).await?;
    Ok(false)
}

/// Records the change of a slice of devices that joined or left with the oldest published change of a group, and
/// removes their old memberships; returns whether there is more.
pub(in crate::sql) async fn follow_up_some(tx: &Tx, account: AccountId, group: GroupId) -> Result<bool> {
    tx.lock_account(account).await?;
    let sql = "SELECT edition, replaces, after_device FROM group_change \
               WHERE account_id = ?1 AND group_id = ?2 AND shown = TRUE ORDER BY edition LIMIT 1";
    let Some(row) = tx.query_opt(sql, params![account, group]).await? else { return Ok(false) };
    let edition = Edition { account, group, number: row.i64("edition")? };
    let (replaces, after) = (row.i64("replaces")?, row.i64("after_device")?);
    let before = members_after(tx, edition, replaces, after).await?;
    let now = members_after(tx, edition, edition.number, after).await?;
    // Beyond the end of an incomplete list the two cannot be compared; that part is left for the next slice.
    let ends = [&before, &now].into_iter().filter(|list| list.len() >= SLICE);
    let end = ends.filter_map(|list| list.last().copied()).min();
    let mut sides: BTreeMap<i64, usize> = BTreeMap::new();
    for device in before.into_iter().chain(now).filter(|device| end.is_none_or(|end| *device <= end)) {
        *sides.entry(device).or_default() += 1;
    }
    let changed = sides.iter().filter(|(_, sides)| **sides == 1);
    let changed: Vec<DeviceId> = changed.map(|(device, _)| DeviceId::from_i64(*device)).collect();
    touch_devices(tx, account, &changed).await?;
    if let Some(last) = sides.keys().next_back() {
        remove(tx, edition, replaces, (after, *last)).await?;
    }
    if let Some(end) = end {
        let sql = "UPDATE group_change SET after_device = ?4 \
                   WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3";
        tx.execute(sql, params![account, group, edition.number, end]).await?;
    } else {
        let sql = "DELETE FROM group_change WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3";
        tx.execute(sql, params![account, group, edition.number]).await?;
    }
    Ok(true)
}

/// Records the change of one device ahead of its slice: a client that changes it must have seen its current groups.
pub(in crate::sql) async fn follow_up_device(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let changes = changes_of(tx, account, device).await?;
    for (group, edition, replaces) in &changes {
        // Both editions then agree on the device, so that its slice skips it.
        let sql = "DELETE FROM group_membership \
                   WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 AND device_id = ?4";
        if tx.execute(sql, params![account, *group, *replaces, device]).await? == 0 {
            let sql = "INSERT INTO group_membership (account_id, group_id, edition, device_id) \
                       SELECT account_id, group_id, CAST(?5 AS BIGINT), device_id FROM group_membership \
                       WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 AND device_id = ?4";
            tx.execute(sql, params![account, *group, *edition, device, *replaces]).await?;
        }
    }
    if changes.is_empty() { Ok(()) } else { touch_devices(tx, account, &[device]).await }
}

/// Whether the change of a device is still to be recorded.
pub(in crate::sql) async fn is_to_follow_up(tx: &Tx, account: AccountId, device: DeviceId) -> Result<bool> {
    Ok(!changes_of(tx, account, device).await?.is_empty())
}

/// The changes with which a device joined or left and that are not recorded for it yet: group, edition, replaced
/// edition.
async fn changes_of(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Vec<(i64, i64, i64)>> {
    let sql = "SELECT c.group_id, c.edition, c.replaces FROM group_change c \
               WHERE c.account_id = ?1 AND c.shown = TRUE AND c.after_device < ?2 \
                   AND (SELECT COUNT(*) FROM group_membership m \
                        WHERE m.account_id = ?1 AND m.group_id = c.group_id AND m.device_id = ?2 \
                            AND m.edition IN (c.edition, c.replaces)) = 1";
    let read = |row: &Row| Ok((row.i64("group_id")?, row.i64("edition")?, row.i64("replaces")?));
    tx.query(sql, params![account, device]).await?.iter().map(read).collect()
}

/// A change that was begun and not finished.
pub(in crate::sql) enum Unfinished {
    /// Published; devices are still to be followed up.
    Shown(AccountId, GroupId),
    /// An edition that was never published; its rows are deleted.
    Abandoned(Edition),
}

/// Changes that any node may finish.
pub(in crate::sql) async fn unfinished(tx: &Tx) -> Result<Vec<Unfinished>> {
    let sql = "SELECT account_id, group_id, edition, shown FROM group_change \
               WHERE shown = TRUE OR creation < ?1 ORDER BY creation LIMIT 100";
    let read = |row: &Row| {
        let account = AccountId::from_i64(row.i64("account_id")?);
        let group = GroupId::from_i64(row.i64("group_id")?);
        Ok(if row.bool("shown")? {
            Unfinished::Shown(account, group)
        } else {
            Unfinished::Abandoned(Edition { account, group, number: row.i64("edition")? })
        })
    };
    tx.query(sql, params![tx.now().plus_millis(-ABANDONED_MS)]).await?.iter().map(read).collect()
}

/// Some members of one of the group's editions, ascending.
async fn members_after(tx: &Tx, edition: Edition, number: i64, after: i64) -> Result<Vec<i64>> {
    let sql = "SELECT device_id FROM group_membership \
               WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 AND device_id > ?4 \
               ORDER BY device_id LIMIT ?5";
    let limit = i64::try_from(SLICE).unwrap_or(i64::MAX);
    let values = params![edition.account, edition.group, number, after, limit];
    tx.query(sql, values).await?.iter().map(|row| Ok(row.i64("device_id")?)).collect()
}

async fn remove(tx: &Tx, edition: Edition, number: i64, (after, to): (i64, i64)) -> Result<()> {
    let sql = "DELETE FROM group_membership WHERE account_id = ?1 AND group_id = ?2 AND edition = ?3 \
               AND device_id > ?4 AND device_id <= ?5";
    tx.execute(sql, params![edition.account, edition.group, number, after, to]).await?;
    Ok(())
}
