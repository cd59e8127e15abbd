//! Reads and changes of users.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::access::preference::Preferences;
use crate::access::user::{NewUser, User, UserFilter, UserProfile};
use crate::id::UserId;
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// Users of an account. In a scope below the account, the caller must limit the result to the user itself.
#[async_trait]
pub trait Users: Send + Sync {
    /// Creates a user. Its group and device must belong to the account.
    async fn create_user(
        &self,
        actor: &Actor,
        new: NewUser,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<User>>;

    /// Finds a user of the account.
    async fn find_user(&self, scope: Scope, id: UserId) -> Result<Option<User>>;

    /// Lists users of the account, by id.
    async fn list_users(&self, scope: Scope, filter: &UserFilter, page: PageRequest) -> Result<Page<User>>;

    /// Replaces the profile. If a password is given, it is set too and ends the user's sessions.
    async fn replace_user(
        &self,
        actor: &Actor,
        id: UserId,
        seen: Revision,
        profile: UserProfile,
        password_hash: Option<String>,
    ) -> Result<User>;

    /// Deletes a user with their key, sessions and links. Refused for the last owner.
    async fn delete_user(&self, actor: &Actor, id: UserId, seen: Option<Revision>) -> Result<()>;

    /// Stores display preferences. Does not change the user's revision or modification time.
    async fn set_preferences(
        &self,
        id: UserId,
        seen: Option<Preferences>,
        preferences: Preferences,
    ) -> Result<()>;

    /// Makes a user an operator of the server, or no longer.
    async fn set_operator(&self, id: UserId, operator: bool) -> Result<User>;
}
