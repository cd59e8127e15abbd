//! The checksum of a device's row: the CRC-32 of the client's settings, plus the columns that the service changes.

use std::borrow::Cow;

use perigee_core::day::Date;
use perigee_core::gateways::decoding::Decoding;
use perigee_core::gateways::gateway::DeviceIdentifier;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::text::Tags;

use super::super::checksum::{crc, differs, id_part, sum, values};
use super::super::{column, one_bit, search};
use super::change::{COLUMNS, decoding_text};
use super::{identifiers, limits};
use crate::damage::{Damage, Damaged, Table};
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

fn are_limits_readable(row: &Row) -> bool {
    limits::read(row).is_ok()
}

fn is_date_readable(row: &Row) -> bool {
    column::opt_parsed::<Date>(row, "expiration_date").is_ok()
}

/// The problem of a row, if there is one.
pub(crate) fn fault(row: &Row) -> Option<String> {
    let part = if !are_tags_readable(row) {
        "its tags cannot be read"
    } else if !are_identifiers_readable(row) {
        "its identifiers cannot be read"
    } else if !is_decoding_readable(row) {
        "its settings for decoding cannot be read"
    } else if !are_limits_readable(row) {
        "its daily limits cannot be read"
    } else if !is_date_readable(row) {
        "its expiration date cannot be read"
    } else if differs(row, of_row) {
        DIFFERS
    } else {
        return None;
    };
    Some(part.to_owned())
}

const DIFFERS: &str = "it does not match its checksum";

/// Returns the row, or a corrected copy if it does not match its checksum and the flip of exactly one bit explains
/// that. A damaged row is recorded. The row may have other columns besides those of the device.
pub(crate) fn checked<'r>(
    damage: &Damage,
    account: AccountId,
    device: DeviceId,
    row: &'r Row,
) -> Cow<'r, Row> {
    if !differs(row, of_row) {
        return Cow::Borrowed(row);
    }
    damage.note(&Damaged::new(Table::Device, DIFFERS).of(account, Some(device)));
    one_bit::undo(row, of_row).map_or(Cow::Borrowed(row), |undone| Cow::Owned(undone.row))
}

/// Repairs a device. If the row has a checksum, the flip of one bit is undone, if exactly one explains the damage;
/// otherwise the row is left damaged, because a new checksum would hide that. If it has none, columns that cannot be
/// read are reset.
pub(crate) async fn repair(tx: &Tx, row: &Row) -> Result<()> {
    let key = params![row.i64("account_id")?, row.i64("id")?];
    if !matches!(row.value("checksum")?, Value::Null) {
        if let Some(undone) = one_bit::undo(row, of_row) {
            let sql = format!("UPDATE device SET {} = ?3 WHERE account_id = ?1 AND id = ?2", undone.column);
            tx.execute(&sql, &[key, &[undone.value]].concat()).await?;
        }
        return Ok(());
    }
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
    Ok(())
}
