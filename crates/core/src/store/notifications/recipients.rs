//! Consent of e-mail recipients.

use async_trait::async_trait;

use crate::access::actor::Scope;
use crate::id::AccountId;
use crate::notifications::notification::{ConsentChange, EmailConsent, MailedAccount};
use crate::notifications::routing::Preferences;
use crate::store::Result;
use crate::text::Email;

/// Choices that recipients made with the link in an e-mail.
#[async_trait]
pub trait EmailRecipients: Send + Sync {
    /// The key that signs links in mails. Stores `fresh` if there was none.
    async fn mail_link_key(&self, fresh: [u8; 32]) -> Result<[u8; 32]>;

    /// Finds an account as a recipient of its mail may see it.
    async fn find_mailed_account(&self, account: AccountId, address: &Email)
    -> Result<Option<MailedAccount>>;

    /// Records a recipient's choice and returns the new state.
    async fn change_email_consent(
        &self,
        account: AccountId,
        address: &Email,
        change: ConsentChange,
    ) -> Result<EmailConsent>;

    /// The consent of each address, in their order, and how many addresses of the account get mail without a
    /// confirmation.
    async fn list_email_consents(
        &self,
        scope: Scope,
        addresses: Vec<String>,
    ) -> Result<(Vec<EmailConsent>, u32)>;

    /// Writes a confirmation request to each recipient who is not a user, has not chosen yet and was not asked
    /// lately. Returns how many.
    async fn ask_to_confirm(
        &self,
        account: AccountId,
        recipients: Vec<(String, Preferences)>,
    ) -> Result<usize>;
}
