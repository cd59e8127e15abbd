//! Announcing expiries, each once. A device's state does not depend on the announcement.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{ExpiryAnnouncement, Result};
use perigee_core::time::Timestamp;

use crate::sql::accounts::license_check;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::{Database, Row, Tx, params};

// The conditions of the indexes `device_by_expiry`, `device_by_lapse` and `device_by_near`, word for word, so that
// the indexes are used.

/// The condition for an expiry that was not announced.
const UNANNOUNCED: &str =
    "d.expires IS NOT NULL AND (d.announced_expired IS NULL OR d.announced_expired <> d.expires)";
/// The condition for an expiry that was not announced in advance, in an account with advance notices.
const UNANNOUNCED_NEAR: &str = "d.licensed = TRUE AND d.near_at IS NOT NULL \
    AND (d.announced_near IS NULL OR d.announced_near <> d.expires)";
const DAY_MS: i64 = 86_400_000;
/// Devices that one transaction announces.
const DEVICES_PER_JOB: i64 = 500;

/// Announces all expiries that are due or near, in small transactions of one account each.
pub(super) async fn announce(database: &Database) -> Result<Vec<ExpiryAnnouncement>> {
    let accounts = database.read(|tx| Box::pin(due_accounts(tx))).await?;
    let mut announced = Vec::new();
    for account in accounts {
        loop {
            let job = database.write(move |tx| Box::pin(async move { announce_some(tx, account).await }));
            let some = job.await?;
            if some.is_empty() {
                break;
            }
            announced.extend(some);
        }
    }
    Ok(announced)
}

/// The accounts with something to announce. Each statement reads one index, and in it only what is due.
async fn due_accounts(tx: &Tx) -> Result<BTreeSet<AccountId>> {
    let expired = format!("SELECT d.account_id FROM device d WHERE {UNANNOUNCED} AND d.expires <= ?1");
    let near = format!("SELECT d.account_id FROM device d WHERE {UNANNOUNCED_NEAR} AND d.near_at <= ?1");
    // Licences that were revoked by a clock that was ahead.
    let lapsed = format!(
        "SELECT d.account_id FROM device d JOIN account a ON a.id = d.account_id \
         WHERE d.licensed = FALSE AND {UNANNOUNCED} AND d.expires > ?1 AND d.expires <= a.decided_at"
    );
    let mut accounts = BTreeSet::new();
    for sql in [expired, near, lapsed] {
        for row in tx.query(&sql, params![tx.now()]).await? {
            accounts.insert(AccountId::from_i64(row.i64("account_id")?));
        }
    }
    Ok(accounts)
}

/// The time at which the expiry of a device is announced in advance, this many days before; `None` for 0 days.
pub(super) fn near_at(expires: Option<Timestamp>, notice_days: u32) -> Option<Timestamp> {
    let before = i64::from(notice_days) * DAY_MS;
    expires.filter(|_| notice_days > 0).map(|expires| expires.plus_millis(-before))
}

/// Sets the times at which expiries are announced in advance, after a change of the account.
pub(crate) async fn set_notice(tx: &Tx, account: AccountId, notice_days: u32) -> Result<()> {
    let sql = "UPDATE device SET near_at = CASE WHEN CAST(?2 AS BIGINT) > 0 THEN expires - ?2 END \
               WHERE account_id = ?1 AND expires IS NOT NULL";
    tx.execute(sql, params![account, i64::from(notice_days) * DAY_MS]).await?;
    Ok(())
}

async fn announce_some(tx: &Tx, account: AccountId) -> Result<Vec<ExpiryAnnouncement>> {
    tx.lock_account(account).await?;
    let now = license_check::settle(tx, account).await?;
    let sql = format!(
        "UPDATE device SET announced_expired = expires, \
             checksum = checksum + expires - COALESCE(announced_expired, 0) \
         WHERE account_id = ?1 AND id IN ( \
             SELECT d.id FROM device d WHERE d.account_id = ?1 AND {UNANNOUNCED} AND d.expires <= ?2 LIMIT {DEVICES_PER_JOB}) \
         RETURNING id, expires"
    );
    let expired = tx.query(&sql, params![account, now]).await?;
    let sql = format!(
        "UPDATE device SET announced_near = expires, \
             checksum = checksum + expires - COALESCE(announced_near, 0) \
         WHERE account_id = ?1 AND id IN ( \
             SELECT d.id FROM device d \
             WHERE d.account_id = ?1 AND {UNANNOUNCED_NEAR} AND d.expires > ?2 AND d.near_at <= ?2 LIMIT {DEVICES_PER_JOB}) \
         RETURNING id, expires"
    );
    let near = tx.query(&sql, params![account, now]).await?;
    let mut announced = append_announcements(tx, account, EventKind::DeviceExpired, &expired).await?;
    announced.extend(append_announcements(tx, account, EventKind::DeviceExpiring, &near).await?);
    Ok(announced)
}

/// Announces the expiry of one device if it is due. The caller holds the account's lock.
pub(super) async fn announce_device(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    now: Timestamp,
) -> Result<()> {
    let sql = "UPDATE device SET announced_expired = expires, \
                   checksum = checksum + expires - COALESCE(announced_expired, 0) \
               WHERE account_id = ?1 AND id = ?2 \
               AND expires <= ?3 AND (announced_expired IS NULL OR announced_expired <> expires) \
               RETURNING id, expires";
    let expired = tx.query(sql, params![account, device, now]).await?;
    append_announcements(tx, account, EventKind::DeviceExpired, &expired).await?;
    Ok(())
}

/// Appends an event for each row, earliest expiry first.
async fn append_announcements(
    tx: &Tx,
    account: AccountId,
    kind: EventKind,
    rows: &[Row],
) -> Result<Vec<ExpiryAnnouncement>> {
    let mut expiries = Vec::with_capacity(rows.len());
    for row in rows {
        expiries.push((row.timestamp("expires")?, DeviceId::from_i64(row.i64("id")?)));
    }
    expiries.sort_unstable();
    let event = |(expires, device): &(Timestamp, DeviceId)| NewEvent {
        subject: device.to_string(),
        device: Some(*device),
        data: format!(r#"{{"expires":"{expires}"}}"#),
    };
    append_events(tx, account, kind, expiries.iter().map(event).collect()).await?;
    let expired = kind == EventKind::DeviceExpired;
    Ok(expiries.into_iter().map(|(_, device)| ExpiryAnnouncement { account, device, expired }).collect())
}

/// The next instant at which an announcement is due.
pub(super) async fn next(tx: &Tx) -> Result<Option<Timestamp>> {
    let expired = format!("SELECT MIN(d.expires) AS at FROM device d WHERE {UNANNOUNCED}");
    let near = format!("SELECT MIN(d.near_at) AS at FROM device d WHERE {UNANNOUNCED_NEAR}");
    let mut next = None;
    for sql in [expired, near] {
        let at = tx.query_one(&sql, &[]).await?.opt_timestamp("at")?;
        next = next.into_iter().chain(at).min();
    }
    Ok(next)
}
