//! The `WebhookWork` trait: what the webhook workers need for all accounts.

use futures_util::FutureExt as _;
use perigee_core::access::actor::Origin;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, WebhookId};
use perigee_core::store::{Result, WebhookWork};
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::{DeliveryLease, NewDelivery, Settlement, WAITING_MAX, Webhook};

use crate::forward::forward;
use crate::sql::events::log_watch::{PARTS, Position, ReadScope, part_of};
use crate::sql::query::waiting_accounts;
use crate::sql::webhooks::webhook_rows::{COLUMNS, from_row, lock};
use crate::sql::{access::audit, clock, events::event_trim, webhooks::deliveries};
use crate::{Database, Tx, params};

/// Deliveries that one transaction fails or deletes.
const DELIVERIES_PER_JOB: i64 = 1_000;

/// Webhooks that one read examines while nothing is added to the logs.
const WEBHOOKS_PER_READ: i64 = 50;

/// Whether there are events that a webhook has not read, and room for their deliveries.
fn is_behind() -> String {
    format!(
        "(read_to < (SELECT MAX(e.number) FROM event e WHERE e.account_id = webhook.account_id) \
           OR read_to < (SELECT MAX(l.last_number) FROM location_log l WHERE l.account_id = webhook.account_id)) \
         AND NOT EXISTS (SELECT 1 FROM webhook_delivery d \
             WHERE d.account_id = webhook.account_id AND d.webhook_id = webhook.id AND d.state = 'waiting' \
             LIMIT 1 OFFSET {WAITING_MAX})"
    )
}

async fn behind(tx: &Tx) -> Result<Vec<Webhook>> {
    let behind = match tx.log_watches().webhooks.read_scope(tx).await? {
        ReadScope::Whole => {
            let sql = format!(
                "SELECT {COLUMNS} FROM webhook WHERE enabled = TRUE AND {} ORDER BY account_id, id",
                is_behind()
            );
            tx.query(&sql, &[]).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?
        }
        ReadScope::Some(position) if tx.is_distributed() => part_behind(tx, position).await?,
        ReadScope::Some(after) => some_behind(tx, after).await?,
    };
    tx.log_watches().webhooks.found(!behind.is_empty());
    Ok(behind)
}

/// The webhooks that are behind in the next part of all accounts, where tables are distributed.
async fn part_behind(tx: &Tx, position: Position) -> Result<Vec<Webhook>> {
    let (part, next) = part_of(position);
    tx.log_watches().webhooks.ended(next);
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook WHERE account_id % {PARTS} = ?1 AND enabled = TRUE AND {}",
        is_behind()
    );
    tx.query(&sql, params![part]).await?.iter().map(from_row).collect()
}

/// The webhooks that are behind among the next few.
async fn some_behind(tx: &Tx, (account, id): Position) -> Result<Vec<Webhook>> {
    let sql = format!(
        "SELECT {COLUMNS}, CASE WHEN enabled AND {} THEN 1 ELSE 0 END AS is_behind \
         FROM (SELECT * FROM webhook WHERE (account_id, id) > (?1, ?2) \
               ORDER BY account_id, id LIMIT {WEBHOOKS_PER_READ}) webhook \
         ORDER BY account_id, id",
        is_behind()
    );
    let rows = tx.query(&sql, params![account, id]).await?;
    let last = rows.last().map(|row| Ok::<_, StoreError>((row.i64("account_id")?, row.i64("id")?)));
    tx.log_watches().webhooks.ended(last.transpose()?);
    let mut behind = Vec::new();
    for row in &rows {
        if row.i64("is_behind")? == 1 {
            behind.push(from_row(row)?);
        }
    }
    Ok(behind)
}

async fn advance(
    tx: &Tx,
    account: AccountId,
    id: WebhookId,
    (from, to): (i64, i64),
    new: Vec<NewDelivery>,
) -> Result<bool> {
    let sql = "UPDATE webhook SET read_to = ?4 WHERE account_id = ?1 AND id = ?2 AND read_to = ?3 AND enabled = TRUE";
    if tx.execute(sql, params![account, id, from, to]).await? == 0 {
        return Ok(false);
    }
    deliveries::insert(tx, account, id, new).await?;
    Ok(true)
}

