//! Alert routing per account, group and device, and the messaging settings of an account.

use std::collections::BTreeSet;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, ContactGroupId, DeviceId, GroupId, RuleId, UserId, WebhookId};
use perigee_core::notifications::notification::{Audience, MessagingSettings, StoredMessaging};
use perigee_core::notifications::routing::{AlertRouting, RoutingHolder, StoredRouting};
use perigee_core::revision::Revision;
use perigee_core::store::{Result, Routing};

use crate::forward::forward;
use crate::sql::notifications::outbox::{self, DeviceAudience};
use crate::sql::{
    access::audit, access::user_rows, accounts, column, notifications::contact_groups, rules, scope,
    webhooks::webhook_rows,
};
use crate::{Database, Row, Tx, params};

/// The key columns of a routing: its level, its holder, and the device or group it is deleted with.
fn key_of(
    account: AccountId,
    holder: RoutingHolder,
) -> (&'static str, i64, Option<DeviceId>, Option<GroupId>) {
    match holder {
        RoutingHolder::Device(device) => ("device", device.as_i64(), Some(device), None),
        RoutingHolder::Group(group) => ("group", group.as_i64(), None, Some(group)),
        RoutingHolder::Account => ("account", account.as_i64(), None, None),
    }
}

/// Fails unless the holder exists and is visible.
async fn require(tx: &Tx, scope: Scope, holder: RoutingHolder) -> Result<()> {
    match holder {
        RoutingHolder::Device(device) => scope::require_device(tx, scope, device).await,
        RoutingHolder::Group(group) => {
            let missing = StoreError::NotFound(Kind::Group);
            scope::require_groups(tx, scope, &[group]).await.map_err(|error| match error {
                StoreError::UnknownReference { .. } => missing,
                other => other,
            })
        }
        RoutingHolder::Account if scope.is_whole() => Ok(()),
        RoutingHolder::Account => Err(StoreError::NotFound(Kind::Account)),
    }
}

async fn find(tx: &Tx, scope: Scope, holder: RoutingHolder) -> Result<StoredRouting> {
    require(tx, scope, holder).await?;
    let (level, id, _, _) = key_of(scope.account, holder);
    let sql = "SELECT revision, document, last_modified FROM alert_routing \
               WHERE account_id = ?1 AND level = ?2 AND holder = ?3";
    let Some(row) = tx.query_opt(sql, params![scope.account, level, id]).await? else {
        return Ok(StoredRouting::UNSET);
    };
    Ok(StoredRouting {
        revision: Revision(row.i64("revision")?),
        routing: row.opt_str("document")?.is_some().then(|| column::json(&row, "document")).transpose()?,
        last_modified: Some(row.timestamp("last_modified")?),
    })
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    holder: RoutingHolder,
    seen: Revision,
    routing: Option<AlertRouting>,
) -> Result<StoredRouting> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, holder).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::AlertRouting));
    }
    if before.routing == routing {
        return Ok(before);
    }
    require_named(tx, &actor, before.routing.as_ref(), routing.as_ref()).await?;
    let document = routing.as_ref().map(serde_json::to_string).transpose();
    let document = document.map_err(|cause| StoreError::Internal(cause.into()))?;
    let (level, id, device, group) = key_of(account, holder);
    let sql = "INSERT INTO alert_routing \
                   (account_id, level, holder, device_id, group_id, revision, document, last_modified) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
               ON CONFLICT (account_id, level, holder) DO UPDATE SET \
                   revision = excluded.revision, document = excluded.document, \
                   last_modified = excluded.last_modified";
    let revision = before.revision.next();
    let values = params![account, level, id, device, group, revision.0, document, tx.now()];
    tx.execute(sql, values).await?;
    let target = match holder {
        RoutingHolder::Device(device) => device.to_string(),
        RoutingHolder::Group(group) => group.to_string(),
        RoutingHolder::Account => account.to_string(),
    };
    let action = if routing.is_some() { "alertRouting.update" } else { "alertRouting.delete" };
    audit::record(tx, account, &actor.origin, action, Some(target)).await?;
    Ok(StoredRouting { revision, routing, last_modified: Some(tx.now()) })
}

