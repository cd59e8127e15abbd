//! Push subscriptions: created, listed, changed and deleted; the browsers of users who are recipients; and what a
//! message to a browser needs.

use std::collections::{BTreeSet, HashMap};

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::access::audit::changed;
use perigee_core::access::credential::SigningKey;
use perigee_core::access::user::{User, UserStatus};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, PushSubscriptionId, SessionId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::notifications::contact::Contact;
use perigee_core::notifications::notification::Channel;
use perigee_core::notifications::push::{
    Browser, NewPushSubscription, PushEndpoint, PushResult, PushSettings, PushSubscription, PushTarget,
    QuietHours,
};
use perigee_core::notifications::routing::{Destination, Preferences};
use perigee_core::revision::Revision;
use perigee_core::store::{PushSubscriptions, Result};
use perigee_core::time::Timestamp;
use serde::Serialize;

use crate::database::Database;
use crate::forward::forward;
use crate::sql::access::signing_keys::{self, Keys};
use crate::sql::notifications::{contact_groups, outbox};
use crate::sql::query::for_ids;
use crate::sql::{access::audit, access::user_rows, accounts, column, idempotency, ids};
use crate::{Row, Tx, params};

const COLUMNS: &str = "account_id, id, user_id, session_id, revision, endpoint_hash, key_id, settings, creation, \
                       last_modified, last_used";
const MISSING: StoreError = StoreError::NotFound(Kind::PushSubscription);

fn from_row(row: &Row) -> Result<PushSubscription> {
    Ok(PushSubscription {
        id: PushSubscriptionId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        user: UserId::from_i64(row.i64("user_id")?),
        session: SessionId::from_i64(row.i64("session_id")?),
        revision: Revision(row.i64("revision")?),
        endpoint_hash: row.text("endpoint_hash")?,
        key_id: row.text("key_id")?,
        settings: column::json(row, "settings")?,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
        last_used: row.opt_timestamp("last_used")?,
    })
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| StoreError::Internal(cause.into()))
}

async fn create(
    tx: &Tx,
    actor: Actor,
    user: UserId,
    new: NewPushSubscription,
    once: Option<IdempotencyKey>,
) -> Result<Created<PushSubscription>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT id, user_id FROM push_subscription WHERE account_id = ?1 AND endpoint_hash = ?2";
    let known = tx.query_opt(sql, params![account, &new.endpoint_hash]).await?;
    let known = match known {
        Some(row) if row.i64("user_id")? == user.as_i64() => Some(row.i64("id")?),
        Some(row) => {
            remove(tx, account, row.i64("id")?, &actor.origin).await?;
            None
        }
        None => None,
    };
    let (endpoint, settings) = (text(&new.endpoint)?, text(&new.settings)?);
    let (row, action) = if let Some(id) = known {
        let sql = format!(
            "UPDATE push_subscription SET session_id = ?3, revision = revision + 1, endpoint = ?4, key_id = ?5, \
                 settings = ?6, last_modified = ?7 \
             WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
        );
        let values = params![account, id, new.session, endpoint, &new.endpoint.key_id, settings, tx.now()];
        (tx.query_one(&sql, values).await?, "pushSubscription.update")
    } else {
        let sql = "SELECT COUNT(*) AS count FROM push_subscription WHERE account_id = ?1 AND user_id = ?2";
        let count = tx.query_one(sql, params![account, user]).await?.i64("count")?;
        if count >= i64::from(PushSubscription::COUNT_MAX) {
            let most = PushSubscription::COUNT_MAX;
            return Err(StoreError::TooMany { kind: Kind::PushSubscription, most });
        }
        let id = ids::fresh_id(tx, "push_subscription", account).await?;
        let sql = format!(
            "INSERT INTO push_subscription (account_id, id, user_id, session_id, revision, endpoint_hash, \
                 endpoint, key_id, settings, creation, last_modified) \
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?9) RETURNING {COLUMNS}"
        );
        let values = params![
            account,
            id,
            user,
            new.session,
            &new.endpoint_hash,
            endpoint,
            &new.endpoint.key_id,
            settings,
            tx.now(),
        ];
        (tx.query_one(&sql, values).await?, "pushSubscription.create")
    };
    let made = from_row(&row)?;
    audit::record(tx, account, &actor.origin, action, Some(made.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &made).await?;
    Ok(Created::Now(made))
}

