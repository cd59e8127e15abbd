//! Accounts and their licences.

use async_trait::async_trait;

use super::Result;
use crate::account::{Account, AccountSettings, ApiUsage, LicenseUse, NewAccount};
use crate::actor::{Actor, Origin};
use crate::id::AccountId;
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::user::User;

/// An account as the operator sees it.
#[derive(Clone, Debug)]
pub struct AccountOverview {
    /// The account.
    pub account: Account,
    /// Its licences.
    pub licenses: LicenseUse,
    /// Its users.
    pub users: u32,
    /// Its devices, expired ones too.
    pub devices: u32,
    /// When a device was last heard or a user last signed in; what was heard a moment ago may not show yet.
    pub last_activity: Option<Timestamp>,
}

/// Calls an account made since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageReport {
    /// The account.
    pub account: AccountId,
    /// Calls not reported yet, made on the day that ends at `day_ends`.
    pub today: u64,
    /// Calls not reported yet, made on days before.
    pub earlier: u64,
    /// When the day of the report ends, in milliseconds since 1970; it may be over when the report is added.
    pub day_ends: i64,
}

/// Accounts.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Makes an account and its owner.
    async fn create_account(&self, origin: &Origin, new: NewAccount) -> Result<(Account, User)>;

    /// Makes the account only if the store has none: two first starts at once make one.
    async fn create_first_account(&self, new: NewAccount) -> Result<Option<(Account, User)>>;

    /// One account.
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>>;

    /// Whether there is any account.
    async fn has_accounts(&self) -> Result<bool>;

    /// Every account, for the operator, oldest first.
    async fn list_accounts(&self) -> Result<Vec<AccountOverview>>;

    /// Accounts whose name has this in it, in any case, for the operator, by id.
    async fn search_accounts(&self, text: Option<&str>, page: PageRequest) -> Result<Page<AccountOverview>>;

    /// One account, for the operator.
    async fn find_account_overview(&self, id: AccountId) -> Result<Option<AccountOverview>>;

    /// Replaces what the account's people set. A change of zone takes effect when the present day ends.
    async fn replace_account(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: AccountSettings,
    ) -> Result<Account>;

    /// Replaces what the account's people set and the number of licences, both or neither.
    async fn replace_account_and_licenses(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: AccountSettings,
        licenses: u32,
    ) -> Result<Account>;

    /// Sets the number of licences; never below what is in use.
    async fn set_licenses(&self, origin: &Origin, account: AccountId, licenses: u32) -> Result<Account>;

    /// Lets licences be decided at the present again, when a clock that was ahead had them decided later. Gives
    /// the instant they had been decided at, if that is ahead.
    async fn reset_clock(&self, origin: &Origin, account: AccountId) -> Result<Option<Timestamp>>;

    /// Licences and how many are used at this instant.
    async fn license_use(&self, account: AccountId) -> Result<LicenseUse>;

    /// Adds calls to accounts' figures and gives the sums, in the order of the reports.
    async fn add_api_usage(&self, reports: &[UsageReport]) -> Result<Vec<ApiUsage>>;
}
