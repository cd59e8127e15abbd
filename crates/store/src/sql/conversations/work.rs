//! Handing messages of conversations to providers: leases, results, and messages that nobody will send.
//!
//! Providers bill each message and cannot be asked whether they have one. A message is therefore leased once for each
//! attempt, and one whose worker ended without a result is never sent again: its state is unclear.

use futures_util::FutureExt as _;
use perigee_core::devices::conversation::{ConversationMessage, OutgoingText, TextEnd, TextState};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::row::{COLUMNS, announce, from_row, note};
use crate::sql::{accounts, column};
use crate::{Database, Row, Tx, params};

/// The error of a message whose worker did not record a result.
const INTERRUPTED: &str = "The service was interrupted while it handed the message to the provider. The message may \
                           have been sent. It is not sent again, because the provider would bill it twice.";
/// The error of a message that was not handed over in time.
const EXPIRED: &str = "The message was not handed to the provider before its deadline.";

/// Queued messages whose time has come, without those behind an unfinished message of their device.
const DUE: &str = "SELECT m.account_id, m.id, m.fence FROM conversation_message m \
                   WHERE m.gateway_id IS NOT NULL AND m.state = 'queued' AND m.due <= ?1 AND m.deadline > ?1 \
                   AND NOT EXISTS (SELECT 1 FROM conversation_message o WHERE o.account_id = m.account_id \
                       AND o.device_id = m.device_id AND o.id < m.id AND o.gateway_id IS NOT NULL \
                       AND (o.state = 'sending' OR (o.state = 'queued' AND o.deadline > ?1))) \
                   ORDER BY m.account_id, m.id LIMIT ?2";

async fn due(tx: &Tx, limit: u32) -> Result<Vec<(AccountId, i64, i64)>> {
    let rows = tx.query(DUE, params![tx.now(), i64::from(limit)]).await?;
    rows.iter()
        .map(|row| Ok((AccountId::from_i64(row.i64("account_id")?), row.i64("id")?, row.i64("fence")?)))
        .collect()
}

pub(super) async fn lease(database: &Database, limit: u32, lease_ms: i64) -> Result<Vec<OutgoingText>> {
    // Mostly nothing is due, and a read finds that out without using the writer.
    if database.read(move |tx| due(tx, 1).boxed()).await?.is_empty() {
        return Ok(Vec::new());
    }
    database.write(move |tx| take(tx, limit, lease_ms).boxed()).await
}

async fn take(tx: &Tx, limit: u32, lease_ms: i64) -> Result<Vec<OutgoingText>> {
    let (mut leased, mut locked) = (Vec::new(), None);
    for (account, id, fence) in due(tx, limit).await? {
        if locked != Some(account) {
            accounts::lock(tx, account).await?;
            locked = Some(account);
        }
        // Another worker may have leased it while this one waited for the account.
        let sql = format!(
            "UPDATE conversation_message SET state = 'sending', changed_at = ?4, due = ?5, fence = fence + 1, \
                 attempts = attempts + 1 \
             WHERE account_id = ?1 AND id = ?2 AND state = 'queued' AND fence = ?3 \
             RETURNING {COLUMNS}, gateway_id, address, attempts, fence"
        );
        let until = tx.now().plus_millis(lease_ms);
        let row = tx.query_opt(&sql, params![account, id, fence, tx.now(), until]).await?;
        if let Some(row) = row {
            leased.push(outgoing(&row)?);
        }
    }
    Ok(leased)
}

fn outgoing(row: &Row) -> Result<OutgoingText> {
    let gateway = row.opt_i64("gateway_id")?.map(GatewayId::from_i64);
    Ok(OutgoingText {
        message: from_row(row)?,
        gateway: gateway.ok_or_else(|| column::unreadable("gateway_id", "missing"))?,
        address: row.opt_text("address")?.unwrap_or_default(),
        attempts: row.int::<u32>("attempts")?.saturating_sub(1),
        fence: row.i64("fence")?,
    })
}

