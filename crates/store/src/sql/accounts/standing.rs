//! Suspending and deleting accounts, and their branding.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::account::Account;
use perigee_core::accounts::branding::{Branding, Colour, Logo};
use perigee_core::accounts::standing::{AccountState, Deletion, Standing, Suspension};
use perigee_core::devices::device_file::MediaType;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, FileId};
use perigee_core::notifications::notification::Channel;
use perigee_core::store::{AccountStandings, AccountUsage, Purged, Result};

use super::purge;
use crate::forward::forward;
use crate::sql::{access::audit, accounts, column, gateways, ids};
use crate::{Row, Tx, Value, params};

const DAY_S: i64 = 86_400;

pub(super) fn standing_of(row: &Row) -> Result<Standing> {
    let message = row.opt_text("suspension_message")?;
    let suspension = row.opt_timestamp("suspended_at")?.map(|since| Suspension { since, message });
    let is_purging = row.bool("is_purging")?;
    let times = row.opt_timestamp("deletion_requested_at")?.zip(row.opt_timestamp("purge_at")?);
    let deletion = times.map(|(requested_at, purge_at)| Deletion { requested_at, purge_at, is_purging });
    Ok(Standing { suspension, deletion })
}

pub(super) fn branding_of(row: &Row) -> Result<Branding> {
    Ok(Branding {
        name: row.opt_text("brand_name")?,
        colour: column::opt_parsed(row, "brand_colour")?,
        logo: row.opt_i64("logo_id")?.map(FileId::from_i64),
    })
}

/// Locks an account that is not being purged.
async fn lock_lasting(tx: &Tx, id: AccountId) -> Result<Account> {
    let account = accounts::lock(tx, id).await?;
    if account.standing.state() == AccountState::Purging {
        return Err(StoreError::AccountPurging);
    }
    Ok(account)
}

/// Refuses to lock operators out of the server.
async fn require_no_operator(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = "SELECT id FROM account_user WHERE account_id = ?1 AND operator = TRUE LIMIT 1";
    match tx.query_opt(sql, params![account]).await? {
        Some(_) => Err(StoreError::HasOperator),
        None => Ok(()),
    }
}

/// Writes columns of an account (`?1` is its ID, `?2` is now), counts the change and records it.
async fn change(
    tx: &Tx,
    origin: &Origin,
    account: AccountId,
    (columns, values): (&str, &[Value]),
    (action, detail): (&str, Option<String>),
) -> Result<Account> {
    let sql =
        format!("UPDATE account SET {columns}, revision = revision + 1, last_modified = ?2 WHERE id = ?1");
    tx.execute(&sql, &[params![account, tx.now()], values].concat()).await?;
    audit::record_with(tx, account, origin, action, Some(account.to_string()), detail).await?;
    accounts::find(tx, account).await?.ok_or(StoreError::NotFound(Kind::Account))
}

async fn suspend(tx: &Tx, origin: Origin, id: AccountId, message: Option<String>) -> Result<Account> {
    let account = lock_lasting(tx, id).await?;
    require_no_operator(tx, id).await?;
    if account.standing.suspension.as_ref().is_some_and(|suspension| suspension.message == message) {
        return Ok(account);
    }
    let columns = "suspended_at = CASE WHEN suspended_at IS NULL THEN ?2 ELSE suspended_at END, suspension_message = ?3";
    let values = params![message.as_deref()];
    change(tx, &origin, id, (columns, values), ("account.suspend", message.clone())).await
}

async fn resume(tx: &Tx, origin: Origin, id: AccountId) -> Result<Account> {
    let account = lock_lasting(tx, id).await?;
    if account.standing.suspension.is_none() {
        return Ok(account);
    }
    let columns = "suspended_at = NULL, suspension_message = NULL";
    change(tx, &origin, id, (columns, &[]), ("account.resume", None)).await
}

async fn request_deletion(tx: &Tx, origin: Origin, id: AccountId, grace_days: u32) -> Result<Account> {
    lock_lasting(tx, id).await?;
    require_no_operator(tx, id).await?;
    let purge_at = tx.now().plus_seconds(i64::from(grace_days) * DAY_S);
    let columns = "deletion_requested_at = ?2, purge_at = ?3";
    let detail = Some(format!("purge at {purge_at}"));
    change(tx, &origin, id, (columns, params![purge_at]), ("account.delete", detail)).await
}

