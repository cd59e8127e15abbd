//! Files that devices upload.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::Scope;
use crate::devices::device_file::DeviceFile;
use crate::id::{DeviceId, FileId};
use crate::page::{Page, PageRequest};

/// Photos and other files of devices, within the bounds of [`DeviceFile`]. They are stored with the message that
/// completes them, each once, and deleted with their device.
#[async_trait]
pub trait DeviceFiles: Send + Sync {
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
