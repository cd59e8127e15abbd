//! Reads and changes of groups.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::groups::group::{Group, GroupFilter, GroupSettings};
use crate::id::GroupId;
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// Groups of devices of an account.
#[async_trait]
pub trait Groups: Send + Sync {
    /// Creates a group. Its devices must be in the scope.
    async fn create_group(
        &self,
        actor: &Actor,
        settings: GroupSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Group>>;

    /// Finds a group in the scope.
    async fn find_group(&self, scope: Scope, id: GroupId) -> Result<Option<Group>>;

    /// Finds groups in the scope with one of these names, each with its name. A name can match several.
    async fn list_named_groups(&self, scope: Scope, names: &[String]) -> Result<Vec<(GroupId, String)>>;

    /// Lists groups in the scope, by id.
    async fn list_groups(&self, scope: Scope, filter: &GroupFilter, page: PageRequest)
    -> Result<Page<Group>>;

    /// Replaces the settings. Devices that are added or removed are changed too.
    async fn replace_group(
        &self,
        actor: &Actor,
        id: GroupId,
        seen: Revision,
        settings: GroupSettings,
    ) -> Result<Group>;

    /// Deletes a group but not its devices. Refused if a user is limited to it.
    async fn delete_group(&self, actor: &Actor, id: GroupId, seen: Option<Revision>) -> Result<()>;
}
