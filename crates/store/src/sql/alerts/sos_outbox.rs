//! SOS that are recorded with their message and announced afterwards, so that a crash in between loses none.
//!
//! Rows are only added and deleted, so that a commit of messages does not wait for another one, as it would for the
//! locks that limit how often people are notified.

use futures_util::FutureExt as _;
use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::id::{AccountId, MessageId};
use perigee_core::store::{Additions, Queue, Result};

use super::sos_notices::{self, OPERATORS};
use crate::sql::column;
use crate::sql::query::insert_many;
use crate::{Database, Tx, Value, params};

/// Rows that one read lists.
const LISTED: i64 = 100;

/// Records an SOS of which the operators are to be notified, and the people of the account if there is one.
pub(in crate::sql) async fn record(
    tx: &Tx,
    account: Option<AccountId>,
    notices: impl IntoIterator<Item = SosNotice>,
) -> Result<()> {
    let keys = [account.map(AccountId::as_i64), Some(OPERATORS)];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for notice in notices {
        let text = serde_json::to_string(&notice).map_err(|cause| column::unreadable("notice", cause))?;
        for key in keys.into_iter().flatten() {
            rows.push(params![key, MessageId::new(tx.ids(), tx.now()), tx.now(), &text].to_vec());
        }
    }
    insert_many(tx, "INSERT INTO sos_outbox (account_id, id, received_at, notice)", &rows, "").await?;
    if !rows.is_empty() {
        tx.mark(Additions::to_queue(Queue::RecordedSos));
    }
    Ok(())
}

/// Records an SOS of a device that was deleted before its message was stored.
pub(in crate::sql) async fn record_of_deleted(tx: &Tx, account: AccountId, notice: &SosNotice) -> Result<()> {
    let notice = SosNotice { reason: SosReason::UnknownDevice, ..notice.clone() };
    record(tx, Some(account), [notice]).await
}

/// Announces all recorded SOS, each in a separate transaction. Returns their number. A failed one is retried by the
/// next call, and does not delay the others.
pub(in crate::sql) async fn announce_all(database: &Database) -> Result<u64> {
    let (mut after, mut announced, mut failed) = ((-1, 0), 0, None);
    loop {
        let keys = database.read(move |tx| list(tx, after).boxed()).await?;
        let Some(last) = keys.last() else { break };
        after = *last;
        for key in keys {
            match database.write(move |tx| announce(tx, key).boxed()).await {
                Ok(is_ours) => announced += u64::from(is_ours),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    failed.map_or(Ok(announced), Err)
}

async fn list(tx: &Tx, (account, id): (i64, i64)) -> Result<Vec<(i64, i64)>> {
    let sql = "SELECT account_id, id FROM sos_outbox WHERE (account_id, id) > (?1, ?2) ORDER BY account_id, id LIMIT ?3";
    let rows = tx.query(sql, params![account, id, LISTED]).await?;
    rows.iter().map(|row| Ok((row.i64("account_id")?, row.i64("id")?))).collect()
}

/// Announces one SOS, unless another node has deleted its row and announces it.
async fn announce(tx: &Tx, (account, id): (i64, i64)) -> Result<bool> {
    let sql = "DELETE FROM sos_outbox WHERE account_id = ?1 AND id = ?2 RETURNING notice";
    let Some(row) = tx.query_opt(sql, params![account, id]).await? else { return Ok(false) };
    let notice: SosNotice =
        serde_json::from_str(row.str("notice")?).map_err(|cause| column::unreadable("notice", cause))?;
    if account == OPERATORS {
        sos_notices::announce_to_operators(tx, &notice).await?;
    } else {
        sos_notices::announce(tx, AccountId::from_i64(account), None, &notice).await?;
    }
    Ok(true)
}
