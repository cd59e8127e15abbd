//! Raw messages: stored in the transaction of what they say, listed newest first.

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage, RawMessage};
use perigee_core::gateways::message_contents::StoredContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::{AccountId, DeviceId, GatewayId, MessageId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use crate::sql::locations::Submission;
use crate::sql::query::{Query, insert_many};
use crate::sql::{column, scope};
use crate::{Row, Tx, Value, params};

/// Messages that one page examines; there is no index by device or result.
const EXAMINED_MAX: i64 = 5_000;
/// Bytes of a message that a list gives.
const LISTED_BYTES: i64 = 1_024;

macro_rules! insert {
    ($rest:literal) => {
        concat!(
            "INSERT INTO raw_message (account_id, id, received_at, device_id, source, peer, identifier, result, ",
            "error, bytes, gateway_id)",
            $rest
        )
    };
}

const HEAD: &str = insert!("");
/// On PostgreSQL, given an array for each column.
const INSERT_ARRAYS: &str = insert!(
    " SELECT * FROM unnest( \
        CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), CAST($5 AS TEXT[]), \
        CAST($6 AS TEXT[]), CAST($7 AS TEXT[]), CAST($8 AS TEXT[]), CAST($9 AS TEXT[]), CAST($10 AS BYTEA[]), \
        CAST($11 AS BIGINT[]))"
);

/// Stores the messages of a batch, given the results of what they say.
pub(in crate::sql) async fn append(
    tx: &Tx,
    submissions: &[Submission],
    results: &[Result<StoredContents>],
) -> Result<()> {
    let mut rows = Vec::new();
    for (submission, result) in submissions.iter().zip(results) {
        let Some(message) = &submission.message else { continue };
        let Some(result) = result_of(message, result) else { continue };
        let is_kept = match message.keep {
            Keep::Always => true,
            Keep::IfUsed => result.is_used(),
            Keep::Never => false,
        };
        if !is_kept {
            continue;
        }
        let device = (result != MessageResult::UnknownDevice).then_some(submission.device);
        rows.push(row(tx, submission.scope.account, device, message, result));
    }
    match tx.as_postgres() {
        Some(session) => Ok(session.insert_with_commit(INSERT_ARRAYS, rows).await?),
        None => insert_many(tx, HEAD, &rows, "").await.map(drop),
    }
}

/// Stores a message without locations: that of no device, of several, or a test of one.
pub(in crate::sql) async fn add(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    message: &NewMessage,
    result: MessageResult,
) -> Result<()> {
    tx.keep_device_cache_valid();
    insert_many(tx, HEAD, &[row(tx, account, device, message, result)], "").await?;
    Ok(())
}

/// Changes device, result and error of a message; gives whether it is still there.
pub(in crate::sql) async fn set_result(tx: &Tx, message: &RawMessage) -> Result<bool> {
    tx.keep_device_cache_valid();
    let sql =
        "UPDATE raw_message SET device_id = ?3, result = ?4, error = ?5 WHERE account_id = ?1 AND id = ?2";
    let error = message.error.as_ref().map(|error| text(error, NewMessage::ERROR_MAX));
    let values = params![message.account, message.id, message.device, message.result.name(), error];
    Ok(tx.execute(sql, values).await? > 0)
}

/// What became of a message whose contents had this result; `None` if it failed for a reason of the store.
fn result_of(message: &NewMessage, contents: &Result<StoredContents>) -> Option<MessageResult> {
    match contents {
        Ok(_) if message.error.is_some() => Some(MessageResult::Unparsable),
        Ok(stored) => Some(stored.result()),
        Err(StoreError::DeviceExpired(_)) => Some(MessageResult::ExpiredDevice),
        Err(StoreError::NotFound(_)) => Some(MessageResult::UnknownDevice),
        Err(_) => None,
    }
}

fn row(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    message: &NewMessage,
    result: MessageResult,
) -> Vec<Value> {
    // A number that another node has drawn too fails the batch; each message is then tried by itself with another.
    let id = MessageId::new(tx.ids(), tx.now());
    params![
        account,
        id,
        tx.now(),
        device,
        message.source,
        text(&message.peer, NewMessage::IDENTIFIER_MAX),
        message.identifier.as_ref().map(|name| text(name, NewMessage::IDENTIFIER_MAX)),
        result.name(),
        message.error.as_ref().map(|error| text(error, NewMessage::ERROR_MAX)),
        &message.bytes,
        message.gateway,
    ]
    .to_vec()
}

/// A sender's text as it can be stored: without NUL, and no longer than this.
fn text(sent: &str, most: usize) -> String {
    sent.chars().filter(|letter| *letter != '\0').take(most).collect()
}

/// The messages of a scope. Those of deleted devices are hidden.
fn visible(columns: &str, scope: Scope) -> Query {
    let mut query = Query::new(
        format!("SELECT {columns} FROM raw_message r WHERE r.account_id = ?1"),
        params![scope.account],
    );
    if scope.is_whole() {
        query.push(" AND (r.device_id IS NULL OR ");
    } else {
        query.push(" AND (");
    }
    query.push("EXISTS (SELECT 1 FROM device d WHERE d.account_id = r.account_id AND d.id = r.device_id");
    scope::keep_devices(&mut query, scope, "d.id");
    query.push("))");
    query
}

pub(in crate::sql) async fn list(
    tx: &Tx,
    scope: Scope,
    filter: MessageFilter,
    page: PageRequest,
) -> Result<Page<RawMessage>> {
    let before = page.after.unwrap_or(i64::MAX);
    let sql = "SELECT MIN(id) AS lowest, COUNT(*) AS examined FROM (SELECT id FROM raw_message \
               WHERE account_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3) AS part";
    let part = tx.query_one(sql, params![scope.account, before, EXAMINED_MAX]).await?;
    let Some(lowest) = part.opt_i64("lowest")? else { return Ok(Page { items: Vec::new(), next: None }) };
    let columns = format!(
        "r.account_id, r.id, r.received_at, r.device_id, r.source, r.peer, r.identifier, r.result, r.error, r.gateway_id, \
         LENGTH(r.bytes) AS size, SUBSTR(r.bytes, 1, {LISTED_BYTES}) AS bytes"
    );
    let mut query = visible(&columns, scope);
    query.push_with(" AND r.id < {}", before);
    query.push_with(" AND r.id >= {}", lowest);
    if let Some(device) = filter.device {
        query.push_with(" AND r.device_id = {}", device);
    }
    if let Some(result) = filter.result {
        query.push_with(" AND r.result = {}", result.name());
    }
    if let Some(source) = &filter.source {
        query.push_if_storable(" AND r.source = {}", source);
    }
    query.push_with(" ORDER BY r.id DESC LIMIT {}", i64::from(page.limit) + 1);
    let messages = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let mut page = Page::cut(messages, page.limit, |message| message.id.as_i64());
    if page.next.is_none() && part.i64("examined")? == EXAMINED_MAX {
        page.next = Some(lowest);
    }
    Ok(page)
}

pub(in crate::sql) async fn find(tx: &Tx, scope: Scope, id: MessageId) -> Result<Option<RawMessage>> {
    let columns = "r.account_id, r.id, r.received_at, r.device_id, r.source, r.peer, r.identifier, r.result, r.error, r.gateway_id, \
                   LENGTH(r.bytes) AS size, r.bytes";
    let mut query = visible(columns, scope);
    query.push_with(" AND r.id = {}", id);
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// The messages of an account after the first id and up to the second that were decoded, oldest first.
pub(in crate::sql) async fn decoded_between(
    tx: &Tx,
    account: AccountId,
    (after, to): (i64, i64),
) -> Result<Vec<RawMessage>> {
    let sql = "SELECT account_id, id, received_at, device_id, source, peer, identifier, result, error, gateway_id, \
                   LENGTH(bytes) AS size, bytes \
               FROM raw_message WHERE account_id = ?1 AND id > ?2 AND id <= ?3 AND result IN (?4, ?5) ORDER BY id";
    let (decoded, duplicate) = (MessageResult::Decoded.name(), MessageResult::Duplicate.name());
    let rows = tx.query(sql, params![account, after, to, decoded, duplicate]).await?;
    rows.iter().map(from_row).collect()
}

/// Bytes of a message, without reading them.
pub(in crate::sql) async fn size(tx: &Tx, scope: Scope, id: MessageId) -> Result<Option<u32>> {
    let mut query = visible("LENGTH(r.bytes) AS size", scope);
    query.push_with(" AND r.id = {}", id);
    Ok(query.row(tx).await?.map(|row| row.int("size")).transpose()?)
}

fn from_row(row: &Row) -> Result<RawMessage> {
    let result = MessageResult::named(row.str("result")?);
    Ok(RawMessage {
        id: MessageId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        received_at: row.timestamp("received_at")?,
        source: row.text("source")?,
        peer: row.text("peer")?,
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        identifier: row.opt_text("identifier")?,
        result: result.ok_or_else(|| column::unreadable("result", "not a result of a message"))?,
        error: row.opt_text("error")?,
        size: row.int("size")?,
        bytes: row.bytes("bytes")?,
        gateway: row.opt_i64("gateway_id")?.map(GatewayId::from_i64),
    })
}
