//! The log as the rule engine reads it: its devices, locations with alerts, and all locations of some devices.

use std::collections::BTreeSet;

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::{LogScan, LogScanLimits, Result};

use super::feed::rows;
use super::log_row::{COLUMNS, LogRow};
use crate::codec::may_carry_alerts;
use crate::sql::locations::reads::feed::{end, require_kept};
use crate::sql::locations::unpack_or_note;
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Maximum number of locations that one statement reads.
const LOCATIONS_MAX: usize = 10_000;

/// Summarises the log after this number. Readings are unpacked only where they carry an alert.
pub(crate) async fn skim(tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
    require_kept(tx, account, after).await?;
    let scope = Scope::for_store_check(account);
    let end = end(tx, scope).await?.max(after);
    let most = limits.locations.min(LOCATIONS_MAX);
    let rows = rows(tx, scope, (after, end), most).await?;
    let mut skimmed = LogScan { next: after, ..LogScan::default() };
    let (mut devices, mut counted) = (BTreeSet::new(), 0);
    for row in &rows {
        let row = LogRow::of(row)?;
        counted += usize::try_from(row.header.count).unwrap_or(0);
        let device = row.header.device;
        for point in row.points_or_note(tx).into_iter().filter(|point| point.number > after) {
            let is_one_too_many = devices.len() >= limits.devices && !devices.contains(&device);
            if is_one_too_many || skimmed.carriers.len() >= limits.carriers || skimmed.count >= most {
                skimmed.more = true;
                skimmed.devices = devices.into_iter().collect();
                return Ok(skimmed);
            }
            devices.insert(device);
            if may_carry_alerts(point.readings).unwrap_or(false)
                && let Some(stored) = unpack_or_note(tx, account, device, &point.to_point())
            {
                skimmed.carriers.push((device, stored));
            }
            skimmed.oldest.get_or_insert(row.header.received_at);
            skimmed.count += 1;
            skimmed.next = point.number;
        }
        // The cursor also moves past a row that cannot be read.
        skimmed.next = skimmed.next.max(row.header.numbers.1);
    }
    skimmed.more = counted >= most;
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
    // The row with the second number may end after it; the bound on last_number keeps the scan of the index short.
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND last_number > ?2 AND first_number <= ?3 \
             AND last_number <= COALESCE((SELECT MIN(e.last_number) FROM location_log e \
                 WHERE e.account_id = ?1 AND e.last_number >= ?3), ?3) \
             AND device_id IN ({{ids}})"
    );
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let rows = for_ids(tx, &sql, params![account, after, up_to], &ids).await?;
    let mut found = Vec::new();
    for row in &rows {
        let row = LogRow::of(row)?;
        for point in row.points_or_note(tx) {
            if point.number > after && point.number <= up_to {
                let stored = unpack_or_note(tx, account, point.device, &point.to_point());
                found.extend(stored.map(|stored| (point.device, stored)));
            }
        }
    }
    found.sort_unstable_by_key(|(_, stored)| stored.number);
    Ok(found)
}
