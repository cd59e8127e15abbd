//! Conversations as a user sees them: the newest message of each, and how many texts the user has not read.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::conversation::Conversation;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{ConversationMessageId, DeviceId, UserId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::read::{find_many, select};
use super::receive::received_count;
use crate::sql::query::Query;
use crate::sql::{accounts, scope};
use crate::{Tx, params};

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

pub(super) async fn list_conversations(
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

pub(super) async fn find_conversation(
    tx: &Tx,
    scope: Scope,
    user: Option<UserId>,
    device: DeviceId,
) -> Result<Option<Conversation>> {
    let mut query = select_conversations(scope, user);
    query.push_with(" AND c.device_id = {}", device);
    Ok(read_conversations(tx, scope, &query).await?.pop())
}

pub(super) async fn mark_read(
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
