//! Forgets what was kept for long enough, a slice at a time, so that nobody waits for it for long.

use perigee_core::notification::RepeatFilter;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::clock;
use crate::{Database, Engine, Tx, params};

/// Rows one transaction forgets.
const SLICE: u32 = 2_000;

/// Leaves rows that another job is at for the next time: waiting for them could become a deadlock.
fn free(tx: &Tx) -> &'static str {
    match tx.engine() {
        Engine::Sqlite => "",
        Engine::Postgres => "FOR UPDATE SKIP LOCKED",
    }
}

async fn forget_some_repetitions(tx: &Tx, now: Timestamp) -> Result<u64> {
    tx.keep_device_cache_valid();
    let over = now.plus_seconds(-2 * i64::from(RepeatFilter::LONGEST_S));
    let sql = format!(
        "DELETE FROM notification_repetition WHERE (account_id, device_id, channel, address, name) IN ( \
             SELECT account_id, device_id, channel, address, name FROM notification_repetition \
             WHERE met_at <= ?1 ORDER BY met_at LIMIT ?2 {})",
        free(tx)
    );
    Ok(tx.execute(&sql, params![over, SLICE]).await?)
}

async fn forget_some_messages(tx: &Tx, before: Timestamp) -> Result<u64> {
    tx.keep_device_cache_valid();
    let sql = format!(
        "DELETE FROM notification WHERE (account_id, id) IN ( \
             SELECT account_id, id FROM notification WHERE due IS NULL AND created < ?1 \
             ORDER BY created LIMIT ?2 {})",
        free(tx)
    );
    Ok(tx.execute(&sql, params![before, SLICE]).await?)
}

async fn forget_some_hours(tx: &Tx, now: Timestamp) -> Result<u64> {
    tx.keep_device_cache_valid();
    let over = now.plus_seconds(-2 * 3_600);
    let sql = format!(
        "DELETE FROM recipient_counter WHERE (account_id, address, hour) IN ( \
             SELECT account_id, address, hour FROM recipient_counter \
             WHERE hour <= ?1 ORDER BY hour LIMIT ?2 {})",
        free(tx)
    );
    Ok(tx.execute(&sql, params![over, SLICE]).await?)
}

/// Goes on until a slice is not full. Gives how many rows went.
async fn in_slices<F: Future<Output = Result<u64>>>(slice: impl Fn() -> F) -> Result<u64> {
    let mut gone = 0;
    loop {
        let some = slice().await?;
        gone += some;
        if some < u64::from(SLICE) {
            return Ok(gone);
        }
    }
}

/// Forgets repetitions that are over and e-mails counted by hours that are. Gives how many rows went.
pub(in crate::sql) async fn forget_repetitions(database: &Database, now: Timestamp) -> Result<u64> {
    let repetitions =
        in_slices(|| database.write_background(move |tx| Box::pin(forget_some_repetitions(tx, now)))).await?;
    let hours =
        in_slices(|| database.write_background(move |tx| Box::pin(forget_some_hours(tx, now)))).await?;
    Ok(repetitions + hours)
}

/// Forgets messages written this long ago that are neither waiting nor under way. Gives how many.
pub(super) async fn forget_messages(database: &Database, keep_ms: i64) -> Result<u64> {
    let before = clock::trusted_now(database).await?.plus_millis(-keep_ms);
    in_slices(|| database.write_background(move |tx| Box::pin(forget_some_messages(tx, before)))).await
}
