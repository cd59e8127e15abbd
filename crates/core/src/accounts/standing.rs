//! Whether an account is in use, suspended, or about to be deleted.
//!
//! Neither a suspension nor a deletion stops what lives may depend on: until an account is purged, its devices report, its
//! rules raise alerts and its messages go out. Only people and programs are refused.

use crate::time::Timestamp;

/// Days between the request to delete an account and its purge, unless the operator chooses another number.
pub const GRACE_DAYS: u32 = 30;
/// The largest number of such days.
pub const GRACE_DAYS_MAX: u32 = 365;
/// Maximum number of letters of the message to users of a suspended account.
pub const SUSPENSION_MESSAGE_MAX: usize = 200;

/// Restrictions that operators put on an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Set while the account is suspended.
    pub suspension: Option<Suspension>,
    /// Set from the request to delete the account on.
    pub deletion: Option<Deletion>,
}

/// A suspension: nobody can use the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// When the account was suspended.
    pub since: Timestamp,
    /// Shown to users who are refused.
    pub message: Option<String>,
}

/// A deletion that was requested and can be undone until the purge begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// When the deletion was requested.
    pub requested_at: Timestamp,
    /// When the purge begins.
    pub purge_at: Timestamp,
    /// Whether the purge has begun.
    pub is_purging: bool,
}

/// The state of an account in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountState {
    /// In use.
    Active,
    /// Nobody can use it.
    Suspended,
    /// Nobody can use it, and it is purged at a certain time unless the deletion is undone.
    Deleting,
    /// It is being purged.
    Purging,
}

impl AccountState {
    /// The name of the state in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Deleting => "deleting",
            Self::Purging => "purging",
        }
    }
}

impl Standing {
    /// The state in one word; a deletion hides a suspension.
    pub const fn state(&self) -> AccountState {
        match (&self.deletion, &self.suspension) {
            (Some(Deletion { is_purging: true, .. }), _) => AccountState::Purging,
            (Some(_), _) => AccountState::Deleting,
            (None, Some(_)) => AccountState::Suspended,
            (None, None) => AccountState::Active,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_hides_a_suspension() {
        let now = Timestamp::from_millis(0);
        let suspension = Some(Suspension { since: now, message: None });
        let deletion = |is_purging| Some(Deletion { requested_at: now, purge_at: now, is_purging });
        let check = |suspension: &Option<Suspension>, deletion, expect| {
            let state = Standing { suspension: suspension.clone(), deletion }.state();
            assert_eq!(state.name(), expect);
        };
        check(&None, None, "active");
        check(&suspension, None, "suspended");
        check(&suspension, deletion(false), "deleting");
        check(&None, deletion(true), "purging");
    }
}
