//! Settings of timelines at each level, and which of them apply to a device.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::locations::location::TimeRange;
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{
    Recomputing, SettingsHolder, SettingsInForce, SettingsState, StoredOverrides, TimelineOverrides,
    TimelineSettings,
};

use super::mark;
use crate::sql::query::for_ids;
use crate::sql::{access::audit, accounts, column, scope};
use crate::{Row, Tx, params};

/// A whole history. It is also the mark of devices that are derived again because of their settings.
pub(super) const WHOLE: TimeRange = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };

/// The key columns of settings: level, holder, and the device or group they are deleted with.
fn key_of(
    account: AccountId,
    holder: SettingsHolder,
) -> (&'static str, i64, Option<DeviceId>, Option<GroupId>) {
    match holder {
        SettingsHolder::Device(device) => ("device", device.as_i64(), Some(device), None),
        SettingsHolder::Group(group) => ("group", group.as_i64(), None, Some(group)),
        SettingsHolder::Account => ("account", account.as_i64(), None, None),
    }
}

/// Fails unless the holder exists and is visible.
async fn require(tx: &Tx, scope: Scope, holder: SettingsHolder) -> Result<()> {
    match holder {
        SettingsHolder::Device(device) => scope::require_device(tx, scope, device).await,
        SettingsHolder::Group(group) => {
            let outcome = scope::require_groups(tx, scope, &[group]).await;
            outcome.map_err(|error| match error {
                StoreError::UnknownReference { .. } => StoreError::NotFound(Kind::Group),
                other => other,
            })
        }
        SettingsHolder::Account if scope.is_whole() => Ok(()),
        SettingsHolder::Account => Err(StoreError::NotFound(Kind::Account)),
    }
}

async fn find(tx: &Tx, scope: Scope, holder: SettingsHolder) -> Result<StoredOverrides> {
    require(tx, scope, holder).await?;
    let (level, id, _, _) = key_of(scope.account, holder);
    let sql = "SELECT revision, document, last_modified FROM timeline_settings \
               WHERE account_id = ?1 AND level = ?2 AND holder = ?3";
    let Some(row) = tx.query_opt(sql, params![scope.account, level, id]).await? else {
        return Ok(StoredOverrides::UNSET);
    };
    Ok(StoredOverrides {
        revision: Revision(row.i64("revision")?),
        overrides: column::json(&row, "document")?,
        last_modified: Some(row.timestamp("last_modified")?),
    })
}

/// The settings of a level, with what applies and the progress of a change.
pub(super) async fn get(tx: &Tx, scope: Scope, holder: SettingsHolder) -> Result<SettingsState> {
    let stored = find(tx, scope, holder).await?;
    let in_force = in_force(tx, scope.account, holder).await?;
    let recomputing = recomputing(tx, scope.account, holder).await?;
    Ok(SettingsState { stored, in_force, recomputing })
}

/// The settings that apply at a level. Of several groups of a device, the one that was created first decides.
async fn in_force(tx: &Tx, account: AccountId, holder: SettingsHolder) -> Result<SettingsInForce> {
    let sql =
        "SELECT level, holder, document FROM timeline_settings WHERE account_id = ?1 AND (level = 'account'";
    let order = "ORDER BY holder";
    let rows = match holder {
        SettingsHolder::Account => tx.query(&format!("{sql}) {order}"), params![account]).await?,
        SettingsHolder::Group(group) => {
            let sql = format!("{sql} OR (level = 'group' AND holder = ?2)) {order}");
            tx.query(&sql, params![account, group]).await?
        }
        SettingsHolder::Device(device) => {
            let sql = format!(
                "{sql} OR (level = 'device' AND holder = ?2) OR (level = 'group' AND holder IN ( \
                     SELECT group_id FROM group_member WHERE account_id = ?1 AND device_id = ?2))) {order}"
            );
            tx.query(&sql, params![account, device]).await?
        }
    };
    let mut layers = rows.iter().map(layer).collect::<Result<Vec<_>>>()?;
    layers.sort_by_key(|(holder, _)| match holder {
        SettingsHolder::Device(_) => (0, 0),
        SettingsHolder::Group(group) => (1, group.as_i64()),
        SettingsHolder::Account => (2, 0),
    });
    Ok(SettingsInForce::of(layers))
}

