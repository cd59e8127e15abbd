//! Users: created, changed and deleted; an account always keeps an owner.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::access::audit::changed;
use perigee_core::access::preference::Preferences;
use perigee_core::access::privilege::Privileges;
use perigee_core::access::user::{NewUser, User, UserFilter, UserProfile, UserStatus};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Result, Users};
use serde_json::json;

use crate::forward::forward;
use crate::params;
use crate::sql::{
    access::audit, access::directory, access::passwords, access::user_rows, accounts, events, idempotency,
    notifications::push,
};
use crate::tx::Tx;

/// Adds a user to a locked account.
pub(crate) async fn insert(tx: &Tx, account: AccountId, origin: &Origin, new: NewUser) -> Result<User> {
    check_references(tx, account, &new.profile).await?;
    let now = tx.now();
    let user = User {
        id: UserId::new(tx.ids(), now),
        account,
        revision: Revision::FIRST,
        profile: new.profile,
        operator: false,
        creation: now,
        modification: now,
        last_login: None,
    };
    directory::add(tx, &user).await?;
    user_rows::insert(tx, &user, new.password_hash).await?;
    record(tx, &user, origin, (EventKind::UserCreated, "user.create"), None).await?;
    Ok(user)
}

/// The user, with its account locked until the end of the transaction.
pub(in crate::sql) async fn lock(tx: &Tx, id: UserId) -> Result<User> {
    let missing = || StoreError::NotFound(Kind::User);
    let account = directory::account_of(tx, id).await?.ok_or_else(missing)?;
    tx.lock_account(account).await?;
    user_rows::find(tx, account, id).await?.ok_or_else(missing)
}

async fn create(tx: &Tx, actor: Actor, new: NewUser, once: Option<IdempotencyKey>) -> Result<Created<User>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(user) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(user));
    }
    let user = insert(tx, account, &actor.origin, new).await?;
    idempotency::keep(tx, account, once.as_ref(), &user).await?;
    Ok(Created::Now(user))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: UserId,
    seen: Revision,
    profile: UserProfile,
    password_hash: Option<String>,
) -> Result<User> {
    let before = lock_seen(tx, &actor, id, Some(seen)).await?;
    if before.profile == profile
        && before.profile.email.as_str() == profile.email.as_str()
        && password_hash.is_none()
    {
        return Ok(before);
    }
    check_references(tx, before.account, &profile).await?;
    if !profile.is_lasting_owner(tx.now()) {
        check_owner_stays(tx, &before).await?;
    }
    let user = User { revision: before.revision.next(), profile, modification: tx.now(), ..before.clone() };
    if user.profile.email != before.profile.email {
        directory::set_email(tx, &user).await?;
    }
    user_rows::update(tx, &user).await?;
    // A browser notifies of what the user could see when it was subscribed.
    if user.profile.reach() != before.profile.reach() || user.profile.status(tx.now()) != UserStatus::Active {
        push::delete_of_user(tx, &user, None).await?;
    }
    if user.profile.language != before.profile.language {
        user_rows::set_language(tx, &user).await?;
    }
    let detail = changed(&user.profile.changes_since(&before.profile));
    record(tx, &user, &actor.origin, (EventKind::UserUpdated, "user.update"), detail).await?;
    if let Some(hash) = password_hash {
        passwords::put(tx, &user, hash, None).await?;
        audit::record(tx, user.account, &actor.origin, "password.set", Some(id.to_string())).await?;
    }
    Ok(user)
}

async fn delete(tx: &Tx, actor: Actor, id: UserId, seen: Option<Revision>) -> Result<()> {
    let user = lock_seen(tx, &actor, id, seen).await?;
    check_owner_stays(tx, &user).await?;
    directory::remove(tx, id).await?;
    user_rows::delete(tx, &user).await?;
    record(tx, &user, &actor.origin, (EventKind::UserDeleted, "user.delete"), None).await
}

async fn set_operator(tx: &Tx, id: UserId, operator: bool) -> Result<User> {
    let user = lock(tx, id).await?;
    if user.operator == operator {
        return Ok(user);
    }
    tx.execute(
        "UPDATE account_user SET operator = ?3 WHERE account_id = ?1 AND id = ?2",
        params![user.account, id, operator],
    )
    .await?;
    let action = if operator { "operator.grant" } else { "operator.revoke" };
    audit::record(tx, user.account, &Origin::command(), action, Some(id.to_string())).await?;
    Ok(User { operator, ..user })
}

