//! Episodes of which alerts were raised, kept in step with what is known of them.

use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId, RuleId};
use perigee_core::rule::{Episode, Occurrence};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::events;
use super::super::ids;
use crate::{Row, Tx, params};

/// What tells an occurrence: its id and its alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    id: i64,
    alert: AlertId,
    end: Option<Timestamp>,
}

/// A rule as it was at a generation.
pub(super) type Version = (RuleId, i64);

fn from_row(row: &Row) -> Result<(Version, Occurrence<Key>)> {
    let end = row.opt_timestamp("ends")?;
    let key = Key { id: row.i64("id")?, alert: AlertId::from_i64(row.i64("alert_id")?), end };
    let occurrence = Occurrence { key, begin: row.timestamp("begins")?, met: row.timestamp("met")?, end };
    Ok(((RuleId::from_i64(row.i64("rule_id")?), row.i64("generation")?), occurrence))
}

/// What was raised of a device and was not over by an instant.
pub(super) async fn of_device(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    from: Timestamp,
) -> Result<Vec<(Version, Occurrence<Key>)>> {
    let sql = "SELECT id, rule_id, generation, alert_id, begins, met, ends FROM rule_occurrence \
               WHERE account_id = ?1 AND device_id = ?2 AND withdrawn = FALSE AND (ends IS NULL OR ends > ?3)";
    tx.query(sql, params![account, device, from]).await?.iter().map(from_row).collect()
}

/// Notes that an alert was raised of an episode.
pub(super) async fn add(
    tx: &Tx,
    account: AccountId,
    ((rule, generation), device): (Version, DeviceId),
    alert: AlertId,
    episode: &Episode,
) -> Result<()> {
    let make = |now| AlertId::new(now).as_i64();
    let id = ids::fresh_id(tx, "rule_occurrence", account, make).await?;
    let sql = "INSERT INTO rule_occurrence \
                   (account_id, id, rule_id, generation, device_id, alert_id, begins, met, ends) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let Episode { begin, met, end, .. } = *episode;
    tx.execute(sql, params![account, id, rule, generation, device, alert, begin, met, end]).await?;
    end_alert(tx, account, device, alert, None, end).await
}

/// An occurrence is another span than was known.
pub(super) async fn change(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    key: Key,
    episode: &Episode,
) -> Result<()> {
    let sql = "UPDATE rule_occurrence SET begins = ?3, met = ?4, ends = ?5 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, key.id, episode.begin, episode.met, episode.end]).await?;
    end_alert(tx, account, device, key.alert, key.end, episode.end).await
}

/// An occurrence turned out to be none: its alert, of which people were told, stays and is over.
pub(super) async fn withdraw(tx: &Tx, account: AccountId, device: DeviceId, key: Key) -> Result<()> {
    let end = key.end.unwrap_or(tx.now());
    let sql = "UPDATE rule_occurrence SET withdrawn = TRUE, ends = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, key.id, end]).await?;
    end_alert(tx, account, device, key.alert, key.end, Some(end)).await
}

/// Ends now whatever of a rule is under way, of one device or of all. The caller holds the account's lock.
pub(in crate::sql) async fn end_occurrences(
    tx: &Tx,
    account: AccountId,
    rule: RuleId,
    device: Option<DeviceId>,
) -> Result<()> {
    let sql = "UPDATE rule_occurrence SET ends = ?3 WHERE account_id = ?1 AND rule_id = ?2 AND ends IS NULL \
               AND (device_id = ?4 OR ?4 = 0) RETURNING device_id, alert_id";
    // No device has the number 0.
    let only = device.map_or(0, DeviceId::as_i64);
    for row in tx.query(sql, params![account, rule, tx.now(), only]).await? {
        let (device, alert) = (DeviceId::from_i64(row.i64("device_id")?), row.i64("alert_id")?);
        end_alert(tx, account, device, AlertId::from_i64(alert), None, Some(tx.now())).await?;
    }
    Ok(())
}

/// Has an alert be over when its episode is; what somebody ended by hand stays as it is.
async fn end_alert(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    alert: AlertId,
    was: Option<Timestamp>,
    is: Option<Timestamp>,
) -> Result<()> {
    if was == is {
        return Ok(());
    }
    if let Some(was) = was {
        let sql = "UPDATE alert SET ended_at = ?3 WHERE account_id = ?1 AND id = ?2 AND ended_at = ?4";
        tx.execute(sql, params![account, alert, is, was]).await?;
        return Ok(());
    }
    let sql = "UPDATE alert SET ended_at = ?3 WHERE account_id = ?1 AND id = ?2 AND ended_at IS NULL";
    if tx.execute(sql, params![account, alert, is]).await? > 0 {
        let data = serde_json::json!({});
        events::append(tx, account, EventKind::AlertEnded, alert.to_string(), Some(device), data).await?;
    }
    Ok(())
}
