//! Webhook deliveries: added, listed, retried, leased to workers and settled.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeliveryId, WebhookId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;
use perigee_core::webhooks::webhook::{
    AttemptOutcome, DeliveryLease, DeliveryState, LeasedDelivery, NewDelivery, Settlement, WINDOW_MS,
    Webhook, WebhookDelivery,
};

use crate::sql::query::{Query, insert_many};
use crate::sql::webhooks::webhook_rows::{DELIVERY_COLUMNS, delivery, find, lock, require};
use crate::sql::{access::audit, accounts, events, ids};
use crate::tx::RowLock;
use crate::{Row, Tx, Value, params};

const INSERT: &str = "INSERT INTO webhook_delivery (account_id, webhook_id, id, message, kind, device_id, body, \
                      state, next_at, expires, creation)";

/// Adds deliveries of a webhook that is locked.
pub(in crate::sql) async fn insert(
    tx: &Tx,
    account: AccountId,
    webhook: WebhookId,
    new: Vec<NewDelivery>,
) -> Result<Vec<Row>> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let (table, holder) = (("webhook_delivery", "webhook_id"), (account, webhook.as_i64()));
    let first = ids::fresh_ids_within(tx, table, holder, new.len()).await?;
    let row = |(id, new): (i64, NewDelivery)| -> Vec<Value> {
        let expires = tx.now().plus_millis(WINDOW_MS);
        params![
            account,
            webhook,
            id,
            new.message,
            new.kind,
            new.device,
            new.body,
            DeliveryState::Waiting.name(),
            tx.now(),
            expires,
            tx.now(),
        ]
        .to_vec()
    };
    let rows: Vec<Vec<Value>> = (first..).zip(new).map(row).collect();
    insert_many(tx, INSERT, &rows, &format!("RETURNING {DELIVERY_COLUMNS}")).await
}

/// A page of a webhook's deliveries, newest first.
pub(in crate::sql) async fn list(
    tx: &Tx,
    scope: Scope,
    webhook: WebhookId,
    state: Option<DeliveryState>,
    page: PageRequest,
) -> Result<Page<WebhookDelivery>> {
    find(tx, scope.account, webhook).await?.ok_or(StoreError::NotFound(Kind::Webhook))?;
    let mut query = Query::new(
        format!("SELECT {DELIVERY_COLUMNS} FROM webhook_delivery WHERE account_id = ?1 AND webhook_id = ?2"),
        params![scope.account, webhook],
    );
    if let Some(state) = state {
        query.push_with(" AND state = {}", state.name());
    }
    query.push_with(" AND id < {}", page.after.unwrap_or(i64::MAX));
    query.push_with(" ORDER BY id DESC LIMIT {}", i64::from(page.limit) + 1);
    let items = query.rows(tx).await?.iter().map(delivery).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(items, page.limit, |item| item.id.as_i64()))
}

/// Adds a test message, which is not an event.
pub(in crate::sql) async fn add_test(
    tx: &Tx,
    actor: Actor,
    webhook: WebhookId,
    new: NewDelivery,
) -> Result<WebhookDelivery> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    require(tx, actor.scope, webhook).await?;
    let rows = insert(tx, account, webhook, vec![new]).await?;
    let made = rows.first().map(delivery).transpose()?;
    audit::record(tx, account, &actor.origin, "webhook.test", Some(webhook.to_string())).await?;
    made.ok_or_else(|| StoreError::Internal("a delivery was not added".into()))
}

/// Restarts the attempts of a delivery.
pub(in crate::sql) async fn retry(
    tx: &Tx,
    actor: Actor,
    webhook: WebhookId,
    id: DeliveryId,
) -> Result<WebhookDelivery> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    require(tx, actor.scope, webhook).await?;
    // The new fence ends a lease in progress: its outcome is not recorded, and the message is sent once more.
    let sql = format!(
        "UPDATE webhook_delivery SET state = 'waiting', next_at = ?4, expires = ?5, fence = fence + 1 \
         WHERE account_id = ?1 AND webhook_id = ?2 AND id = ?3 RETURNING {DELIVERY_COLUMNS}"
    );
    let values = params![account, webhook, id, tx.now(), tx.now().plus_millis(WINDOW_MS)];
    let row = tx.query_opt(&sql, values).await?.ok_or(StoreError::NotFound(Kind::Delivery))?;
    let retried = delivery(&row)?;
    audit::record(tx, account, &actor.origin, "webhook.retry", Some(webhook.to_string())).await?;
    Ok(retried)
}

