//! Notices to operators: accounts that need their attention.

use crate::id::{AccountId, NoticeId};
use crate::time::Timestamp;

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// An account reached its ceiling of e-mails; the subject is the date.
    EmailCeiling,
    /// An account registered an identifier that another account holds; the subject is the identifier.
    IdentifierContested,
    /// An identifier of the account reports from two networks; the subject is the identifier.
    IdentifierNetworks,
}

impl NoticeKind {
    /// Every kind, in the order of the API's description.
    pub const ALL: [Self; 3] = [Self::EmailCeiling, Self::IdentifierContested, Self::IdentifierNetworks];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EmailCeiling => "email-ceiling",
            Self::IdentifierContested => "identifier-contested",
            Self::IdentifierNetworks => "identifier-networks",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A notice, as stored. There is one for each account, kind and subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorNotice {
    /// Assigned by the service; later ones have larger ids.
    pub id: NoticeId,
    /// The account that the notice is about.
    pub account: AccountId,
    /// Name of that account.
    pub account_name: String,
    /// The reason of the notice.
    pub kind: NoticeKind,
    /// The date or identifier, by kind.
    pub subject: String,
    /// When the notice was created.
    pub created: Timestamp,
}

impl OperatorNotice {
    /// Maximum number of notices that are kept of an account, the newest ones.
    pub const KEPT: u32 = 100;
}
