//! Reading messages in the scope of a caller.

use perigee_core::access::actor::Scope;
use perigee_core::devices::conversation::ConversationMessage;
use perigee_core::id::{ConversationMessageId, DeviceId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::row::{COLUMNS, from_row};
use crate::sql::query::{Query, for_ids};
use crate::sql::scope;
use crate::{Tx, params};

pub(super) fn select(scope: Scope) -> Query {
    let sql = format!("SELECT {COLUMNS} FROM conversation_message WHERE account_id = ?1");
    let mut query = Query::new(sql, params![scope.account]);
    scope::keep_devices(&mut query, scope, "device_id");
    query
}

pub(super) async fn list(
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

pub(super) async fn find(
    tx: &Tx,
    scope: Scope,
    id: ConversationMessageId,
) -> Result<Option<ConversationMessage>> {
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
