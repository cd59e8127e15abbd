//! Devices, their licences and their expiry.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::devices::device::{Device, DeviceFilter, DeviceRef, DeviceSettings};
use crate::devices::device_photo::NewPhoto;
use crate::devices::new_devices::NewDevices;
use crate::id::{AccountId, DeviceId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::time::Timestamp;

/// An announced expiry of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiryAnnouncement {
    /// The account of the device.
    pub account: AccountId,
    /// The device that expires.
    pub device: DeviceId,
    /// Whether it has expired, or will soon.
    pub expired: bool,
}

/// A device found by name or identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDevice {
    /// The id of the device.
    pub id: DeviceId,
    /// Its hardware identifier, if it has one.
    pub identifier: Option<String>,
    /// The name set by users.
    pub name: String,
}

/// Reads and changes of devices.
#[async_trait]
pub trait Devices: Send + Sync {
    /// Creates a device, which takes a licence unless it is already expired.
    ///
    /// If the creator sees only one group, the device is added to that group. The creator's `admin_devices` limit
    /// applies.
    async fn create_device(
        &self,
        actor: &Actor,
        settings: DeviceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Device>>;

    /// Creates many devices, all of them or none, with the same checks and records as [`Self::create_device`].
    ///
    /// A device whose identifier a visible device has already is left out, so that a call can be repeated. If one cannot be
    /// created, nothing is changed, and the outcome says why. Fails if the licences do not suffice for all.
    async fn create_devices(
        &self,
        actor: &Actor,
        settings: &[DeviceSettings],
        once: Option<IdempotencyKey>,
    ) -> Result<Created<NewDevices>>;

    /// What [`Self::create_devices`] would do now, without doing it. Licences that do not suffice are no failure here.
    async fn preview_devices(&self, actor: &Actor, settings: &[DeviceSettings]) -> Result<NewDevices>;

    /// Finds a device in the scope.
    async fn find_device(&self, scope: Scope, device: &DeviceRef) -> Result<Option<Device>>;

    /// Finds only the id of a device in the scope, which is cheaper and enough for many requests.
    async fn find_device_id(&self, scope: Scope, device: &DeviceRef) -> Result<Option<DeviceId>>;

    /// Finds devices in the scope whose identifier or name is one of these texts. A name can match several.
    async fn list_named_devices(&self, scope: Scope, texts: &[String]) -> Result<Vec<NamedDevice>>;

    /// Lists devices in the scope, by id.
    async fn list_devices(
        &self,
        scope: Scope,
        filter: &DeviceFilter,
        page: PageRequest,
    ) -> Result<Page<Device>>;

    /// Replaces the settings. A device that becomes active again takes a licence.
    async fn replace_device(
        &self,
        actor: &Actor,
        id: DeviceId,
        seen: Revision,
        settings: DeviceSettings,
    ) -> Result<Device>;

    /// Sets the photo of a device in the scope instead of the current one, or removes it.
    async fn set_photo(
        &self,
        actor: &Actor,
        id: DeviceId,
        seen: Option<Revision>,
        photo: Option<NewPhoto>,
    ) -> Result<Device>;

    /// Deletes a device with its history. Refused if a user is limited to it.
    async fn delete_device(&self, actor: &Actor, id: DeviceId, seen: Option<Revision>) -> Result<()>;

    /// Writes events for expiries that have passed or are near and were not announced yet. The device state does not
    /// depend on it.
    async fn announce_expiries(&self) -> Result<Vec<ExpiryAnnouncement>>;

    /// When the next expiry is to be announced.
    async fn next_expiry(&self) -> Result<Option<Timestamp>>;
}
