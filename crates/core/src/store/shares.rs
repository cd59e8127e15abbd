//! Reads and changes of share links.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::devices::device::Device;
use crate::id::{AccountId, ShareId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::locations::location::StoredLocation;
use crate::page::{Page, PageRequest};
use crate::shares::share::{NewShare, Share};
use crate::time::Timestamp;

/// The content of a share link.
#[derive(Clone, Debug)]
pub struct SharedView {
    /// The link that was opened.
    pub share: Share,
    /// The name of the account, if the link shows it.
    pub account_name: Option<String>,
    /// How many devices it shows in total.
    pub device_count: usize,
    /// A page of the devices with their last locations, by id.
    pub devices: Page<(Device, Option<StoredLocation>)>,
}

/// Openings of a link since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewReport {
    /// The account it belongs to.
    pub account: AccountId,
    /// The link that was opened.
    pub share: ShareId,
    /// Openings that were not reported yet.
    pub views: u64,
    /// When it was last opened.
    pub last_viewed: Timestamp,
}

/// Share links of an account, and opening them.
#[async_trait]
pub trait Shares: Send + Sync {
    /// Creates a link to a device or group in the scope.
    async fn create_share(
        &self,
        actor: &Actor,
        new: NewShare,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Share>>;

    /// Lists links to devices and groups in the scope, by id.
    async fn list_shares(&self, scope: Scope, page: PageRequest) -> Result<Page<Share>>;

    /// Deletes a link, which stops it at once.
    async fn delete_share(&self, actor: &Actor, id: ShareId) -> Result<()>;

    /// Finds the link that an earlier request with this key created.
    async fn find_created_share(&self, scope: Scope, once: &IdempotencyKey) -> Result<Option<Share>>;

    /// Finds a link that is valid now, without loading its content.
    async fn find_open_share(&self, secret: &str) -> Result<Option<Share>>;

    /// A page of the current content of a link, without locations from before its start. `None` if the link does not
    /// exist or is not valid now. Writes nothing, so that it works on a full disk.
    async fn open_share(&self, secret: &str, page: PageRequest) -> Result<Option<SharedView>>;

    /// Adds openings to links. Links deleted meanwhile are skipped.
    async fn add_share_views(&self, reports: &[ViewReport]) -> Result<()>;
}
