//! Who takes e-mail of an account.

use async_trait::async_trait;

use super::Result;
use crate::actor::Scope;
use crate::id::AccountId;
use crate::notification::{ConsentChange, EmailConsent, MailedAccount};
use crate::routing::Preferences;
use crate::text::Email;

/// What recipients said by the link in their mail.
#[async_trait]
pub trait EmailRecipients: Send + Sync {
    /// The key that signs the links in mails; the fresh one when there was none.
    async fn mail_link_key(&self, fresh: [u8; 32]) -> Result<[u8; 32]>;

    /// The account as its recipient may see it; none when there is no such account.
    async fn find_mailed_account(&self, account: AccountId, address: &Email)
    -> Result<Option<MailedAccount>>;

    /// Records what a recipient says. Gives what holds now.
    async fn change_email_consent(
        &self,
        account: AccountId,
        address: &Email,
        change: ConsentChange,
    ) -> Result<EmailConsent>;

    /// What holds for each of these addresses, in their order.
    async fn list_email_consents(&self, scope: Scope, addresses: Vec<String>) -> Result<Vec<EmailConsent>>;

    /// Writes a mail to each of these who is no user, was not asked lately and said nothing yet. Gives how many.
    async fn ask_to_confirm(
        &self,
        account: AccountId,
        recipients: Vec<(String, Preferences)>,
    ) -> Result<usize>;
}
