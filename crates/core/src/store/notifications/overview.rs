//! Overview reports: their settings, and writing each report once.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::id::{AccountId, DeviceId, GroupId};
use crate::notifications::overview::{
    DeviceCounts, Overview, OverviewSettings, OverviewTask, Period, StoredOverview,
};
use crate::revision::Revision;
use crate::store::Result;

/// Settings and work of overview reports.
#[async_trait]
pub trait Overviews: Send + Sync {
    /// Finds the settings of the account's report.
    async fn get_overview(&self, scope: Scope) -> Result<StoredOverview>;

    /// Replaces the settings. Periods that have already passed are not reported. Newly named groups must belong to
    /// the account.
    async fn replace_overview(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: OverviewSettings,
    ) -> Result<StoredOverview>;

    /// Claims a report that is due, for `lease_ms`; `None` if there is none, or all are claimed.
    async fn claim_overview(&self, lease_ms: i64) -> Result<Option<OverviewTask>>;

    /// Counts alerts and suppressed messages of these devices in the period; devices without any are left out.
    async fn overview_counts(
        &self,
        account: AccountId,
        period: Period,
        devices: Vec<DeviceId>,
    ) -> Result<HashMap<DeviceId, DeviceCounts>>;

    /// The names of these groups.
    async fn group_names(&self, account: AccountId, groups: Vec<GroupId>)
    -> Result<HashMap<GroupId, String>>;

    /// Marks a period as reported and writes its messages, in one transaction. Returns false if it was reported
    /// meanwhile, or the settings changed.
    async fn finish_overview(&self, task: OverviewTask, overview: Overview) -> Result<bool>;
}