async fn set_preferences(
    tx: &Tx,
    id: UserId,
    seen: Option<Preferences>,
    preferences: Preferences,
) -> Result<()> {
    let text = user_rows::preferences_text(&preferences)?;
    let account = directory::account_of(tx, id).await?.ok_or(StoreError::NotFound(Kind::User))?;
    if let Some(seen) = seen {
        accounts::lock(tx, account).await?;
        let sql = "SELECT preferences FROM account_user WHERE account_id = ?1 AND id = ?2";
        let row = tx.query_one(sql, params![account, id]).await?;
        if user_rows::preferences(&row)? != seen {
            return Err(StoreError::RevisionMismatch(Kind::Preferences));
        }
    }
    tx.execute(
        "UPDATE account_user SET preferences = ?3 WHERE account_id = ?1 AND id = ?2",
        params![account, id, text],
    )
    .await?;
    Ok(())
}

/// The user of the actor's account at this revision, with the account locked.
async fn lock_seen(tx: &Tx, actor: &Actor, id: UserId, seen: Option<Revision>) -> Result<User> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let user = user_rows::find(tx, account, id).await?.ok_or(StoreError::NotFound(Kind::User))?;
    match seen {
        Some(seen) if seen != user.revision => Err(StoreError::RevisionMismatch(Kind::User)),
        _ => Ok(user),
    }
}

/// Fails unless the group and device of the profile belong to the account.
async fn check_references(tx: &Tx, account: AccountId, profile: &UserProfile) -> Result<()> {
    if let Some(group) = profile.group {
        let sql = "SELECT id FROM device_group WHERE account_id = ?1 AND id = ?2";
        if tx.query_opt(sql, params![account, group]).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::Group, id: group.to_string() });
        }
    }
    if let Some(device) = profile.device {
        let sql = "SELECT id FROM device WHERE account_id = ?1 AND id = ?2";
        if tx.query_opt(sql, params![account, device]).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::Device, id: device.to_string() });
        }
    }
    Ok(())
}

/// Fails unless another permanent owner remains. The same rule as [`UserProfile::is_lasting_owner`].
async fn check_owner_stays(tx: &Tx, leaving: &User) -> Result<()> {
    if !leaving.profile.is_lasting_owner(tx.now()) {
        return Ok(());
    }
    let other = tx
        .query_opt(
            "SELECT id FROM account_user
             WHERE account_id = ?1 AND id <> ?2 AND (privileges & ?3) <> 0 AND NOT disabled
               AND (valid_from IS NULL OR valid_from <= ?4) AND expires IS NULL
               AND group_id IS NULL AND device_id IS NULL
             LIMIT 1",
            params![leaving.account, leaving.id, Privileges::OWNER.as_bits(), tx.now()],
        )
        .await?;
    other.map(|_owner| ()).ok_or(StoreError::LastOwner)
}

async fn record(
    tx: &Tx,
    user: &User,
    origin: &Origin,
    (kind, action): (EventKind, &str),
    detail: Option<String>,
) -> Result<()> {
    let data = json!({ "revision": user.revision });
    events::append(tx, user.account, kind, user.id.to_string(), None, data).await?;
    audit::record_with(tx, user.account, origin, action, Some(user.id.to_string()), detail).await
}

forward! {
    impl Users for Database {
        write create_user(&self, &actor: Actor, new: NewUser, once: Option<IdempotencyKey>)
            -> Created<User> = create;
        read find_user(&self, scope: Scope, id: UserId) -> Option<User> = user_rows::find(scope.account, id);
        read list_users(&self, scope: Scope, &filter: UserFilter, page: PageRequest)
            -> Page<User> = user_rows::list(scope.account, filter, page);
        write replace_user(
            &self, &actor: Actor, id: UserId, seen: Revision, profile: UserProfile,
            password_hash: Option<String>
        ) -> User = replace;
        write delete_user(&self, &actor: Actor, id: UserId, seen: Option<Revision>) -> () = delete;
        write set_preferences(&self, id: UserId, seen: Option<Preferences>, preferences: Preferences)
            -> () = set_preferences;
        write set_operator(&self, id: UserId, operator: bool) -> User = set_operator;
    }
}
