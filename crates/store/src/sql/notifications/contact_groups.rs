//! Contact groups: created, listed, replaced and deleted; and the directory of those whom routings name.

use std::collections::BTreeSet;

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::access::user::UserStatus;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, ContactGroupId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::notifications::contact::{Contact, ContactGroup, ContactGroupSettings};
use perigee_core::notifications::notification::Directory;
use perigee_core::notifications::routing::{AlertRouting, Destination, Preferences};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{ContactGroups, Result};

use crate::forward::forward;
use crate::sql::query::for_ids;
use crate::sql::{access::audit, access::user_rows, accounts, column, idempotency, ids, notifications::push};
use crate::{Row, Tx, params};

const COLUMNS: &str = "account_id, id, revision, settings, creation, last_modified";

fn from_row(row: &Row) -> Result<ContactGroup> {
    Ok(ContactGroup {
        id: ContactGroupId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        revision: Revision(row.i64("revision")?),
        settings: column::json(row, "settings")?,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

const MISSING: StoreError = StoreError::NotFound(Kind::ContactGroup);

fn text(settings: &ContactGroupSettings) -> Result<String> {
    serde_json::to_string(settings).map_err(|cause| StoreError::Internal(cause.into()))
}

async fn find(tx: &Tx, scope: Scope, id: ContactGroupId) -> Result<Option<ContactGroup>> {
    if !scope.is_whole() {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM contact_group WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![scope.account, id]).await?.as_ref().map(from_row).transpose()
}

async fn create(
    tx: &Tx,
    actor: Actor,
    settings: ContactGroupSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<ContactGroup>> {
    if !actor.scope.is_whole() {
        return Err(MISSING);
    }
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT COUNT(*) AS count FROM contact_group WHERE account_id = ?1";
    if tx.query_one(sql, params![account]).await?.i64("count")? >= i64::from(ContactGroup::COUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::ContactGroup, most: ContactGroup::COUNT_MAX });
    }
    let id = ids::fresh_id(tx, "contact_group", account).await?;
    let sql =
        format!("INSERT INTO contact_group ({COLUMNS}) VALUES (?1, ?2, 1, ?3, ?4, ?4) RETURNING {COLUMNS}");
    let row = tx.query_one(&sql, params![account, id, text(&settings)?, tx.now()]).await?;
    let group = from_row(&row)?;
    audit::record(tx, account, &actor.origin, "contactGroup.create", Some(group.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &group).await?;
    Ok(Created::Now(group))
}

async fn list(tx: &Tx, scope: Scope, page: PageRequest) -> Result<Page<ContactGroup>> {
    if !scope.is_whole() {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let sql =
        format!("SELECT {COLUMNS} FROM contact_group WHERE account_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
    let values = params![scope.account, page.after.unwrap_or(i64::MIN), i64::from(page.limit) + 1];
    let groups = tx.query(&sql, values).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(groups, page.limit, |group| group.id.as_i64()))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: ContactGroupId,
    seen: Revision,
    settings: ContactGroupSettings,
) -> Result<ContactGroup> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::ContactGroup));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let sql = format!(
        "UPDATE contact_group SET revision = revision + 1, settings = ?3, last_modified = ?4 \
         WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
    );
    let group = from_row(&tx.query_one(&sql, params![account, id, text(&settings)?, tx.now()]).await?)?;
    let detail = changed(&settings.changes_since(&before.settings));
    let target = Some(id.to_string());
    audit::record_with(tx, account, &actor.origin, "contactGroup.update", target, detail).await?;
    Ok(group)
}

async fn delete(tx: &Tx, actor: Actor, id: ContactGroupId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::ContactGroup));
    }
    // Ids are unique texts, so that a document which contains one names the group.
    let sql = "SELECT 1 AS found FROM alert_routing WHERE account_id = ?1 AND document LIKE ?2 \
               UNION ALL SELECT 1 AS found FROM rule WHERE account_id = ?1 AND settings LIKE ?2 LIMIT 1";
    if tx.query_opt(sql, params![account, format!("%\"{id}\"%")]).await?.is_some() {
        return Err(StoreError::InUse(Kind::ContactGroup));
    }
    tx.execute("DELETE FROM contact_group WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    audit::record(tx, account, &actor.origin, "contactGroup.delete", Some(id.to_string())).await
}

