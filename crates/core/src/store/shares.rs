//! Share links.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::device::Device;
use crate::id::{AccountId, ShareId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::location::StoredLocation;
use crate::page::{Page, PageRequest};
use crate::share::{NewShare, Share};
use crate::time::Timestamp;

/// What a share link shows.
#[derive(Clone, Debug)]
pub struct SharedView {
    /// The link.
    pub share: Share,
    /// The devices with their last locations.
    pub devices: Vec<(Device, Option<StoredLocation>)>,
}

/// How often a link was opened since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewReport {
    /// The account it belongs to.
    pub account: AccountId,
    /// The link.
    pub share: ShareId,
    /// Openings not reported yet.
    pub views: u64,
    /// When it was last opened.
    pub last_viewed: Timestamp,
}

/// Share links of an account.
#[async_trait]
pub trait Shares: Send + Sync {
    /// Makes a link to something in sight.
    async fn create_share(
        &self,
        actor: &Actor,
        new: NewShare,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Share>>;

    /// Links to things in sight, by id.
    async fn list_shares(&self, scope: Scope, page: PageRequest) -> Result<Page<Share>>;

    /// Takes a link back.
    async fn delete_share(&self, actor: &Actor, id: ShareId) -> Result<()>;

    /// The link an earlier request with this key made in the account.
    async fn find_created_share(&self, scope: Scope, once: &IdempotencyKey) -> Result<Option<Share>>;

    /// The link alone, if it is its time; what it shows is not read.
    async fn find_open_share(&self, secret: &str) -> Result<Option<Share>>;

    /// What a link shows now; locations of before it began are no part of it. None when there is none, or it is
    /// not its time. Changes nothing, so that it works also when nothing can be written.
    async fn open_share(&self, secret: &str) -> Result<Option<SharedView>>;

    /// Adds to how often links were opened; what is gone by now is passed over.
    async fn add_share_views(&self, reports: &[ViewReport]) -> Result<()>;
}