/// Every named webhook, user and contact group must belong to the account. An actor who does not manage webhooks, or
/// who sees only a part of the account, may only name those that the routing names already; any other is treated as
/// missing.
pub(in crate::sql) async fn require_named(
    tx: &Tx,
    actor: &Actor,
    before: Option<&AlertRouting>,
    wanted: Option<&AlertRouting>,
) -> Result<()> {
    require_people(tx, actor, before, wanted).await?;
    let manages = actor.scope.is_whole() && actor.privileges.is_admin();
    let known: BTreeSet<WebhookId> =
        before.iter().flat_map(|routing| &routing.webhooks).map(|named| named.webhook).collect();
    for named in wanted.iter().flat_map(|routing| &routing.webhooks) {
        let may_name = manages || known.contains(&named.webhook);
        if !may_name || webhook_rows::find(tx, actor.scope.account, named.webhook).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::Webhook, id: named.webhook.to_string() });
        }
    }
    Ok(())
}

async fn require_people(
    tx: &Tx,
    actor: &Actor,
    before: Option<&AlertRouting>,
    wanted: Option<&AlertRouting>,
) -> Result<()> {
    let account = actor.scope.account;
    let may_name = |is_known: bool| actor.scope.is_whole() || is_known;
    let known: BTreeSet<UserId> = before.iter().flat_map(|routing| routing.named_users()).collect();
    let users: BTreeSet<UserId> = wanted.iter().flat_map(|routing| routing.named_users()).collect();
    for user in users {
        // A user who was deleted since may stay named, so that the rest can be changed.
        let is_known = known.contains(&user);
        if !may_name(is_known) || !(is_known || user_rows::find(tx, account, user).await?.is_some()) {
            return Err(StoreError::UnknownReference { kind: Kind::User, id: user.to_string() });
        }
    }
    let known: BTreeSet<ContactGroupId> =
        before.iter().flat_map(|routing| routing.named_contact_groups()).collect();
    let groups: BTreeSet<ContactGroupId> =
        wanted.iter().flat_map(|routing| routing.named_contact_groups()).collect();
    let existing = contact_groups::existing(tx, account, &groups).await?;
    for group in groups {
        if !may_name(known.contains(&group)) || !existing.contains(&group) {
            return Err(StoreError::UnknownReference { kind: Kind::ContactGroup, id: group.to_string() });
        }
    }
    Ok(())
}

/// Everybody who may be notified of an alert of this device, and of this rule if given.
async fn audience(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    rule: Option<RuleId>,
) -> Result<Option<(DeviceAudience, Audience)>> {
    scope::require_device(tx, scope, device).await?;
    let rule = match rule {
        Some(id) => Some(rules::find(tx, scope, id).await?.ok_or(StoreError::NotFound(Kind::Rule))?),
        None => None,
    };
    let Some(of_device) = DeviceAudience::of(tx, scope.account, device).await? else { return Ok(None) };
    let audience = match &rule {
        Some(rule) => of_device.with_rule(tx, &rule.settings.routing).await?,
        None => of_device.common.clone(),
    };
    Ok(Some((of_device, audience)))
}

async fn send_tests(tx: &Tx, actor: Actor, device: DeviceId, rule: Option<RuleId>) -> Result<Option<usize>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let Some((of_device, audience)) = audience(tx, actor.scope, device, rule).await? else {
        return Ok(Some(0));
    };
    let count = outbox::write_tests(tx, &of_device, &audience, device).await?;
    if count.is_some() {
        let target = Some(rule.map_or_else(|| device.to_string(), |rule| rule.to_string()));
        audit::record(tx, account, &actor.origin, "alertRouting.test", target).await?;
    }
    Ok(count)
}

