//! Webhooks: created, listed, changed and deleted by an account's admins.

pub(crate) mod deliveries;
pub(crate) mod webhook_rows;
pub(crate) mod webhook_work;

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{DeliveryId, WebhookId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Result, Webhooks};
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::{
    DeliveryState, NewDelivery, Webhook, WebhookDelivery, WebhookSecret, WebhookSettings,
};

use crate::forward::forward;
use crate::sql::webhooks::webhook_rows::{COLUMNS, find, from_row, require};
use crate::sql::{access::audit, accounts, events, idempotency, ids, notifications::routing, scope};
use crate::{Tx, params};

async fn create(
    tx: &Tx,
    actor: Actor,
    settings: WebhookSettings,
    secret: WebhookSecret,
    once: Option<IdempotencyKey>,
) -> Result<Created<Webhook>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT COUNT(*) AS count FROM webhook WHERE account_id = ?1";
    if tx.query_one(sql, params![account]).await?.i64("count")? >= i64::from(Webhook::PER_ACCOUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::Webhook, most: Webhook::PER_ACCOUNT_MAX });
    }
    check_references(tx, actor.scope, &settings).await?;
    let id = ids::fresh_id(tx, "webhook", account).await?;
    let sql = format!(
        "INSERT INTO webhook (account_id, id, revision, name, url, wanted, enabled, secret, read_to, created_by, \
             creation, last_modified) \
         VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10) RETURNING {COLUMNS}"
    );
    let values = params![
        account,
        id,
        settings.name.as_deref(),
        &settings.url,
        filter_text(&settings)?,
        settings.enabled,
        secret.0,
        events::end(tx, Scope::for_store_check(account)).await?,
        actor.origin.user,
        tx.now(),
    ];
    let webhook = from_row(&tx.query_one(&sql, values).await?)?;
    audit::record(tx, account, &actor.origin, "webhook.create", Some(webhook.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &webhook).await?;
    Ok(Created::Now(webhook))
}

fn filter_text(settings: &WebhookSettings) -> Result<String> {
    serde_json::to_string(&settings.filter).map_err(|cause| StoreError::Internal(cause.into()))
}

/// Fails unless the devices and groups of the filter exist. Those deleted later simply never match again.
async fn check_references(tx: &Tx, scope: Scope, settings: &WebhookSettings) -> Result<()> {
    let devices: Vec<_> = settings.filter.devices.iter().copied().collect();
    let groups: Vec<_> = settings.filter.groups.iter().copied().collect();
    scope::require_devices(tx, scope, &devices).await?;
    scope::require_groups(tx, scope, &groups).await
}

async fn list(tx: &Tx, scope: Scope, page: PageRequest) -> Result<Page<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook WHERE account_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
    let values = params![scope.account, page.after.unwrap_or(i64::MIN), i64::from(page.limit) + 1];
    let webhooks = tx.query(&sql, values).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(webhooks, page.limit, |webhook| webhook.id.as_i64()))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: WebhookId,
    seen: Revision,
    settings: WebhookSettings,
) -> Result<Webhook> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let present = require(tx, actor.scope, id).await?;
    if present.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Webhook));
    }
    if present.settings == settings {
        return Ok(present);
    }
    let named_before = present.settings.filter.clone();
    let mut named = settings.clone();
    named.filter.devices.retain(|device| !named_before.devices.contains(device));
    named.filter.groups.retain(|group| !named_before.groups.contains(group));
    check_references(tx, actor.scope, &named).await?;
    let sql = format!(
        "UPDATE webhook SET revision = revision + 1, name = ?3, url = ?4, wanted = ?5, enabled = ?6, \
             held_until = NULL, \
             disabled_at = CASE WHEN ?6 THEN NULL ELSE disabled_at END, \
             disabled_reason = CASE WHEN ?6 THEN NULL ELSE disabled_reason END, \
             last_modified = ?7 \
         WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
    );
    let values = params![
        account,
        id,
        settings.name.as_deref(),
        &settings.url,
        filter_text(&settings)?,
        settings.enabled,
        tx.now(),
    ];
    let webhook = from_row(&tx.query_one(&sql, values).await?)?;
    let (before, after) = (&present.settings, &webhook.settings);
    let detail = changed(&[
        ("name", before.name != after.name),
        ("url", before.url != after.url),
        ("types", before.filter.kinds != after.filter.kinds),
        ("devices", before.filter.devices != after.filter.devices),
        ("groups", before.filter.groups != after.filter.groups),
        ("alertsByRouting", before.filter.alerts_by_routing != after.filter.alerts_by_routing),
        ("enabled", before.enabled != after.enabled),
    ]);
    let target = Some(id.to_string());
    audit::record_with(tx, account, &actor.origin, "webhook.update", target, detail).await?;
    Ok(webhook)
}

async fn rotate(
    tx: &Tx,
    actor: Actor,
    id: WebhookId,
    secret: WebhookSecret,
    until: Timestamp,
) -> Result<Webhook> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    require(tx, actor.scope, id).await?;
    let sql = format!(
        "UPDATE webhook SET previous_secret = secret, previous_until = ?4, secret = ?3 \
         WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
    );
    let webhook = from_row(&tx.query_one(&sql, params![account, id, secret.0, until]).await?)?;
    audit::record(tx, account, &actor.origin, "webhook.rotateSecret", Some(id.to_string())).await?;
    Ok(webhook)
}

async fn delete(tx: &Tx, actor: Actor, id: WebhookId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let present = require(tx, actor.scope, id).await?;
    if seen.is_some_and(|seen| seen != present.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Webhook));
    }
    if routing::names_webhook(tx, account, id).await? {
        return Err(StoreError::InUse(Kind::Webhook));
    }
    tx.execute("DELETE FROM webhook WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    audit::record(tx, account, &actor.origin, "webhook.delete", Some(id.to_string())).await
}

forward! {
    impl Webhooks for Database {
        write create_webhook(
            &self, &actor: Actor, settings: WebhookSettings, secret: WebhookSecret,
            once: Option<IdempotencyKey>
        ) -> Created<Webhook> = create;
        read find_webhook(&self, scope: Scope, id: WebhookId) -> Option<Webhook> = find(scope.account, id);
        read list_webhooks(&self, scope: Scope, page: PageRequest) -> Page<Webhook> = list;
        write replace_webhook(&self, &actor: Actor, id: WebhookId, seen: Revision, settings: WebhookSettings)
            -> Webhook = replace;
        write rotate_webhook_secret(
            &self, &actor: Actor, id: WebhookId, secret: WebhookSecret, until: Timestamp
        ) -> Webhook = rotate;
        write delete_webhook(&self, &actor: Actor, id: WebhookId, seen: Option<Revision>) -> () = delete;
        read list_deliveries(
            &self, scope: Scope, webhook: WebhookId, state: Option<DeliveryState>, page: PageRequest
        ) -> Page<WebhookDelivery> = deliveries::list;
        write add_delivery(&self, &actor: Actor, webhook: WebhookId, new: NewDelivery)
            -> WebhookDelivery = deliveries::add_test;
        write retry_delivery(&self, &actor: Actor, webhook: WebhookId, delivery: DeliveryId)
            -> WebhookDelivery = deliveries::retry;
    }
}
