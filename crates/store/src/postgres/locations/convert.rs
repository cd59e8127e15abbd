//! Packing the log of an older version, which had one row for each location.

use bytes::Bytes;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Latitude, Longitude, Trust};
use perigee_core::time::Timestamp;
use tokio_postgres::{Error, Row, Transaction};

use super::new_rows::{INSERT, NewRows};
use crate::codec::Point;
use crate::sql::identity::Identity;

/// The migration since which the log has packed rows.
pub(crate) const PACKED_SINCE: i64 = 14;

/// Rows that are fetched at a time.
const FETCHED: i32 = 5_000;
/// Rows that one statement inserts.
const INSERTED: usize = 1_000;
/// Maximum number of locations in one packed row.
const LOCATIONS_MAX: usize = 8_000;

/// In the order of the location feed: the locations of a packed row follow each other in it.
const UNPACKED: &str = "SELECT account_id, device_id, number, time, received_at, latitude, longitude, late, suspect, \
        readings, hash, number <= COALESCE((SELECT v.packed_to FROM device_live v \
            WHERE v.account_id = l.account_id AND v.device_id = l.device_id), 0) AS is_packed \
    FROM location_log_unpacked l ORDER BY account_id, number";

/// A location that does not match its hash is kept as it was found.
const QUARANTINE: &str = "INSERT INTO quarantine (found_at, source, account_id, device_id, first_number, last_number, \
        first_time, last_time, count, reason, data) \
    SELECT received_at, 'location_log', account_id, device_id, number, number, time, time, 1, \
        'its content does not match its hash', convert_to(CAST(row_to_json(l) AS TEXT), 'UTF8') \
    FROM location_log_unpacked l WHERE account_id = $1 AND number = $2";

const RECOUNT: &str = "UPDATE device_live v SET unpacked = (SELECT COALESCE(SUM(l.count), 0) FROM location_log l \
        WHERE l.account_id = v.account_id AND l.device_id = v.device_id AND l.last_number > v.packed_to) \
    WHERE v.account_id = $1 AND v.device_id = $2";

/// The owner of a location, and whether it is in a chunk. The locations of a packed row share these and the time at
/// which they were received.
type Key = (AccountId, DeviceId, bool);

/// Packs the rows of the table that the migration has set aside, and drops the table.
pub(crate) async fn pack_rows(tx: &Transaction<'_>) -> Result<(), Error> {
    let statement = tx.prepare(UNPACKED).await?;
    let portal = tx.bind(&statement, &[]).await?;
    let insert = tx.prepare(INSERT.any_account).await?;
    let (mut rows, mut open): (NewRows, Option<(Key, Vec<Point>)>) = (NewRows::default(), None);
    let mut recounted = Vec::new();
    loop {
        let fetched = tx.query_portal(&portal, FETCHED).await?;
        let is_end = fetched.is_empty();
        for row in &fetched {
            let (key, point, is_sound) = location(row)?;
            if !is_sound {
                tx.execute(QUARANTINE, &[&key.0.as_i64(), &point.number]).await?;
                recounted.push(key);
                continue;
            }
            match &mut open {
                Some((open_key, points)) if *open_key == key && follows(points, &point) => points.push(point),
                _ => close(&mut rows, open.replace((key, vec![point]))),
            }
        }
        if is_end {
            close(&mut rows, open.take());
        }
        if rows.len() >= INSERTED || (is_end && rows.len() > 0) {
            tx.execute(&insert, &rows.parameters()).await?;
            rows = NewRows::default();
        }
        if is_end {
            break;
        }
    }
    for (account, device, _) in recounted {
        tx.execute(RECOUNT, &[&account.as_i64(), &device.as_i64()]).await?;
    }
    // An open portal would keep the table from being dropped.
    drop(portal);
    tx.batch_execute("DROP TABLE location_log_unpacked").await
}

/// Whether the location can be in one row with these locations of the same key.
fn follows(points: &[Point], point: &Point) -> bool {
    points.len() < LOCATIONS_MAX && points.last().is_some_and(|last| last.received_at == point.received_at)
}

fn close(rows: &mut NewRows, open: Option<(Key, Vec<Point>)>) {
    if let Some(((account, device, _), points)) = open {
        rows.push(account, device, &points);
    }
}

/// The location in a row, its key, and whether it matches its hash.
fn location(row: &Row) -> Result<(Key, Point, bool), Error> {
    let account = AccountId::from_i64(row.try_get("account_id")?);
    let key = (account, DeviceId::from_i64(row.try_get("device_id")?), row.try_get("is_packed")?);
    let point = Point {
        time: Timestamp::from_millis(row.try_get("time")?),
        number: row.try_get("number")?,
        received_at: Timestamp::from_millis(row.try_get("received_at")?),
        latitude: Latitude::from_e7(row.try_get("latitude")?),
        longitude: Longitude::from_e7(row.try_get("longitude")?),
        trust: Trust { late: row.try_get("late")?, suspect: row.try_get("suspect")? },
        readings: Bytes::copy_from_slice(row.try_get("readings")?),
    };
    let is_sound = Identity::of_point(&point).hash.as_slice() == row.try_get::<_, &[u8]>("hash")?;
    Ok((key, point, is_sound))
}

#[cfg(all(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "a step that cannot go on has failed")]
mod tests;
