//! Groups.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::group::{Group, GroupFilter, GroupSettings};
use crate::id::GroupId;
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// Groups of an account.
#[async_trait]
pub trait Groups: Send + Sync {
    /// Adds a group. Its devices must be in sight.
    async fn create_group(
        &self,
        actor: &Actor,
        settings: GroupSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Group>>;

    /// One group in sight.
    async fn find_group(&self, scope: Scope, id: GroupId) -> Result<Option<Group>>;

    /// Groups in sight with one of these names, each with its name; more than one for a name that several have.
    async fn find_named_groups(&self, scope: Scope, names: &[String]) -> Result<Vec<(GroupId, String)>>;

    /// Groups in sight, by id.
    async fn list_groups(&self, scope: Scope, filter: &GroupFilter, page: PageRequest)
    -> Result<Page<Group>>;

    /// Replaces what a client sets. The devices that come or go change with it.
    async fn replace_group(
        &self,
        actor: &Actor,
        id: GroupId,
        seen: Revision,
        settings: GroupSettings,
    ) -> Result<Group>;

    /// Deletes a group, not its devices, unless it is some user's scope.
    async fn delete_group(&self, actor: &Actor, id: GroupId, seen: Option<Revision>) -> Result<()>;
}
