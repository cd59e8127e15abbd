//! `perigee account`: creates, changes and lists accounts.

use anyhow::{Result, anyhow, bail};
use perigee_core::access::actor::{Actor, Origin};
use perigee_core::accounts::account::{Account, AccountSettings, LICENSES_MAX, NewAccount};
use perigee_core::accounts::country::Country;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::store::{AccountOverview, Store};
use perigee_core::text::{Email, NAME_MAX};
use perigee_core::zone::Zone;
use perigee_server::auth::password::{self, PasswordCost, Passwords};
use perigee_server::config::Config;
use secrecy::ExposeSecret;
use serde::Serialize;

use super::open::Opened;
use crate::args::{AccountCommand, Common, Retention};
use crate::output::{Answer, print, table};
use crate::settings;

/// Runs an `account` subcommand.
pub(crate) async fn run(common: &Common, command: AccountCommand) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    match command {
        AccountCommand::Create { name, licenses, owner_email, time_zone, owner_country } => {
            let owner = (owner_email, owner_country);
            print(&create(&config, name, licenses, owner, time_zone).await?, common.json)
        }
        AccountCommand::Set { account, licenses, retention_days, reset_clock } => {
            let wanted = Wanted { licenses, retention: retention_days, reset_clock };
            print(&set(&config, account, wanted).await?, common.json)
        }
        AccountCommand::List => print(&list(&config).await?, common.json),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    account_id: String,
    user_id: String,
    email: String,
    password: String,
}

impl Answer for Created {
    fn in_words(&self) -> String {
        format!(
            "account   {}\nuser      {}\ne-mail    {}\npassword  {}\n\nThe password is shown only now.",
            self.account_id, self.user_id, self.email, self.password
        )
    }
}

async fn create(
    config: &Config,
    name: String,
    licenses: u32,
    (owner, owner_country): (Email, Option<Country>),
    zone: Zone,
) -> Result<Created> {
    if name.trim().is_empty() || name.chars().count() > NAME_MAX || name.chars().any(char::is_control) {
        bail!("--name must have 1 to {NAME_MAX} characters and no line breaks");
    }
    check_licenses(licenses)?;
    let password = password::generate();
    let new = NewAccount {
        settings: AccountSettings {
            name,
            time_zone: zone,
            expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
            retention_days: None,
            emergency_procedure: None,
            quick_replies: None,
        },
        licenses,
        owner_email: owner.clone(),
        owner_language: None,
        owner_country,
        owner_password_hash: Passwords::new(PasswordCost::OWASP)?.hash(password.clone()).await?,
    };
    let opened = Opened::or_new(config).await?;
    let made = opened.store().create_account(&Origin::command(), new).await;
    opened.close().await;
    let (account, user) = made.map_err(|error| match error {
        StoreError::Taken(_) => {
            anyhow!("another user has the address {}; choose another one", owner.as_str())
        }
        other => other.into(),
    })?;
    Ok(Created {
        account_id: account.id.to_string(),
        user_id: user.id.to_string(),
        email: user.profile.email.as_str().to_owned(),
        password: password.expose_secret().to_owned(),
    })
}

fn check_licenses(licenses: u32) -> Result<()> {
    if licenses > LICENSES_MAX {
        bail!("--licenses must be at most {LICENSES_MAX}");
    }
    Ok(())
}

#[derive(Serialize)]
struct Licenses {
    total: u32,
    used: u32,
    free: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    account_id: String,
    licenses: Licenses,
    /// Days for which locations are kept; null is forever.
    retention_days: Option<u32>,
    /// If the clock was reset: the later time that licence checks had used.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_was_at: Option<String>,
}

impl Answer for Changed {
    fn in_words(&self) -> String {
        let Licenses { total, used, free } = self.licenses;
        let summary = format!(
            "account {} has {total} licences: {used} used, {free} free\nlocations are kept {}",
            self.account_id,
            kept(self.retention_days)
        );
        match &self.clock_was_at {
            Some(ahead) => {
                format!(
                    "{summary}\nlicence checks had used the time {ahead}; they use the current time again"
                )
            }
            None => summary,
        }
    }
}

/// How long locations are kept, in words.
fn kept(retention_days: Option<u32>) -> String {
    retention_days.map_or_else(|| "forever".to_owned(), |days| format!("for {days} days"))
}

