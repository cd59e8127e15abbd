//! Keys, sessions, links, second factors and the keys that sign tokens.

use async_trait::async_trait;

use super::Result;
use crate::actor::Origin;
use crate::credential::{
    ApiKey, Identity, Login, NewLink, NewPassword, NewSession, ProvedTotp, SecretHash, Session, SigningKey,
};
use crate::id::{SessionId, UserId};
use crate::text::Email;
use crate::time::Timestamp;
use crate::user::User;

/// What lets people in.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The user with this address and all that is needed to let them in.
    async fn find_login(&self, email: &Email) -> Result<Option<Login>>;

    /// The same by id.
    async fn find_login_by_id(&self, user: UserId) -> Result<Option<Login>>;

    /// What a request needs to know of its user.
    async fn find_identity(&self, user: UserId) -> Result<Option<Identity>>;

    /// Gives the user this key in place of the one they had.
    async fn put_api_key(&self, origin: &Origin, user: UserId, key: ApiKey) -> Result<()>;

    /// Takes the user's key away; false when there was none.
    async fn delete_api_key(&self, origin: &Origin, user: UserId) -> Result<bool>;

    /// Notes that a token was issued for the user's key; nothing happens when it was replaced meanwhile.
    async fn touch_api_key(&self, user: UserId, key: crate::id::KeyId, at: Timestamp) -> Result<()>;

    /// Keeps a session and notes the sign-in.
    async fn create_session(&self, origin: &Origin, new: NewSession) -> Result<Session>;

    /// The session with this secret, unless it is over.
    async fn find_session(&self, hash: &SecretHash) -> Result<Option<Session>>;

    /// Ends a session.
    async fn delete_session(&self, origin: &Origin, id: SessionId) -> Result<()>;

    /// Sets the password and ends every session but the one to keep, and the API key if asked to.
    async fn set_password(
        &self,
        origin: &Origin,
        user: UserId,
        new: NewPassword,
        keep: Option<SessionId>,
    ) -> Result<()>;

    /// Replaces only the stored hash of the same password by a stronger one.
    async fn rehash_password(&self, user: UserId, old_hash: &str, new_hash: String) -> Result<()>;

    /// Keeps a link; earlier ones of the same purpose for this user are void.
    async fn create_link(&self, origin: &Origin, new: NewLink) -> Result<()>;

    /// Whom a link lets in, if it still does. Does not use it up.
    async fn find_link(&self, hash: &SecretHash) -> Result<Option<User>>;

    /// Uses a link up: sets the password, ends every session, and no other link works. None if it was void.
    async fn redeem_link(
        &self,
        origin: &Origin,
        hash: &SecretHash,
        new: NewPassword,
    ) -> Result<Option<UserId>>;

    /// Keeps a second factor that is not confirmed yet, in place of one not confirmed before.
    async fn begin_totp(&self, user: UserId, secret: Vec<u8>) -> Result<()>;

    /// Confirms the second factor that was proved and ends every session but the one to keep: the others came in
    /// without it. Fails when another one was begun since.
    async fn confirm_totp(
        &self,
        origin: &Origin,
        user: UserId,
        proved: ProvedTotp,
        keep: Option<SessionId>,
    ) -> Result<()>;

    /// Removes the second factor.
    async fn delete_totp(&self, origin: &Origin, user: UserId) -> Result<()>;

    /// Uses up a time step; false when it, or a later one, was used before.
    async fn use_totp_step(&self, user: UserId, step: i64) -> Result<bool>;

    /// The keys that sign and verify tokens, the one that signs first; `fresh` is kept when there was none.
    async fn signing_keys(&self, fresh: SigningKey) -> Result<Vec<SigningKey>>;

    /// The same without making one.
    async fn list_signing_keys(&self) -> Result<Vec<SigningKey>>;

    /// Signs with `fresh` from now on. The keys before it verify until `old_until`, or until they end already.
    async fn rotate_signing_key(&self, fresh: SigningKey, old_until: Timestamp) -> Result<()>;
}