/// Records the result of an attempt. A worker that settles after its lease ended still knows the result of its own
/// attempt: the message is then unclear and has the same fence.
pub(super) async fn settle(tx: &Tx, leased: OutgoingText, end: TextEnd) -> Result<bool> {
    let account = accounts::lock(tx, leased.message.account).await?.id;
    let (state, reference, error, due) = match end {
        TextEnd::HandedOver(reference) => (TextState::HandedOver, reference, None, None),
        TextEnd::Failed(reason) => (TextState::Failed, None, Some(reason), None),
        TextEnd::Again(reason, at) => (TextState::Queued, None, Some(reason), Some(at)),
        TextEnd::Unclear(reason) => (TextState::Unclear, None, Some(reason), None),
    };
    let sql = format!(
        "UPDATE conversation_message SET state = ?4, changed_at = ?5, reference = ?6, error = ?7, due = ?8 \
         WHERE account_id = ?1 AND id = ?2 AND fence = ?3 AND state IN ('sending', 'unclear') RETURNING {COLUMNS}"
    );
    let values = params![
        account,
        leased.message.id,
        leased.fence,
        state.name(),
        tx.now(),
        reference.as_deref().map(note),
        error.as_deref().map(note),
        due
    ];
    let Some(row) = tx.query_opt(&sql, values).await? else { return Ok(false) };
    announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    Ok(true)
}

/// Messages that nobody will send, and the state that they get.
async fn overdue(tx: &Tx, limit: u32) -> Result<Vec<(AccountId, i64, TextState)>> {
    let sql = "SELECT account_id, id, state FROM conversation_message WHERE gateway_id IS NOT NULL \
               AND ((state = 'sending' AND due <= ?1) OR (state = 'queued' AND deadline <= ?1)) \
               ORDER BY account_id, id LIMIT ?2";
    let rows = tx.query(sql, params![tx.now(), i64::from(limit)]).await?;
    rows.iter()
        .map(|row| {
            let is_sending = row.text("state")? == TextState::Sending.name();
            let state = if is_sending { TextState::Unclear } else { TextState::Expired };
            Ok((AccountId::from_i64(row.i64("account_id")?), row.i64("id")?, state))
        })
        .collect()
}

pub(super) async fn end_overdue(database: &Database, limit: u32) -> Result<u32> {
    if database.read(move |tx| overdue(tx, 1).boxed()).await?.is_empty() {
        return Ok(0);
    }
    database.write(move |tx| end(tx, limit).boxed()).await
}

async fn end(tx: &Tx, limit: u32) -> Result<u32> {
    let (mut ended, mut locked) = (0, None);
    for (account, id, state) in overdue(tx, limit).await? {
        if locked != Some(account) {
            accounts::lock(tx, account).await?;
            locked = Some(account);
        }
        #[cfg(feature = "unsafe-resend")]
        if state == TextState::Unclear && crate::resend::is_on() {
            queue_again(tx, account, id).await?;
            continue;
        }
        let message = end_one(tx, account, id, state).await?;
        if let Some(message) = message {
            announce(tx, EventKind::ConversationChanged, &message).await?;
            ended += 1;
        }
    }
    Ok(ended)
}

/// Queues a message again that the provider may have: the defect that the fault harness must catch.
#[cfg(feature = "unsafe-resend")]
async fn queue_again(tx: &Tx, account: AccountId, id: i64) -> Result<()> {
    let sql = "UPDATE conversation_message SET state = 'queued', due = ?3 \
               WHERE account_id = ?1 AND id = ?2 AND state = 'sending' AND due <= ?3";
    tx.execute(sql, params![account, id, tx.now()]).await?;
    Ok(())
}

/// Ends a message, unless it was settled meanwhile.
async fn end_one(
    tx: &Tx,
    account: AccountId,
    id: i64,
    state: TextState,
) -> Result<Option<ConversationMessage>> {
    let (from, error, time) = match state {
        TextState::Unclear => (TextState::Sending, INTERRUPTED, "due"),
        _ => (TextState::Queued, EXPIRED, "deadline"),
    };
    let now: Timestamp = tx.now();
    let sql = format!(
        "UPDATE conversation_message SET state = ?3, changed_at = ?4, error = ?5, due = NULL \
         WHERE account_id = ?1 AND id = ?2 AND state = ?6 AND {time} <= ?4 RETURNING {COLUMNS}"
    );
    let row = tx.query_opt(&sql, params![account, id, state.name(), now, error, from.name()]).await?;
    row.as_ref().map(from_row).transpose()
}
