//! The checksum of a device's row: the CRC-32 of the client's settings, plus the columns that the service changes.

use perigee_core::day::Date;
use perigee_core::decoding::Decoding;
use perigee_core::gateway::DeviceIdentifier;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::text::Tags;

use super::super::checksum::{crc, id_part, sum, values};
use super::super::{column, search};
use super::change::{COLUMNS, decoding_text};
use super::identifiers;
use crate::{Row, Tx, Value, params};

/// The columns whose values are added to the checksum; `created_by` is added too.
const NUMBERS: [&str; 7] =
    ["revision", "expires", "licensed", "announced_near", "announced_expired", "creation", "last_modified"];

/// The CRC-32 of the settings, given in the order of [`COLUMNS`].
pub(super) fn settings_crc(account: AccountId, id: DeviceId, settings: &[Value]) -> i64 {
    crc(&[params![account, id], settings].concat())
}

/// The checksum that a row should have; the row must have all columns of a device.
pub(crate) fn of_row(row: &Row) -> Result<i64> {
    let (account, id) = (AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("id")?));
    let settings = settings_crc(account, id, &values(row, &COLUMNS)?);
    let numbers = sum(&values(row, &NUMBERS)?);
    Ok(settings.wrapping_add(numbers).wrapping_add(id_part(row.value("created_by")?)))
}

fn are_tags_readable(row: &Row) -> bool {
    column::json::<Tags>(row, "tags").is_ok()
}

fn are_identifiers_readable(row: &Row) -> bool {
    column::json::<Vec<DeviceIdentifier>>(row, "identifiers").is_ok()
}

fn is_decoding_readable(row: &Row) -> bool {
    column::json::<Decoding>(row, "decoding").is_ok()
}

fn is_date_readable(row: &Row) -> bool {
    column::opt_parsed::<Date>(row, "expiration_date").is_ok()
}

/// What is wrong with a row, if anything.
pub(crate) fn fault(row: &Row) -> Result<Option<String>> {
    if !are_tags_readable(row) {
        return Ok(Some("its tags cannot be read".to_owned()));
    }
    if !are_identifiers_readable(row) {
        return Ok(Some("its identifiers cannot be read".to_owned()));
    }
    if !is_decoding_readable(row) {
        return Ok(Some("its settings for decoding cannot be read".to_owned()));
    }
    if !is_date_readable(row) {
        return Ok(Some("its expiration date cannot be read".to_owned()));
    }
    let differs = match row.opt_i64("checksum")? {
        Some(kept) => kept != of_row(row)?,
        None => false,
    };
    Ok(differs.then(|| "it does not match its checksum".to_owned()))
}

/// Repairs a device: drops tags, further identifiers, settings for decoding or a date that cannot be read, and recomputes its checksum.
pub(crate) async fn repair(tx: &Tx, row: &Row) -> Result<()> {
    let key = params![row.i64("account_id")?, row.i64("id")?];
    let fields = [Some(row.str("name")?), row.opt_str("identifier")?, row.opt_str("description")?];
    let tags = if are_tags_readable(row) { row.text("tags")? } else { search::tags_text(&Tags::default())? };
    let identifiers =
        if are_identifiers_readable(row) { row.text("identifiers")? } else { identifiers::to_text(&[])? };
    let decoding =
        if is_decoding_readable(row) { row.text("decoding")? } else { decoding_text(&Decoding::default())? };
    let date = if is_date_readable(row) { row.opt_text("expiration_date")? } else { None };
    let sql = "UPDATE device SET tags = ?3, expiration_date = ?4, search = ?5, identifiers = ?6, decoding = ?7 \
               WHERE account_id = ?1 AND id = ?2";
    let values = params![tags, date, search::searchable(&fields), identifiers, decoding];
    tx.execute(sql, &[key, values].concat()).await?;
    let row = tx.query_one("SELECT * FROM device WHERE account_id = ?1 AND id = ?2", key).await?;
    let sql = "UPDATE device SET checksum = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, &[key, params![of_row(&row)?]].concat()).await?;
    Ok(())
}
