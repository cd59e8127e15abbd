//! Accounts: their rows, their settings and their first owner.

pub(crate) mod api_usage;
pub(crate) mod license_check;
pub(crate) mod licenses;
pub(crate) mod operator_notices;
mod purge;
pub(crate) mod retention;
mod standing;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Origin};
use perigee_core::access::audit::changed;
use perigee_core::access::privilege::Privileges;
use perigee_core::access::user::{NewUser, User, UserProfile};
use perigee_core::accounts::account::{Account, AccountSettings, ApiUsage, LicenseUse, NewAccount};
use perigee_core::accounts::branding::Branding;
use perigee_core::accounts::standing::Standing;
use perigee_core::day::{Day, end_of_date};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{AccountOrder, AccountOverview, Accounts, Result, UsageReport};
use perigee_core::text::{Email, Tags};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::devices::expiry;
use super::table_lock::{self, Table};
use crate::database::Database;
use crate::forward::forward;
use crate::params;
use crate::row::Row;
use crate::sql::{access::audit, access::users, column, search};
use crate::tx::Tx;

pub(super) const COLUMNS: &str = "id, revision, name, time_zone, expiry_notice_days, retention_days, \
     emergency_procedure, quick_replies, licenses, day_date, day_starts, day_ends, day_zone, api_total, api_today, api_day_ends, creation, last_modified, suspended_at, suspension_message, deletion_requested_at, \
     purge_at, is_purging, brand_name, brand_colour, logo_id";

/// The account, if there is one.
pub(crate) async fn find(tx: &Tx, id: AccountId) -> Result<Option<Account>> {
    let sql = format!("SELECT {COLUMNS} FROM account WHERE id = ?1");
    tx.query_opt(&sql, params![id]).await?.as_ref().map(from_row).transpose()
}

/// Locks the account until the end of the transaction and reads it: the first step of every change.
pub(crate) async fn lock(tx: &Tx, id: AccountId) -> Result<Account> {
    tx.lock_account(id).await?;
    find(tx, id).await?.ok_or(StoreError::NotFound(Kind::Account))
}

/// The quick replies as they are stored.
fn quick_replies(settings: &AccountSettings) -> Result<Option<String>> {
    let texts = settings.quick_replies.as_ref();
    texts
        .map(|texts| serde_json::to_string(texts).map_err(|cause| StoreError::Internal(cause.into())))
        .transpose()
}

