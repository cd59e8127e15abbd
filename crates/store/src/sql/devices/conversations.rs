//! Conversations with devices: texts in both directions, and what users have read. Every new message and every change
//! of a state appends an event.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::command::{Command, CommandState};
use perigee_core::devices::conversation::{
    Carrier, Conversation, ConversationMessage, Direction, NewOutgoing, NewText, OutgoingText, TextEnd,
    TextKind, TextState,
};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, CommandId, ConversationMessageId, DeviceId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Additions, Conversations, Queue, Result};
use sha2::{Digest as _, Sha256};

use super::{commands, conversation_work};
use crate::forward::forward;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::query::{Query, for_ids};
use crate::sql::{access::audit, accounts, column, idempotency, ids, plans, scope};
use crate::{Row, Tx, params};

pub(super) const COLUMNS: &str = "account_id, id, device_id, direction, kind, body, time, received_at, latitude, \
                                  longitude, link, created_by, state, changed_at, deadline, reference, error, \
                                  command_id, ordinal";

pub(super) fn from_row(row: &Row) -> Result<ConversationMessage> {
    let (direction, kind, state) = (row.text("direction")?, row.text("kind")?, row.text("state")?);
    let latitude = row.opt_int("latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("longitude")?.map(Longitude::from_e7);
    Ok(ConversationMessage {
        id: ConversationMessageId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        direction: Direction::named(&direction)
            .ok_or_else(|| column::unreadable("direction", "not a direction"))?,
        kind: TextKind::named(&kind).ok_or_else(|| column::unreadable("kind", "not a kind of message"))?,
        text: row.text("body")?,
        time: row.timestamp("time")?,
        received_at: row.timestamp("received_at")?,
        position: latitude.zip(longitude),
        link: row.opt_text("link")?,
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        state: TextState::named(&state)
            .ok_or_else(|| column::unreadable("state", "not a state of a message"))?,
        changed_at: row.timestamp("changed_at")?,
        deadline: row.opt_timestamp("deadline")?,
        reference: row.opt_text("reference")?,
        error: row.opt_text("error")?,
        command: row.opt_i64("command_id")?.map(CommandId::from_i64),
    })
}

/// Text in the form that a column can store, without control characters that no reader shows.
fn cleaned(text: &str) -> String {
    let is_kept = |letter: &char| *letter == '\n' || !letter.is_control();
    let kept: String = text.chars().filter(is_kept).take(ConversationMessage::TEXT_MAX).collect();
    kept.trim().to_owned()
}

/// A reference or an error in the form that a column can store.
pub(super) fn note(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(ConversationMessage::NOTE_MAX).collect()
}

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

/// Appends an event about a message in its present state.
pub(super) async fn announce(tx: &Tx, kind: EventKind, message: &ConversationMessage) -> Result<()> {
    // The state as it was: the message read with the event may have changed since.
    let data = serde_json::json!({ "state": message.state.name() }).to_string();
    let event = NewEvent { subject: message.id.to_string(), device: Some(message.device), data };
    append_events(tx, message.account, kind, vec![event]).await
}

/// How many texts of a device have ever arrived.
async fn received_count(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    let sql = "SELECT received_count FROM conversation WHERE account_id = ?1 AND device_id = ?2";
    let row = tx.query_opt(sql, params![account, device]).await?;
    row.map_or(Ok(0), |row| Ok(row.i64("received_count")?))
}

/// Records that a message is the newest of its device.
async fn count_in(
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
             WHERE account_id = ?1 AND device_id = ?2 AND direction = 'out' AND kind = 'text' \
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

pub(in crate::sql) async fn send(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    new: NewOutgoing,
    once: Option<IdempotencyKey>,
) -> Result<Created<ConversationMessage>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    scope::require_device(tx, actor.scope, device).await?;
    if let Some(made) = idempotency::find::<ConversationMessageId>(tx, account, once.as_ref()).await? {
        let made = find(tx, actor.scope, made).await?;
        return Ok(Created::Before(made.ok_or(StoreError::NotFound(Kind::ConversationMessage))?));
    }
    let sql = "SELECT COUNT(*) AS count FROM conversation_message WHERE account_id = ?1 AND device_id = ?2 \
               AND state IN ('queued', 'sending')";
    let waiting = tx.query_one(sql, params![account, device]).await?.i64("count")?;
    let most = ConversationMessage::QUEUED_MAX;
    if waiting >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::ConversationMessage, most });
    }
    let (mut command, mut gateway) = (None, None);
    let (mut link, mut to) = (None, None);
    match new.carrier {
        Carrier::Command(order) => {
            command = Some(commands::queue(tx, &actor, account, device, order).await?.id);
        }
        Carrier::Gateway { gateway: by, feed, address } => {
            check_billed(tx, account, device).await?;
            (gateway, link, to) = (Some(by), Some(feed), Some(address));
        }
    }
    let ordinal = received_count(tx, account, device).await?;
    let id = ids::next_id(tx, "conversation_message", account).await?;
    let sql = format!(
        "INSERT INTO conversation_message (account_id, id, device_id, direction, kind, body, time, received_at, \
             link, ordinal, created_by, state, changed_at, deadline, command_id, gateway_id, address, billed, due) \
         VALUES (?1, ?2, ?3, 'out', ?4, ?5, ?6, ?6, ?7, ?8, ?9, 'queued', ?6, ?10, ?11, ?12, ?13, ?14, ?6) \
         RETURNING {COLUMNS}"
    );
    let values = params![
        account,
        id,
        device,
        new.kind.name(),
        cleaned(&new.text),
        tx.now(),
        link,
        ordinal,
        actor.origin.user,
        new.deadline,
        command,
        gateway,
        to,
        gateway.is_some()
    ];
    let message = from_row(&tx.query_one(&sql, values).await?)?;
    count_in(tx, (account, device), id, ordinal).await?;
    announce(tx, EventKind::ConversationSent, &message).await?;
    audit::record(tx, account, &actor.origin, "conversation.send", Some(message.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &message.id).await?;
    if gateway.is_some() {
        tx.mark(Additions::to_queue(Queue::Texts));
    }
    Ok(Created::Now(message))
}

