//! Key tags of drivers. A tag has one owner in the account.

use std::collections::HashMap;

use perigee_core::drivers::{Driver, DriverTag};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DriverId};
use perigee_core::store::Result;

use crate::sql::column;
use crate::sql::query::{Query, for_ids, for_texts, insert_many};
use crate::sql::timeline::drivers as trips;
use crate::{Tx, params};

/// Reads the tags of these drivers.
pub(super) async fn add_to(tx: &Tx, account: AccountId, drivers: &mut [Driver]) -> Result<()> {
    if drivers.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = drivers.iter().map(|driver| driver.id.as_i64()).collect();
    let sql = "SELECT driver_id, tag FROM driver_tag WHERE account_id = ?1 AND driver_id IN ({ids})";
    let mut tags: HashMap<DriverId, Vec<DriverTag>> = HashMap::new();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        let driver = DriverId::from_i64(row.i64("driver_id")?);
        tags.entry(driver).or_default().push(column::parsed(&row, "tag")?);
    }
    for driver in drivers {
        driver.settings.tags = tags.remove(&driver.id).unwrap_or_default();
        driver.settings.tags.sort_unstable();
    }
    Ok(())
}

/// The owners of those of these tags that have one.
pub(super) async fn owners(
    tx: &Tx,
    account: AccountId,
    tags: &[DriverTag],
) -> Result<HashMap<DriverTag, DriverId>> {
    let query = Query::new("SELECT tag, driver_id FROM driver_tag WHERE account_id = ?1", params![account]);
    let texts: Vec<String> = tags.iter().map(ToString::to_string).collect();
    let rows = for_texts(tx, &query, " AND tag IN ({texts})", &texts).await?;
    rows.iter()
        .map(|row| Ok((column::parsed(row, "tag")?, DriverId::from_i64(row.i64("driver_id")?))))
        .collect()
}

/// Fails if another driver than `of` has one of these tags.
pub(super) async fn require_free(
    tx: &Tx,
    account: AccountId,
    of: Option<DriverId>,
    tags: &[DriverTag],
) -> Result<()> {
    let owners = owners(tx, account, tags).await?;
    let Some((tag, owner)) = owners.into_iter().find(|(_, owner)| Some(*owner) != of) else {
        return Ok(());
    };
    let sql = "SELECT name FROM driver WHERE account_id = ?1 AND id = ?2";
    let driver_name = tx.query_one(sql, params![account, owner]).await?.text("name")?;
    Err(StoreError::TagTaken { tag: tag.to_string(), driver_name })
}

/// Replaces the tags of a driver, and marks the trips with those that were added or removed.
pub(super) async fn replace(
    tx: &Tx,
    account: AccountId,
    driver: DriverId,
    before: &[DriverTag],
    after: &[DriverTag],
) -> Result<()> {
    for tag in before.iter().filter(|tag| !after.contains(tag)) {
        let sql = "DELETE FROM driver_tag WHERE account_id = ?1 AND tag = ?2";
        tx.execute(sql, params![account, tag.as_str()]).await?;
        trips::mark_tag(tx, account, tag).await?;
    }
    let added: Vec<&DriverTag> = after.iter().filter(|tag| !before.contains(tag)).collect();
    let rows: Vec<_> = added.iter().map(|tag| params![account, tag.as_str(), driver].to_vec()).collect();
    insert_many(tx, "INSERT INTO driver_tag (account_id, tag, driver_id)", &rows, "").await?;
    for tag in added {
        trips::mark_tag(tx, account, tag).await?;
    }
    Ok(())
}
