//! API calls of an account: in total and on its current day.

use perigee_core::accounts::account::ApiUsage;
use perigee_core::id::AccountId;
use perigee_core::store::{Result, UsageReport};
use perigee_core::time::Timestamp;

use crate::params;
use crate::row::Row;
use crate::sql::accounts;
use crate::tx::Tx;

/// Adds the calls and returns the sums, in the order of the reports.
pub(in crate::sql) async fn add(tx: &Tx, reports: Vec<UsageReport>) -> Result<Vec<ApiUsage>> {
    // Every node locks the accounts in the same order, which prevents deadlocks.
    let mut ordered: Vec<(usize, UsageReport)> = reports.into_iter().enumerate().collect();
    ordered.sort_by_key(|(_index, report)| report.account);
    let mut sums = vec![ApiUsage::default(); ordered.len()];
    for (index, report) in ordered {
        let sum = add_one(tx, report).await?;
        if let Some(slot) = sums.get_mut(index) {
            *slot = sum;
        }
    }
    Ok(sums)
}

/// Extends the current day's count to this end, after a change of zone made the day longer. Returns the end in effect.
pub(in crate::sql) async fn extend_day(tx: &Tx, account: AccountId, ends: Timestamp) -> Result<i64> {
    let sql = "UPDATE account SET api_day_ends = \
                   CASE WHEN api_day_ends > ?2 AND api_day_ends < ?3 THEN ?3 ELSE api_day_ends END \
               WHERE id = ?1 RETURNING api_day_ends";
    Ok(tx.query_one(sql, params![account, tx.now(), ends]).await?.i64("api_day_ends")?)
}

/// Shortens the current day's count to this end, after a change of zone was undone. Returns the end in effect.
pub(in crate::sql) async fn shorten_day(tx: &Tx, account: AccountId, ends: Timestamp) -> Result<i64> {
    let sql = "UPDATE account SET api_day_ends = \
                   CASE WHEN api_day_ends > ?2 AND api_day_ends > ?3 THEN ?3 ELSE api_day_ends END \
               WHERE id = ?1 RETURNING api_day_ends";
    Ok(tx.query_one(sql, params![account, tx.now(), ends]).await?.i64("api_day_ends")?)
}

/// Adds calls to the row, to which other nodes add at the same time. The account is locked, because a change of zone
/// moves the end of the day.
async fn add_one(tx: &Tx, report: UsageReport) -> Result<ApiUsage> {
    let account = accounts::lock(tx, report.account).await?;
    let (day, _zone) = account.day_at(tx.now());
    let is_today = report.day_ends > tx.now().as_millis();
    let count = |calls: u64| i64::try_from(calls).unwrap_or(i64::MAX);
    let calls = count(report.today.saturating_add(report.earlier));
    let today = count(if is_today { report.today } else { 0 });
    let row = tx
        .query_one(
            "UPDATE account SET
                 api_total = api_total + ?2,
                 api_today = CASE WHEN api_day_ends > ?3 THEN api_today + ?5 ELSE ?5 END,
                 api_day_ends = CASE WHEN api_day_ends > ?3 THEN api_day_ends ELSE ?4 END
             WHERE id = ?1 RETURNING api_total, api_today, api_day_ends",
            params![report.account, calls, tx.now(), day.ends, today],
        )
        .await?;
    from_row(&row)
}

/// The counts in a row of `account`.
pub(in crate::sql) fn from_row(row: &Row) -> Result<ApiUsage> {
    Ok(ApiUsage {
        total: row.int("api_total")?,
        today: row.int("api_today")?,
        day_ends: row.i64("api_day_ends")?,
    })
}
