//! Files that devices upload.

use async_trait::async_trait;

use super::Result;
use crate::actor::Scope;
use crate::device_file::{DeviceFile, NewDeviceFile};
use crate::gateway::Reporter;
use crate::id::{DeviceId, FileId};
use crate::page::{Page, PageRequest};

/// Photos and other files of devices, within the bounds of [`DeviceFile`]. They are deleted with their device.
#[async_trait]
pub trait DeviceFiles: Send + Sync {
    /// Stores a file, and deletes the oldest of the device beyond its bounds. Gives whether it is new: the same bytes
    /// with the same name and time are stored once. Fails with `NotFound` if the device no longer exists.
    async fn store_file(&self, reporter: &Reporter, file: NewDeviceFile) -> Result<bool>;

    /// Lists the files of a device in the scope, newest first.
    async fn list_files(&self, scope: Scope, device: DeviceId, page: PageRequest)
    -> Result<Page<DeviceFile>>;

    /// Finds a file of a device in the scope, or its photo, with its bytes.
    async fn find_file(
        &self,
        scope: Scope,
        device: DeviceId,
        id: FileId,
    ) -> Result<Option<(DeviceFile, Vec<u8>)>>;
}
