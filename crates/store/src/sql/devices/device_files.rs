//! Photos and other files that devices upload.

use perigee_core::access::actor::Scope;
use perigee_core::devices::device_file::{DeviceFile, MediaType, NewDeviceFile};
use perigee_core::id::{AccountId, DeviceId, FileId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{DeviceFiles, Result};
use perigee_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::forward::forward;
use crate::sql::query::Query;
use crate::sql::{column, ids, scope};
use crate::{Row, Tx, params};

const COLUMNS: &str = "account_id, id, device_id, captured_at, received_at, name, media_type, size, source";

fn from_row(row: &Row) -> Result<DeviceFile> {
    let media_type = MediaType::named(row.str("media_type")?);
    Ok(DeviceFile {
        id: FileId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        captured_at: row.opt_timestamp("captured_at")?,
        received_at: row.timestamp("received_at")?,
        name: row.text("name")?,
        media_type: media_type
            .ok_or_else(|| column::unreadable("media_type", "not a media type of a file"))?,
        size: row.int("size")?,
        source: row.text("source")?,
    })
}

/// The key that is the same when a device sends a file again.
fn digest(name: &str, file: &NewDeviceFile) -> Vec<u8> {
    let captured = file.captured_at.map_or(i64::MIN, Timestamp::as_millis);
    let mut hasher = Sha256::new();
    hasher.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.update(captured.to_le_bytes());
    hasher.update(&file.bytes);
    hasher.finalize().to_vec()
}

/// Stores a file of a device that exists, whose account is locked, and deletes the oldest of the device beyond its
/// bounds. Returns whether it is new: the same bytes with the same name and time are stored once.
pub(in crate::sql) async fn add(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    file: &NewDeviceFile,
) -> Result<bool> {
    let is_kept = |letter: &char| !letter.is_control();
    let name: String = file.name.chars().filter(is_kept).take(DeviceFile::NAME_MAX).collect();
    // The oldest files, by id, are deleted first.
    let id = ids::next_id(tx, "device_file", account).await?;
    let sql = format!(
        "INSERT INTO device_file ({COLUMNS}, digest, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
         ON CONFLICT (account_id, device_id, digest) DO NOTHING"
    );
    let size = i64::try_from(file.bytes.len()).unwrap_or(i64::MAX);
    let media_type = MediaType::of(&file.bytes).name();
    let digest = digest(&name, file);
    let values = params![
        account,
        id,
        device,
        file.captured_at,
        tx.now(),
        name,
        media_type,
        size,
        file.source,
        &digest,
        &file.bytes
    ];
    if tx.execute(&sql, values).await? == 0 {
        return Ok(false);
    }
    delete_oldest(tx, account, device).await?;
    Ok(true)
}

/// Deletes the oldest files of a device beyond the maximum number and total size. The newest file is always kept.
async fn delete_oldest(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "DELETE FROM device_file WHERE account_id = ?1 AND id IN (SELECT id FROM ( \
                   SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS row_rank, \
                       CAST(SUM(size) OVER (ORDER BY id DESC) AS BIGINT) AS total \
                   FROM device_file WHERE account_id = ?1 AND device_id = ?2) AS files \
               WHERE row_rank > ?3 OR (row_rank > 1 AND total > ?4))";
    let (count, total) = (i64::from(DeviceFile::COUNT_MAX), i64::from(DeviceFile::TOTAL_BYTES_MAX));
    tx.execute(sql, params![account, device, count, total]).await?;
    Ok(())
}

fn select(columns: &str, scope: Scope, device: DeviceId) -> Query {
    let sql = format!("SELECT {columns} FROM device_file WHERE account_id = ?1 AND device_id = ?2");
    let mut query = Query::new(sql, params![scope.account, device]);
    scope::keep_devices(&mut query, scope, "device_id");
    query
}

async fn list(tx: &Tx, scope: Scope, device: DeviceId, page: PageRequest) -> Result<Page<DeviceFile>> {
    let mut query = select(COLUMNS, scope, device);
    query.push_with(" AND id < {}", page.after.unwrap_or(i64::MAX));
    query.push_with(" ORDER BY id DESC LIMIT {}", i64::from(page.limit) + 1);
    let files = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(files, page.limit, |file| file.id.as_i64()))
}

async fn find(tx: &Tx, scope: Scope, device: DeviceId, id: FileId) -> Result<Option<(DeviceFile, Vec<u8>)>> {
    let mut query = select(&format!("{COLUMNS}, bytes"), scope, device);
    query.push_with(" AND id = {}", id);
    let row = match query.row(tx).await? {
        Some(row) => Some(row),
        None => find_photo(tx, scope, device, id).await?,
    };
    let Some(row) = row else { return Ok(None) };
    Ok(Some((from_row(&row)?, row.bytes("bytes")?)))
}

/// The photo that users set, as a file.
async fn find_photo(tx: &Tx, scope: Scope, device: DeviceId, id: FileId) -> Result<Option<Row>> {
    let sql = "SELECT account_id, id, device_id, CAST(NULL AS BIGINT) AS captured_at, created AS received_at, \
                   'photo' AS name, media_type, size, 'user' AS source, bytes \
               FROM device_photo WHERE account_id = ?1 AND device_id = ?2";
    let mut query = Query::new(sql.to_owned(), params![scope.account, device]);
    scope::keep_devices(&mut query, scope, "device_id");
    query.push_with(" AND id = {}", id);
    query.row(tx).await
}

forward! {
    impl DeviceFiles for Database {
        read list_files(&self, scope: Scope, device: DeviceId, page: PageRequest) -> Page<DeviceFile> = list;
        read find_file(&self, scope: Scope, device: DeviceId, id: FileId)
            -> Option<(DeviceFile, Vec<u8>)> = find;
    }
}