/// The changes to make to an account.
struct Wanted {
    licenses: Option<u32>,
    retention: Option<Retention>,
    reset_clock: bool,
}

async fn set(config: &Config, id: AccountId, wanted: Wanted) -> Result<Changed> {
    wanted.licenses.map_or(Ok(()), check_licenses)?;
    let opened = Opened::existing(config).await?;
    let changed = change(opened.store(), id, wanted).await;
    opened.close().await;
    changed.map_err(|error| match error {
        StoreError::NotFound(_) => anyhow!("there is no account {id}; see perigee account list"),
        StoreError::LicensesInUse { used } => anyhow!(
            "{used} licences are in use; let devices expire or delete them first, or set at least {used}"
        ),
        other => other.into(),
    })
}

/// Resets the clock first: the number of licences in use depends on it.
async fn change(store: &dyn Store, id: AccountId, wanted: Wanted) -> Result<Changed, StoreError> {
    let ahead = if wanted.reset_clock { store.reset_clock(&Origin::command(), id).await? } else { None };
    if let Some(licenses) = wanted.licenses {
        store.set_licenses(&Origin::command(), id, licenses).await?;
    }
    let account = match wanted.retention {
        Some(Retention(days)) => set_retention(store, id, days).await?,
        None => find(store, id).await?,
    };
    let now = store.license_use(id).await?;
    Ok(Changed {
        account_id: id.to_string(),
        licenses: Licenses { total: now.total, used: now.used, free: now.free() },
        retention_days: account.settings.retention_days,
        clock_was_at: ahead.map(|instant| instant.to_string()),
    })
}

async fn find(store: &dyn Store, id: AccountId) -> Result<Account, StoreError> {
    store.find_account(id).await?.ok_or(StoreError::NotFound(Kind::Account))
}

/// Changes the settings, and tries again if somebody else changed them meanwhile.
async fn set_retention(store: &dyn Store, id: AccountId, days: Option<u32>) -> Result<Account, StoreError> {
    loop {
        let Account { revision, settings, .. } = find(store, id).await?;
        let settings = AccountSettings { retention_days: days, ..settings };
        match store.replace_account(&Actor::operator(id), revision, settings).await {
            Err(StoreError::RevisionMismatch(_)) => {}
            done => return done,
        }
    }
}

#[derive(Serialize)]
struct Accounts {
    accounts: Vec<Overview>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Overview {
    account_id: String,
    name: String,
    time_zone: String,
    licenses: Licenses,
    /// Days for which locations are kept; null is forever.
    retention_days: Option<u32>,
    users: u32,
    creation: String,
}

impl From<AccountOverview> for Overview {
    fn from(overview: AccountOverview) -> Self {
        let licenses = overview.licenses;
        Self {
            account_id: overview.account.id.to_string(),
            name: overview.account.settings.name,
            time_zone: overview.account.settings.time_zone.to_string(),
            licenses: Licenses { total: licenses.total, used: licenses.used, free: licenses.free() },
            retention_days: overview.account.settings.retention_days,
            users: overview.users,
            creation: overview.account.creation.to_string(),
        }
    }
}

impl Answer for Accounts {
    fn in_words(&self) -> String {
        if self.accounts.is_empty() {
            return "there are no accounts; create one with perigee account create".to_owned();
        }
        let row = |account: &Overview| {
            let used = format!("{} of {}", account.licenses.used, account.licenses.total);
            let users = account.users.to_string();
            let kept = kept(account.retention_days);
            vec![
                account.account_id.clone(),
                account.name.clone(),
                used,
                users,
                kept,
                account.time_zone.clone(),
            ]
        };
        let rows: Vec<_> = self.accounts.iter().map(row).collect();
        table(&["ACCOUNT", "NAME", "LICENCES USED", "USERS", "LOCATIONS KEPT", "TIME ZONE"], &rows)
    }
}

async fn list(config: &Config) -> Result<Accounts> {
    let opened = Opened::existing(config).await?;
    let accounts = opened.store().list_accounts().await?;
    opened.close().await;
    Ok(Accounts { accounts: accounts.into_iter().map(Overview::from).collect() })
}
