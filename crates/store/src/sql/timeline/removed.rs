//! Trips that are none any more, kept for a while for clients that follow changes.

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId, SegmentId};
use perigee_core::store::{RemovedTrip, Result, TripFilter};

use super::follow;
use crate::sql::query::{Query, insert_many};
use crate::sql::scope::{keep_devices, keep_members};
use crate::{Row, Tx, params};

/// How long removed trips are kept: 90 days.
const KEEP_MS: i64 = 90 * 86_400_000;

/// Records removed trips, and forgets old ones. The account is locked.
pub(super) async fn add(tx: &Tx, account: AccountId, trips: &[RemovedTrip]) -> Result<()> {
    if trips.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM timeline_removed WHERE account_id = ?1 AND removed_at < ?2";
    tx.execute(sql, params![account, tx.now().plus_millis(-KEEP_MS)]).await?;
    let first = follow::take_changes(tx, account, trips.len()).await?;
    let row = |(trip, change): (&RemovedTrip, i64)| {
        params![account, change, trip.device, trip.id, trip.from, trip.to, tx.now()].to_vec()
    };
    let rows: Vec<_> = trips.iter().zip(first..).map(row).collect();
    let head = "INSERT INTO timeline_removed \
                (account_id, change_number, device_id, segment_id, from_at, to_at, removed_at)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}

/// Removed trips of visible devices, in the order of their removal.
pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    filter: TripFilter,
    after: Option<i64>,
    limit: u32,
) -> Result<Vec<RemovedTrip>> {
    let mut query = Query::new(
        "SELECT change_number, device_id, segment_id, from_at, to_at, removed_at FROM timeline_removed \
         WHERE account_id = ?1",
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
        query.push_with(" AND removed_at >= {}", since);
    }
    if let Some(after) = after {
        query.push_with(" AND change_number > {}", after);
    }
    query.push_with(" ORDER BY change_number LIMIT {}", limit);
    query.rows(tx).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<RemovedTrip> {
    Ok(RemovedTrip {
        id: SegmentId::from_i64(row.i64("segment_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        from: row.timestamp("from_at")?,
        to: row.timestamp("to_at")?,
        removed_at: row.timestamp("removed_at")?,
        change: row.i64("change_number")?,
    })
}
