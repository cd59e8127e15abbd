//! Storage used by raw messages, by day and sender, and by day and account.

use perigee_core::gateways::raw_usage::{ListedUsage, RawUsage, StoredToday};
use perigee_core::id::{AccountId, DeviceId, GatewayId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::{Row, Tx, params};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn today(tx: &Tx) -> i64 {
    tx.now().as_millis().div_euclid(DAY_MS)
}

/// The gateway in the row of a whole account. No gateway has this id.
const WHOLE: i64 = -1;

const ADD: &str = "INSERT INTO raw_usage (account_id, day, gateway_id, device_id, kept, kept_bytes, unused_bytes, \
       dropped, dropped_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
       ON CONFLICT (account_id, day, gateway_id, device_id) DO UPDATE SET kept = raw_usage.kept + excluded.kept, \
       kept_bytes = raw_usage.kept_bytes + excluded.kept_bytes, \
       unused_bytes = raw_usage.unused_bytes + excluded.unused_bytes, \
       dropped = raw_usage.dropped + excluded.dropped, \
       dropped_bytes = raw_usage.dropped_bytes + excluded.dropped_bytes \
       RETURNING account_id, gateway_id, device_id, kept, kept_bytes, unused_bytes, dropped, dropped_bytes";

/// Adds usage to the current day, and deletes that of old days. The usage is sorted by account. Returns the sums of the
/// day, also of each account: they have a row of their own, because an account may have thousands of senders.
pub(in crate::sql) async fn add(tx: &Tx, all: &[RawUsage]) -> Result<Vec<StoredToday>> {
    let mut stored = Vec::with_capacity(all.len());
    for of_account in all.chunk_by(|one, next| one.account == next.account) {
        let Some(first) = of_account.first() else { continue };
        let mut whole = RawUsage::none(first.account, None, None);
        for usage in of_account {
            let sender =
                (usage.gateway.map_or(0, GatewayId::as_i64), usage.device.map_or(0, DeviceId::as_i64));
            let sum = add_one(tx, usage, sender).await?;
            stored.push(today_of(tx, &sum, Some((usage.gateway, usage.device))));
            whole.kept += usage.kept;
            whole.kept_bytes += usage.kept_bytes;
            whole.unused_bytes += usage.unused_bytes;
        }
        let sum = add_one(tx, &whole, (WHOLE, 0)).await?;
        stored.push(today_of(tx, &sum, None));
        let old = "DELETE FROM raw_usage WHERE account_id = ?1 AND day < ?2";
        tx.execute(old, params![first.account, today(tx) - RawUsage::DAYS]).await?;
    }
    Ok(stored)
}

/// Adds usage to the row of a gateway and a device; returns the sum.
async fn add_one(tx: &Tx, usage: &RawUsage, (gateway, device): (i64, i64)) -> Result<RawUsage> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let values = params![
        usage.account,
        today(tx),
        gateway,
        device,
        number(usage.kept),
        number(usage.kept_bytes),
        number(usage.unused_bytes),
        number(usage.dropped),
        number(usage.dropped_bytes),
    ];
    usage_of(&tx.query_one(ADD, values).await?)
}

fn today_of(tx: &Tx, sum: &RawUsage, sender: Option<(Option<GatewayId>, Option<DeviceId>)>) -> StoredToday {
    StoredToday {
        account: sum.account,
        sender,
        since: Timestamp::from_millis(today(tx) * DAY_MS),
        at: tx.now(),
        kept: sum.kept,
        kept_bytes: sum.kept_bytes,
        unused_bytes: sum.unused_bytes,
    }
}

/// Bytes of the raw messages of an account that were stored on the days that are counted.
pub(in crate::sql) async fn bytes_of(tx: &Tx, account: AccountId) -> Result<u64> {
    let sql = "SELECT CAST(COALESCE(SUM(kept_bytes), 0) AS BIGINT) AS bytes FROM raw_usage \
               WHERE account_id = ?1 AND day > ?2 AND gateway_id <> ?3";
    let values = params![account, today(tx) - RawUsage::DAYS, WHOLE];
    Ok(tx.query_one(sql, values).await?.int("bytes")?)
}

/// The senders that use the most storage.
pub(in crate::sql) async fn list(tx: &Tx) -> Result<Vec<ListedUsage>> {
    let sql = "SELECT u.account_id, a.name AS account_name, gateway_id, device_id, CAST(SUM(kept) AS BIGINT) AS kept, \
               CAST(SUM(kept_bytes) AS BIGINT) AS kept_bytes, CAST(SUM(unused_bytes) AS BIGINT) AS unused_bytes, \
               CAST(SUM(dropped) AS BIGINT) AS dropped, CAST(SUM(dropped_bytes) AS BIGINT) AS dropped_bytes \
               FROM raw_usage u JOIN account a ON a.id = u.account_id \
               WHERE day > ?1 AND gateway_id <> ?3 GROUP BY u.account_id, a.name, gateway_id, device_id \
               ORDER BY SUM(kept_bytes) + SUM(dropped_bytes) DESC, u.account_id, gateway_id, device_id LIMIT ?2";
    let values = params![today(tx) - RawUsage::DAYS, i64::from(RawUsage::LISTED_MAX), WHOLE];
    let rows = tx.query(sql, values).await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<ListedUsage> {
    Ok(ListedUsage { account_name: row.text("account_name")?, usage: usage_of(row)? })
}

fn usage_of(row: &Row) -> Result<RawUsage> {
    let id = |name: &str| -> Result<Option<i64>> { Ok(Some(row.i64(name)?).filter(|id| *id != 0)) };
    let count = |name: &str| -> Result<u64> { Ok(u64::try_from(row.i64(name)?).unwrap_or(0)) };
    Ok(RawUsage {
        account: AccountId::from_i64(row.i64("account_id")?),
        gateway: id("gateway_id")?.map(GatewayId::from_i64),
        device: id("device_id")?.map(DeviceId::from_i64),
        kept: count("kept")?,
        kept_bytes: count("kept_bytes")?,
        unused_bytes: count("unused_bytes")?,
        dropped: count("dropped")?,
        dropped_bytes: count("dropped_bytes")?,
    })
}
