//! Announcing expiries, each once. A device's state does not depend on the announcement.

use std::collections::BTreeSet;

use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{ExpiryAnnouncement, Result};
use perigee_core::time::Timestamp;

use super::super::event_append::{NewEvent, append_events};
use super::super::license_check;
use super::super::log_watch::NextExpiry;
use crate::{Database, Row, Tx, params};

/// The condition for an expiry that was not announced.
const UNANNOUNCED: &str =
    "d.expires IS NOT NULL AND (d.announced_expired IS NULL OR d.announced_expired <> d.expires)";
/// The condition for an expiry that was not announced in advance, in an account that wants it.
const UNANNOUNCED_NEAR: &str = "d.licensed = TRUE AND a.expiry_notice_days > 0 \
    AND (d.announced_near IS NULL OR d.announced_near <> d.expires)";
/// The instant of the advance notice.
const NEAR_AT: &str = "d.expires - a.expiry_notice_days * 86400000";
/// Devices that one transaction announces.
const DEVICES_PER_JOB: i64 = 500;

/// Announces all expiries that are due or near, in small transactions of one account each.
pub(super) async fn announce(database: &Database) -> Result<Vec<ExpiryAnnouncement>> {
    let accounts = database
        .read(|tx| {
            Box::pin(async move {
                match tx.log_watches().expiries.known(tx).await? {
                    Some(_) => Ok(BTreeSet::new()),
                    None => due_accounts(tx).await,
                }
            })
        })
        .await?;
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

/// Deduplicated here: with DISTINCT, SQLite would scan all devices in the order of their accounts.
async fn due_accounts(tx: &Tx) -> Result<BTreeSet<AccountId>> {
    let sql = format!(
        "SELECT d.account_id FROM device d JOIN account a ON a.id = d.account_id \
         WHERE {UNANNOUNCED} AND (d.expires <= ?1 OR d.expires <= a.decided_at OR ({UNANNOUNCED_NEAR} AND {NEAR_AT} <= ?1))"
    );
    let rows = tx.query(&sql, params![tx.now()]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("account_id")?))).collect()
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
    let come = tx.query(&sql, params![account, now]).await?;
    let sql = format!(
        "UPDATE device SET announced_near = expires, \
             checksum = checksum + expires - COALESCE(announced_near, 0) \
         WHERE account_id = ?1 AND id IN ( \
             SELECT d.id FROM device d JOIN account a ON a.id = d.account_id \
             WHERE d.account_id = ?1 AND {UNANNOUNCED_NEAR} AND d.expires > ?2 AND {NEAR_AT} <= ?2 LIMIT {DEVICES_PER_JOB}) \
         RETURNING id, expires"
    );
    let near = tx.query(&sql, params![account, now]).await?;
    let mut announced = append_announcements(tx, account, EventKind::DeviceExpired, &come).await?;
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
    let come = tx.query(sql, params![account, device, now]).await?;
    append_announcements(tx, account, EventKind::DeviceExpired, &come).await?;
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
    if let Some(NextExpiry(known)) = tx.log_watches().expiries.known(tx).await? {
        return Ok(known);
    }
    let sql = format!(
        "SELECT MIN(CASE WHEN {UNANNOUNCED_NEAR} AND d.expires > ?1 THEN {NEAR_AT} ELSE d.expires END) AS at \
         FROM device d JOIN account a ON a.id = d.account_id WHERE {UNANNOUNCED}"
    );
    let next = tx.query_one(&sql, params![tx.now()]).await?.opt_timestamp("at")?;
    tx.log_watches().expiries.remember(tx, NextExpiry(next)).await?;
    Ok(next)
}
