//! Verifying the log of locations, in each engine's own form.

use perigee_core::store::Result;

use super::report::{Batch, Cursor};
use crate::codec::unpack_readings;
use crate::postgres::locations::{LOG_COLUMNS as POSTGRES_COLUMNS, LogRow as PostgresRow};
use crate::sqlite::locations::{LOG_COLUMNS as SQLITE_COLUMNS, LogRow};
use crate::{Engine, Tx, params};

/// Rows that one statement reads. Each holds the locations of a commit, on PostgreSQL those of one device.
const SQLITE_ROWS: i64 = 64;
const POSTGRES_ROWS: i64 = 250;

/// Checks the rows after this cursor. Older stores have no checksum column.
pub(super) async fn check(tx: &Tx, after: Cursor, has_checksums: bool) -> Result<Batch> {
    match tx.engine() {
        Engine::Sqlite => on_sqlite(tx, after, has_checksums).await,
        Engine::Postgres => on_postgres(tx, after).await,
    }
}

async fn on_sqlite(tx: &Tx, [after, ..]: Cursor, has_checksums: bool) -> Result<Batch> {
    let columns = if has_checksums {
        SQLITE_COLUMNS.to_owned()
    } else {
        SQLITE_COLUMNS.replace("checksum", "NULL AS checksum")
    };
    let sql =
        format!("SELECT {columns} FROM location_log WHERE last_number > ?1 ORDER BY last_number LIMIT ?2");
    let rows = tx.query(&sql, params![after, SQLITE_ROWS]).await?;
    let last = rows.last().map(|row| row.i64("last_number")).transpose()?;
    let limit = usize::try_from(SQLITE_ROWS).unwrap_or(usize::MAX);
    let mut batch = Batch::of(rows.len(), limit, last.map(|last| [last, 0, 0, 0]));
    for row in &rows {
        batch.without_checksum += u64::from(row.opt_i64("checksum")?.is_none());
        let visited = LogRow::of(row)?.visit(|point| {
            unpack_readings(point.readings)?;
            Ok(true)
        });
        batch.damaged.extend(visited.err().map(|damaged| *damaged));
    }
    Ok(batch)
}

async fn on_postgres(tx: &Tx, [account, number, ..]: Cursor) -> Result<Batch> {
    let sql = format!(
        "SELECT {POSTGRES_COLUMNS} FROM location_log \
         WHERE (account_id, last_number) > (?1, ?2) ORDER BY account_id, last_number LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account, number, POSTGRES_ROWS]).await?;
    let last = match rows.last() {
        Some(row) => Some([row.i64("account_id")?, row.i64("last_number")?, 0, 0]),
        None => None,
    };
    let mut batch = Batch::of(rows.len(), usize::try_from(POSTGRES_ROWS).unwrap_or(usize::MAX), last);
    for row in &rows {
        let row = PostgresRow::of(row)?;
        let unpacked = row.points().and_then(|points| {
            let each = points.iter().try_for_each(|point| unpack_readings(point.readings).map(drop));
            each.map_err(|cause| Box::new(row.damaged(cause)))
        });
        batch.damaged.extend(unpacked.err().map(|damaged| *damaged));
    }
    Ok(batch)
}
