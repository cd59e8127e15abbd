//! The log as the rule engine reads it: which devices it names, locations that carry alerts, all locations of some devices.

use std::collections::BTreeSet;

use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::StoredLocation;
use perigee_core::store::{LogScan, LogScanLimits, Result};

use super::feed::end;
use super::log_row::{COLUMNS, readable, readable_of};
use crate::codec::may_carry_alerts;
use crate::sql::locations::trimmed_to;
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Locations that one statement reads.
const ROWS_MAX: usize = 10_000;

/// Summarises the log after this number.
pub(crate) async fn skim(tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
    if after > 0 && after < trimmed_to(tx, account).await? {
        return Err(StoreError::CursorExpired);
    }
    // Read before the locations: those committed later have higher numbers than this.
    let end = end(tx, Scope::for_store_check(account)).await?.max(after);
    let sql = format!(
        "SELECT device_id, {COLUMNS} FROM location_log WHERE account_id = ?1 AND number > ?2 AND number <= ?3 \
         ORDER BY number LIMIT ?4"
    );
    let most = limits.locations.min(ROWS_MAX);
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = tx.query(&sql, params![account, after, end, limit]).await?;
    let mut skimmed = LogScan { next: after, more: rows.len() >= most, ..LogScan::default() };
    let mut devices = BTreeSet::new();
    for row in &rows {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        let is_one_too_many = devices.len() >= limits.devices && !devices.contains(&device);
        if is_one_too_many || skimmed.carriers.len() >= limits.carriers {
            skimmed.more = true;
            break;
        }
        if let Some((point, stored)) = readable(tx, row, account, device)? {
            devices.insert(device);
            if may_carry_alerts(&point.readings).unwrap_or(false) {
                skimmed.carriers.push((device, stored));
            }
        }
        if skimmed.oldest.is_none() {
            skimmed.oldest = Some(row.timestamp("received_at")?);
        }
        skimmed.count += 1;
        skimmed.next = row.i64("number")?;
    }
    if !skimmed.more {
        skimmed.next = end;
    }
    skimmed.devices = devices.into_iter().collect();
    Ok(skimmed)
}

/// The locations of these devices after the first number and up to the second.
pub(crate) async fn read(
    tx: &Tx,
    account: AccountId,
    (after, up_to): (i64, i64),
    devices: Vec<DeviceId>,
) -> Result<Vec<(DeviceId, StoredLocation)>> {
    let sql = format!(
        "SELECT device_id, {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND number > ?2 AND number <= ?3 AND device_id IN ({{ids}})"
    );
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let rows = for_ids(tx, &sql, params![account, after, up_to], &ids).await?;
    let found = rows.iter().filter_map(|row| readable_of(tx, row, account).transpose());
    let mut found = found.collect::<Result<Vec<_>>>()?;
    found.sort_unstable_by_key(|(_, stored)| stored.number);
    Ok(found)
}
