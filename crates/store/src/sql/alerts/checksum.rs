//! The checksum of an alert's row: the CRC-32 of the submitted columns, plus the columns that change later.

use std::borrow::Cow;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::Readings;
use perigee_core::store::Result;

use super::super::checksum::{crc, differs, id_part, sum, values};
use super::super::identity::Identity;
use super::super::one_bit;
use super::read;
use crate::codec::{pack_readings, unpack_readings};
use crate::damage::{Damage, Damaged, Table};
use crate::error::describe;
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

/// The problem of a row, if there is one.
pub(crate) fn fault(row: &Row) -> Option<String> {
    match row.bytes_ref("attributes").map(unpack_readings) {
        Ok(Ok(_)) => {}
        Ok(Err(cause)) => return Some(format!("its attributes: {cause}")),
        Err(cause) => return Some(describe(&cause)),
    }
    let alert = match read::from_row(row) {
        Ok(stored) => stored.alert,
        Err(cause) => return Some(describe(&cause)),
    };
    if row.bytes_ref("hash").ok() != Some(Identity::of_alert(&alert).hash.as_slice()) {
        return Some("its time, name or text do not match their hash".to_owned());
    }
    differs(row, of_row).then(|| "it does not match its checksum".to_owned())
}

/// Returns the row, or a corrected copy if it does not match its checksum and the flip of exactly one bit explains
/// that. A damaged row is recorded.
pub(super) fn checked<'r>(damage: &Damage, account: AccountId, row: &'r Row) -> Result<Cow<'r, Row>> {
    if !differs(row, of_row) {
        return Ok(Cow::Borrowed(row));
    }
    damage.note(&damaged(row, account, "it does not match its checksum".to_owned())?);
    Ok(one_bit::undo(row, of_row).map_or(Cow::Borrowed(row), |undone| Cow::Owned(undone.row)))
}

/// The identity of a damaged alert.
pub(crate) fn damaged(row: &Row, account: AccountId, reason: String) -> Result<Damaged> {
    let (id, device) = (row.i64("id")?, row.i64("device_id").ok().map(DeviceId::from_i64));
    let damaged = Damaged::new(Table::Alert, reason).of(account, device).with_numbers(id, id);
    Ok(match row.timestamp("time") {
        Ok(time) => damaged.with_times(time, time),
        Err(_unreadable) => damaged,
    })
}

/// Repairs an alert. If the row has a checksum, the flip of one bit is undone, if exactly one explains the damage;
/// otherwise the row is left damaged, because a new checksum would hide that. If it has none, unreadable attributes are
/// dropped.
pub(crate) async fn repair(tx: &Tx, row: &Row) -> Result<()> {
    let key = params![row.i64("account_id")?, row.i64("id")?];
    if !matches!(row.value("checksum")?, Value::Null) {
        if let Some(undone) = one_bit::undo(row, of_row) {
            let sql = format!("UPDATE alert SET {} = ?3 WHERE account_id = ?1 AND id = ?2", undone.column);
            tx.execute(&sql, &[key, &[undone.value]].concat()).await?;
        }
        return Ok(());
    }
    if row.bytes_ref("attributes").map(unpack_readings).is_ok_and(|read| read.is_err()) {
        let sql = "UPDATE alert SET attributes = ?3 WHERE account_id = ?1 AND id = ?2";
        tx.execute(sql, &[key, params![pack_readings(&Readings::default())]].concat()).await?;
    }
    let sql = "SELECT * FROM alert WHERE account_id = ?1 AND id = ?2";
    let row = tx.query_one(sql, key).await?;
    let hash = Identity::of_alert(&read::from_row(&row)?.alert).hash;
    // Unless another alert with the same content already has this hash.
    let sql = "UPDATE alert SET hash = ?3 WHERE account_id = ?1 AND id = ?2 AND NOT EXISTS ( \
                   SELECT 1 FROM alert o WHERE o.account_id = ?1 AND o.device_id = alert.device_id \
                   AND o.time = alert.time AND o.hash = ?3)";
    tx.execute(sql, &[key, params![hash]].concat()).await?;
    Ok(())
}
