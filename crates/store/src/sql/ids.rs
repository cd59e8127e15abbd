//! Generating unused ids, and reading lists of ids from one column.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use super::column;
use crate::{Row, Tx, params};

/// The first of `count` consecutive numbers that no row of the table has. The caller holds the account's lock.
///
/// Ids of different nodes differ only by chance, which is not enough for thousands of ids in one millisecond. Under
/// the lock, a lookup excludes collisions.
pub(crate) async fn fresh_ids(tx: &Tx, table: &str, account: AccountId, count: usize) -> Result<i64> {
    let sql = format!("SELECT id FROM {table} WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3 LIMIT 1");
    loop {
        let (first, last) = span(tx, count);
        if tx.query_opt(&sql, params![account, first, last]).await?.is_none() {
            return Ok(first);
        }
    }
}

/// The first and last of `count` new numbers.
fn span(tx: &Tx, count: usize) -> (i64, i64) {
    let first = tx.ids().take(tx.now(), count);
    (first, first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(1)))
}

/// Like [`fresh_ids`], for a table whose rows belong to a parent row of the account, which the caller has locked.
pub(crate) async fn fresh_ids_within(
    tx: &Tx,
    (table, holder): (&str, &str),
    (account, of): (AccountId, i64),
    count: usize,
) -> Result<i64> {
    let sql = format!(
        "SELECT id FROM {table} WHERE account_id = ?1 AND {holder} = ?4 AND id BETWEEN ?2 AND ?3 LIMIT 1"
    );
    loop {
        let (first, last) = span(tx, count);
        if tx.query_opt(&sql, params![account, first, last, of]).await?.is_none() {
            return Ok(first);
        }
    }
}

/// A number that no row of the table has. The caller holds the account's lock.
pub(crate) async fn fresh_id(tx: &Tx, table: &str, account: AccountId) -> Result<i64> {
    fresh_ids(tx, table, account, 1).await
}

/// A number above those of all rows of the account, even if the clock was set back: for rows whose order matters. It
/// may be far ahead of the clock, so the age of such a row must be measured by a time in the row. The caller holds
/// the account's lock.
pub(crate) async fn next_id(tx: &Tx, table: &str, account: AccountId) -> Result<i64> {
    next_ids(tx, table, account, 1).await
}

/// The first of `count` numbers above those of all rows of the account, as with [`next_id`].
pub(crate) async fn next_ids(tx: &Tx, table: &str, account: AccountId, count: usize) -> Result<i64> {
    // Not MAX, for which a planner without statistics may read all rows of the account by another index.
    let sql = format!("SELECT id FROM {table} WHERE account_id = ?1 ORDER BY id DESC LIMIT 1");
    let last = tx.query_opt(&sql, params![account]).await?.map(|row| row.i64("id")).transpose()?;
    Ok(first_above(tx, last, count))
}

/// The first of `count` new numbers above the last one.
pub(crate) fn first_above(tx: &Tx, last: Option<i64>, count: usize) -> i64 {
    let fresh = tx.ids().take(tx.now(), count);
    last.map_or(fresh, |last| fresh.max(last.saturating_add(1)))
}

/// The ids a column lists, as `string_agg` joins them by commas; none if it is null.
pub(crate) fn listed<T>(row: &Row, column: &str, id: impl Fn(i64) -> T) -> Result<Vec<T>> {
    let Some(text) = row.opt_str(column)? else { return Ok(Vec::new()) };
    let number =
        |part: &str| part.parse().map_err(|cause: std::num::ParseIntError| column::unreadable(column, cause));
    text.split(',').map(|part| number(part).map(&id)).collect()
}
