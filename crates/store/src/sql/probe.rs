//! The readiness probe: a row that is written and read for no other purpose.

use perigee_core::store::Result;

use crate::database::Engine;
use crate::tx::Tx;
use crate::{DbError, params};

/// Size of the row in bytes: it needs a new page, so that writing it fails on a full disk.
const FILLER_BYTES: usize = 4_096;

/// Writes a row, then deletes the previous one, so that there must be room for both.
pub(super) async fn write(tx: &Tx) -> Result<()> {
    let sql = "INSERT INTO readiness (at, filler) VALUES (?1, ?2) RETURNING id";
    let id = tx.query_one(sql, params![tx.now(), vec![0_u8; FILLER_BYTES]]).await?.i64("id")?;
    tx.execute("DELETE FROM readiness WHERE id < ?1", params![id]).await?;
    Ok(())
}

/// Reads the row back, and a row of each table that nearly every request needs.
pub(super) async fn read(tx: &Tx) -> Result<()> {
    let written = tx.query_one("SELECT COUNT(*) AS count FROM readiness", &[]).await?.i64("count")?;
    if written == 0 {
        return Err(DbError::unavailable("a row that was just written cannot be read").into());
    }
    for table in
        ["account", "account_user", "device", "device_live", "last_location", "alert", "location_chunk"]
    {
        tx.query(&format!("SELECT * FROM {table} LIMIT 1"), &[]).await?;
    }
    if tx.engine() == Engine::Sqlite {
        tx.query("SELECT points FROM location_log ORDER BY last_number DESC LIMIT 1", &[]).await?;
    }
    Ok(())
}