/// Refuses a message beyond what may be billed for the device or the account. A message that was cancelled, or that
/// expired, costs nothing.
async fn check_billed(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let since = tx.now().plus_millis(-ConversationMessage::BILLED_WITHIN_MS);
    let sql = "SELECT COUNT(*) AS of_account, \
                   COALESCE(SUM(CASE WHEN device_id = ?2 THEN 1 ELSE 0 END), 0) AS of_device \
               FROM conversation_message WHERE account_id = ?1 AND billed AND received_at > ?3 \
               AND state NOT IN ('cancelled', 'expired')";
    let row = tx.query_one(sql, params![account, device, since]).await?;
    let limits = [
        (row.i64("of_device")?, Kind::Device, ConversationMessage::BILLED_DEVICE_MAX),
        (row.i64("of_account")?, Kind::Account, ConversationMessage::BILLED_ACCOUNT_MAX),
    ];
    for (count, kind, most) in limits {
        if count >= i64::from(most) {
            return Err(StoreError::TooManyBilled { kind, most });
        }
    }
    Ok(())
}

fn select(scope: Scope) -> Query {
    let sql = format!("SELECT {COLUMNS} FROM conversation_message WHERE account_id = ?1");
    let mut query = Query::new(sql, params![scope.account]);
    scope::keep_devices(&mut query, scope, "device_id");
    query
}

async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    page: PageRequest,
) -> Result<Page<ConversationMessage>> {
    let mut query = select(scope);
    query.push_with(" AND device_id = {}", device);
    query.push_with(" AND id < {}", page.after.unwrap_or(i64::MAX));
    query.push_with(" ORDER BY id DESC LIMIT {}", i64::from(page.limit) + 1);
    let messages = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(messages, page.limit, |message| message.id.as_i64()))
}