fn layer(row: &Row) -> Result<(SettingsHolder, TimelineOverrides)> {
    let id = row.i64("holder")?;
    let holder = match row.str("level")? {
        "device" => SettingsHolder::Device(DeviceId::from_i64(id)),
        "group" => SettingsHolder::Group(GroupId::from_i64(id)),
        _ => SettingsHolder::Account,
    };
    Ok((holder, column::json(row, "document")?))
}

/// Whether anything is set in an account. Most accounts have nothing, and their devices need no further look.
pub(super) async fn is_any_set(tx: &Tx, account: AccountId) -> Result<bool> {
    let sql = "SELECT 1 AS found FROM timeline_settings WHERE account_id = ?1 LIMIT 1";
    Ok(tx.query_opt(sql, params![account]).await?.is_some())
}

/// The settings that apply to a device.
pub(super) async fn of_device(tx: &Tx, account: AccountId, device: DeviceId) -> Result<TimelineSettings> {
    Ok(in_force(tx, account, SettingsHolder::Device(device)).await?.settings)
}

/// The settings of a derivation as `timeline_device` keeps them: null for the defaults.
pub(super) fn kept(settings: &TimelineSettings) -> Result<Option<String>> {
    if *settings == TimelineSettings::default() {
        return Ok(None);
    }
    let text = serde_json::to_string(settings).map_err(|cause| StoreError::Internal(cause.into()))?;
    Ok(Some(text))
}

/// The devices that the settings of a level apply to, and those whose whole history is still to be derived.
async fn recomputing(tx: &Tx, account: AccountId, holder: SettingsHolder) -> Result<Recomputing> {
    let waits = "w.account_id = ?1 AND w.dirty_from IS NOT NULL AND w.dirty_to = ?2";
    let count = |row: Row| -> Result<u64> { Ok(u64::try_from(row.i64("count")?).unwrap_or(0)) };
    let to = WHOLE.to;
    let (devices, waiting) = match holder {
        SettingsHolder::Device(device) => {
            let sql =
                format!("SELECT COUNT(*) AS count FROM timeline_device w WHERE {waits} AND w.device_id = ?3");
            (1, count(tx.query_one(&sql, params![account, to, device]).await?)?)
        }
        SettingsHolder::Group(group) => {
            let all = "SELECT COUNT(*) AS count FROM group_member WHERE account_id = ?1 AND group_id = ?2";
            let sql = format!(
                "SELECT COUNT(*) AS count FROM timeline_device w WHERE {waits} AND w.device_id IN ( \
                     SELECT m.device_id FROM group_member m WHERE m.account_id = ?1 AND m.group_id = ?3)"
            );
            let devices = count(tx.query_one(all, params![account, group]).await?)?;
            (devices, count(tx.query_one(&sql, params![account, to, group]).await?)?)
        }
        SettingsHolder::Account => {
            let all = "SELECT COUNT(*) AS count FROM device WHERE account_id = ?1";
            let sql = format!("SELECT COUNT(*) AS count FROM timeline_device w WHERE {waits}");
            let devices = count(tx.query_one(all, params![account]).await?)?;
            (devices, count(tx.query_one(&sql, params![account, to]).await?)?)
        }
    };
    // Devices that are not even marked yet.
    let sql =
        "SELECT caught_up_to FROM timeline_follower WHERE account_id = ?1 AND caught_up_end IS NOT NULL";
    let unmarked = match tx.query_opt(sql, params![account]).await? {
        None => 0,
        Some(row) => {
            let after = row.opt_i64("caught_up_to")?.unwrap_or(i64::MIN);
            match holder {
                SettingsHolder::Account => {
                    let sql = "SELECT COUNT(*) AS count FROM device WHERE account_id = ?1 AND id > ?2";
                    count(tx.query_one(sql, params![account, after]).await?)?
                }
                SettingsHolder::Group(group) => {
                    let sql = "SELECT COUNT(*) AS count FROM group_member \
                               WHERE account_id = ?1 AND device_id > ?2 AND group_id = ?3";
                    count(tx.query_one(sql, params![account, after, group]).await?)?
                }
                SettingsHolder::Device(device) => u64::from(device.as_i64() > after),
            }
        }
    };
    Ok(Recomputing { devices, pending: (waiting + unmarked).min(devices) })
}

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    holder: SettingsHolder,
    seen: Revision,
    overrides: TimelineOverrides,
) -> Result<StoredOverrides> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, holder).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::TimelineSettings));
    }
    if before.overrides == overrides {
        return Ok(before);
    }
    let document = serde_json::to_string(&overrides).map_err(|cause| StoreError::Internal(cause.into()))?;
    let (level, id, device, group) = key_of(account, holder);
    let sql = "INSERT INTO timeline_settings \
                   (account_id, level, holder, device_id, group_id, revision, document, last_modified) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
               ON CONFLICT (account_id, level, holder) DO UPDATE SET \
                   revision = excluded.revision, document = excluded.document, \
                   last_modified = excluded.last_modified";
    let revision = before.revision.next();
    let values = params![account, level, id, device, group, revision.0, document, tx.now()];
    tx.execute(sql, values).await?;
    derive_again(tx, account, holder).await?;
    let target = match holder {
        SettingsHolder::Device(device) => device.to_string(),
        SettingsHolder::Group(group) => group.to_string(),
        SettingsHolder::Account => account.to_string(),
    };
    audit::record(tx, account, &actor.origin, "timelineSettings.update", Some(target)).await?;
    Ok(StoredOverrides { revision, overrides, last_modified: Some(tx.now()) })
}

