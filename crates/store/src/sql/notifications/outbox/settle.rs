//! Settling attempts. A message that was certainly not sent is uncounted on the same day.

use perigee_core::id::{AccountId, DeviceId, NotificationId};
use perigee_core::notifications::notification::{
    Channel, NotificationState, Receipt, Reservation, SendOutcome, give_up_after_s, retry_wait_s,
};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::counter;
use crate::sql::{accounts, column};
use crate::{Tx, params};

/// The longest reason that is stored, in characters.
const REASON_CHARS_MAX: usize = 500;
/// How long after a message its receipt is accepted: a week.
const RECEIPT_WITHIN_MS: i64 = 7 * 24 * 3_600_000;

/// An attempt in progress.
struct Attempt {
    device: Option<DeviceId>,
    channel: Channel,
    attempts: u32,
    unclear_attempts: u32,
    counted_on: Option<String>,
    segments: u32,
    queued_at: Timestamp,
}

/// Cleans a reason from a provider: no control characters, limited length.
fn clean(reason: &str) -> String {
    reason
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(REASON_CHARS_MAX)
        .collect()
}

pub(super) async fn settle(tx: &Tx, reservation: Reservation, delivery: SendOutcome) -> Result<bool> {
    match delivery {
        SendOutcome::Sent { reference } => sent(tx, reservation, reference.as_deref()).await,
        SendOutcome::Refused { reason } => {
            let Some(attempt) = find(tx, reservation).await? else { return Ok(false) };
            uncount(tx, reservation.account, &attempt).await?;
            end(tx, reservation, NotificationState::Failed, &reason, true).await
        }
        SendOutcome::RetryLater { reason, wait } => later(tx, reservation, &reason, wait).await,
        SendOutcome::Unclear { reason } => unclear(tx, reservation, &reason).await,
    }
}

/// Extends the lease of an attempt, unless it was lost.
pub(super) async fn renew(tx: &Tx, held: Reservation, lease_ms: i64) -> Result<bool> {
    let sql = "UPDATE notification SET due = ?4 \
               WHERE account_id = ?1 AND id = ?2 AND token = ?3 AND state = 'sending'";
    let values = params![held.account, held.id, held.token, tx.now().plus_millis(lease_ms)];
    Ok(tx.execute(sql, values).await? > 0)
}

async fn sent(tx: &Tx, held: Reservation, reference: Option<&str>) -> Result<bool> {
    #[cfg(feature = "unsafe-late-limit")]
    if crate::late_limit::is_on() {
        count_late(tx, held).await?;
    }
    let sql = "UPDATE notification SET state = 'sent', reason = NULL, due = NULL, sent_at = ?4, reference = ?5 \
               WHERE account_id = ?1 AND id = ?2 AND token = ?3 AND state = 'sending'";
    let reference = reference.map(clean).filter(|reference| !reference.is_empty());
    let values = params![held.account, held.id, held.token, tx.now(), reference];
    Ok(tx.execute(sql, values).await? > 0)
}

/// Counts a message after it was sent, which the fault harness must catch.
#[cfg(feature = "unsafe-late-limit")]
async fn count_late(tx: &Tx, held: Reservation) -> Result<()> {
    let Some(attempt) = find(tx, held).await? else { return Ok(()) };
    let (Some(device), Some(date)) = (attempt.device, attempt.counted_on) else { return Ok(()) };
    let sql = "INSERT INTO device_message_counter (account_id, device_id, date, channel, messages) \
               VALUES (?1, ?2, ?3, ?4, 1) \
               ON CONFLICT (account_id, device_id, date, channel) DO UPDATE SET \
                   messages = device_message_counter.messages + excluded.messages";
    tx.execute(sql, params![held.account, device, date, attempt.channel.name()]).await?;
    Ok(())
}

/// The attempt of this reservation, unless it was lost. Locks the account, whose counters may change.
async fn find(tx: &Tx, held: Reservation) -> Result<Option<Attempt>> {
    tx.lock_account_beside(held.account).await?;
    let sql = "SELECT device_id, channel, attempts, doubts, counted_on, segments, queued_at FROM notification \
               WHERE account_id = ?1 AND id = ?2 AND token = ?3 AND state = 'sending'";
    let Some(row) = tx.query_opt(sql, params![held.account, held.id, held.token]).await? else {
        return Ok(None);
    };
    Ok(Some(Attempt {
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        channel: column::parsed(&row, "channel")?,
        attempts: row.int("attempts")?,
        unclear_attempts: row.int("doubts")?,
        counted_on: row.opt_text("counted_on")?,
        segments: row.int("segments")?,
        queued_at: row.timestamp("queued_at")?,
    }))
}

