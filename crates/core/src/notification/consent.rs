//! Whether somebody takes e-mail of an account, as they said by the link in a mail.

use crate::time::Timestamp;

/// What one address said to one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailConsent {
    /// Since when they take none; none while they take it.
    pub unsubscribed_at: Option<Timestamp>,
    /// When they said that they take it.
    pub confirmed_at: Option<Timestamp>,
    /// Whether a user of the account has this address. Users need not confirm.
    pub is_user: bool,
}

impl EmailConsent {
    /// How long nobody is asked again whether they take e-mail, in seconds: a week.
    pub const ASK_AGAIN_S: i64 = 7 * 86_400;
    /// People an account may have asked within 24 hours.
    pub const ASKED_A_DAY: i64 = 100;

    /// Whether they said that they take it, or are a user of the account.
    pub const fn is_confirmed(&self) -> bool {
        self.is_user || self.confirmed_at.is_some()
    }
}

/// What somebody says by their link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentChange {
    /// They take no more e-mail of the account.
    Unsubscribe,
    /// They take it, for the first time or again.
    Subscribe,
}

/// The account a mail was from, as its recipient may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailedAccount {
    /// Its name.
    pub name: String,
    /// What the recipient said to it.
    pub consent: EmailConsent,
}
