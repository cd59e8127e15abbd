//! Reading segments: of a device and period, or the trips of all visible devices.

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, SegmentId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::{DriverKey, LogScanLimits, Result, TimelinePage, TripFilter, TripOrder};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, StoredSegment};

use super::row::{COLUMNS, from_row};
use crate::sql::query::{Query, for_ids};
use crate::sql::scope::{self, keep_devices, keep_members, visible_devices};
use crate::{Engine, Row, Tx, params};

/// Maximum number of locations of the log that are searched for those of a device.
const SCANNED: usize = 5_000;

fn all(rows: &[Row]) -> Result<Vec<StoredSegment>> {
    rows.iter().map(from_row).collect()
}

/// Segments of a visible device that overlap a period.
pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    period: TimeRange,
    kind: Option<SegmentKind>,
    limit: u32,
) -> Result<TimelinePage> {
    scope::require_device(tx, scope, device).await?;
    let account = scope.account;
    // The segment in which the period begins is found by its own beginning, which is in the index.
    let sql = "SELECT MAX(from_at) AS first FROM timeline_segment \
               WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3";
    let first = tx.query_one(sql, params![account, device, period.from]).await?.opt_i64("first")?;
    let first = first.unwrap_or_else(|| period.from.as_millis());
    let mut query = Query::new(
        format!(
            "SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 \
             AND from_at >= ?3 AND from_at < ?4 AND to_at > ?5"
        ),
        params![account, device, first, period.to, period.from],
    );
    if let Some(kind) = kind {
        query.push_with(" AND kind = {}", kind.name());
    }
    query.push_with(" ORDER BY from_at LIMIT {}", i64::from(limit) + 1);
    let mut segments = all(&query.rows(tx).await?)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = segments.len() > limit;
    segments.truncate(limit);
    let pending = is_pending(tx, account, device).await?;
    Ok(TimelinePage { segments, more, pending })
}

/// Whether the timeline of a device does not consider all of its stored locations.
async fn is_pending(tx: &Tx, account: AccountId, device: DeviceId) -> Result<bool> {
    let sql = "SELECT cursor, caught_up_end FROM timeline_follower WHERE account_id = ?1";
    let Some(row) = tx.query_opt(sql, params![account]).await? else { return Ok(true) };
    let cursor = row.i64("cursor")?;
    if row.opt_i64("caught_up_end")?.is_some() {
        return Ok(true);
    }
    let sql = "SELECT 1 AS found FROM timeline_device \
               WHERE account_id = ?1 AND device_id = ?2 AND (dirty_from IS NOT NULL OR drivers_from IS NOT NULL)";
    if tx.query_opt(sql, params![account, device]).await?.is_some() {
        return Ok(true);
    }
    if tx.engine() == Engine::Postgres {
        // Rows after the cursor count even if a commit with a lower number is still running: they are not considered yet.
        let sql = "SELECT 1 AS found FROM location_log \
                   WHERE account_id = ?1 AND device_id = ?2 AND last_number > ?3 LIMIT 1";
        return Ok(tx.query_opt(sql, params![account, device, cursor]).await?.is_some());
    }
    let limits = LogScanLimits { locations: SCANNED, devices: SCANNED, carriers: usize::MAX };
    match tx.log().skim(tx, account, cursor, limits).await {
        Ok(part) => Ok(part.more || part.devices.binary_search(&device).is_ok()),
        Err(StoreError::CursorExpired) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Trips of visible devices.
pub(super) async fn trips(
    tx: &Tx,
    scope: Scope,
    filter: TripFilter,
    order: TripOrder,
    limit: u32,
) -> Result<Vec<StoredSegment>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND kind = 'trip'"),
        params![scope.account],
    );
    keep_devices(&mut query, scope, "device_id");
    if let Some(device) = filter.device {
        query.push_with(" AND device_id = {}", device);
    }
    if let Some(group) = filter.group {
        keep_members(&mut query, scope, group, "device_id");
    }
    if let Some(from) = filter.from {
        query.push_with(" AND to_at > {}", from);
    }
    if let Some(to) = filter.to {
        query.push_with(" AND from_at < {}", to);
    }
    if let Some(since) = filter.updated_since {
        query.push_with(" AND updated_at >= {}", since);
    }
    if let Some(purpose) = &filter.purpose {
        query.push_if_storable(" AND purpose = {}", purpose);
    }
    match &filter.driver {
        Some(DriverKey::Known(driver)) => query.push_with(" AND driver_id = {}", *driver),
        Some(DriverKey::Named(name)) => query.push_if_storable(" AND driver_name = {}", name),
        Some(DriverKey::Unknown) => query.push(" AND driver_name IS NULL"),
        None => {}
    }
    if let Some(least) = filter.least_distance_m {
        query.push_with(" AND distance_m >= {}", i64::try_from(least).unwrap_or(i64::MAX));
    }
    match order {
        TripOrder::Time(after) => {
            if let Some((from, id)) = after {
                query.push_with(" AND from_at >= {}", from);
                query.push_with(" AND (from_at > {}", from);
                query.push_with(" OR id > {})", id);
            }
            query.push(" ORDER BY from_at, id");
        }
        TripOrder::Change(after) => {
            if let Some(after) = after {
                query.push_with(" AND change_number > {}", after);
            }
            query.push(" ORDER BY change_number");
        }
    }
    query.push_with(" LIMIT {}", limit);
    all(&query.rows(tx).await?)
}

/// The trips of a device that end after an instant, by time. Labels and drivers included.
pub(in crate::sql) async fn trips_from(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    from: Timestamp,
) -> Result<Vec<StoredSegment>> {
    // The segment at the instant is found by its own beginning, which is in the index.
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 AND kind = 'trip' \
         AND to_at > ?3 AND from_at >= COALESCE((SELECT MAX(from_at) FROM timeline_segment \
             WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3), ?3) ORDER BY from_at"
    );
    all(&tx.query(&sql, params![account, device, from]).await?)
}

/// The last trip of a device that ended at or before an instant.
pub(in crate::sql) async fn last_trip_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    instant: Timestamp,
) -> Result<Option<StoredSegment>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 AND kind = 'trip' \
         AND from_at < ?3 AND to_at <= ?3 ORDER BY from_at DESC LIMIT 1"
    );
    tx.query_opt(&sql, params![account, device, instant]).await?.as_ref().map(from_row).transpose()
}

/// A segment of a visible device.
pub(super) async fn find(tx: &Tx, scope: Scope, id: SegmentId) -> Result<Option<StoredSegment>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND id = ?2"),
        params![scope.account, id],
    );
    keep_devices(&mut query, scope, "device_id");
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// The segments with these ids whose devices are visible.
pub(in crate::sql) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<StoredSegment>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND id IN ({{ids}})");
    let mut found = all(&for_ids(tx, &sql, params![scope.account], ids).await?)?;
    let devices = found.iter().map(|segment| segment.device).collect();
    let visible = visible_devices(tx, scope, devices).await?;
    found.retain(|segment| visible.contains(&segment.device));
    Ok(found)
}