async fn uncount(tx: &Tx, account: AccountId, attempt: &Attempt) -> Result<()> {
    #[cfg(feature = "unsafe-late-limit")]
    if crate::late_limit::is_on() {
        return Ok(());
    }
    let (Some(device), Some(counted_on)) = (attempt.device, &attempt.counted_on) else { return Ok(()) };
    let today = accounts::lock(tx, account).await?.day_at(tx.now()).0.date;
    let when = (counted_on.as_str(), today);
    counter::uncount(tx, account, device, attempt.channel, when, attempt.segments).await
}

async fn end(
    tx: &Tx,
    held: Reservation,
    state: NotificationState,
    reason: &str,
    is_uncounted: bool,
) -> Result<bool> {
    let counted = if is_uncounted { ", counted_on = NULL" } else { "" };
    let sql = format!(
        "UPDATE notification SET state = ?3, reason = ?4, due = NULL{counted} WHERE account_id = ?1 AND id = ?2"
    );
    tx.execute(&sql, params![held.account, held.id, state.name(), clean(reason)]).await?;
    Ok(true)
}

/// The provider did not accept the message: schedules a retry, unless that would be too late.
async fn later(tx: &Tx, held: Reservation, reason: &str, asked: Option<u32>) -> Result<bool> {
    let Some(attempt) = find(tx, held).await? else { return Ok(false) };
    uncount(tx, held.account, &attempt).await?;
    let wait = retry_wait_s(attempt.channel, attempt.attempts, asked, jitter(held.id, attempt.attempts));
    let due = tx.now().plus_seconds(wait);
    if due > attempt.queued_at.plus_seconds(give_up_after_s(attempt.channel)) {
        let reason = format!("given up after {} attempts: {reason}", attempt.attempts);
        return end(tx, held, NotificationState::Failed, &reason, true).await;
    }
    wait_until(tx, held, due, reason, (attempt.unclear_attempts, true)).await
}

/// The outcome is unclear, and the message stays counted. It is retried once where a repetition does no harm.
async fn unclear(tx: &Tx, held: Reservation, reason: &str) -> Result<bool> {
    let Some(attempt) = find(tx, held).await? else { return Ok(false) };
    if !attempt.channel.kind().is_repeated_if_unclear || attempt.unclear_attempts > 0 {
        return end(tx, held, NotificationState::Unclear, reason, false).await;
    }
    let wait = retry_wait_s(attempt.channel, attempt.attempts, None, jitter(held.id, attempt.attempts));
    wait_until(tx, held, tx.now().plus_seconds(wait), reason, (attempt.unclear_attempts + 1, false)).await
}

async fn wait_until(
    tx: &Tx,
    held: Reservation,
    due: Timestamp,
    reason: &str,
    (unclear_attempts, is_uncounted): (u32, bool),
) -> Result<bool> {
    let counted = if is_uncounted { ", counted_on = NULL" } else { "" };
    let sql = format!(
        "UPDATE notification SET state = 'waiting', reason = ?3, due = ?4, doubts = ?5{counted} \
         WHERE account_id = ?1 AND id = ?2"
    );
    tx.execute(&sql, params![held.account, held.id, clean(reason), due, unclear_attempts]).await?;
    Ok(true)
}

/// Jitter from 0 to 1,000 that differs per message and attempt: the low bits of ids are random.
fn jitter(id: NotificationId, attempts: u32) -> u16 {
    let mixed =
        id.as_i64().unsigned_abs().wrapping_add(u64::from(attempts)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    u16::try_from((mixed >> 32) % 1_001).unwrap_or(0)
}

/// Records a provider's delivery receipt. A failure at this point is not uncounted, because the provider was paid.
pub(super) async fn record_receipt(tx: &Tx, channel: Channel, receipt: Receipt) -> Result<bool> {
    let reference = clean(&receipt.reference);
    // SMS centres reuse references: a receipt belongs to the latest message with it.
    let known = "(account_id, id) IN (SELECT account_id, id FROM notification \
                 WHERE channel = ?1 AND reference = ?2 AND state = 'sent' AND delivered_at IS NULL \
                   AND sent_at > ?4 ORDER BY sent_at DESC LIMIT 1)";
    let lately = tx.now().plus_millis(-RECEIPT_WITHIN_MS);
    let changed = match receipt.failure {
        None => {
            let sql = format!("UPDATE notification SET delivered_at = ?3 WHERE {known}");
            tx.execute(&sql, params![channel.name(), reference, tx.now(), lately]).await?
        }
        Some(failure) => {
            let sql = format!("UPDATE notification SET state = 'failed', reason = ?3 WHERE {known}");
            tx.execute(&sql, params![channel.name(), reference, clean(&failure), lately]).await?
        }
    };
    Ok(changed > 0)
}
