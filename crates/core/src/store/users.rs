//! Users.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::UserId;
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::preference::Preferences;
use crate::revision::Revision;
use crate::user::{NewUser, User, UserFilter, UserProfile};

/// Users of an account. Whether a narrower scope may see them is the caller's to decide: it sees itself alone.
#[async_trait]
pub trait Users: Send + Sync {
    /// Adds a user. Its group and device must be the account's.
    async fn create_user(
        &self,
        actor: &Actor,
        new: NewUser,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<User>>;

    /// One user of the account.
    async fn find_user(&self, scope: Scope, id: UserId) -> Result<Option<User>>;

    /// Users of the account, by id.
    async fn list_users(&self, scope: Scope, filter: &UserFilter, page: PageRequest) -> Result<Page<User>>;

    /// Replaces what a client sets. A password given is set too and ends the user's sessions; none keeps it.
    async fn replace_user(
        &self,
        actor: &Actor,
        id: UserId,
        seen: Revision,
        profile: UserProfile,
        password_hash: Option<String>,
    ) -> Result<User>;

    /// Removes a user with their key, sessions and links; the last owner stays.
    async fn delete_user(&self, actor: &Actor, id: UserId, seen: Option<Revision>) -> Result<()>;

    /// Keeps how a user wants things shown. It is no change of the user: revision and time stay.
    async fn set_preferences(&self, id: UserId, preferences: Preferences) -> Result<()>;

    /// Marks a user as an operator of the server, or no longer.
    async fn set_operator(&self, id: UserId, operator: bool) -> Result<User>;
}
