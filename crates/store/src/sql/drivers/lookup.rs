//! Reads what is known of drivers about some segments of a device, and resolves who drove.

use std::collections::{BTreeSet, HashMap};

use perigee_core::drivers::{AssignmentSettings, DriverLookup, DriverTag};
use perigee_core::id::{AccountId, DeviceId, DriverId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, StoredSegment};

use super::{assignments, tags};
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Sets who drove during each of these segments of one device. The result depends only on the segments, their labels, and
/// the drivers, tags and assignments as they are now.
pub(in crate::sql) async fn resolve(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    segments: &mut [StoredSegment],
) -> Result<()> {
    let lookup = read(tx, account, device, segments).await?;
    for segment in segments {
        lookup.apply(segment);
    }
    Ok(())
}

async fn read(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    segments: &[StoredSegment],
) -> Result<DriverLookup> {
    let trips = || segments.iter().filter(|one| one.segment.kind == SegmentKind::Trip);
    let begins = trips().map(|trip| trip.segment.from);
    let assignments = match begins.clone().min().zip(begins.max()) {
        Some((first, last)) => assigned(tx, account, device, (first, last)).await?,
        None => Vec::new(),
    };
    let reported: BTreeSet<DriverTag> =
        trips().filter_map(|trip| trip.segment.driver_tag.as_deref()?.parse().ok()).collect();
    let reported: Vec<DriverTag> = reported.into_iter().collect();
    let tags =
        if reported.is_empty() { HashMap::new() } else { tags::owners(tx, account, &reported).await? };
    let mut driver_ids: BTreeSet<DriverId> = tags.values().copied().collect();
    driver_ids.extend(assignments.iter().map(|(_, driver)| *driver));
    driver_ids.extend(segments.iter().filter_map(|one| one.labels.driver_id));
    driver_ids.extend(segments.iter().filter_map(|one| one.driver.as_ref()?.id));
    let names = names(tx, account, &driver_ids.into_iter().collect::<Vec<_>>()).await?;
    Ok(DriverLookup { names, tags, assignments })
}

/// The names of those of these drivers that the account has.
pub(in crate::sql) async fn names(
    tx: &Tx,
    account: AccountId,
    drivers: &[DriverId],
) -> Result<HashMap<DriverId, String>> {
    let ids: Vec<i64> = drivers.iter().map(|driver| driver.as_i64()).collect();
    let sql = "SELECT id, name FROM driver WHERE account_id = ?1 AND id IN ({ids})";
    let rows = for_ids(tx, sql, params![account], &ids).await?;
    rows.iter().map(|row| Ok((DriverId::from_i64(row.i64("id")?), row.text("name")?))).collect()
}

/// The assignments to a device that an instant of this range, including its ends, belongs to.
async fn assigned(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    (first, last): (Timestamp, Timestamp),
) -> Result<Vec<(AssignmentSettings, DriverId)>> {
    // Assignments of a device do not overlap, so the one that covers the first instant is the last one that begins before.
    let sql = "SELECT driver_id, device_id, from_at, to_at FROM driver_assignment \
               WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?4 AND from_at >= COALESCE( \
                   (SELECT MAX(from_at) FROM driver_assignment \
                    WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3), ?3)";
    let rows = tx.query(sql, params![account, device, first, last]).await?;
    let one = |row: &crate::Row| Ok((assignments::settings(row)?, DriverId::from_i64(row.i64("driver_id")?)));
    rows.iter().map(one).collect()
}