/// The ids among these of contact groups that the account has.
pub(in crate::sql) async fn existing(
    tx: &Tx,
    account: AccountId,
    wanted: &BTreeSet<ContactGroupId>,
) -> Result<BTreeSet<ContactGroupId>> {
    let ids: Vec<i64> = wanted.iter().map(|id| id.as_i64()).collect();
    let sql = "SELECT id FROM contact_group WHERE account_id = ?1 AND id IN ({ids})";
    let rows = for_ids(tx, sql, params![account], &ids).await?;
    rows.iter().map(|row| Ok(ContactGroupId::from_i64(row.i64("id")?))).collect()
}

/// The users and contact groups that these routings name. Users who are not active are left out.
pub(in crate::sql) async fn directory<'r>(
    tx: &Tx,
    account: AccountId,
    routings: impl Iterator<Item = &'r AlertRouting> + Clone,
) -> Result<Directory> {
    let users: BTreeSet<UserId> = routings.clone().flat_map(AlertRouting::named_users).collect();
    let groups: BTreeSet<ContactGroupId> = routings.flat_map(AlertRouting::named_contact_groups).collect();
    let mut directory = Directory::default();
    if !users.is_empty() {
        let ids: Vec<i64> = users.iter().map(|user| user.as_i64()).collect();
        let sql = format!(
            "SELECT {} FROM account_user WHERE account_id = ?1 AND id IN ({{ids}})",
            user_rows::COLUMNS
        );
        for row in for_ids(tx, &sql, params![account], &ids).await? {
            let user = user_rows::from_row(&row)?;
            if let Some(contact) = contact_of(tx, &row)? {
                directory.users.insert(user.id, contact);
            }
        }
        let named = |(user, contact): (&UserId, &Contact)| (*user, contact.preferences.clone());
        let users = directory.users.iter().map(named).collect();
        directory.browsers = push::browsers(tx, account, &users).await?;
    }
    if !groups.is_empty() {
        let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
        let sql = format!("SELECT {COLUMNS} FROM contact_group WHERE account_id = ?1 AND id IN ({{ids}})");
        for row in for_ids(tx, &sql, params![account], &ids).await? {
            let group = from_row(&row)?;
            directory.contact_groups.insert(group.id, group.settings.contacts);
        }
    }
    Ok(directory)
}

/// A user as a contact, in the language, units and zone of their console; `None` unless they are active. The row has
/// the columns of a user.
pub(in crate::sql) fn contact_of(tx: &Tx, row: &Row) -> Result<Option<Contact>> {
    let profile = user_rows::from_row(row)?.profile;
    if profile.status(tx.now()) != UserStatus::Active {
        return Ok(None);
    }
    let chosen = user_rows::preferences(row)?;
    let language = profile.mail_language().name().parse().unwrap_or_default();
    Ok(Some(Contact {
        destination: Destination::Email(profile.email),
        preferences: Preferences {
            name: Some(profile.name),
            time_zone: Some(chosen.time_zone.unwrap_or(profile.time_zone)),
            units: chosen.units,
            language,
        },
    }))
}

forward! {
    impl ContactGroups for Database {
        write create_contact_group(
            &self, &actor: Actor, settings: ContactGroupSettings, once: Option<IdempotencyKey>
        ) -> Created<ContactGroup> = create;
        read find_contact_group(&self, scope: Scope, id: ContactGroupId) -> Option<ContactGroup> = find;
        read list_contact_groups(&self, scope: Scope, page: PageRequest) -> Page<ContactGroup> = list;
        write replace_contact_group(
            &self, &actor: Actor, id: ContactGroupId, seen: Revision, settings: ContactGroupSettings
        ) -> ContactGroup = replace;
        write delete_contact_group(&self, &actor: Actor, id: ContactGroupId, seen: Option<Revision>)
            -> () = delete;
    }
}
