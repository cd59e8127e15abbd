//! API calls per hour, user and kind of credential.

use perigee_core::id::{AccountId, UserId};
use perigee_core::store::{Calls, HourCalls, Result};
use perigee_core::time::Timestamp;

use crate::forward::forward;
use crate::params;
use crate::row::Row;
use crate::sql::query::insert_many;
use crate::tx::Tx;

async fn add(tx: &Tx, mut calls: Vec<HourCalls>) -> Result<()> {
    // Every node locks the rows in the same order, which prevents deadlocks.
    calls.sort_by_key(|one| (one.account, one.hour, one.user, one.by_key));
    let count = |calls: u64| i64::try_from(calls).unwrap_or(i64::MAX);
    let rows: Vec<_> = calls
        .iter()
        .map(|one| params![one.account, one.hour, one.user, one.by_key, count(one.calls)].to_vec())
        .collect();
    insert_many(
        tx,
        "INSERT INTO call_hour (account_id, hour, user_id, by_key, calls)",
        &rows,
        "ON CONFLICT (account_id, hour, user_id, by_key)
         DO UPDATE SET calls = call_hour.calls + excluded.calls",
    )
    .await?;
    Ok(())
}

async fn list(tx: &Tx, account: AccountId, from: Timestamp, to: Timestamp) -> Result<Vec<HourCalls>> {
    let rows = tx
        .query(
            "SELECT hour, user_id, by_key, calls FROM call_hour
             WHERE account_id = ?1 AND hour >= ?2 AND hour < ?3 ORDER BY hour, user_id, by_key",
            params![account, from, to],
        )
        .await?;
    let one = |row: &Row| {
        Ok(HourCalls {
            account,
            user: UserId::from_i64(row.i64("user_id")?),
            by_key: row.bool("by_key")?,
            hour: row.timestamp("hour")?,
            calls: row.int("calls")?,
        })
    };
    rows.iter().map(one).collect()
}

forward! {
    impl Calls for Database {
        write add_calls(&self, calls: Vec<HourCalls>) -> () = add;
        read list_calls(&self, account: AccountId, from: Timestamp, to: Timestamp) -> Vec<HourCalls> = list;
    }
}
