//! Contact groups and watch lists.

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::devices::watch_list::{StoredWatchList, WatchList};
use crate::id::{ContactGroupId, UserId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::notifications::contact::{ContactGroup, ContactGroupSettings};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::store::Result;

/// Reads and changes of contact groups. They belong to the whole account: a user who sees only a part of it sees
/// none of them.
#[async_trait]
pub trait ContactGroups: Send + Sync {
    /// Creates a contact group. Refused if the account has [`ContactGroup::COUNT_MAX`].
    async fn create_contact_group(
        &self,
        actor: &Actor,
        settings: ContactGroupSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<ContactGroup>>;

    /// Finds a contact group of the account.
    async fn find_contact_group(&self, scope: Scope, id: ContactGroupId) -> Result<Option<ContactGroup>>;

    /// Lists the contact groups of the account, by id.
    async fn list_contact_groups(&self, scope: Scope, page: PageRequest) -> Result<Page<ContactGroup>>;

    /// Replaces the settings.
    async fn replace_contact_group(
        &self,
        actor: &Actor,
        id: ContactGroupId,
        seen: Revision,
        settings: ContactGroupSettings,
    ) -> Result<ContactGroup>;

    /// Deletes a contact group. Refused while a routing or a rule names it.
    async fn delete_contact_group(
        &self,
        actor: &Actor,
        id: ContactGroupId,
        seen: Option<Revision>,
    ) -> Result<()>;
}

/// Reads and changes of watch lists: every user has their own.
#[async_trait]
pub trait WatchLists: Send + Sync {
    /// Finds the watch list of a user. Devices and groups that the scope no longer sees are left out.
    async fn get_watch_list(&self, scope: Scope, user: UserId) -> Result<StoredWatchList>;

    /// Replaces the watch list of the actor's user. Its devices and groups must be in the scope.
    async fn replace_watch_list(
        &self,
        actor: &Actor,
        user: UserId,
        seen: Revision,
        list: WatchList,
    ) -> Result<StoredWatchList>;
}
