//! The checksum of an alert's row: the CRC-32 of what was submitted, plus the columns that change later.

use perigee_core::location::Readings;
use perigee_core::store::Result;

use super::super::checksum::{crc, id_part, sum, values};
use super::super::identity::Identity;
use super::read;
use crate::codec::{pack_readings, unpack_readings};
use crate::{Row, Tx, Value, params};

/// The columns that are written once, in the order of insertion.
pub(super) const COLUMNS: [&str; 15] = [
    "account_id",
    "id",
    "device_id",
    "time",
    "hash",
    "name",
    "text",
    "critical",
    "latitude",
    "longitude",
    "attributes",
    "received_at",
    "severity",
    "known_latitude",
    "known_longitude",
];

/// The checksum of a new alert, given in the order of [`COLUMNS`].
pub(super) fn of_new(inserted: &[Value]) -> i64 {
    crc(inserted)
}

/// The checksum that a row should have; the row must have all columns of an alert.
pub(crate) fn of_row(row: &Row) -> Result<i64> {
    let later = ["acknowledged_at", "ended_at", "later_latitude", "later_longitude", "later_fix_time"];
    let later = sum(&values(row, &later)?);
    let by = id_part(row.value("acknowledged_by")?);
    Ok(crc(&values(row, &COLUMNS)?).wrapping_add(later).wrapping_add(by))
}

/// What is wrong with a row, if anything.
pub(crate) fn fault(row: &Row) -> Result<Option<String>> {
    if let Err(cause) = unpack_readings(row.bytes_ref("attributes")?) {
        return Ok(Some(format!("its attributes: {cause}")));
    }
    let alert = read::from_row(row)?.alert;
    if Identity::of_alert(&alert).hash.as_slice() != row.bytes_ref("hash")? {
        return Ok(Some("its time, name or text do not match their hash".to_owned()));
    }
    let kept = row.opt_i64("checksum")?;
    let differs = match kept {
        Some(kept) => kept != of_row(row)?,
        None => false,
    };
    Ok(differs.then(|| "it does not match its checksum".to_owned()))
}

/// Repairs an alert: drops attributes that cannot be read, and recomputes its hash and checksum.
pub(crate) async fn repair(tx: &Tx, row: &Row) -> Result<()> {
    let key = params![row.i64("account_id")?, row.i64("id")?];
    let mut attributes = row.bytes("attributes")?;
    if unpack_readings(&attributes).is_err() {
        attributes = pack_readings(&Readings::default());
        let sql = "UPDATE alert SET attributes = ?3 WHERE account_id = ?1 AND id = ?2";
        tx.execute(sql, &[key, params![attributes]].concat()).await?;
    }
    let sql = "SELECT * FROM alert WHERE account_id = ?1 AND id = ?2";
    let row = tx.query_one(sql, key).await?;
    let hash = Identity::of_alert(&read::from_row(&row)?.alert).hash;
    // Unless another alert with the same content already has this hash.
    let sql = "UPDATE alert SET hash = ?3 WHERE account_id = ?1 AND id = ?2 AND NOT EXISTS ( \
                   SELECT 1 FROM alert o WHERE o.account_id = ?1 AND o.device_id = alert.device_id \
                   AND o.time = alert.time AND o.hash = ?3)";
    tx.execute(sql, &[key, params![hash]].concat()).await?;
    let row = tx.query_one("SELECT * FROM alert WHERE account_id = ?1 AND id = ?2", key).await?;
    let sql = "UPDATE alert SET checksum = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, &[key, params![of_row(&row)?]].concat()).await?;
    Ok(())
}
