//! Raw messages: stored in the transaction of their content, listed newest first.

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage, RawMessage};
use perigee_core::gateways::message_contents::{RequestMessage, StoredContents};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::{AccountId, DeviceId, GatewayId, MessageId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::message_devices;
use crate::batch_statement::BatchStatement;
use crate::sql::alerts::sos_outbox;
use crate::sql::locations::Submission;
use crate::sql::query::{Query, insert_many};
use crate::sql::{column, scope};
use crate::{Row, Tx, Value, params};

/// Maximum number of messages that one page examines; there is no index by device or result.
const EXAMINED_MAX: i64 = 5_000;
/// Bytes of a message that a list contains.
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
/// Inserts rows on PostgreSQL, given an array for each column.
const INSERT_ARRAYS: BatchStatement = BatchStatement {
    any_account: insert!(
        " SELECT * FROM unnest( \
            CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
            CAST($5 AS TEXT[]), CAST($6 AS TEXT[]), CAST($7 AS TEXT[]), CAST($8 AS TEXT[]), CAST($9 AS TEXT[]), \
            CAST($10 AS BYTEA[]), CAST($11 AS BIGINT[]))"
    ),
    one_account: insert!(
        " SELECT a.id, w.* FROM account a CROSS JOIN unnest( \
            CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
            CAST($5 AS TEXT[]), CAST($6 AS TEXT[]), CAST($7 AS TEXT[]), CAST($8 AS TEXT[]), CAST($9 AS TEXT[]), \
            CAST($10 AS BYTEA[]), CAST($11 AS BIGINT[])) w \
        WHERE a.id = (CAST($1 AS BIGINT[]))[1]"
    ),
};

/// Stores the messages of a batch, given the results of their content.
pub(in crate::sql) async fn append(
    tx: &Tx,
    submissions: &[Submission],
    results: &[Result<StoredContents>],
) -> Result<()> {
    let mut rows = Vec::new();
    for (submission, result) in submissions.iter().zip(results) {
        let Some(message) = &submission.message else { continue };
        let Some(result) = result_of(message, result) else { continue };
        if !is_kept(message, result) {
            continue;
        }
        let device = (result != MessageResult::UnknownDevice).then_some(submission.device);
        let id = MessageId::new(tx.ids(), tx.now());
        rows.push(row(tx, (submission.scope.account, id), device, message, result));
    }
    match tx.as_postgres() {
        Some(session) => {
            Ok(session.insert_with_commit(INSERT_ARRAYS.of(session.is_distributed()), rows).await?)
        }
        None => insert_many(tx, HEAD, &rows, "").await.map(drop),
    }
}

/// Whether a message with this result is stored itself.
const fn is_kept(message: &NewMessage, result: MessageResult) -> bool {
    match message.keep {
        Keep::Always => true,
        Keep::IfUsed => result.is_used(),
        Keep::Never => false,
    }
}

/// Stores the message of a request, with the devices that report in it, and records the SOS of unknown ones.
pub(in crate::sql) async fn add(tx: &Tx, account: AccountId, request: &RequestMessage) -> Result<()> {
    let RequestMessage { message, result, devices, sos } = request;
    sos_outbox::record(tx, Some(account), sos.iter().cloned()).await?;
    if !is_kept(message, *result) {
        return Ok(());
    }
    let id = MessageId::new(tx.ids(), tx.now());
    insert_many(tx, HEAD, &[row(tx, (account, id), devices.only(), message, *result)], "").await?;
    message_devices::add(tx, account, id, devices.several()).await
}

/// Changes device, result and error of a message, and adds to its devices; returns whether it is still there.
pub(in crate::sql) async fn set_result(tx: &Tx, message: &RawMessage) -> Result<bool> {
    let sql =
        "UPDATE raw_message SET device_id = ?3, result = ?4, error = ?5 WHERE account_id = ?1 AND id = ?2";
    let error = message.error.as_ref().map(|error| text(error, NewMessage::ERROR_MAX));
    let values = params![message.account, message.id, message.device, message.result.name(), error];
    let is_there = tx.execute(sql, values).await? > 0;
    if is_there {
        message_devices::add(tx, message.account, message.id, &message.devices).await?;
    }
    Ok(is_there)
}

/// The result of a message whose contents had this result; `None` if the store itself failed.
fn result_of(message: &NewMessage, contents: &Result<StoredContents>) -> Option<MessageResult> {
    match contents {
        Ok(_) if message.error.is_some() => Some(MessageResult::Unparsable),
        Ok(stored) => Some(stored.result()),
        Err(StoreError::DeviceExpired(_)) => Some(MessageResult::ExpiredDevice),
        Err(StoreError::NotFound(_)) => Some(MessageResult::UnknownDevice),
        Err(_) => None,
    }
}

/// The row of a message. If another node has drawn the same id, the batch fails, and each message is tried alone with
/// another id.
fn row(
    tx: &Tx,
    (account, id): (AccountId, MessageId),
    device: Option<DeviceId>,
    message: &NewMessage,
    result: MessageResult,
) -> Vec<Value> {
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

/// A sender's text in the form that can be stored: without NUL, and truncated.
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
    query.push("EXISTS (SELECT 1 FROM device d WHERE d.account_id = ?1 AND d.id = r.device_id");
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
         LENGTH(r.bytes) AS size, SUBSTR(r.bytes, 1, {LISTED_BYTES}) AS bytes, {}",
        message_devices::column(Some(message_devices::LISTED))
    );
    let mut query = visible(&columns, scope);
    query.push_with(" AND r.id < {}", before);
    query.push_with(" AND r.id >= {}", lowest);
    if let Some(device) = filter.device {
        message_devices::keep(&mut query, device, (lowest, before));
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
    let columns = format!(
        "r.account_id, r.id, r.received_at, r.device_id, r.source, r.peer, r.identifier, r.result, r.error, r.gateway_id, \
         LENGTH(r.bytes) AS size, r.bytes, {}",
        message_devices::column(None)
    );
    let mut query = visible(&columns, scope);
    query.push_with(" AND r.id = {}", id);
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// The decoded messages of an account after the first id and up to the second, oldest first. The devices of messages
/// with several devices are not read.
pub(in crate::sql) async fn decoded_between(
    tx: &Tx,
    account: AccountId,
    (after, to): (i64, i64),
) -> Result<Vec<RawMessage>> {
    let sql = "SELECT account_id, id, received_at, device_id, source, peer, identifier, result, error, gateway_id, \
                   LENGTH(bytes) AS size, bytes, CAST(NULL AS TEXT) AS devices \
               FROM raw_message WHERE account_id = ?1 AND id > ?2 AND id <= ?3 AND result IN (?4, ?5) ORDER BY id";
    let (decoded, duplicate) = (MessageResult::Decoded.name(), MessageResult::Duplicate.name());
    let rows = tx.query(sql, params![account, after, to, decoded, duplicate]).await?;
    rows.iter().map(from_row).collect()
}

/// The size of a message in bytes, without reading them.
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
        devices: message_devices::read(row)?,
        identifier: row.opt_text("identifier")?,
        result: result.ok_or_else(|| column::unreadable("result", "not a result of a message"))?,
        error: row.opt_text("error")?,
        size: row.int("size")?,
        bytes: row.bytes("bytes")?,
        gateway: row.opt_i64("gateway_id")?.map(GatewayId::from_i64),
    })
}
