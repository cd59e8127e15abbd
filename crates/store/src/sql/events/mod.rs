//! The event log.
//!
//! Readers continue after a number, so they must not pass a number that is committed later. Numbers of events are
//! drawn under a lock of the account, which is held until the commit. The location log uses the same numbers and is
//! a part of the event log, so that a location is not written twice. On PostgreSQL, submissions of locations run beside
//! each other and beside changes that they do not rely on; therefore readers stop at [`Tx::horizon`].

pub(crate) mod event_append;
pub(crate) mod event_filter;
pub(crate) mod event_subjects;
pub(crate) mod event_trim;
pub(crate) mod log_watch;

use std::collections::BTreeSet;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::events::event::{Event, EventFilter, EventKind, EventObject, EventPage};
use perigee_core::id::{AccountId, DeviceId, WebhookId};
use perigee_core::store::{Additions, Events, Result};

use crate::database::Database;
use crate::params;
use crate::row::Row;
use crate::sql::column;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::reads::feed;
use crate::tx::Tx;

/// Appends an event about this subject; `device` is the device that it concerns, if any.
pub(crate) async fn append(
    tx: &Tx,
    account: AccountId,
    kind: EventKind,
    subject: String,
    device: Option<DeviceId>,
    data: serde_json::Value,
) -> Result<()> {
    tx.lock_account(account).await?;
    tx.announce_events().await?;
    tx.execute(
        "INSERT INTO event (account_id, at, kind, subject, device_id, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![account, tx.now(), kind.name(), subject, device, data.to_string()],
    )
    .await?;
    tx.mark(Additions::to_account(account));
    Ok(())
}

async fn read(tx: &Tx, scope: Scope, filter: EventFilter, after: i64, limit: u32) -> Result<EventPage> {
    let kept_after = event_trim::trimmed_to(tx, scope.account).await?;
    if after > 0 && after < kept_after {
        return Err(StoreError::CursorExpired);
    }
    // Locations can be kept longer than later events. Starting with those would return an expired cursor.
    let after = after.max(kept_after);
    let wanted = Wanted::of(tx, scope.account, &filter).await?;
    // No event below this can appear later.
    let end = end(tx, scope).await?.max(after);
    let (mut events, changes_to) = changes(tx, scope, &wanted, after, limit).await?;
    let mut next = changes_to.unwrap_or(end).min(end);
    if wanted.has_locations() {
        let (locations, to) = feed::events(tx, scope, &wanted, after, limit).await?;
        next = next.min(to.unwrap_or(end));
        events.extend(locations);
    }
    events.retain(|event| event.number <= next);
    events.sort_unstable_by_key(|event| event.number);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if events.len() > limit {
        events.truncate(limit);
        next = events.last().map_or(next, |last| last.number);
    }
    event_subjects::attach(tx, scope, &mut events).await?;
    Ok(EventPage { events, next })
}

/// The highest number of the account, including trimmed events.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(number) AS last FROM event WHERE account_id = ?1 AND number <= ?2";
    let last = tx.query_one(sql, params![scope.account, tx.horizon()]).await?.opt_i64("last")?.unwrap_or(0);
    let last = last.max(event_trim::trimmed_to(tx, scope.account).await?);
    Ok(last.max(feed::end(tx, scope).await?))
}

/// The events other than locations, and the number up to which the log was read if there is more of it.
async fn changes(
    tx: &Tx,
    scope: Scope,
    wanted: &Wanted<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<Event>, Option<i64>)> {
    let mut values = params![scope.account, after, i64::from(limit)].to_vec();
    let visible = match scope.reach {
        Reach::Account => "",
        Reach::Group(group) => {
            values.extend_from_slice(params![group, group.to_string()]);
            "AND (subject = ?5 OR EXISTS (
                SELECT 1 FROM group_member m
                WHERE m.account_id = event.account_id AND m.group_id = ?4 AND m.device_id = event.device_id))"
        }
        Reach::Device(device) => {
            values.extend_from_slice(params![device]);
            "AND device_id = ?4"
        }
    };
    let kinds = wanted.kinds_sql();
    let sql = format!(
        "SELECT number, account_id, at, kind, subject, device_id, data FROM event
         WHERE account_id = ?1 AND number > ?2 {visible} {kinds}
         ORDER BY number LIMIT ?3"
    );
    let rows = tx.query(&sql, &values).await?;
    let is_full = rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    let to = rows.last().filter(|_| is_full).map(|last| last.i64("number")).transpose()?;
    let mut events = Vec::new();
    for row in &rows {
        let mut event = from_row(row)?;
        let routed_to = take_routing(&mut event);
        if wanted.has(&event, &routed_to) {
            events.push(event);
        }
    }
    Ok((events, to))
}

/// The member of an event's data that names the webhooks it is routed to. It is removed before events are returned.
const ROUTED_TO: &str = "routedTo";

/// The data of a new alert's event, with the webhooks it is routed to.
pub(crate) fn routing_data(webhooks: &BTreeSet<WebhookId>) -> String {
    if webhooks.is_empty() {
        return "{}".to_owned();
    }
    serde_json::json!({ ROUTED_TO: webhooks }).to_string()
}

fn take_routing(event: &mut Event) -> Vec<WebhookId> {
    let named = event.data.as_object_mut().and_then(|data| data.remove(ROUTED_TO));
    named.and_then(|named| serde_json::from_value(named).ok()).unwrap_or_default()
}

fn from_row(row: &Row) -> Result<Event> {
    Ok(Event {
        number: row.i64("number")?,
        account: AccountId::from_i64(row.i64("account_id")?),
        at: row.timestamp("at")?,
        kind: column::parsed(row, "kind")?,
        subject: row.text("subject")?,
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        data: column::json(row, "data")?,
        object: EventObject::Absent,
    })
}

#[async_trait]
impl Events for Database {
    async fn read_events(
        &self,
        scope: Scope,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventPage> {
        let filter = filter.clone();
        self.read_log_snapshot(scope.account, move |tx| read(tx, scope, filter, after, limit).boxed()).await
    }

    async fn event_end(&self, scope: Scope) -> Result<i64> {
        self.read_log_snapshot(scope.account, move |tx| end(tx, scope).boxed()).await
    }

    async fn trim_events(&self, keep_ms: i64) -> Result<u64> {
        event_trim::trim(self, keep_ms).await
    }
}
