//! Overview reports: what accounts want to be told, and the work of telling it once.

use std::collections::HashMap;

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::{AccountId, DeviceId, GroupId};
use crate::overview::{DeviceCounts, Overview, OverviewSettings, OverviewTask, Period, StoredOverview};
use crate::revision::Revision;

/// Reports for owners.
#[async_trait]
pub trait Overviews: Send + Sync {
    /// What the account wants to be told.
    async fn find_overview(&self, scope: Scope) -> Result<StoredOverview>;

    /// Sets what the account wants to be told; what is over already is not told for it. Groups named anew must be the
    /// account's.
    async fn replace_overview(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: OverviewSettings,
    ) -> Result<StoredOverview>;

    /// A report that is due, left to the asker for so long; none when there is none that nobody is at.
    async fn claim_overview(&self, lease_ms: i64) -> Result<Option<OverviewTask>>;

    /// What happened to these devices; nothing to those it does not name.
    async fn overview_counts(
        &self,
        account: AccountId,
        period: Period,
        devices: Vec<DeviceId>,
    ) -> Result<HashMap<DeviceId, DeviceCounts>>;

    /// What these groups are called.
    async fn group_names(&self, account: AccountId, groups: Vec<GroupId>)
    -> Result<HashMap<GroupId, String>>;

    /// Marks a period as told and writes its messages, both or neither. No when it was told meanwhile, or is not
    /// wanted any more as it was.
    async fn file_overview(&self, task: OverviewTask, overview: Overview) -> Result<bool>;
}
