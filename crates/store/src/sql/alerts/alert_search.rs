//! The search for alerts that earlier versions did not store with their messages. It is done once for each account.

use perigee_core::gateways::message_contents::SearchedMessages;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;

use crate::sql::gateways::messages;
use crate::{Tx, params};

/// Maximum number of messages that one step examines.
const MESSAGES_MAX: i64 = 500;
/// Maximum number of bytes of messages that one step reads; a single message may have more.
const BYTES_MAX: i64 = 4 * 1024 * 1024;

/// The next messages to be searched; `None` if no account has any.
pub(in crate::sql) async fn next(tx: &Tx) -> Result<Option<SearchedMessages>> {
    let sql = "SELECT account_id, after_id FROM alert_search ORDER BY account_id LIMIT 1";
    let Some(row) = tx.query_opt(sql, &[]).await? else { return Ok(None) };
    let (account, after) = (AccountId::from_i64(row.i64("account_id")?), row.i64("after_id")?);
    let sql = "SELECT id, CAST(LENGTH(bytes) AS BIGINT) AS size FROM raw_message WHERE account_id = ?1 AND id > ?2 \
               ORDER BY id LIMIT ?3";
    let (mut to, mut bytes) = (None, 0);
    for row in tx.query(sql, params![account, after, MESSAGES_MAX]).await? {
        bytes += row.i64("size")?;
        if to.is_some() && bytes > BYTES_MAX {
            break;
        }
        to = Some(row.i64("id")?);
    }
    let messages = match to {
        Some(to) => messages::decoded_between(tx, account, (after, to)).await?,
        None => Vec::new(),
    };
    Ok(Some(SearchedMessages { account, after, to, messages }))
}

/// Saves that these messages were searched, unless another node has done so.
pub(in crate::sql) async fn finish(tx: &Tx, account: AccountId, after: i64, to: Option<i64>) -> Result<()> {
    if let Some(to) = to {
        let sql = "UPDATE alert_search SET after_id = ?3 WHERE account_id = ?1 AND after_id = ?2";
        tx.execute(sql, params![account, after, to]).await?;
    } else {
        let sql = "DELETE FROM alert_search WHERE account_id = ?1 AND after_id = ?2";
        tx.execute(sql, params![account, after]).await?;
    }
    Ok(())
}

/// Whether a device has an alert of this name within a time range.
pub(in crate::sql) async fn has_alert(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    name: &str,
    range: TimeRange,
) -> Result<bool> {
    let sql = "SELECT id FROM alert WHERE account_id = ?1 AND device_id = ?2 AND time >= ?3 AND time <= ?4 \
               AND name = ?5 LIMIT 1";
    Ok(tx.query_opt(sql, params![account, device, range.from, range.to, name]).await?.is_some())
}