async fn undo_deletion(tx: &Tx, origin: Origin, id: AccountId) -> Result<Account> {
    let account = lock_lasting(tx, id).await?;
    if account.standing.deletion.is_none() {
        return Ok(account);
    }
    let columns = "deletion_requested_at = NULL, purge_at = NULL";
    change(tx, &origin, id, (columns, &[]), ("account.restore", None)).await
}

async fn set_branding(
    tx: &Tx,
    origin: Origin,
    id: AccountId,
    name: Option<String>,
    colour: Option<Colour>,
) -> Result<Account> {
    let account = lock_lasting(tx, id).await?;
    if (&account.branding.name, account.branding.colour) == (&name, colour) {
        return Ok(account);
    }
    let values = params![name.as_deref(), colour.map(|colour| colour.to_string())];
    let columns = "brand_name = ?3, brand_colour = ?4";
    change(tx, &origin, id, (columns, values), ("account.branding", None)).await
}

async fn set_logo(tx: &Tx, origin: Origin, id: AccountId, logo: Option<Logo>) -> Result<Account> {
    let account = lock_lasting(tx, id).await?;
    if logo.is_none() && account.branding.logo.is_none() {
        return Ok(account);
    }
    let number = match &logo {
        Some(_) => Some(ids::fresh_id(tx, "account_logo", id).await?),
        None => None,
    };
    tx.execute("DELETE FROM account_logo WHERE account_id = ?1", params![id]).await?;
    if let Some((logo, number)) = logo.zip(number) {
        let sql = "INSERT INTO account_logo (account_id, id, created, media_type, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
        tx.execute(sql, params![id, number, tx.now(), logo.media_type.name(), &logo.bytes]).await?;
    }
    let detail = Some("logo".to_owned());
    change(tx, &origin, id, ("logo_id = ?3", params![number]), ("account.branding", detail)).await
}

async fn find_logo(tx: &Tx, id: AccountId) -> Result<Option<Logo>> {
    let sql = "SELECT media_type, bytes FROM account_logo WHERE account_id = ?1";
    let Some(row) = tx.query_opt(sql, params![id]).await? else { return Ok(None) };
    let media_type = MediaType::named(row.str("media_type")?);
    let media_type = media_type.ok_or_else(|| column::unreadable("media_type", "not a media type"))?;
    Ok(Some(Logo { media_type, bytes: row.bytes("bytes")? }))
}

async fn usage(tx: &Tx, id: AccountId) -> Result<AccountUsage> {
    let account = accounts::find(tx, id).await?.ok_or(StoreError::NotFound(Kind::Account))?;
    let today = account.day_at(tx.now()).0.date.to_string();
    let sql = "SELECT channel, units + critical_units AS units FROM account_message_counter \
               WHERE account_id = ?1 AND date = ?2 ORDER BY channel";
    let rows = tx.query(sql, params![id, today]).await?;
    let mut messages_today = Vec::new();
    for row in &rows {
        if let Ok(channel) = row.str("channel")?.parse::<Channel>() {
            messages_today.push((channel, row.int("units")?));
        }
    }
    let sql = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM device_file WHERE account_id = ?1";
    let file_bytes = tx.query_one(sql, params![id]).await?.int("bytes")?;
    let raw_bytes = gateways::raw_usage::bytes_of(tx, id).await?;
    Ok(AccountUsage { api: account.api_usage, messages_today, raw_bytes, file_bytes })
}

forward! {
    impl AccountStandings for Database {
        write suspend_account(&self, &origin: Origin, account: AccountId, message: Option<String>)
            -> Account = suspend;
        write resume_account(&self, &origin: Origin, account: AccountId) -> Account = resume;
        write request_deletion(&self, &origin: Origin, account: AccountId, grace_days: u32)
            -> Account = request_deletion;
        write undo_deletion(&self, &origin: Origin, account: AccountId) -> Account = undo_deletion;
        write set_branding(
            &self, &origin: Origin, account: AccountId, name: Option<String>, colour: Option<Colour>
        ) -> Account = set_branding;
        write set_logo(&self, &origin: Origin, account: AccountId, logo: Option<Logo>) -> Account = set_logo;
        read find_logo(&self, account: AccountId) -> Option<Logo> = find_logo;
        read_snapshot account_usage(&self, account: AccountId) -> AccountUsage = usage;
        run purge_accounts(&self) -> Purged = purge::purge;
    }
}
