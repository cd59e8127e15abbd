//! Listing messages, and sending one again.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AlertId, DeviceId, NotificationId};
use perigee_core::notifications::notification::{Notification, NotificationFilter, NotificationState};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Additions, Queue, Result};

use crate::sql::query::Query;
use crate::sql::{access::audit, column, scope};
use crate::{Row, Tx, params};

const SELECT: &str = "\
    SELECT n.id, n.device_id, n.alert_id, n.name, n.critical, n.step, n.channel, n.address, n.preferences, n.state, \
        n.reason, n.attempts, n.due, n.counted_on, n.segments, n.reference, n.created, n.sent_at, n.delivered_at \
    FROM notification n WHERE n.account_id = ?1";

fn from_row(row: &Row) -> Result<Notification> {
    Ok(Notification {
        id: NotificationId::from_i64(row.i64("id")?),
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        alert: row.opt_i64("alert_id")?.map(AlertId::from_i64),
        name: row.text("name")?,
        critical: row.bool("critical")?,
        step: row.int("step")?,
        channel: column::parsed(row, "channel")?,
        address: row.text("address")?,
        preferences: column::json(row, "preferences")?,
        state: column::parsed(row, "state")?,
        reason: row.opt_text("reason")?,
        attempts: row.int("attempts")?,
        due: row.opt_timestamp("due")?,
        counted_on: row.opt_text("counted_on")?,
        segments: row.int("segments")?,
        reference: row.opt_text("reference")?,
        created: row.timestamp("created")?,
        sent_at: row.opt_timestamp("sent_at")?,
        delivered_at: row.opt_timestamp("delivered_at")?,
    })
}

/// Starts a query over the messages about visible devices.
fn select(scope: Scope) -> Query {
    let mut query = Query::new(SELECT, params![scope.account]);
    scope::keep_devices(&mut query, scope, "n.device_id");
    query
}

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    filter: NotificationFilter,
    page: PageRequest,
) -> Result<Page<Notification>> {
    let mut query = select(scope);
    if let Some(device) = filter.device {
        query.push_with(" AND n.device_id = {}", device);
    }
    if let Some(alert) = filter.alert {
        query.push_with(" AND n.alert_id = {}", alert);
    }
    if let Some(state) = filter.state {
        query.push_with(" AND n.state = {}", state.name());
    }
    if let Some(channel) = filter.channel {
        query.push_with(" AND n.channel = {}", channel.name());
    }
    if let Some(from) = filter.from {
        query.push_with(" AND n.created >= {}", from);
        // Ids follow the clock (`IdSource`), so that the index bounds the scan.
        query.push_with(" AND n.id >= {}", NotificationId::first_at(from));
    }
    if let Some(to) = filter.to {
        query.push_with(" AND n.created <= {}", to);
    }
    query.push_with(" AND n.id < {}", page.after.unwrap_or(i64::MAX));
    query.push_with(" ORDER BY n.id DESC LIMIT {}", i64::from(page.limit) + 1);
    let items = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(items, page.limit, |item| item.id.as_i64()))
}

pub(super) async fn find(tx: &Tx, scope: Scope, id: NotificationId) -> Result<Option<Notification>> {
    let mut query = select(scope);
    query.push_with(" AND n.id = {}", id);
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// Queues a message again, as if it were new.
pub(super) async fn resend(tx: &Tx, actor: Actor, id: NotificationId) -> Result<Notification> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    let missing = || StoreError::NotFound(Kind::Notification);
    let before = find(tx, actor.scope, id).await?.ok_or_else(missing)?;
    match before.state {
        NotificationState::Waiting | NotificationState::Sending => return Ok(before),
        NotificationState::Sent => return Err(StoreError::AlreadySent),
        NotificationState::Suppressed | NotificationState::Failed | NotificationState::Unclear => {}
    }
    let sql = "UPDATE notification SET state = 'waiting', reason = NULL, attempts = 0, doubts = 0, due = ?3, \
                   queued_at = ?3, counted_on = NULL, email_counted = FALSE, token = token + 1 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, tx.now()]).await?;
    tx.mark(Additions::to_queue(Queue::Outbox(before.channel)));
    audit::record(tx, account, &actor.origin, "notification.resend", Some(id.to_string())).await?;
    find(tx, actor.scope, id).await?.ok_or_else(missing)
}
