//! Drivers: created, listed, replaced and deleted; their key tags; their assignments to devices; and who drove.

mod assignments;
mod lookup;
mod tags;

pub(in crate::sql) use lookup::{names, resolve};

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::drivers::{Driver, DriverFilter, DriverSettings};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DriverId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Drivers, Result};
use perigee_core::text::Email;

use crate::forward::forward;
use crate::sql::query::{Query, for_ids};
use crate::sql::timeline::drivers as trips;
use crate::sql::{access::audit, accounts, column, events, idempotency, ids, search};
use crate::{Row, Tx, params};

const COLUMNS: &str =
    "account_id, id, revision, name, phone, email, user_id, description, creation, last_modified";

const MISSING: StoreError = StoreError::NotFound(Kind::Driver);

/// A driver without its tags, which [`tags::add_to`] adds.
fn from_row(row: &Row) -> Result<Driver> {
    let email: Option<Email> = column::opt_parsed(row, "email")?;
    Ok(Driver {
        id: DriverId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        revision: Revision(row.i64("revision")?),
        settings: DriverSettings {
            name: row.text("name")?,
            phone: row.opt_text("phone")?,
            email,
            user: row.opt_i64("user_id")?.map(UserId::from_i64),
            tags: Vec::new(),
            description: row.opt_text("description")?,
        },
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

async fn with_tags(tx: &Tx, account: AccountId, rows: &[Row]) -> Result<Vec<Driver>> {
    let mut drivers = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    tags::add_to(tx, account, &mut drivers).await?;
    Ok(drivers)
}

pub(in crate::sql) async fn find(tx: &Tx, scope: Scope, id: DriverId) -> Result<Option<Driver>> {
    Ok(find_many(tx, scope, &[id.as_i64()]).await?.pop())
}

/// The drivers with these ids; none for a scope that is not the whole account.
pub(in crate::sql) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<Driver>> {
    if !scope.is_whole() || ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {COLUMNS} FROM driver WHERE account_id = ?1 AND id IN ({{ids}})");
    let rows = for_ids(tx, &sql, params![scope.account], ids).await?;
    with_tags(tx, scope.account, &rows).await
}

/// The driver whom a user means by a text: an id, or a name that exactly one driver has.
pub(in crate::sql) async fn named(
    tx: &Tx,
    account: AccountId,
    text: &str,
) -> Result<Option<(DriverId, String)>> {
    let rows = if let Ok(id) = text.parse::<DriverId>() {
        let sql = "SELECT id, name FROM driver WHERE account_id = ?1 AND id = ?2";
        tx.query(sql, params![account, id]).await?
    } else {
        let sql = "SELECT id, name FROM driver WHERE account_id = ?1 AND name = ?2 LIMIT 2";
        tx.query(sql, params![account, text]).await?
    };
    match rows.as_slice() {
        [row] => Ok(Some((DriverId::from_i64(row.i64("id")?), row.text("name")?))),
        _ => Ok(None),
    }
}

async fn list(tx: &Tx, scope: Scope, filter: DriverFilter, page: PageRequest) -> Result<Page<Driver>> {
    if !scope.is_whole() {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM driver WHERE account_id = ?1 AND id > ?2"),
        params![scope.account, page.after.unwrap_or(i64::MIN)],
    );
    if let Some(text) = &filter.text {
        query.push_if_storable(" AND strpos(search, {}) > 0", &search::lowercase(text));
    }
    query.push_with(" ORDER BY id LIMIT {}", i64::from(page.limit) + 1);
    let drivers = with_tags(tx, scope.account, &query.rows(tx).await?).await?;
    Ok(Page::cut(drivers, page.limit, |driver| driver.id.as_i64()))
}

fn search_text(settings: &DriverSettings) -> String {
    let email = settings.email.as_ref().map(Email::as_str);
    let texts = [Some(&*settings.name), settings.phone.as_deref(), email, settings.description.as_deref()];
    let tags = settings.tags.iter().map(|tag| Some(tag.as_str()));
    search::searchable(&texts.into_iter().chain(tags).collect::<Vec<_>>())
}

/// Sorts the tags and checks what the settings refer to.
async fn admit(
    tx: &Tx,
    account: AccountId,
    of: Option<DriverId>,
    mut settings: DriverSettings,
) -> Result<DriverSettings> {
    settings.tags.sort_unstable();
    settings.tags.dedup();
    tags::require_free(tx, account, of, &settings.tags).await?;
    if let Some(user) = settings.user {
        let sql = "SELECT 1 AS found FROM account_user WHERE account_id = ?1 AND id = ?2";
        if tx.query_opt(sql, params![account, user]).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::User, id: user.to_string() });
        }
    }
    Ok(settings)
}

