//! Consent of e-mail recipients: what they chose by the link in a mail.

use crate::time::Timestamp;

/// The choice of one address for the mail of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailConsent {
    /// When the recipient unsubscribed; `None` while subscribed.
    pub unsubscribed_at: Option<Timestamp>,
    /// When the recipient confirmed that they want mail of the account.
    pub confirmed_at: Option<Timestamp>,
    /// Whether a user of the account has this address. Users need not confirm.
    pub is_user: bool,
}

impl EmailConsent {
    /// Seconds before a recipient is asked again to confirm: a week.
    pub const ASK_AGAIN_S: i64 = 7 * 86_400;
    /// Confirmation requests that an account may send within 24 hours.
    pub const ASKED_A_DAY: i64 = 100;

    /// Whether the recipient confirmed, or is a user of the account.
    pub const fn is_confirmed(&self) -> bool {
        self.is_user || self.confirmed_at.is_some()
    }
}

/// A choice made by the link in a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentChange {
    /// No more mail of the account.
    Unsubscribe,
    /// Mail of the account is welcome, for the first time or again.
    Subscribe,
}

/// The account that sent a mail, as its recipient may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailedAccount {
    /// The name of the account.
    pub name: String,
    /// What the recipient chose.
    pub consent: EmailConsent,
}