async fn note_gap(tx: &Tx, account: AccountId, id: WebhookId) -> Result<()> {
    tx.lock_account(account).await?;
    let Some(webhook) = lock(tx, account, id).await? else { return Ok(()) };
    let kept_after = event_trim::trimmed_to(tx, account).await?;
    if webhook.read_to >= kept_after {
        return Ok(());
    }
    let sql = "UPDATE webhook SET read_to = ?4, gap_at = ?5, gap_from = ?3, gap_to = ?4 \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, webhook.read_to, kept_after, tx.now()]).await?;
    let detail = "Events were deleted from the log before they were read; \"gap\" of the webhook says which.";
    let target = Some(id.to_string());
    audit::record_with(tx, account, &Origin::service(), "webhook.gap", target, Some(detail.to_owned())).await
}

async fn due(tx: &Tx) -> Result<Vec<(AccountId, WebhookId)>> {
    let from = if tx.is_distributed() {
        "SELECT w.account_id, w.id FROM webhook w".to_owned()
    } else {
        format!(
            "WITH RECURSIVE {} \
             SELECT w.account_id, w.id FROM waiting JOIN webhook w ON w.account_id = waiting.id",
            waiting_accounts("webhook_delivery", "state = 'waiting'")
        )
    };
    let sql = format!(
        "{from} WHERE w.enabled = TRUE AND (w.held_until IS NULL OR w.held_until <= ?1) AND EXISTS ( \
             SELECT 1 FROM webhook_delivery d \
             WHERE d.account_id = w.account_id AND d.webhook_id = w.id \
               AND d.state = 'waiting' AND d.next_at <= ?1 AND d.expires > ?1)"
    );
    let rows = tx.query(&sql, params![tx.now()]).await?;
    let ids = rows
        .iter()
        .map(|row| Ok((AccountId::from_i64(row.i64("account_id")?), WebhookId::from_i64(row.i64("id")?))));
    ids.collect()
}

/// Fails deliveries past their retry window, also when their webhook was disabled meanwhile.
async fn give_up(tx: &Tx, now: Timestamp) -> Result<u64> {
    tx.lock_upkeep().await?;
    let sql = "UPDATE webhook_delivery SET state = 'failed', \
                   last_error = COALESCE(last_error, 'No attempt was made, because the webhook was disabled.') \
               WHERE state = 'waiting' AND (account_id, webhook_id, id) IN ( \
                   SELECT account_id, webhook_id, id FROM webhook_delivery \
                   WHERE state = 'waiting' AND expires <= ?1 LIMIT ?2)";
    Ok(tx.execute(sql, params![now, DELIVERIES_PER_JOB]).await?)
}

async fn delete_some(tx: &Tx, before: Timestamp) -> Result<u64> {
    tx.lock_upkeep().await?;
    let sql = "DELETE FROM webhook_delivery WHERE state <> 'waiting' AND (account_id, webhook_id, id) IN ( \
                   SELECT account_id, webhook_id, id FROM webhook_delivery \
                   WHERE creation < ?1 AND state <> 'waiting' ORDER BY creation LIMIT ?2)";
    Ok(tx.execute(sql, params![before, DELIVERIES_PER_JOB]).await?)
}

async fn trim_deliveries(database: &Database, keep_ms: i64) -> Result<u64> {
    let many = u64::try_from(DELIVERIES_PER_JOB).unwrap_or(u64::MAX);
    let now = clock::trusted_now(database).await?;
    let before = now.plus_millis(-keep_ms);
    while database.write_background(move |tx| give_up(tx, now).boxed()).await? >= many {}
    let mut deleted = 0;
    loop {
        let some = database.write_background(move |tx| delete_some(tx, before).boxed()).await?;
        deleted += some;
        if some < u64::try_from(DELIVERIES_PER_JOB).unwrap_or(u64::MAX) {
            return Ok(deleted);
        }
    }
}

forward! {
    impl WebhookWork for Database {
        read webhooks_behind(&self) -> Vec<Webhook> = behind;
        write advance_webhook(
            &self, account: AccountId, id: WebhookId, from: i64, to: i64, deliveries: Vec<NewDelivery>
        ) -> bool = advance(account, id, (from, to), deliveries);
        write record_webhook_gap(&self, account: AccountId, id: WebhookId) -> () = note_gap;
        read webhooks_due(&self) -> Vec<(AccountId, WebhookId)> = due;
        write settle_and_lease_deliveries(
            &self, account: AccountId, webhook: WebhookId, settled: Vec<Settlement>, wanted: u32,
            lease_ms: i64
        ) -> Option<DeliveryLease> = deliveries::work;
        run trim_deliveries(&self, keep_ms: i64) -> u64 = trim_deliveries;
    }
}
