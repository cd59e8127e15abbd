//! Consent of e-mail recipients: their choices by the link in an e-mail.

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
    /// When the address began to get mail without a confirmation; `None` if it never did.
    pub admitted_at: Option<Timestamp>,
}

/// Who must confirm before they get mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfirmationPolicy {
    /// Whether everybody who is not a user of the account must confirm.
    pub all: bool,
    /// Number of addresses of an account that need not confirm; `None` for no limit.
    pub free: Option<u32>,
}

impl ConfirmationPolicy {
    /// Whether an address must confirm, in an account with this many addresses that get mail without a confirmation.
    pub fn holds_back(self, consent: EmailConsent, admitted: u32) -> bool {
        let is_free = consent.admitted_at.is_some() || self.free.is_none_or(|free| admitted < free);
        !consent.is_confirmed() && (self.all || !is_free)
    }

    /// The addresses, by index, that must confirm if all of these get mail.
    pub fn to_ask(self, consents: &[EmailConsent], admitted: u32) -> Vec<usize> {
        let mut admitted = admitted;
        let asked = consents.iter().enumerate().filter(|(_, consent)| {
            let asks = self.holds_back(**consent, admitted);
            let is_new = !asks && !consent.is_confirmed() && consent.admitted_at.is_none();
            admitted = admitted.saturating_add(u32::from(is_new));
            asks
        });
        asked.map(|(index, _)| index).collect()
    }
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
    /// The choice of the recipient.
    pub consent: EmailConsent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_strangers_need_no_confirmation() {
        let stranger = EmailConsent::default();
        let user = EmailConsent { is_user: true, ..stranger };
        let confirmed = EmailConsent { confirmed_at: Some(Timestamp::MIN), ..stranger };
        let admitted = EmailConsent { admitted_at: Some(Timestamp::MIN), ..stranger };
        let all = [user, stranger, admitted, stranger, confirmed, stranger];
        let ask = |all_must, free, count| ConfirmationPolicy { all: all_must, free }.to_ask(&all, count);
        assert_eq!(ask(false, Some(3), 1), [5]);
        assert_eq!(ask(false, Some(1), 1), [1, 3, 5]);
        assert_eq!(ask(false, None, 9), [] as [usize; 0]);
        assert_eq!(ask(true, None, 0), [1, 2, 3, 5]);
    }
}