/// Whether a routing or a rule names this webhook.
pub(in crate::sql) async fn names_webhook(tx: &Tx, account: AccountId, webhook: WebhookId) -> Result<bool> {
    let sql = "SELECT 1 AS found FROM rule WHERE account_id = ?1 AND settings LIKE ?2 LIMIT 1";
    if tx.query_opt(sql, params![account, format!("%\"{webhook}\"%")]).await?.is_some() {
        return Ok(true);
    }
    let sql = "SELECT document FROM alert_routing WHERE account_id = ?1 AND document LIKE ?2";
    for row in tx.query(sql, params![account, format!("%{webhook}%")]).await? {
        let routing: AlertRouting = column::json(&row, "document")?;
        if routing.webhooks.iter().any(|named| named.webhook == webhook) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The routing of a device's alerts; those of several groups are combined, with the first of their escalations.
async fn in_force(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<(RoutingHolder, AlertRouting)>> {
    let Some((holder, routings)) = layers(tx, account, device).await? else { return Ok(None) };
    let mut together = AlertRouting::default();
    for AlertRouting { recipients, users, contact_groups, webhooks, escalation } in routings {
        together.recipients.extend(recipients);
        together.users.extend(users);
        together.contact_groups.extend(contact_groups);
        together.webhooks.extend(webhooks);
        together.escalation = together.escalation.or(escalation);
    }
    Ok(Some((holder, together)))
}

/// The routings of a device's alerts, from the most specific level that is set: one, or one for each of its groups.
pub(in crate::sql) async fn layers(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<(RoutingHolder, Vec<AlertRouting>)>> {
    let sql = "SELECT level, holder, document FROM alert_routing \
               WHERE account_id = ?1 AND document IS NOT NULL AND ( \
                   level = 'account' OR (level = 'device' AND holder = ?2) OR (level = 'group' AND holder IN ( \
                       SELECT group_id FROM group_member WHERE account_id = ?1 AND device_id = ?2))) \
               ORDER BY level, holder";
    let rows = tx.query(sql, params![account, device]).await?;
    let of = |level: &str| -> Result<Vec<&Row>> {
        let mut found = Vec::new();
        for row in &rows {
            if row.str("level")? == level {
                found.push(row);
            }
        }
        Ok(found)
    };
    for level in ["device", "group", "account"] {
        let found = of(level)?;
        let Some(first) = found.first() else { continue };
        let holder = match level {
            "device" => RoutingHolder::Device(device),
            "group" => RoutingHolder::Group(GroupId::from_i64(first.i64("holder")?)),
            _ => RoutingHolder::Account,
        };
        let routings = found.into_iter().map(|row| column::json(row, "document")).collect::<Result<_>>()?;
        return Ok(Some((holder, routings)));
    }
    Ok(None)
}

/// The notification settings of the account.
pub(in crate::sql) async fn messaging(tx: &Tx, account: AccountId) -> Result<StoredMessaging> {
    let sql = "SELECT revision, settings, last_modified FROM account_messaging WHERE account_id = ?1";
    match tx.query_opt(sql, params![account]).await? {
        Some(row) => Ok(StoredMessaging {
            revision: Revision(row.i64("revision")?),
            settings: column::json(&row, "settings")?,
            last_modified: Some(row.timestamp("last_modified")?),
        }),
        None => Ok(StoredMessaging {
            revision: Revision(0),
            settings: MessagingSettings::default(),
            last_modified: None,
        }),
    }
}

async fn replace_messaging(
    tx: &Tx,
    actor: Actor,
    seen: Revision,
    settings: MessagingSettings,
) -> Result<StoredMessaging> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = messaging(tx, account).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Messaging));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let text = serde_json::to_string(&settings).map_err(|cause| StoreError::Internal(cause.into()))?;
    let revision = before.revision.next();
    let sql = "INSERT INTO account_messaging (account_id, revision, settings, last_modified) \
               VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (account_id) DO UPDATE SET revision = excluded.revision, \
                   settings = excluded.settings, last_modified = excluded.last_modified";
    tx.execute(sql, params![account, revision.0, text, tx.now()]).await?;
    let target = Some(account.to_string());
    audit::record(tx, account, &actor.origin, "notificationSettings.update", target).await?;
    Ok(StoredMessaging { revision, settings, last_modified: Some(tx.now()) })
}

async fn routing_in_force(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<(RoutingHolder, AlertRouting)>> {
    scope::require_device(tx, scope, device).await?;
    in_force(tx, scope.account, device).await
}

async fn find_audience(
    database: &Database,
    scope: Scope,
    device: DeviceId,
    rule: Option<RuleId>,
) -> Result<Audience> {
    let found = database.read(move |tx| audience(tx, scope, device, rule).boxed()).await?;
    Ok(found.map(|(_, audience)| audience).unwrap_or_default())
}

forward! {
    impl Routing for Database {
        read get_routing(&self, scope: Scope, holder: RoutingHolder) -> StoredRouting = find;
        write replace_routing(
            &self, &actor: Actor, holder: RoutingHolder, seen: Revision, routing: Option<AlertRouting>
        ) -> StoredRouting = replace;
        read routing_in_force(&self, scope: Scope, device: DeviceId)
            -> Option<(RoutingHolder, AlertRouting)> = routing_in_force;
        run find_audience(&self, scope: Scope, device: DeviceId, rule: Option<RuleId>)
            -> Audience = find_audience;
        write send_test_messages(&self, &actor: Actor, device: DeviceId, rule: Option<RuleId>)
            -> Option<usize> = send_tests;
        read get_notification_settings(&self, scope: Scope) -> StoredMessaging = messaging(scope.account);
        write replace_messaging(&self, &actor: Actor, seen: Revision, settings: MessagingSettings)
            -> StoredMessaging = replace_messaging;
    }
}
