//! Adds the reports of nodes to the state of gateways, and announces late gateways and refused requests as events.

use perigee_core::events::event::EventKind;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::feed_health::{GatewayReport, late_at};
use perigee_core::gateways::gateway::NewMessage;
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde_json::{Value as Json, json};

use crate::sql::events;
use crate::sql::gateways::account_gateways::find_by_id;
use crate::{Tx, params};

/// Late gateways that one transaction announces.
const LATE_PER_JOB: i64 = 100;

/// Adds a report to the state of its gateway; returns whether a refusal was announced. The account is locked before the
/// row, as everywhere.
pub(in crate::sql) async fn add(tx: &Tx, report: &GatewayReport) -> Result<bool> {
    tx.lock_account_beside(report.account).await?;
    let Some((gateway, mut interval)) = find_by_id(tx, report.account, report.gateway).await? else {
        return Ok(false);
    };
    let mut state = gateway.state.clone();
    if let Some((first, last)) = report.heard {
        interval.hear(first);
        interval.hear(last);
        state.hours.add(last, report.messages);
        state.last_message = state.last_message.max(Some(last));
    }
    let late = late_at(&state, &interval);
    // It stays late, and is not announced again, until the next message arrives.
    state.late_since = state.late_since.filter(|_| late.is_some_and(|late| late < tx.now()));
    let late = late.filter(|_| state.late_since.is_none());
    let error = report.last_error.as_ref();
    let error = error.map(|error| error.chars().filter(|c| *c != '\0').take(NewMessage::ERROR_MAX).collect());
    let error: Option<String> = error;
    let announces = report.refused > 0 && state.announces_refusal(tx.now());
    let refused_at = if announces { Some(tx.now()) } else { state.refused_at };
    let sql = "UPDATE gateway_state SET last_message = ?3, hours = ?4, rhythm = ?5, errors = errors + ?6, \
               last_error = COALESCE(?7, last_error), last_error_at = COALESCE(?8, last_error_at), \
               refused = refused + ?9, refused_at = ?10, late_at = ?11, late_since = ?12 \
               WHERE account_id = ?1 AND gateway_id = ?2";
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let values = params![
        report.account,
        report.gateway,
        state.last_message,
        state.hours.to_bytes(),
        interval.to_bytes(),
        count(report.errors),
        error.clone(),
        error.as_ref().map(|_| tx.now()),
        count(report.refused),
        refused_at,
        late,
        state.late_since,
    ];
    tx.execute(sql, values).await?;
    if announces {
        append_event(tx, &gateway, EventKind::FeedRefused, json!({"reason": error})).await?;
    }
    Ok(announces)
}

/// Whether a gateway is late and was not announced yet.
pub(in crate::sql) async fn is_one_late(tx: &Tx) -> Result<bool> {
    let sql = "SELECT gateway_id FROM gateway_state WHERE late_at < ?1 LIMIT 1";
    Ok(tx.query_opt(sql, params![tx.now()]).await?.is_some())
}

/// Announces gateways that are late. Returns how many.
pub(in crate::sql) async fn announce_late(tx: &Tx) -> Result<u64> {
    let sql = "SELECT account_id, gateway_id FROM gateway_state WHERE late_at < ?1 ORDER BY account_id, gateway_id \
               LIMIT ?2";
    let mut announced = 0;
    for row in tx.query(sql, params![tx.now(), LATE_PER_JOB]).await? {
        let account = AccountId::from_i64(row.i64("account_id")?);
        let id = GatewayId::from_i64(row.i64("gateway_id")?);
        tx.lock_account_beside(account).await?;
        // Another node may have announced it, or a message may have come, since it was selected.
        let sql = "UPDATE gateway_state SET late_at = NULL, late_since = ?3 \
                   WHERE account_id = ?1 AND gateway_id = ?2 AND late_at < ?3";
        if tx.execute(sql, params![account, id, tx.now()]).await? == 0 {
            continue;
        }
        if let Some((gateway, _)) = find_by_id(tx, account, id).await? {
            let last = gateway.state.last_message.map(|at: Timestamp| at.to_string());
            let mut data = json!({"lastMessage": last});
            if let Some(poll) = &gateway.state.poll {
                data["failures"] = json!(poll.failures);
            }
            append_event(tx, &gateway, EventKind::FeedLate, data).await?;
            announced += 1;
        }
    }
    Ok(announced)
}

/// Appends an event of a gateway, with its feed and name.
pub(in crate::sql) async fn append_event(
    tx: &Tx,
    gateway: &Gateway,
    kind: EventKind,
    mut data: Json,
) -> Result<()> {
    data["feed"] = json!(gateway.settings.feed);
    data["name"] = json!(gateway.settings.name);
    events::append(tx, gateway.account, kind, gateway.id.to_string(), None, data).await
}
