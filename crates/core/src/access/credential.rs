//! Credentials: passwords, API keys, sessions, single-use links, second factors.
//!
//! Stores keep hashes only; the server makes and checks secrets.

use std::net::IpAddr;

use crate::access::preference::Preferences;
use crate::access::user::User;
use crate::accounts::account::Account;
use crate::id::{AccountId, KeyId, SessionId, UserId};
use crate::time::Timestamp;

/// SHA-256 of a random secret. Random secrets are long enough to need no slow hash.
pub type SecretHash = [u8; 32];

/// A user's API key. A user has at most one; a new one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Named in the user's tokens, which stop working when the key is replaced.
    pub id: KeyId,
    /// Hash of the secret that the user holds.
    pub hash: SecretHash,
    /// First characters of the secret, so that its owner can recognise it.
    pub hint: String,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a token was last issued for it, to the minute.
    pub last_used: Option<Timestamp>,
}

/// A user with everything that signing in checks.
#[derive(Clone, Debug)]
pub struct Login {
    /// The user who signs in.
    pub user: User,
    /// The account the user belongs to.
    pub account: Account,
    /// Argon2 hash of the password; `None` until an invitation was used.
    pub password_hash: Option<String>,
    /// The second factor, confirmed or not.
    pub totp: Option<Totp>,
    /// The current API key, if one was issued.
    pub api_key: Option<ApiKey>,
    /// Display preferences of the console.
    pub preferences: Preferences,
}

/// A second factor by time-based codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    /// Secret shared with the user's authenticator app.
    pub secret: Vec<u8>,
    /// Whether the user proved to have it with a first code. Codes are required only then.
    pub confirmed: bool,
    /// The last time step used, so that no code works twice.
    pub last_step: i64,
}

/// A second factor that the user proved with a correct code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedTotp {
    /// The secret the code was made from.
    pub secret: Vec<u8>,
    /// The time step of the code.
    pub step: i64,
}

/// A password to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPassword {
    /// Argon2 hash of the new password.
    pub hash: String,
    /// Whether the user's API key, and all tokens made from it, end with the old password.
    pub end_api_key: bool,
}

impl NewPassword {
    /// A password that leaves the API key alone.
    pub fn new(hash: impl Into<String>) -> Self {
        Self { hash: hash.into(), end_api_key: false }
    }
}

/// A user and their account, as a request needs them; cached for two seconds.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The user who makes the request.
    pub user: User,
    /// The account the user belongs to.
    pub account: Account,
    /// The key their tokens must name.
    pub api_key: Option<KeyId>,
}

/// A console session to be stored.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The user who signed in.
    pub user: UserId,
    /// Hash of the cookie's value.
    pub hash: SecretHash,
    /// From this instant on the cookie is refused.
    pub expires: Timestamp,
}

/// A session of the console, found by its cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Assigned by the service; not the secret.
    pub id: SessionId,
    /// The user who signed in.
    pub user: UserId,
    /// From this instant on the cookie is refused.
    pub expires: Timestamp,
}

/// From where a user with a session signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInAddress {
    /// E-mail address of the user, in lower case.
    pub email: String,
    /// The account of the user.
    pub account: AccountId,
    /// IP address of the client.
    pub address: IpAddr,
}

/// The purpose of a single-use link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPurpose {
    /// Setting a new password.
    Reset,
    /// Setting the first password.
    Invitation,
}

impl LinkPurpose {
    /// Its name in the store and in the audit log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Invitation => "invitation",
        }
    }
}

/// A single-use link to be stored.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// The user whose password it sets.
    pub user: UserId,
    /// Decides its validity and the text of its page.
    pub purpose: LinkPurpose,
    /// The hash of its secret.
    pub hash: SecretHash,
    /// From this instant on the link is refused.
    pub expires: Timestamp,
}

/// A key pair that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Its name in the header of tokens.
    pub kid: String,
    /// Private and public key in PKCS#8 form.
    pub pkcs8: Vec<u8>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When tokens signed with it are no longer accepted; `None` for the key that signs new tokens.
    pub expires: Option<Timestamp>,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}
