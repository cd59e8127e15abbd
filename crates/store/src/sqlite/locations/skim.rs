//! The log as the rule engine reads it: which devices it names, locations that carry alerts, all locations of some
//! devices.

use std::collections::{BTreeSet, HashSet};

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::{LogScan, LogScanLimits, Result};

use super::erase::Erased;
use super::log_row::{COLUMNS, LogRow};
use crate::codec::{PointRef, may_carry_alerts};
use crate::sql::locations::reads::feed::{end, require_kept};
use crate::{Row, Tx, params};

/// Rows that one statement reads while rows are small.
const STRIDE: usize = 64;
/// Once this many locations were read, rows are assumed to be large and are read one at a time.
const LARGE_ROWS_AT: usize = 1_000;

/// Summarises the log after this number. Readings are unpacked only where they carry an alert.
pub(crate) async fn skim(tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
    require_kept(tx, account, after).await?;
    let erased = Erased::after(tx, account, after).await?;
    let mut skimmer = Skimmer { after, next: after, limits, erased, ..Skimmer::default() };
    let mut stride = 1;
    loop {
        let rows = rows(tx, account, (skimmer.next, i64::MAX), stride).await?;
        for row in &rows {
            if !skimmer.pass(tx, row)? {
                return Ok(skimmer.finish(true));
            }
        }
        if rows.len() < stride {
            // The cursor also moves past rows that were trimmed at the end of the log.
            skimmer.next = skimmer.next.max(end(tx, Scope::for_store_check(account)).await?);
            return Ok(skimmer.finish(false));
        }
        stride = if skimmer.count < LARGE_ROWS_AT { STRIDE } else { 1 };
    }
}

/// The locations of these devices after the first number and up to the second.
pub(crate) async fn read(
    tx: &Tx,
    account: AccountId,
    (after, up_to): (i64, i64),
    devices: Vec<DeviceId>,
) -> Result<Vec<(DeviceId, StoredLocation)>> {
    let erased = Erased::after(tx, account, after).await?;
    let devices: HashSet<DeviceId> = devices.into_iter().collect();
    let (mut found, mut passed, mut stride) = (Vec::new(), after, 1);
    loop {
        let rows = rows(tx, account, (passed, up_to), stride).await?;
        for row in &rows {
            let mut last_answer = None;
            LogRow::of(row)?.visit_or_note(tx, |point| {
                // Locations of one device are adjacent, so the last answer is mostly still right.
                let is_wanted = match last_answer {
                    Some((device, is_wanted)) if device == point.device => is_wanted,
                    _ => devices.contains(&point.device),
                };
                last_answer = Some((point.device, is_wanted));
                if is_wanted && point.number > after && point.number <= up_to && !is_erased(&erased, point) {
                    found.push((point.device, point.to_point().unpack()?));
                }
                Ok(point.number < up_to)
            });
            passed = row.i64("last_number")?;
        }
        if rows.len() < stride {
            return Ok(found);
        }
        stride = if found.len() < LARGE_ROWS_AT { STRIDE } else { 1 };
    }
}

/// Up to `count` rows with locations after the first number and up to the second.
async fn rows(tx: &Tx, account: AccountId, (after, up_to): (i64, i64), count: usize) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND last_number > ?2 AND first_number <= ?3 ORDER BY last_number LIMIT ?4"
    );
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(tx.query(&sql, params![account, after, up_to, count]).await?)
}

fn is_erased(erased: &Erased, PointRef { device, number, time, .. }: PointRef<'_>) -> bool {
    erased.contains(device, number, time)
}

/// The result so far.
#[derive(Default)]
struct Skimmer {
    after: i64,
    limits: LogScanLimits,
    erased: Erased,
    devices: BTreeSet<DeviceId>,
    carriers: Vec<(DeviceId, StoredLocation)>,
    count: usize,
    oldest: Option<perigee_core::time::Timestamp>,
    next: i64,
}

impl Skimmer {
    /// Reads a row; returns whether the limits allow another.
    fn pass(&mut self, tx: &Tx, row: &Row) -> Result<bool> {
        let (mut last_device, mut is_enough) = (None, false);
        let row = LogRow::of(row)?;
        row.visit_or_note(tx, |point| {
            if point.number <= self.after {
                return Ok(true);
            }
            // Locations of one device are adjacent: most need no lookup.
            let is_known = last_device == Some(point.device) || self.devices.contains(&point.device);
            is_enough = self.count >= self.limits.locations
                || self.carriers.len() >= self.limits.carriers
                || (!is_known && self.devices.len() >= self.limits.devices);
            if is_enough {
                return Ok(false);
            }
            if last_device.replace(point.device) != Some(point.device) {
                self.devices.insert(point.device);
            }
            if may_carry_alerts(point.readings)? && !is_erased(&self.erased, point) {
                self.carriers.push((point.device, point.to_point().unpack()?));
            }
            self.count += 1;
            self.next = point.number;
            Ok(true)
        });
        if self.count > 0 && self.oldest.is_none() {
            self.oldest = Some(row.received_at);
        }
        if !is_enough {
            // The cursor also moves past a row that cannot be read.
            self.next = self.next.max(row.last);
        }
        Ok(!is_enough)
    }

    fn finish(self, more: bool) -> LogScan {
        let Self { devices, carriers, count, oldest, next, .. } = self;
        LogScan { devices: devices.into_iter().collect(), carriers, count, oldest, next, more }
    }
}
