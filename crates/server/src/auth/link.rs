//! Links that work once, for one purpose: resetting a password, accepting an invitation.

use super::secret::{Secret, SecretHash};

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkPurpose {
    /// Setting a new password for one that was forgotten.
    PasswordReset,
    /// Setting the first password of a user that an administrator created.
    Invitation,
}

impl LinkPurpose {
    /// The name of the purpose in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PasswordReset => "password-reset",
            Self::Invitation => "invitation",
        }
    }

    /// The hash of a link's secret. The purpose is part of it, so that a link works for one purpose only.
    pub fn hash(self, secret: &Secret) -> SecretHash {
        secret.hash(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_valid_for_one_purpose() {
        let secret = Secret::generate();
        let kept = LinkPurpose::PasswordReset.hash(&secret);
        assert_eq!(LinkPurpose::PasswordReset.hash(&secret), kept);
        assert_ne!(LinkPurpose::Invitation.hash(&secret), kept);
        assert_ne!(super::super::session::hash(&secret), kept);
    }
}