pub(super) fn from_row(row: &Row) -> Result<Account> {
    let day_in_progress = match column::opt_parsed(row, "day_date")? {
        Some(date) => {
            Some(Day { date, starts: row.timestamp("day_starts")?, ends: row.timestamp("day_ends")? })
        }
        None => None,
    };
    Ok(Account {
        id: AccountId::from_i64(row.i64("id")?),
        revision: Revision(row.i64("revision")?),
        settings: AccountSettings {
            name: row.text("name")?,
            time_zone: column::parsed(row, "time_zone")?,
            expiry_notice_days: row.int("expiry_notice_days")?,
            retention_days: row.opt_int("retention_days")?,
            emergency_procedure: row.opt_text("emergency_procedure")?,
            quick_replies: match row.opt_text("quick_replies")? {
                Some(_) => Some(column::json(row, "quick_replies")?),
                None => None,
            },
        },
        licenses: row.int("licenses")?,
        standing: standing::standing_of(row)?,
        branding: standing::branding_of(row)?,
        day_in_progress,
        zone_in_progress: column::opt_parsed(row, "day_zone")?,
        api_usage: api_usage::from_row(row)?,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

async fn create(tx: &Tx, origin: Origin, new: NewAccount) -> Result<(Account, User)> {
    let now = tx.now();
    let account = Account {
        id: AccountId::new(tx.ids(), now),
        revision: Revision::FIRST,
        settings: new.settings,
        licenses: new.licenses,
        standing: Standing::default(),
        branding: Branding::default(),
        day_in_progress: None,
        zone_in_progress: None,
        api_usage: ApiUsage::default(),
        creation: now,
        last_modified: now,
    };
    tx.execute(
        "INSERT INTO account
             (id, revision, name, time_zone, expiry_notice_days, retention_days, emergency_procedure, licenses,
              creation, last_modified, quick_replies)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            account.id,
            account.revision.0,
            &account.settings.name,
            account.settings.time_zone.id(),
            account.settings.expiry_notice_days,
            account.settings.retention_days,
            account.settings.emergency_procedure.as_deref(),
            account.licenses,
            account.creation,
            account.last_modified,
            quick_replies(&account.settings)?,
        ],
    )
    .await?;
    audit::record(tx, account.id, &origin, "account.create", Some(account.id.to_string())).await?;
    let owner = NewUser {
        profile: UserProfile {
            language: new.owner_language,
            country: new.owner_country,
            ..owner_profile(new.owner_email, account.settings.time_zone.clone())
        },
        password_hash: Some(new.owner_password_hash),
    };
    let owner = users::insert(tx, account.id, &origin, owner).await?;
    Ok((account, owner))
}

fn owner_profile(email: Email, time_zone: Zone) -> UserProfile {
    let name = email.as_str().split('@').next().unwrap_or_default().to_owned();
    UserProfile {
        name,
        email,
        country: None,
        time_zone,
        language: None,
        description: None,
        message: None,
        disabled: false,
        disabled_message: None,
        tags: Tags::new(),
        privileges: Privileges::OWNER,
        group: None,
        device: None,
        admin_devices: None,
        from: None,
        expires: None,
    }
}

async fn create_first(tx: &Tx, new: NewAccount) -> Result<Option<(Account, User)>> {
    if any(tx).await? {
        return Ok(None);
    }
    table_lock::lock(tx, Table::Account).await?;
    if any(tx).await? {
        return Ok(None);
    }
    create(tx, Origin::service(), new).await.map(Some)
}

async fn any(tx: &Tx) -> Result<bool> {
    Ok(tx.query_opt("SELECT id FROM account LIMIT 1", &[]).await?.is_some())
}

async fn replace(tx: &Tx, actor: Actor, seen: Revision, settings: AccountSettings) -> Result<Account> {
    let before = lock(tx, actor.scope.account).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Account));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let mut account = before.clone();
    if before.settings.time_zone != settings.time_zone {
        let through = before.day_through_change(&settings.time_zone, tx.now());
        let through = through.map(|(day, zone)| (day, zone.clone()));
        (account.day_in_progress, account.zone_in_progress) = through.unzip();
    }
    account.settings = settings;
    account.revision = before.revision.next();
    account.last_modified = tx.now();
    tx.execute(
        "UPDATE account SET revision = ?2, name = ?3, time_zone = ?4, expiry_notice_days = ?5, day_date = ?6,
             day_starts = ?7, day_ends = ?8, day_zone = ?9, last_modified = ?10, retention_days = ?11,
             emergency_procedure = ?12, quick_replies = ?13
         WHERE id = ?1",
        params![
            account.id,
            account.revision.0,
            &account.settings.name,
            account.settings.time_zone.id(),
            account.settings.expiry_notice_days,
            account.day_in_progress.map(|day| day.date.to_string()),
            account.day_in_progress.map(|day| day.starts),
            account.day_in_progress.map(|day| day.ends),
            account.zone_in_progress.as_ref().map(Zone::id),
            account.last_modified,
            account.settings.retention_days,
            account.settings.emergency_procedure.as_deref(),
            quick_replies(&account.settings)?,
        ],
    )
    .await?;
    let notice_days = account.settings.expiry_notice_days;
    if before.settings.expiry_notice_days != notice_days {
        expiry::set_notice(tx, account.id, notice_days).await?;
    }
    if let Some(day) = account.day_in_progress {
        account.api_usage.day_ends = api_usage::extend_day(tx, account.id, day.ends).await?;
    } else if let Some(undone) = before.day_in_progress {
        let ends = end_of_date(undone.date, &account.settings.time_zone);
        account.api_usage.day_ends = api_usage::shorten_day(tx, account.id, ends).await?;
    }
    let (target, detail) =
        (account.id.to_string(), changed(&account.settings.changes_since(&before.settings)));
    audit::record_with(tx, account.id, &actor.origin, "account.update", Some(target), detail).await?;
    Ok(account)
}