/// Marks the whole histories of the devices that settings apply to. Those of an account are marked slice by slice by the
/// derivation itself, like the devices of an account that was never followed.
async fn derive_again(tx: &Tx, account: AccountId, holder: SettingsHolder) -> Result<()> {
    match holder {
        SettingsHolder::Device(device) => mark::again(tx, account, &[device]).await,
        SettingsHolder::Group(group) => {
            let sql = "SELECT device_id FROM group_member WHERE account_id = ?1 AND group_id = ?2";
            let rows = tx.query(sql, params![account, group]).await?;
            let device = |row: &Row| Ok(DeviceId::from_i64(row.i64("device_id")?));
            mark::again(tx, account, &rows.iter().map(device).collect::<Result<Vec<_>>>()?).await
        }
        SettingsHolder::Account => {
            // The next round is another one, so that a running derivation with the old settings is not saved.
            let sql = "UPDATE timeline_follower SET round = round + 1, caught_up_to = ?2, \
                           caught_up_end = CASE WHEN caught_up_end IS NULL THEN cursor ELSE caught_up_end END \
                       WHERE account_id = ?1";
            tx.execute(sql, params![account, i64::MIN]).await?;
            Ok(())
        }
    }
}

/// Marks those of these devices to which other settings apply since their groups changed. The account is locked.
pub(crate) async fn regrouped(tx: &Tx, account: AccountId, devices: &[DeviceId]) -> Result<()> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT device_id, settings FROM timeline_device WHERE account_id = ?1 AND device_id IN ({ids}) \
               AND (settings IS NOT NULL OR EXISTS ( \
                   SELECT 1 FROM timeline_settings s WHERE s.account_id = ?1 AND s.level = 'group'))";
    let mut changed = Vec::new();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        if kept(&of_device(tx, account, device).await?)? != row.opt_text("settings")? {
            changed.push(device);
        }
    }
    mark::again(tx, account, &changed).await
}
