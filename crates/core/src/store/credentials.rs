//! API keys, sessions, links, second factors and signing keys.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::Origin;
use crate::access::credential::{
    ApiKey, Identity, LinkPurpose, Login, NewLink, NewPassword, NewSession, SecretHash, Session,
    SignInAddress, SigningKey, VerifiedTotp,
};
use crate::access::user::User;
use crate::id::{SessionId, UserId};
use crate::text::Email;
use crate::time::Timestamp;

/// Maximum number of mails with a link for setting a password that one user may get within an hour.
pub const PASSWORD_MAILS_AN_HOUR: i64 = 3;

/// Everything that authentication reads and writes.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Finds a user by e-mail address, with everything that signing in checks.
    async fn find_login(&self, email: &Email) -> Result<Option<Login>>;

    /// Finds the same by user id.
    async fn find_login_by_id(&self, user: UserId) -> Result<Option<Login>>;

    /// Finds the user and account of a request.
    async fn find_identity(&self, user: UserId) -> Result<Option<Identity>>;

    /// Sets the user's API key, replacing the one before.
    async fn put_api_key(&self, origin: &Origin, user: UserId, key: ApiKey) -> Result<()>;

    /// Deletes the user's API key. Returns whether there was one.
    async fn delete_api_key(&self, origin: &Origin, user: UserId) -> Result<bool>;

    /// Records that a token was issued for a key. Does nothing if the key was replaced meanwhile.
    async fn touch_api_key(&self, user: UserId, key: crate::id::KeyId, at: Timestamp) -> Result<()>;

    /// Stores a session and records the sign-in.
    async fn create_session(&self, origin: &Origin, new: NewSession) -> Result<Session>;

    /// Finds the session with this secret, unless it has expired.
    async fn find_session(&self, hash: &SecretHash) -> Result<Option<Session>>;

    /// Lists the addresses from which users with a session signed in, the latest sign-in first.
    async fn list_sign_in_addresses(&self, limit: u32) -> Result<Vec<SignInAddress>>;

    /// Deletes a session, which ends it.
    async fn delete_session(&self, origin: &Origin, id: SessionId) -> Result<()>;

    /// Sets the password and ends every session except `keep`, and the API key if `new` requires it.
    async fn set_password(
        &self,
        origin: &Origin,
        user: UserId,
        new: NewPassword,
        keep: Option<SessionId>,
    ) -> Result<()>;

    /// Replaces the hash of an unchanged password by a stronger one.
    async fn rehash_password(&self, user: UserId, old_hash: &str, new_hash: String) -> Result<()>;

    /// Stores a link. Earlier links of the same purpose for this user become invalid.
    async fn create_link(&self, origin: &Origin, new: NewLink) -> Result<()>;

    /// Writes a mail with a link for setting a password. The secret of the link is made when the mail is sent. Returns
    /// false if the user was deleted or is not active, or got [`PASSWORD_MAILS_AN_HOUR`] within an hour.
    async fn mail_password_link(&self, origin: &Origin, user: UserId, purpose: LinkPurpose) -> Result<bool>;

    /// Finds the user of a link that is still valid, without using it up.
    async fn find_link(&self, hash: &SecretHash) -> Result<Option<User>>;

    /// Uses a link: sets the password, ends every session and invalidates all other links. `None` if the link was not
    /// valid.
    async fn redeem_link(
        &self,
        origin: &Origin,
        hash: &SecretHash,
        new: NewPassword,
    ) -> Result<Option<UserId>>;

    /// Stores a second factor that is not confirmed yet, replacing an earlier unconfirmed one.
    async fn begin_totp(&self, user: UserId, secret: Vec<u8>) -> Result<()>;

    /// Confirms the second factor that the user proved, and ends every session except `keep`, because they signed in
    /// without it. Fails if another one was begun since.
    async fn confirm_totp(
        &self,
        origin: &Origin,
        user: UserId,
        proved: VerifiedTotp,
        keep: Option<SessionId>,
    ) -> Result<()>;

    /// Removes the second factor.
    async fn delete_totp(&self, origin: &Origin, user: UserId) -> Result<()>;

    /// Uses a time step. Returns false if it, or a later one, was used before.
    async fn use_totp_step(&self, user: UserId, step: i64) -> Result<bool>;

    /// Returns the keys that sign and verify tokens, the signing one first. Stores `fresh` if there was none.
    async fn signing_keys(&self, fresh: SigningKey) -> Result<Vec<SigningKey>>;

    /// Lists the same without storing a new one.
    async fn list_signing_keys(&self) -> Result<Vec<SigningKey>>;

    /// Makes `fresh` the signing key. Older keys verify until `old_until` or their own end, whichever is earlier.
    async fn rotate_signing_key(&self, fresh: SigningKey, old_until: Timestamp) -> Result<()>;
}