/// Records a change in the event and audit logs.
async fn record(
    tx: &Tx,
    actor: &Actor,
    (kind, action): (EventKind, &str),
    driver: &Driver,
    detail: Option<String>,
) -> Result<()> {
    let data = serde_json::json!({ "revision": driver.revision });
    events::append(tx, driver.account, kind, driver.id.to_string(), None, data).await?;
    let target = Some(driver.id.to_string());
    audit::record_with(tx, driver.account, &actor.origin, action, target, detail).await
}

async fn create(
    tx: &Tx,
    actor: Actor,
    settings: DriverSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Driver>> {
    if !actor.scope.is_whole() {
        return Err(MISSING);
    }
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT COUNT(*) AS count FROM driver WHERE account_id = ?1";
    if tx.query_one(sql, params![account]).await?.i64("count")? >= i64::from(Driver::COUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::Driver, most: Driver::COUNT_MAX });
    }
    let settings = admit(tx, account, None, settings).await?;
    let id = DriverId::from_i64(ids::fresh_id(tx, "driver", account).await?);
    let sql = "INSERT INTO driver (account_id, id, revision, name, phone, email, user_id, description, search, \
                   creation, last_modified) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)";
    let values = params![
        account,
        id,
        &settings.name,
        settings.phone.as_deref(),
        settings.email.as_ref().map(Email::as_str),
        settings.user,
        settings.description.as_deref(),
        search_text(&settings),
        tx.now()
    ];
    tx.execute(sql, values).await?;
    tags::replace(tx, account, id, &[], &settings.tags).await?;
    let driver = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    record(tx, &actor, (EventKind::DriverCreated, "driver.create"), &driver, None).await?;
    idempotency::keep(tx, account, once.as_ref(), &driver).await?;
    Ok(Created::Now(driver))
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    id: DriverId,
    seen: Revision,
    settings: DriverSettings,
) -> Result<Driver> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Driver));
    }
    let settings = admit(tx, account, Some(id), settings).await?;
    let changes = settings.changes_since(&before.settings);
    if changes.iter().all(|(_, differs)| !differs) {
        return Ok(before);
    }
    let sql = "UPDATE driver SET revision = revision + 1, name = ?3, phone = ?4, email = ?5, user_id = ?6, \
                   description = ?7, search = ?8, last_modified = ?9 WHERE account_id = ?1 AND id = ?2";
    let values = params![
        account,
        id,
        &settings.name,
        settings.phone.as_deref(),
        settings.email.as_ref().map(Email::as_str),
        settings.user,
        settings.description.as_deref(),
        search_text(&settings),
        tx.now()
    ];
    tx.execute(sql, values).await?;
    tags::replace(tx, account, id, &before.settings.tags, &settings.tags).await?;
    if settings.name != before.settings.name {
        trips::mark_driver(tx, account, id).await?;
    }
    let after = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    record(tx, &actor, (EventKind::DriverUpdated, "driver.update"), &after, changed(&changes)).await?;
    Ok(after)
}

async fn delete(tx: &Tx, actor: Actor, id: DriverId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Driver));
    }
    // Its trips keep the name.
    trips::mark_driver(tx, account, id).await?;
    tx.execute("DELETE FROM driver WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    record(tx, &actor, (EventKind::DriverDeleted, "driver.delete"), &before, None).await
}

/// Forgets that a deleted user is a driver. The account is locked.
pub(in crate::sql) async fn forget_user(tx: &Tx, account: AccountId, user: UserId) -> Result<()> {
    let sql =
        "UPDATE driver SET user_id = NULL, revision = revision + 1 WHERE account_id = ?1 AND user_id = ?2";
    tx.execute(sql, params![account, user]).await?;
    Ok(())
}

forward! {
    impl Drivers for Database {
        write create_driver(&self, &actor: Actor, settings: DriverSettings, once: Option<IdempotencyKey>)
            -> Created<Driver> = create;
        read_snapshot find_driver(&self, scope: Scope, id: DriverId) -> Option<Driver> = find;
        read_snapshot list_drivers(&self, scope: Scope, &filter: DriverFilter, page: PageRequest) -> Page<Driver> = list;
        write replace_driver(
            &self, &actor: Actor, id: DriverId, seen: Revision, settings: DriverSettings
        ) -> Driver = replace;
        write delete_driver(&self, &actor: Actor, id: DriverId, seen: Option<Revision>) -> () = delete;
    }
}
