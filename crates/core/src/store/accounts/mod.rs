//! Accounts and their licences.

mod standings;

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Origin};
use crate::access::user::User;
use crate::accounts::account::{Account, AccountSettings, ApiUsage, LicenseUse, NewAccount};
use crate::id::AccountId;
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;

pub use self::standings::{AccountStandings, AccountUsage, Purged};

/// An account in the operator's overview.
#[derive(Clone, Debug)]
pub struct AccountOverview {
    /// The account and its settings.
    pub account: Account,
    /// Its licences, total and used.
    pub licenses: LicenseUse,
    /// Number of its users.
    pub users: u32,
    /// Number of its devices, including expired ones.
    pub devices: u32,
    /// E-mails per day that operators allow the account in total; `None` for the ceiling of the settings.
    pub email_ceiling: Option<u32>,
    /// When a device last reported or a user last signed in. May be some minutes behind.
    pub last_activity: Option<Timestamp>,
}

/// The order of accounts in the operator's overview. Accounts that are equal are in order of creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountOrder {
    /// The oldest first.
    #[default]
    Creation,
    /// The newest first.
    NewestFirst,
    /// By name, in any letter case.
    Name,
    /// Most licences in use first.
    Licenses,
    /// Most devices first.
    Devices,
    /// Most users first.
    Users,
    /// The most recently active first; those that never were come last.
    Activity,
    /// The longest inactive first; those that never were active come first.
    Inactivity,
}

/// API calls of an account since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageReport {
    /// The account whose users called.
    pub account: AccountId,
    /// Unreported calls on the day that ends at `day_ends`.
    pub today: u64,
    /// Unreported calls on earlier days.
    pub earlier: u64,
    /// When the day of the report ends, in milliseconds since 1970. It may have passed when the report is stored.
    pub day_ends: i64,
}

/// Reads and changes of accounts.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Creates an account and its owner.
    async fn create_account(&self, origin: &Origin, new: NewAccount) -> Result<(Account, User)>;

    /// Creates the account only if the store has none, so that two simultaneous first starts create one.
    async fn create_first_account(&self, new: NewAccount) -> Result<Option<(Account, User)>>;

    /// Finds an account by id.
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>>;

    /// Whether there is any account.
    async fn has_accounts(&self) -> Result<bool>;

    /// Lists every account for the operator, oldest first.
    async fn list_accounts(&self) -> Result<Vec<AccountOverview>>;

    /// Lists accounts whose name contains a text, in any letter case, for the operator. The key of a page is the id by
    /// creation, and the number of accounts before it in any other order.
    async fn search_accounts(
        &self,
        text: Option<&str>,
        order: AccountOrder,
        page: PageRequest,
    ) -> Result<Page<AccountOverview>>;

    /// Finds an account for the operator.
    async fn find_account_overview(&self, id: AccountId) -> Result<Option<AccountOverview>>;

    /// Replaces the settings. A new time zone takes effect when the current day ends.
    async fn replace_account(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: AccountSettings,
    ) -> Result<Account>;

    /// Sets the e-mails per day that an account may send in total; `None` for the ceiling of the settings.
    async fn set_email_ceiling(
        &self,
        origin: &Origin,
        account: AccountId,
        ceiling: Option<u32>,
    ) -> Result<()>;

    /// Replaces the settings and the number of licences in one transaction.
    async fn replace_account_and_licenses(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: AccountSettings,
        licenses: u32,
    ) -> Result<Account>;

    /// Sets the number of licences. Refused if more are in use.
    async fn set_licenses(&self, origin: &Origin, account: AccountId, licenses: u32) -> Result<Account>;

    /// Lets licence checks use the current time again after a clock that was ahead made them use a later time. Returns
    /// that later time, if there was one.
    async fn reset_clock(&self, origin: &Origin, account: AccountId) -> Result<Option<Timestamp>>;

    /// The number of licences, and how many are used now.
    async fn license_use(&self, account: AccountId) -> Result<LicenseUse>;

    /// Adds calls to the accounts' counters and returns the sums, in the order of the reports.
    async fn add_api_usage(&self, reports: &[UsageReport]) -> Result<Vec<ApiUsage>>;
}