async fn list(tx: &Tx, scope: Scope, user: UserId) -> Result<Vec<PushSubscription>> {
    let sql =
        format!("SELECT {COLUMNS} FROM push_subscription WHERE account_id = ?1 AND user_id = ?2 ORDER BY id");
    tx.query(&sql, params![scope.account, user]).await?.iter().map(from_row).collect()
}

async fn find(
    tx: &Tx,
    scope: Scope,
    user: UserId,
    id: PushSubscriptionId,
) -> Result<Option<PushSubscription>> {
    let sql =
        format!("SELECT {COLUMNS} FROM push_subscription WHERE account_id = ?1 AND id = ?2 AND user_id = ?3");
    tx.query_opt(&sql, params![scope.account, id, user]).await?.as_ref().map(from_row).transpose()
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    user: UserId,
    id: PushSubscriptionId,
    seen: Revision,
    settings: PushSettings,
) -> Result<PushSubscription> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, user, id).await?.ok_or(MISSING)?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::PushSubscription));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let sql = format!(
        "UPDATE push_subscription SET revision = revision + 1, settings = ?3, last_modified = ?4 \
         WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
    );
    let after = from_row(&tx.query_one(&sql, params![account, id, text(&settings)?, tx.now()]).await?)?;
    let detail = changed(&settings.changes_since(&before.settings));
    let target = Some(id.to_string());
    audit::record_with(tx, account, &actor.origin, "pushSubscription.update", target, detail).await?;
    Ok(after)
}

async fn delete(
    tx: &Tx,
    actor: Actor,
    user: UserId,
    id: PushSubscriptionId,
    seen: Option<Revision>,
) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, user, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::PushSubscription));
    }
    remove(tx, account, id.as_i64(), &actor.origin).await
}

/// Deletes a subscription of a locked account.
async fn remove(tx: &Tx, account: AccountId, id: i64, origin: &Origin) -> Result<()> {
    let sql = "DELETE FROM push_subscription WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id]).await?;
    let target = Some(PushSubscriptionId::from_i64(id).to_string());
    audit::record(tx, account, origin, "pushSubscription.delete", target).await
}

/// Deletes the subscriptions of a session that the user ended.
pub(in crate::sql) async fn delete_of_session(tx: &Tx, account: AccountId, session: SessionId) -> Result<()> {
    let sql = "DELETE FROM push_subscription WHERE account_id = ?1 AND session_id = ?2";
    tx.execute(sql, params![account, session]).await?;
    Ok(())
}

/// Deletes the subscriptions of a user but those of the session to keep.
pub(in crate::sql) async fn delete_of_user(tx: &Tx, user: &User, keep: Option<SessionId>) -> Result<()> {
    let sql = "DELETE FROM push_subscription \
               WHERE account_id = ?1 AND user_id = ?2 AND (CAST(?3 AS BIGINT) IS NULL OR session_id <> ?3)";
    tx.execute(sql, params![user.account, user.id, keep]).await?;
    Ok(())
}

/// The browsers that these users subscribed, with the preferences of their messages.
pub(in crate::sql) async fn browsers(
    tx: &Tx,
    account: AccountId,
    users: &HashMap<UserId, Preferences>,
) -> Result<HashMap<UserId, Vec<Browser>>> {
    let mut found: HashMap<UserId, Vec<Browser>> = HashMap::new();
    let wanted: BTreeSet<i64> = users.keys().map(|user| user.as_i64()).collect();
    let sql = format!(
        "SELECT {COLUMNS} FROM push_subscription WHERE account_id = ?1 AND user_id IN ({{ids}}) ORDER BY id"
    );
    for row in for_ids(tx, &sql, params![account], &wanted.into_iter().collect::<Vec<_>>()).await? {
        let subscription = from_row(&row)?;
        let Some(preferences) = users.get(&subscription.user) else { continue };
        // An ID is always an address of this channel.
        let Ok(destination) = Destination::parse(Channel::PUSH, &subscription.id.to_string()) else {
            continue;
        };
        let PushSettings { minimum_severity, quiet_hours, critical_in_quiet_hours, .. } =
            subscription.settings;
        found.entry(subscription.user).or_default().push(Browser {
            contact: Contact { destination, preferences: preferences.clone() },
            minimum_severity,
            quiet: QuietHours { hours: quiet_hours, critical_passes: critical_in_quiet_hours },
        });
    }
    Ok(found)
}

