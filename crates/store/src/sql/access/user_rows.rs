//! Reading and writing the rows of users.

use perigee_core::access::preference::Preferences;
use perigee_core::access::privilege::Privileges;
use perigee_core::access::user::{User, UserFilter, UserProfile};
use perigee_core::accounts::country::Country;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, GroupId, UserId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use crate::params;
use crate::row::Row;
use crate::sql::query::for_ids;
use crate::sql::{column, drivers, search};
use crate::tx::Tx;
use crate::value::Value;

/// The columns that [`from_row`] reads.
pub(in crate::sql) const COLUMNS: &str = "account_id, id, revision, name, email, country, time_zone, description, \
     message, disabled, disabled_message, tags, privileges, group_id, device_id, admin_devices, valid_from, \
     expires, operator, creation, modification, last_login, preferences";

/// One user of the account.
pub(in crate::sql) async fn find(tx: &Tx, account: AccountId, id: UserId) -> Result<Option<User>> {
    let sql = format!("SELECT {COLUMNS} FROM account_user WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![account, id]).await?.as_ref().map(from_row).transpose()
}

/// The users of the account among these.
pub(in crate::sql) async fn find_many(tx: &Tx, account: AccountId, ids: &[i64]) -> Result<Vec<User>> {
    let sql = format!("SELECT {COLUMNS} FROM account_user WHERE account_id = ?1 AND id IN ({{ids}})");
    for_ids(tx, &sql, params![account], ids).await?.iter().map(from_row).collect()
}

/// Users of the account, by id.
pub(in crate::sql) async fn list(
    tx: &Tx,
    account: AccountId,
    filter: UserFilter,
    page: PageRequest,
) -> Result<Page<User>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM account_user
         WHERE account_id = ?1 AND id > ?2
           AND (CAST(?3 AS TEXT) IS NULL OR strpos(search, ?3) > 0)
           AND (CAST(?4 AS BIGINT) IS NULL OR group_id = ?4)
           AND (CAST(?5 AS TEXT) IS NULL OR strpos(tags, '{{' || ?5) > 0 OR strpos(tags, ',' || ?5) > 0)
         ORDER BY id LIMIT ?6"
    );
    let values = params![
        account,
        page.after.unwrap_or(i64::MIN),
        filter.text.as_deref().map(search::lowercase),
        filter.group,
        filter.tag.as_ref().map(search::tag_text),
        i64::from(page.limit) + 1,
    ];
    let users = tx.query(&sql, values).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(users, page.limit, |user| user.id.as_i64()))
}

/// Adds the row of a new user.
pub(in crate::sql) async fn insert(tx: &Tx, user: &User, password_hash: Option<String>) -> Result<()> {
    let mut values = settable(user)?;
    values.extend_from_slice(params![password_hash, user.creation, chosen(user)?]);
    tx.execute(
        "INSERT INTO account_user (account_id, id, revision, modification, name, email, country, time_zone,
             description, message, disabled, disabled_message, tags, privileges, group_id, device_id,
             admin_devices, valid_from, expires, search, password_hash, creation, preferences)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
             ?21, ?22, ?23)",
        &values,
    )
    .await?;
    Ok(())
}

/// Updates the columns that a client sets.
pub(in crate::sql) async fn update(tx: &Tx, user: &User) -> Result<()> {
    tx.execute(
        "UPDATE account_user SET revision = ?3, modification = ?4, name = ?5, email = ?6, country = ?7,
             time_zone = ?8, description = ?9, message = ?10, disabled = ?11, disabled_message = ?12,
             tags = ?13, privileges = ?14, group_id = ?15, device_id = ?16, admin_devices = ?17,
             valid_from = ?18, expires = ?19, search = ?20
         WHERE account_id = ?1 AND id = ?2",
        &settable(user)?,
    )
    .await?;
    Ok(())
}