async fn find(tx: &Tx, scope: Scope, id: ConversationMessageId) -> Result<Option<ConversationMessage>> {
    let mut query = select(scope);
    query.push_with(" AND id = {}", id);
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// The messages with these ids in the scope, for events about them.
pub(in crate::sql) async fn find_many(
    tx: &Tx,
    scope: Scope,
    ids: &[i64],
) -> Result<Vec<ConversationMessage>> {
    let sql = format!("SELECT {COLUMNS} FROM conversation_message WHERE account_id = ?1 AND id IN ({{ids}})");
    let rows = for_ids(tx, &sql, params![scope.account], ids).await?;
    let messages = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let devices = messages.iter().map(|message| message.device).collect();
    let visible = scope::visible_devices(tx, scope, devices).await?;
    Ok(messages.into_iter().filter(|message| visible.contains(&message.device)).collect())
}

async fn cancel(tx: &Tx, actor: Actor, id: ConversationMessageId) -> Result<ConversationMessage> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let missing = || StoreError::NotFound(Kind::ConversationMessage);
    let found = find(tx, actor.scope, id).await?.ok_or_else(missing)?;
    if found.state != TextState::Queued {
        return Err(StoreError::TextNotQueued(found.state));
    }
    if let Some(command) = found.command {
        commands::withdraw(tx, account, command).await?;
    } else {
        let sql = format!(
            "UPDATE conversation_message SET state = 'cancelled', changed_at = ?3, due = NULL \
             WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
        );
        let row = tx.query_one(&sql, params![account, id, tx.now()]).await?;
        announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    }
    audit::record(tx, account, &actor.origin, "conversation.cancel", Some(id.to_string())).await?;
    find(tx, actor.scope, id).await?.ok_or_else(missing)
}

/// Gives the message that a command carries the state of the command, which has just changed.
pub(super) async fn follow(tx: &Tx, command: &Command) -> Result<()> {
    let state = match command.state {
        CommandState::Queued => TextState::Queued,
        CommandState::Sent => TextState::HandedOver,
        CommandState::Answered => TextState::Delivered,
        CommandState::Failed if command.error.as_deref() == Some(commands::CANCELLED) => TextState::Cancelled,
        CommandState::Failed => TextState::Failed,
        CommandState::Expired => TextState::Expired,
    };
    let sql = format!(
        "UPDATE conversation_message SET state = ?3, changed_at = ?4, link = COALESCE(?5, link), reference = ?6, \
             error = ?7 WHERE account_id = ?1 AND command_id = ?2 AND state <> 'answered' RETURNING {COLUMNS}"
    );
    let error = command.error.as_deref().filter(|_| state == TextState::Failed);
    let values = params![
        command.account,
        command.id,
        state.name(),
        tx.now(),
        command.protocol.as_deref(),
        command.answer.as_deref(),
        error
    ];
    if let Some(row) = tx.query_opt(&sql, values).await? {
        announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    }
    Ok(())
}

/// A query for conversations as this user sees them.
fn select_conversations(scope: Scope, user: Option<UserId>) -> Query {
    let sql = "SELECT c.device_id AS conversation_of, c.newest_id, \
                   c.received_count - COALESCE(r.read_count, 0) AS unread \
               FROM conversation c LEFT JOIN conversation_read r ON r.account_id = c.account_id \
                   AND r.device_id = c.device_id AND r.user_id = ?2 \
               WHERE c.account_id = ?1";
    let user = user.unwrap_or_else(|| UserId::from_i64(0));
    let mut query = Query::new(sql, params![scope.account, user]);
    scope::keep_devices(&mut query, scope, "c.device_id");
    query
}