async fn replace_licensed(
    tx: &Tx,
    actor: Actor,
    seen: Revision,
    settings: AccountSettings,
    licenses: u32,
) -> Result<Account> {
    licenses::set(tx, actor.origin.clone(), actor.scope.account, licenses).await?;
    replace(tx, actor, seen, settings).await
}

forward! {
    impl Accounts for Database {
        write create_account(&self, &origin: Origin, new: NewAccount) -> (Account, User) = create;
        write create_first_account(&self, new: NewAccount) -> Option<(Account, User)> = create_first;
        read find_account(&self, id: AccountId) -> Option<Account> = find;
        read has_accounts(&self) -> bool = any;
        read list_accounts(&self) -> Vec<AccountOverview> = licenses::overviews;
        read search_accounts(&self, text: Option<&str>, order: AccountOrder, page: PageRequest)
            -> Page<AccountOverview> = licenses::search with text = text.map(search::lowercase);
        read find_account_overview(&self, id: AccountId) -> Option<AccountOverview> = licenses::overview;
        write replace_account(&self, &actor: Actor, seen: Revision, settings: AccountSettings)
            -> Account = replace;
        write replace_account_and_licenses(
            &self, &actor: Actor, seen: Revision, settings: AccountSettings, licenses: u32
        ) -> Account = replace_licensed;
        write set_email_ceiling(&self, &origin: Origin, account: AccountId, ceiling: Option<u32>)
            -> () = licenses::set_email_ceiling;
        write set_licenses(&self, &origin: Origin, account: AccountId, licenses: u32)
            -> Account = licenses::set;
        write reset_clock(&self, &origin: Origin, account: AccountId)
            -> Option<Timestamp> = license_check::reset_clock;
        read license_use(&self, account: AccountId) -> LicenseUse = licenses::in_use;
        write add_api_usage(&self, &reports: [UsageReport]) -> Vec<ApiUsage> = api_usage::add;
    }
}

/// The ids of all accounts.
pub(crate) async fn ids(tx: &Tx) -> Result<Vec<AccountId>> {
    let rows = tx.query("SELECT id FROM account ORDER BY id", &[]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("id")?))).collect()
}

/// Accounts that one statement examines, so that none takes long.
const ACCOUNTS_PER_READ: usize = 500;

/// The ids of the accounts `a` that meet a condition on this bound, `?1`.
pub(crate) async fn ids_where(
    database: &Database,
    condition: &'static str,
    bound: i64,
) -> Result<Vec<AccountId>> {
    let (mut found, mut after) = (Vec::new(), i64::MIN);
    loop {
        let part =
            database.read_low_priority(move |tx| ids_after(tx, condition, bound, after).boxed()).await?;
        let is_last = part.len() < ACCOUNTS_PER_READ;
        for (account, is_met) in part {
            after = account.as_i64();
            found.extend(is_met.then_some(account));
        }
        if is_last {
            return Ok(found);
        }
    }
}

async fn ids_after(
    tx: &Tx,
    condition: &'static str,
    bound: i64,
    after: i64,
) -> Result<Vec<(AccountId, bool)>> {
    let some = if tx.is_distributed() {
        // Each server examines its own accounts, in parallel.
        "account a WHERE a.id > ?2".to_owned()
    } else {
        format!("(SELECT id FROM account WHERE id > ?2 ORDER BY id LIMIT {ACCOUNTS_PER_READ}) a")
    };
    let sql =
        format!("SELECT a.id, CASE WHEN {condition} THEN 1 ELSE 0 END AS is_met FROM {some} ORDER BY a.id");
    let rows = tx.query(&sql, params![bound, after]).await?;
    rows.iter().map(|row| Ok((AccountId::from_i64(row.i64("id")?), row.i64("is_met")? == 1))).collect()
}
