//! Texts of devices: each is stored once, counted, and answers the message before it.

use perigee_core::devices::conversation::{ConversationMessage, NewText};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::store::Result;
use sha2::{Digest as _, Sha256};

use super::row::{COLUMNS, announce, cleaned, from_row};
use crate::sql::{ids, plans};
use crate::{Tx, params};

/// What is the same when a device or a network sends a text again: the text and its time to the second, because feeds
/// of one provider differ in their precision; or else the provider's number. None if it has neither.
fn digest(new: &NewText, text: &str) -> Option<Vec<u8>> {
    let mut hasher = Sha256::new();
    match &new.key {
        _ if new.is_dated => hasher.update(new.time.as_seconds().to_le_bytes()),
        Some(key) => {
            hasher.update(new.source.as_bytes());
            hasher.update([0]);
            hasher.update(key.as_bytes());
            hasher.update([0]);
        }
        None => return None,
    }
    hasher.update(text.as_bytes());
    Some(hasher.finalize().to_vec())
}

/// How many texts of a device have ever arrived.
pub(super) async fn received_count(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    let sql = "SELECT received_count FROM conversation WHERE account_id = ?1 AND device_id = ?2";
    let row = tx.query_opt(sql, params![account, device]).await?;
    row.map_or(Ok(0), |row| Ok(row.i64("received_count")?))
}

/// Records that a message is the newest of its device.
pub(super) async fn count_in(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    newest: i64,
    received: i64,
) -> Result<()> {
    let sql = "INSERT INTO conversation (account_id, device_id, received_count, newest_id) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (account_id, device_id) DO UPDATE SET received_count = excluded.received_count, \
                   newest_id = excluded.newest_id";
    tx.execute(sql, params![account, device, received, newest]).await?;
    delete_old(tx, account, device).await
}

/// Deletes messages of a device beyond the newest ones, except those that wait.
async fn delete_old(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "DELETE FROM conversation_message WHERE account_id = ?1 AND device_id = ?2 \
               AND state NOT IN ('queued', 'sending') AND id < \
               (SELECT id FROM conversation_message WHERE account_id = ?1 AND device_id = ?2 \
                ORDER BY id DESC LIMIT 1 OFFSET ?3)";
    tx.execute(sql, params![account, device, i64::from(ConversationMessage::KEPT_MAX) - 1]).await?;
    Ok(())
}

/// Stores a text of a device that exists, whose account is locked. Returns whether it is new.
pub(in crate::sql) async fn receive(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    new: &NewText,
) -> Result<bool> {
    let text = cleaned(&new.text);
    let digest = digest(new, &text);
    if text.is_empty() || (digest.is_none() && was_received(tx, (account, device), new, &text).await?) {
        return Ok(false);
    }
    let ordinal = received_count(tx, account, device).await? + 1;
    // Users read messages in the order of their ids.
    let id = ids::next_id(tx, "conversation_message", account).await?;
    let sql = format!(
        "INSERT INTO conversation_message (account_id, id, device_id, direction, kind, body, time, received_at, \
             latitude, longitude, link, digest, ordinal, state, changed_at, billed) \
         VALUES (?1, ?2, ?3, 'in', 'text', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'received', ?6, ?12) \
         ON CONFLICT (account_id, device_id, digest) DO NOTHING RETURNING {COLUMNS}"
    );
    let (latitude, longitude) = new.position.unzip();
    let values = params![
        account,
        id,
        device,
        &text,
        new.time,
        tx.now(),
        latitude.map(Latitude::as_e7),
        longitude.map(Longitude::as_e7),
        new.source,
        digest,
        ordinal,
        false
    ];
    let Some(row) = tx.query_opt(&sql, values).await? else { return Ok(false) };
    let message = from_row(&row)?;
    count_in(tx, (account, device), id, ordinal).await?;
    announce(tx, EventKind::ConversationReceived, &message).await?;
    mark_answered(tx, &message).await?;
    plans::device_heard(tx, account, device).await?;
    Ok(true)
}

/// Whether the same text arrived shortly before or after, so that it is a repetition of what was not acknowledged.
async fn was_received(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    new: &NewText,
    text: &str,
) -> Result<bool> {
    let sql = "SELECT id FROM conversation_message WHERE account_id = ?1 AND device_id = ?2 AND direction = 'in' \
               AND digest IS NULL AND link = ?3 AND body = ?4 AND time BETWEEN ?5 AND ?6 LIMIT 1";
    let within = ConversationMessage::RESENT_WITHIN_MS;
    let (from, to) = (new.time.plus_millis(-within), new.time.plus_millis(within));
    Ok(tx.query_opt(sql, params![account, device, new.source, text, from, to]).await?.is_some())
}

/// A text of a device answers the newest text that was handed over before it by the same provider.
async fn mark_answered(tx: &Tx, answer: &ConversationMessage) -> Result<()> {
    let provider = answer.link.as_deref().and_then(|link| link.split('-').next()).unwrap_or_default();
    let sql = format!(
        "UPDATE conversation_message SET state = 'answered', changed_at = ?6 \
         WHERE account_id = ?1 AND id = (SELECT id FROM conversation_message \
             WHERE account_id = ?1 AND device_id = ?2 AND direction = 'out' \
             AND kind IN ('text', 'emergencyMessage') \
             AND link IN (?3, ?7) \
             AND state IN ('handedOver', 'delivered', 'unclear') AND changed_at <= ?4 AND changed_at > ?5 \
             ORDER BY id DESC LIMIT 1) RETURNING {COLUMNS}"
    );
    let since = answer.time.plus_millis(-ConversationMessage::ANSWER_WITHIN_MS);
    let values = params![
        answer.account,
        answer.device,
        provider,
        answer.time,
        since,
        tx.now(),
        answer.link.as_deref()
    ];
    if let Some(row) = tx.query_opt(&sql, values).await? {
        announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    }
    Ok(())
}