/// The preferences of a new user: the language that was chosen for them, if any.
fn chosen(user: &User) -> Result<Option<String>> {
    let language = user.profile.language;
    language
        .is_some()
        .then(|| preferences_text(&Preferences { language, ..Preferences::default() }))
        .transpose()
}

/// Changes the language among the preferences that the user chose.
pub(in crate::sql) async fn set_language(tx: &Tx, user: &User) -> Result<()> {
    let sql = "SELECT preferences FROM account_user WHERE account_id = ?1 AND id = ?2";
    let present = preferences(&tx.query_one(sql, params![user.account, user.id]).await?)?;
    let text = preferences_text(&Preferences { language: user.profile.language, ..present })?;
    let sql = "UPDATE account_user SET preferences = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![user.account, user.id, text]).await?;
    Ok(())
}

/// The stored form of preferences.
pub(in crate::sql) fn preferences_text(preferences: &Preferences) -> Result<String> {
    serde_json::to_string(preferences).map_err(|error| StoreError::Internal(error.into()))
}

/// The display preferences in this row. A choice that this version does not know falls back to the default.
pub(in crate::sql) fn preferences(row: &Row) -> Result<Preferences> {
    Ok(row.opt_str("preferences")?.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
}

/// Deletes the row of a user with its sessions and links; the API key is deleted by cascade. Sessions and links have
/// no foreign key where tables are distributed, because they are found without the account.
pub(in crate::sql) async fn delete(tx: &Tx, user: &User) -> Result<()> {
    for table in ["session", "link"] {
        let sql = format!("DELETE FROM {table} WHERE account_id = ?1 AND user_id = ?2");
        tx.execute(&sql, params![user.account, user.id]).await?;
    }
    drivers::forget_user(tx, user.account, user.id).await?;
    let sql = "DELETE FROM account_user WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![user.account, user.id]).await?;
    Ok(())
}

/// The values `?1` to `?20` of both statements above.
fn settable(user: &User) -> Result<Vec<Value>> {
    let profile = &user.profile;
    let searchable = [Some(&*profile.name), Some(profile.email.as_str()), profile.description.as_deref()];
    Ok(params![
        user.account,
        user.id,
        user.revision.0,
        user.modification,
        &profile.name,
        profile.email.as_str(),
        profile.country.map(Country::code),
        profile.time_zone.id(),
        profile.description.as_deref(),
        profile.message.as_deref(),
        profile.disabled,
        profile.disabled_message.as_deref(),
        search::tags_text(&profile.tags)?,
        profile.privileges.as_bits(),
        profile.group,
        profile.device,
        profile.admin_devices,
        profile.from,
        profile.expires,
        search::searchable(&searchable),
    ]
    .to_vec())
}

/// The user in this row.
pub(in crate::sql) fn from_row(row: &Row) -> Result<User> {
    Ok(User {
        id: UserId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        revision: Revision(row.i64("revision")?),
        profile: profile(row)?,
        operator: row.bool("operator")?,
        creation: row.timestamp("creation")?,
        modification: row.timestamp("modification")?,
        last_login: row.opt_timestamp("last_login")?,
    })
}

fn profile(row: &Row) -> Result<UserProfile> {
    Ok(UserProfile {
        name: row.text("name")?,
        email: column::parsed(row, "email")?,
        country: column::opt_parsed(row, "country")?,
        time_zone: column::parsed(row, "time_zone")?,
        language: preferences(row)?.language,
        description: row.opt_text("description")?,
        message: row.opt_text("message")?,
        disabled: row.bool("disabled")?,
        disabled_message: row.opt_text("disabled_message")?,
        tags: column::json(row, "tags")?,
        privileges: Privileges::from_bits(row.int("privileges")?),
        group: row.opt_i64("group_id")?.map(GroupId::from_i64),
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        admin_devices: row.opt_int("admin_devices")?,
        from: row.opt_timestamp("valid_from")?,
        expires: row.opt_timestamp("expires")?,
    })
}
