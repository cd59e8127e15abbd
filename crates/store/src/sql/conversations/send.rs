//! Messages of users to devices: queued in order, all of a request or none, within the caps.

use perigee_core::access::actor::Actor;
use perigee_core::devices::conversation::{Carrier, ConversationMessage, NewOutgoing};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, ConversationMessageId, DeviceId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::store::{Additions, Queue, Result};
use serde::{Deserialize, Serialize};

use super::read::find;
use super::receive::{count_in, received_count};
use super::row::{COLUMNS, announce, cleaned, from_row};
use crate::sql::devices::commands;
use crate::sql::{access::audit, accounts, idempotency, ids, scope};
use crate::{Tx, params};

/// The messages that a request made. Versions before texts could be split stored the ID of one.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Made {
    One(ConversationMessageId),
    Parts(Vec<ConversationMessageId>),
}

impl Made {
    fn into_ids(self) -> Vec<ConversationMessageId> {
        match self {
            Self::One(id) => vec![id],
            Self::Parts(ids) => ids,
        }
    }
}

pub(in crate::sql) async fn send(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    new: Vec<NewOutgoing>,
    once: Option<IdempotencyKey>,
) -> Result<Created<Vec<ConversationMessage>>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    scope::require_device(tx, actor.scope, device).await?;
    if let Some(made) = idempotency::find::<Made>(tx, account, once.as_ref()).await? {
        let mut messages = Vec::new();
        for id in made.into_ids() {
            let message = find(tx, actor.scope, id).await?;
            messages.push(message.ok_or(StoreError::NotFound(Kind::ConversationMessage))?);
        }
        return Ok(Created::Before(messages));
    }
    let count = i64::try_from(new.len()).unwrap_or(i64::MAX);
    let sql = "SELECT COUNT(*) AS count FROM conversation_message WHERE account_id = ?1 AND device_id = ?2 \
               AND state IN ('queued', 'sending')";
    let waiting = tx.query_one(sql, params![account, device]).await?.i64("count")?;
    let most = ConversationMessage::QUEUED_MAX;
    if waiting.saturating_add(count) > i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::ConversationMessage, most });
    }
    let is_billed = |one: &NewOutgoing| matches!(one.carrier, Carrier::Gateway { .. });
    let billed = i64::try_from(new.iter().filter(|one| is_billed(one)).count()).unwrap_or(i64::MAX);
    if billed > 0 {
        check_billed(tx, account, device, billed).await?;
    }
    let ordinal = received_count(tx, account, device).await?;
    let mut messages = Vec::with_capacity(new.len());
    for one in new {
        messages.push(queue(tx, &actor, account, (device, ordinal), one).await?);
    }
    if let Some(newest) = messages.last() {
        count_in(tx, (account, device), newest.id.as_i64(), ordinal).await?;
    }
    let made = Made::Parts(messages.iter().map(|message| message.id).collect());
    idempotency::keep(tx, account, once.as_ref(), &made).await?;
    if billed > 0 {
        tx.mark(Additions::to_queue(Queue::Texts));
    }
    Ok(Created::Now(messages))
}

/// Stores one message. `ordinal` is the number of texts that the device has sent.
async fn queue(
    tx: &Tx,
    actor: &Actor,
    account: AccountId,
    (device, ordinal): (DeviceId, i64),
    new: NewOutgoing,
) -> Result<ConversationMessage> {
    let (mut command, mut gateway) = (None, None);
    let (mut link, mut to) = (None, None);
    match new.carrier {
        Carrier::Command(order) => {
            command = Some(commands::queue(tx, actor, account, device, order).await?.id);
        }
        Carrier::Gateway { gateway: by, feed, address } => {
            (gateway, link, to) = (Some(by), Some(feed), Some(address));
        }
    }
    let id = ids::next_id(tx, "conversation_message", account).await?;
    let sql = format!(
        "INSERT INTO conversation_message (account_id, id, device_id, direction, kind, body, time, received_at, \
             link, ordinal, created_by, state, changed_at, deadline, command_id, gateway_id, address, billed, due, \
             interval_s) \
         VALUES (?1, ?2, ?3, 'out', ?4, ?5, ?6, ?6, ?7, ?8, ?9, 'queued', ?6, ?10, ?11, ?12, ?13, ?14, ?6, ?15) \
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
        gateway.is_some(),
        new.interval_s
    ];
    let message = from_row(&tx.query_one(&sql, values).await?)?;
    announce(tx, EventKind::ConversationSent, &message).await?;
    audit::record(tx, account, &actor.origin, "conversation.send", Some(message.id.to_string())).await?;
    Ok(message)
}

/// Refuses this many messages beyond what may be billed for the device or the account. Cancelled and expired messages
/// are not billed and do not count.
async fn check_billed(tx: &Tx, account: AccountId, device: DeviceId, more: i64) -> Result<()> {
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
        if count.saturating_add(more) > i64::from(most) {
            return Err(StoreError::TooManyBilled { kind, most });
        }
    }
    Ok(())
}
