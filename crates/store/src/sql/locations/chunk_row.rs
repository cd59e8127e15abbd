//! Rows of chunks, found by their key and not unpacked.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::quarantine::damaged_chunk;
use super::chunk::LocationKey;
use crate::codec::CodecError;
use crate::{Row, Tx, params};

/// A chunk with its bytes still packed.
pub(super) struct ChunkRow {
    pub(super) first: LocationKey,
    pub(super) last: LocationKey,
    row: Row,
}

const COLUMNS: &str = "first_time, first_number, last_time, last_number, count, points";

impl ChunkRow {
    pub(super) fn from_row(row: Row) -> Result<Self> {
        Ok(Self {
            first: (row.timestamp("first_time")?, row.i64("first_number")?),
            last: (row.timestamp("last_time")?, row.i64("last_number")?),
            row,
        })
    }

    pub(super) fn bytes(&self) -> Result<&[u8]> {
        Ok(self.row.bytes_ref("points")?)
    }

    /// Records that it cannot be read and is skipped.
    pub(super) fn note_damaged(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        cause: CodecError,
    ) -> Result<()> {
        tx.damage().note(&damaged_chunk(&self.row, account, device, cause)?);
        Ok(())
    }
}

/// The first chunk that ends after this key.
pub(super) async fn next(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    after: LocationKey,
) -> Result<Option<ChunkRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
         AND (last_time, last_number) > (?3, ?4) ORDER BY last_time, last_number LIMIT 1"
    );
    tx.query_opt(&sql, params![account, device, after.0, after.1]).await?.map(ChunkRow::from_row).transpose()
}

/// The first chunk that ends after this key, with its bytes only if it begins at this time or before: most searches for
/// a late location find the chunk after it, and reading bytes takes far longer than finding it.
pub(super) async fn next_from(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    after: LocationKey,
    until: Timestamp,
) -> Result<Option<ChunkRow>> {
    let sql = "SELECT first_time, first_number, last_time, last_number, count, \
                   CASE WHEN first_time <= ?5 THEN points END AS points \
               FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
               AND (last_time, last_number) > (?3, ?4) ORDER BY last_time, last_number LIMIT 1";
    let values = params![account, device, after.0, after.1, until];
    tx.query_opt(sql, values).await?.map(ChunkRow::from_row).transpose()
}

/// The end of the last chunk that ends before this time.
pub(super) async fn end_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<Option<Timestamp>> {
    let sql = "SELECT last_time FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 AND last_time < ?3 \
               ORDER BY last_time DESC LIMIT 1";
    let row = tx.query_opt(sql, params![account, device, before]).await?;
    Ok(row.map(|row| row.timestamp("last_time")).transpose()?)
}

/// The last chunk that begins before this key.
pub(super) async fn previous(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: LocationKey,
) -> Result<Option<ChunkRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
         AND (first_time, first_number) < (?3, ?4) ORDER BY first_time DESC, first_number DESC LIMIT 1"
    );
    tx.query_opt(&sql, params![account, device, before.0, before.1])
        .await?
        .map(ChunkRow::from_row)
        .transpose()
}

/// The counts of locations of the newest chunks that end after this key, newest first, at most `most` of them.
pub(super) async fn newest_sizes(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    after: LocationKey,
    most: usize,
) -> Result<Vec<usize>> {
    let sql = "SELECT count FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
               AND (last_time, last_number) > (?3, ?4) ORDER BY last_time DESC, last_number DESC LIMIT ?5";
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = tx.query(sql, params![account, device, after.0, after.1, most]).await?;
    rows.iter().map(|row| Ok(usize::try_from(row.i64("count")?).unwrap_or(usize::MAX))).collect()
}