/// Reads conversations with their newest messages.
async fn read_conversations(tx: &Tx, scope: Scope, query: &Query) -> Result<Vec<Conversation>> {
    let rows = query.rows(tx).await?;
    let newest = rows.iter().map(|row| Ok(row.i64("newest_id")?)).collect::<Result<Vec<i64>>>()?;
    let newest = find_many(tx, scope, &newest).await?;
    let mut conversations = Vec::with_capacity(rows.len());
    for row in &rows {
        let device = DeviceId::from_i64(row.i64("conversation_of")?);
        let Some(newest) = newest.iter().find(|message| message.device == device) else { continue };
        let unread = u64::try_from(row.i64("unread")?).unwrap_or(0);
        conversations.push(Conversation { device, newest: newest.clone(), unread });
    }
    Ok(conversations)
}

async fn list_conversations(
    tx: &Tx,
    scope: Scope,
    user: Option<UserId>,
    page: PageRequest,
) -> Result<Page<Conversation>> {
    let mut query = select_conversations(scope, user);
    query.push_with(" AND c.device_id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY c.device_id LIMIT {}", i64::from(page.limit) + 1);
    let conversations = read_conversations(tx, scope, &query).await?;
    Ok(Page::cut(conversations, page.limit, |conversation| conversation.device.as_i64()))
}

async fn find_conversation(
    tx: &Tx,
    scope: Scope,
    user: Option<UserId>,
    device: DeviceId,
) -> Result<Option<Conversation>> {
    let mut query = select_conversations(scope, user);
    query.push_with(" AND c.device_id = {}", device);
    Ok(read_conversations(tx, scope, &query).await?.pop())
}

async fn mark_read(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    up_to: Option<ConversationMessageId>,
) -> Result<u64> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    scope::require_device(tx, actor.scope, device).await?;
    let ordinal = match up_to {
        Some(up_to) => {
            let mut query = select(actor.scope);
            query.push_with(" AND id = {}", up_to);
            query.push_with(" AND device_id = {}", device);
            let row = query.row(tx).await?;
            row.ok_or(StoreError::NotFound(Kind::ConversationMessage))?.i64("ordinal")?
        }
        None => received_count(tx, account, device).await?,
    };
    if let Some(user) = actor.origin.user {
        let sql = "INSERT INTO conversation_read (account_id, user_id, device_id, read_count) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (account_id, user_id, device_id) DO UPDATE SET read_count = \
                       CASE WHEN excluded.read_count > conversation_read.read_count THEN excluded.read_count \
                            ELSE conversation_read.read_count END";
        tx.execute(sql, params![account, user, device, ordinal]).await?;
    }
    let conversation = find_conversation(tx, actor.scope, actor.origin.user, device).await?;
    Ok(conversation.map_or(0, |conversation| conversation.unread))
}

forward! {
    impl Conversations for Database {
        write send_text(
            &self, &actor: Actor, device: DeviceId, new: NewOutgoing, once: Option<IdempotencyKey>
        ) -> Created<ConversationMessage> = send;
        read list_conversation(&self, scope: Scope, device: DeviceId, page: PageRequest)
            -> Page<ConversationMessage> = list;
        read find_text(&self, scope: Scope, id: ConversationMessageId) -> Option<ConversationMessage> = find;
        write cancel_text(&self, &actor: Actor, id: ConversationMessageId) -> ConversationMessage = cancel;
        read list_conversations(&self, scope: Scope, user: Option<UserId>, page: PageRequest)
            -> Page<Conversation> = list_conversations;
        read find_conversation(&self, scope: Scope, user: Option<UserId>, device: DeviceId)
            -> Option<Conversation> = find_conversation;
        write mark_conversation_read(&self, &actor: Actor, device: DeviceId, up_to: Option<ConversationMessageId>)
            -> u64 = mark_read;
        run lease_texts(&self, limit: u32, lease_ms: i64) -> Vec<OutgoingText> = conversation_work::lease;
        write settle_text(&self, &leased: OutgoingText, end: TextEnd) -> bool = conversation_work::settle;
        run end_overdue_texts(&self, limit: u32) -> u32 = conversation_work::end_overdue;
    }
}
