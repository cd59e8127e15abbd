//! Generating unused ids, and reading lists of ids from one column.

use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::column;
use crate::{Row, Tx, params};

/// The first of `count` consecutive numbers that no row of the table has. The caller holds the account's lock.
///
/// Ids are random, which is not enough for thousands in one millisecond; under the lock a lookup makes it certain.
pub(crate) async fn fresh_ids(
    tx: &Tx,
    table: &str,
    account: AccountId,
    count: usize,
    make: impl Fn(Timestamp) -> i64,
) -> Result<i64> {
    let sql = format!("SELECT id FROM {table} WHERE account_id = ?1 AND id BETWEEN ?2 AND ?3 LIMIT 1");
    loop {
        let (first, last) = span(count, make(tx.now()));
        if tx.query_opt(&sql, params![account, first, last]).await?.is_none() {
            return Ok(first);
        }
    }
}

/// The first and last of `count` numbers, starting at `first` unless they would exceed the largest number.
fn span(count: usize, first: i64) -> (i64, i64) {
    let more = i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(1);
    let first = first.min(i64::MAX - more);
    (first, first + more)
}

/// The same for a table whose rows belong to a parent row of the account, which the caller has locked.
pub(crate) async fn fresh_ids_within(
    tx: &Tx,
    (table, holder): (&str, &str),
    (account, of): (AccountId, i64),
    count: usize,
    make: impl Fn(Timestamp) -> i64,
) -> Result<i64> {
    let sql = format!(
        "SELECT id FROM {table} WHERE account_id = ?1 AND {holder} = ?4 AND id BETWEEN ?2 AND ?3 LIMIT 1"
    );
    loop {
        let (first, last) = span(count, make(tx.now()));
        if tx.query_opt(&sql, params![account, first, last, of]).await?.is_none() {
            return Ok(first);
        }
    }
}

/// A number that no row of the table has. The caller holds the account's lock.
pub(crate) async fn fresh_id(
    tx: &Tx,
    table: &str,
    account: AccountId,
    make: impl Fn(Timestamp) -> i64,
) -> Result<i64> {
    fresh_ids(tx, table, account, 1, make).await
}

/// The ids a column lists, as `string_agg` joins them by commas; none when it is null.
pub(crate) fn listed<T>(row: &Row, column: &str, id: impl Fn(i64) -> T) -> Result<Vec<T>> {
    let Some(text) = row.opt_str(column)? else { return Ok(Vec::new()) };
    let number =
        |part: &str| part.parse().map_err(|cause: std::num::ParseIntError| column::unreadable(column, cause));
    text.split(',').map(|part| number(part).map(&id)).collect()
}
