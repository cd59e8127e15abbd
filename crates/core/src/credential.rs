//! What proves who somebody is: passwords, API keys, sessions, single-use links, second factors.
//!
//! Stores keep hashes only; making and checking secrets is the server's work.

use crate::account::Account;
use crate::id::{KeyId, SessionId, UserId};
use crate::preference::Preferences;
use crate::time::Timestamp;
use crate::user::User;

/// The SHA-256 of a secret with enough chance in it to need no slow hash.
pub type SecretHash = [u8; 32];

/// One generation of a user's API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id; tokens name it and die with it.
    pub id: KeyId,
    /// The hash of the secret.
    pub hash: SecretHash,
    /// The beginning of the secret, to recognise it by.
    pub hint: String,
    /// When it was made.
    pub creation: Timestamp,
    /// When a token was last issued for it, to the minute.
    pub last_used: Option<Timestamp>,
}

/// A user with all that is needed to let them in.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user.
    pub user: User,
    /// Their account.
    pub account: Account,
    /// Their password, hashed; none until they took an invitation.
    pub password_hash: Option<String>,
    /// Their second factor.
    pub totp: Option<Totp>,
    /// Their API key.
    pub api_key: Option<ApiKey>,
    /// How they want things shown.
    pub preferences: Preferences,
}

/// A second factor by time-based codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    /// The shared secret.
    pub secret: Vec<u8>,
    /// Whether the user proved to have it; it is asked for only then.
    pub confirmed: bool,
    /// The last time step used, so that no code works twice.
    pub last_step: i64,
}

/// A second factor whose code was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedTotp {
    /// The secret the code was made from.
    pub secret: Vec<u8>,
    /// The time step of the code.
    pub step: i64,
}

/// A password to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPassword {
    /// Its hash.
    pub hash: String,
    /// Whether the user's API key ends with the old password, and every token made from it.
    pub end_api_key: bool,
}

impl NewPassword {
    /// A password that leaves the API key alone.
    pub fn new(hash: impl Into<String>) -> Self {
        Self { hash: hash.into(), end_api_key: false }
    }
}

/// What a request needs to know of its user, read anew every few seconds.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The user.
    pub user: User,
    /// Their account.
    pub account: Account,
    /// The key their tokens must name.
    pub api_key: Option<KeyId>,
}

/// A console session to be kept.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Whose it is.
    pub user: UserId,
    /// The hash of the cookie.
    pub hash: SecretHash,
    /// When it ends.
    pub expires: Timestamp,
}

/// A console session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// When it ends.
    pub expires: Timestamp,
}

/// What a single-use link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPurpose {
    /// Setting a new password.
    Reset,
    /// Setting the first password.
    Invitation,
}

impl LinkPurpose {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Invitation => "invitation",
        }
    }
}

/// A single-use link to be kept.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// Whom it lets in.
    pub user: UserId,
    /// What for.
    pub purpose: LinkPurpose,
    /// The hash of its secret.
    pub hash: SecretHash,
    /// When it ends.
    pub expires: Timestamp,
}

/// A key pair that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Its name in the header of tokens.
    pub kid: String,
    /// The pair.
    pub pkcs8: Vec<u8>,
    /// When it was made.
    pub creation: Timestamp,
    /// When it stops verifying; none for the key that signs.
    pub expires: Option<Timestamp>,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}
