//! What operators of the server decide about accounts: suspension, deletion and branding.

use async_trait::async_trait;

use crate::access::actor::Origin;
use crate::accounts::account::{Account, ApiUsage};
use crate::accounts::branding::{Colour, Logo};
use crate::id::AccountId;
use crate::notifications::notification::Channel;
use crate::store::Result;

/// What an account uses, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountUsage {
    /// API calls, as last saved.
    pub api: ApiUsage,
    /// Messages sent on the current day of the account, by channel; segments of SMS. Channels without any are left out.
    pub messages_today: Vec<(Channel, u64)>,
    /// Bytes of raw messages that were stored in the last 30 days.
    pub raw_bytes: u64,
    /// Bytes of photos and other files of devices.
    pub file_bytes: u64,
}

/// Accounts that were purged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// The accounts, of which nothing is left.
    pub accounts: Vec<AccountId>,
    /// Number of deleted rows, without those that were deleted with others.
    pub rows: u64,
}

/// Suspension, deletion and branding of accounts.
#[async_trait]
pub trait AccountStandings: Send + Sync {
    /// Suspends an account, or changes the message to its users. Refused if a user of the account is an operator.
    async fn suspend_account(
        &self,
        origin: &Origin,
        account: AccountId,
        message: Option<String>,
    ) -> Result<Account>;

    /// Ends the suspension of an account.
    async fn resume_account(&self, origin: &Origin, account: AccountId) -> Result<Account>;

    /// Lets the account be purged in so many days. A further request moves the day. Refused if a user of the account is
    /// an operator, or the purge has begun.
    async fn request_deletion(&self, origin: &Origin, account: AccountId, grace_days: u32)
    -> Result<Account>;

    /// Undoes the request to delete an account. Refused once the purge has begun.
    async fn undo_deletion(&self, origin: &Origin, account: AccountId) -> Result<Account>;

    /// Sets the name and the colour of the branding.
    async fn set_branding(
        &self,
        origin: &Origin,
        account: AccountId,
        name: Option<String>,
        colour: Option<Colour>,
    ) -> Result<Account>;

    /// Sets the logo, or removes it.
    async fn set_logo(&self, origin: &Origin, account: AccountId, logo: Option<Logo>) -> Result<Account>;

    /// The logo of an account.
    async fn find_logo(&self, account: AccountId) -> Result<Option<Logo>>;

    /// What an account uses.
    async fn account_usage(&self, account: AccountId) -> Result<AccountUsage>;

    /// Purges every account whose time has come, in small transactions. What was done is done: after an interruption the
    /// next call goes on.
    async fn purge_accounts(&self) -> Result<Purged>;
}