/// Settles attempts and leases due deliveries.
pub(in crate::sql) async fn work(
    tx: &Tx,
    account: AccountId,
    id: WebhookId,
    settled: Vec<Settlement>,
    wanted: u32,
    lease_ms: i64,
) -> Result<Option<DeliveryLease>> {
    let answered_gone = settled.iter().any(|settled| settled.outcome == AttemptOutcome::Gone);
    if answered_gone {
        // Events are appended under the account's lock, which is taken before every other lock.
        tx.lock_account_beside(account).await?;
    }
    let Some(mut webhook) = lock(tx, account, id).await? else { return Ok(None) };
    for settlement in &settled {
        settle(tx, &webhook, settlement).await?;
    }
    if answered_gone && webhook.settings.enabled {
        disable(tx, &webhook).await?;
        webhook.settings.enabled = false;
    }
    let rest = settled.iter().filter_map(|settled| match settled.outcome {
        AttemptOutcome::Retry { wait_ms, all: true } => Some(tx.now().plus_millis(wait_ms)),
        _ => None,
    });
    if let Some(until) = rest.max().filter(|until| Some(*until) > webhook.held_until) {
        let sql = "UPDATE webhook SET held_until = ?3 WHERE account_id = ?1 AND id = ?2";
        tx.execute(sql, params![account, id, until]).await?;
        webhook.held_until = Some(until);
    }
    let is_held = webhook.held_until.is_some_and(|until| until > tx.now());
    let mut deliveries = Vec::new();
    if wanted > 0 && webhook.settings.enabled && !is_held {
        deliveries = lease(tx, &webhook, wanted, lease_ms).await?;
    }
    Ok(Some(DeliveryLease { webhook, deliveries }))
}

/// Leases due deliveries, the longest waiting first. Rows that another worker is leasing are skipped.
async fn lease(tx: &Tx, webhook: &Webhook, wanted: u32, lease_ms: i64) -> Result<Vec<LeasedDelivery>> {
    let lock = tx.row_lock(RowLock::SkipLocked);
    // A CTE: PostgreSQL may run a subquery more than once, and each time would choose other rows.
    let sql = format!(
        "WITH due AS (SELECT id FROM webhook_delivery \
             WHERE account_id = ?1 AND webhook_id = ?2 AND state = 'waiting' AND next_at <= ?3 AND expires > ?3 \
             ORDER BY next_at, id LIMIT ?5 {lock}) \
         UPDATE webhook_delivery SET fence = fence + 1, next_at = ?4 \
         WHERE account_id = ?1 AND webhook_id = ?2 AND id IN (SELECT id FROM due) \
         RETURNING id, fence, message, body, attempts"
    );
    let until = tx.now().plus_millis(lease_ms);
    let values = params![webhook.account, webhook.id, tx.now(), until, i64::from(wanted)];
    let mut leased = Vec::new();
    for row in tx.query(&sql, values).await? {
        leased.push(LeasedDelivery {
            id: DeliveryId::from_i64(row.i64("id")?),
            fence: row.i64("fence")?,
            message: row.text("message")?,
            body: row.text("body")?,
            attempts: row.int("attempts")?,
        });
    }
    leased.sort_unstable_by_key(|delivery| delivery.id);
    Ok(leased)
}

/// Records the outcome of an attempt, unless the delivery was leased again since.
async fn settle(tx: &Tx, webhook: &Webhook, settled: &Settlement) -> Result<()> {
    let now = tx.now();
    let (state, next_at) = match settled.outcome {
        AttemptOutcome::Delivered => (DeliveryState::Delivered, now),
        AttemptOutcome::Retry { wait_ms, .. } => (DeliveryState::Waiting, now.plus_millis(wait_ms)),
        AttemptOutcome::Gone => (DeliveryState::Waiting, now),
    };
    let sql = "UPDATE webhook_delivery SET attempts = attempts + 1, last_at = ?5, last_status = ?6, last_error = ?7, \
                   next_at = ?9, state = CASE WHEN ?8 = 'waiting' AND ?9 >= expires THEN 'failed' ELSE ?8 END \
               WHERE account_id = ?1 AND webhook_id = ?2 AND id = ?3 AND fence = ?4 AND state = 'waiting'";
    let values = params![
        webhook.account,
        webhook.id,
        settled.id,
        settled.fence,
        now,
        settled.status,
        settled.error.as_deref(),
        state.name(),
        next_at,
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Disables a webhook whose receiver answered 410 Gone.
async fn disable(tx: &Tx, webhook: &Webhook) -> Result<()> {
    let reason = "The receiver answered 410 Gone.";
    let sql = "UPDATE webhook SET enabled = FALSE, revision = revision + 1, disabled_at = ?3, disabled_reason = ?4 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![webhook.account, webhook.id, tx.now(), reason]).await?;
    let (subject, detail) = (webhook.id.to_string(), Some(reason.to_owned()));
    let data = serde_json::json!({ "name": webhook.settings.name, "reason": reason });
    events::append(tx, webhook.account, EventKind::WebhookDisabled, subject.clone(), None, data).await?;
    audit::record_with(tx, webhook.account, &Origin::service(), "webhook.disable", Some(subject), detail)
        .await
}