async fn test(tx: &Tx, actor: Actor, user: UserId, id: PushSubscriptionId) -> Result<bool> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    find(tx, actor.scope, user, id).await?.ok_or(MISSING)?;
    let sql = format!("SELECT {} FROM account_user WHERE account_id = ?1 AND id = ?2", user_rows::COLUMNS);
    let row = tx.query_opt(&sql, params![account, user]).await?.ok_or(MISSING)?;
    let preferences = contact_groups::contact_of(tx, &row)?.ok_or(MISSING)?.preferences;
    if !outbox::write_push_test(tx, account, id, &preferences).await? {
        return Ok(false);
    }
    audit::record(tx, account, &actor.origin, "pushSubscription.test", Some(id.to_string())).await?;
    Ok(true)
}

async fn find_target(tx: &Tx, account: AccountId, id: PushSubscriptionId) -> Result<Option<PushTarget>> {
    let sql = "SELECT endpoint, user_id FROM push_subscription WHERE account_id = ?1 AND id = ?2";
    let Some(row) = tx.query_opt(sql, params![account, id]).await? else { return Ok(None) };
    let user = user_rows::find(tx, account, UserId::from_i64(row.i64("user_id")?)).await?;
    if user.is_none_or(|user| user.profile.status(tx.now()) != UserStatus::Active) {
        return Ok(None);
    }
    let endpoint: PushEndpoint = column::json(&row, "endpoint")?;
    let keys = signing_keys::list(tx, Keys::Push).await?;
    let key = keys.into_iter().find(|key| key.kid == endpoint.key_id);
    Ok(Some(PushTarget { endpoint, key }))
}

async fn record(
    tx: &Tx,
    account: AccountId,
    id: PushSubscriptionId,
    sent_to: PushEndpoint,
    result: PushResult,
) -> Result<()> {
    match result {
        PushResult::Accepted => {
            let sql = "UPDATE push_subscription SET last_used = ?3 WHERE account_id = ?1 AND id = ?2";
            tx.execute(sql, params![account, id, tx.now()]).await?;
        }
        PushResult::Gone => {
            tx.lock_account(account).await?;
            let sql = "SELECT endpoint FROM push_subscription WHERE account_id = ?1 AND id = ?2";
            let Some(row) = tx.query_opt(sql, params![account, id]).await? else { return Ok(()) };
            let endpoint: PushEndpoint = column::json(&row, "endpoint")?;
            // A renewed subscription has other keys; what ended is the one before.
            if endpoint == sent_to {
                remove(tx, account, id.as_i64(), &Origin::service()).await?;
            }
        }
    }
    Ok(())
}

async fn push_keys(database: &Database, fresh: SigningKey) -> Result<Vec<SigningKey>> {
    let known = database.list_push_keys().await?;
    if !known.is_empty() {
        return Ok(known);
    }
    database.write(move |tx| Box::pin(signing_keys::list_or_keep(tx, Keys::Push, fresh))).await
}

forward! {
    impl PushSubscriptions for Database {
        run push_keys(&self, fresh: SigningKey) -> Vec<SigningKey> = push_keys;
        read list_push_keys(&self) -> Vec<SigningKey> = signing_keys::list(Keys::Push);
        write rotate_push_key(&self, fresh: SigningKey, old_until: Timestamp)
            -> () = signing_keys::rotate(Keys::Push, fresh, old_until);
        write create_push_subscription(
            &self, &actor: Actor, user: UserId, new: NewPushSubscription, once: Option<IdempotencyKey>
        ) -> Created<PushSubscription> = create;
        read list_push_subscriptions(&self, scope: Scope, user: UserId) -> Vec<PushSubscription> = list;
        read find_push_subscription(&self, scope: Scope, user: UserId, id: PushSubscriptionId)
            -> Option<PushSubscription> = find;
        write replace_push_subscription(
            &self, &actor: Actor, user: UserId, id: PushSubscriptionId, seen: Revision, settings: PushSettings
        ) -> PushSubscription = replace;
        write delete_push_subscription(
            &self, &actor: Actor, user: UserId, id: PushSubscriptionId, seen: Option<Revision>
        ) -> () = delete;
        write test_push_subscription(&self, &actor: Actor, user: UserId, id: PushSubscriptionId)
            -> bool = test;
        read find_push_target(&self, account: AccountId, id: PushSubscriptionId)
            -> Option<PushTarget> = find_target;
        write record_push(
            &self, account: AccountId, id: PushSubscriptionId, &sent_to: PushEndpoint, result: PushResult
        ) -> () = record;
    }
}
