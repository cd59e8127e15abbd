//! Sums over the segments of many devices and intervals.
//!
//! Each device is read by one range of an index, in parts. Aggregates of the database would need a statement for each
//! interval, and could not divide the segments that cross a limit.

use std::collections::{BTreeMap, HashSet};

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, DriverId};
use perigee_core::locations::location::Milli;
use perigee_core::store::{DeviceTotals, DriverKey, DriverTotals, Result};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentFigures, SegmentKind, Totals};

use crate::sql::column;
use crate::sql::scope::visible_devices;
use crate::{Row, Tx, params};

/// Segments that one statement reads.
const PART: i64 = 5_000;

/// The totals of the visible ones among these devices, by device and interval; without those that have no segments.
pub(super) async fn sum(
    tx: &Tx,
    scope: Scope,
    devices: Vec<DeviceId>,
    limits: Vec<Timestamp>,
) -> Result<Vec<DeviceTotals>> {
    let visible = visible_devices(tx, scope, devices.into_iter().collect::<HashSet<_>>()).await?;
    let mut devices: Vec<DeviceId> = visible.into_iter().collect();
    devices.sort_unstable();
    let mut found = Vec::new();
    for device in devices {
        let sums = sum_device(tx, (scope.account, device), &limits).await?.into_iter().enumerate();
        let sums = sums.filter(|(_, totals)| !totals.is_empty());
        found.extend(sums.map(|(interval, totals)| DeviceTotals { device, interval, totals }));
    }
    Ok(found)
}

/// The totals of the trips of the visible ones among these devices, by driver and interval.
pub(super) async fn sum_by_driver(
    tx: &Tx,
    scope: Scope,
    devices: Vec<DeviceId>,
    limits: Vec<Timestamp>,
) -> Result<Vec<DriverTotals>> {
    let visible = visible_devices(tx, scope, devices.into_iter().collect::<HashSet<_>>()).await?;
    let mut sums: BTreeMap<DriverKey, Vec<Totals>> = BTreeMap::new();
    for device in visible {
        read_device(tx, (scope.account, device), &limits, |row, segment| {
            if segment.kind == SegmentKind::Trip {
                let none = || vec![Totals::default(); limits.len().saturating_sub(1)];
                add(segment, &limits, sums.entry(driver(row)?).or_insert_with(none));
            }
            Ok(())
        })
        .await?;
    }
    let mut found = Vec::new();
    for (driver, sums) in sums {
        let sums = sums.into_iter().enumerate().filter(|(_, totals)| !totals.is_empty());
        found.extend(sums.map(|(interval, totals)| DriverTotals {
            driver: driver.clone(),
            interval,
            totals,
        }));
    }
    Ok(found)
}

fn driver(row: &Row) -> Result<DriverKey> {
    Ok(match (row.opt_i64("driver_id")?, row.opt_text("driver_name")?) {
        (Some(id), _) => DriverKey::Known(DriverId::from_i64(id)),
        (None, Some(name)) => DriverKey::Named(name),
        (None, None) => DriverKey::Unknown,
    })
}

/// The totals of a device between each two neighbouring limits.
pub(in crate::sql) async fn sum_device(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    limits: &[Timestamp],
) -> Result<Vec<Totals>> {
    let mut sums = vec![Totals::default(); limits.len().saturating_sub(1)];
    read_device(tx, (account, device), limits, |_, segment| {
        add(segment, limits, &mut sums);
        Ok(())
    })
    .await?;
    Ok(sums)
}

/// Passes each segment of a device between the first and the last limit to `pass`.
async fn read_device(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    limits: &[Timestamp],
    mut pass: impl FnMut(&Row, &SegmentFigures) -> Result<()>,
) -> Result<()> {
    let (Some(begin), Some(end)) = (limits.first(), limits.last()) else { return Ok(()) };
    // The segment that the first interval begins in is found by its beginning, which the index has.
    let first = select(
        "from_at >= COALESCE((SELECT MAX(from_at) FROM timeline_segment \
             WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3), ?3)",
    );
    let next = select("from_at > ?3");
    let (mut sql, mut after) = (&first, *begin);
    loop {
        let rows = tx.query(sql, params![account, device, after, *end, PART]).await?;
        let mut last = None;
        for row in &rows {
            let segment = read(row)?;
            last = Some(segment.from);
            pass(row, &segment)?;
        }
        match last.filter(|_| i64::try_from(rows.len()).is_ok_and(|count| count >= PART)) {
            Some(last) => (sql, after) = (&next, last),
            None => return Ok(()),
        }
    }
}

fn select(begins: &str) -> String {
    format!(
        "SELECT kind, from_at, to_at, is_open, distance_m, moving_s, standing_s, idling_s, engine_s, max_speed, \
             driver_id, driver_name \
         FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 AND {begins} AND from_at < ?4 \
         ORDER BY from_at LIMIT ?5"
    )
}

/// Adds the parts of a segment to the intervals that it overlaps.
fn add(segment: &SegmentFigures, limits: &[Timestamp], sums: &mut [Totals]) {
    let first = limits.partition_point(|limit| *limit <= segment.from).saturating_sub(1);
    let intervals = limits.windows(2).zip(sums).skip(first);
    for (pair, totals) in intervals.take_while(|(pair, _)| pair[0] < segment.to) {
        totals.add(segment, pair[0], pair[1]);
    }
}

/// The columns that [`read`] needs.
pub(in crate::sql) const FIGURES: &str = "s.kind, s.from_at, s.to_at, s.is_open, s.distance_m, s.moving_s, s.standing_s, s.idling_s, s.engine_s, s.max_speed";

/// The numbers of a segment.
pub(in crate::sql) fn read(row: &Row) -> Result<SegmentFigures> {
    let kind = row.str("kind")?;
    let kind = SegmentKind::ALL.into_iter().find(|known| known.name() == kind);
    Ok::<_, StoreError>(SegmentFigures {
        kind: kind.ok_or_else(|| column::unreadable("kind", "no kind of segment"))?,
        from: row.timestamp("from_at")?,
        to: row.timestamp("to_at")?,
        is_open: row.bool("is_open")?,
        distance_m: row.int("distance_m")?,
        moving_s: row.int("moving_s")?,
        standing_s: row.int("standing_s")?,
        idling_s: row.int("idling_s")?,
        engine_s: row.opt_int("engine_s")?,
        max_speed: row.opt_i64("max_speed")?.map(Milli::from_thousandths),
    })
}
