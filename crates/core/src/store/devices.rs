//! Devices, their licences and their expiry.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::device::{Device, DeviceFilter, DeviceRef, DeviceSettings};
use crate::id::{AccountId, DeviceId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A device whose expiry was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiryAnnouncement {
    /// The account.
    pub account: AccountId,
    /// The device.
    pub device: DeviceId,
    /// Whether it is over, or only near.
    pub expired: bool,
}

/// A device found by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDevice {
    /// Its id.
    pub id: DeviceId,
    /// Its identifier.
    pub identifier: Option<String>,
    /// Its name.
    pub name: String,
}

/// Devices of an account.
#[async_trait]
pub trait Devices: Send + Sync {
    /// Adds a device, which takes a licence unless it is expired from the start.
    ///
    /// A group's user adds it to that group; the creator's `admin_devices` is obeyed.
    async fn create_device(
        &self,
        actor: &Actor,
        settings: DeviceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Device>>;

    /// One device in sight.
    async fn find_device(&self, scope: Scope, device: &DeviceRef) -> Result<Option<Device>>;

    /// The id of one device in sight, which is all that many calls need and costs less to find.
    async fn find_device_id(&self, scope: Scope, device: &DeviceRef) -> Result<Option<DeviceId>>;

    /// Devices in sight whose identifier or name is one of these texts; more than one for a name that several have.
    async fn find_named_devices(&self, scope: Scope, texts: &[String]) -> Result<Vec<NamedDevice>>;

    /// Devices in sight, by id.
    async fn list_devices(
        &self,
        scope: Scope,
        filter: &DeviceFilter,
        page: PageRequest,
    ) -> Result<Page<Device>>;

    /// Replaces what a client sets; a device that comes back takes a licence.
    async fn replace_device(
        &self,
        actor: &Actor,
        id: DeviceId,
        seen: Revision,
        settings: DeviceSettings,
    ) -> Result<Device>;

    /// Deletes a device with its history, unless it is some user's scope.
    async fn delete_device(&self, actor: &Actor, id: DeviceId, seen: Option<Revision>) -> Result<()>;

    /// Announces every expiry that has come, or is near, and was not announced yet. The state never waits for it.
    async fn announce_expiries(&self) -> Result<Vec<ExpiryAnnouncement>>;

    /// The next instant at which there will be something to announce.
    async fn next_expiry(&self) -> Result<Option<Timestamp>>;
}
