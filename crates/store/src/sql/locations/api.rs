//! Locations, as the trait of the domain has them.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::actor::{Actor, Scope};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{
    Compacted, CompactionBudget, Feed, History, HistoryCursor, HistoryRequest, LastFilter, Location, Outcome,
    StoredLocation, TimeRange,
};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{LocationMaintenance, LocationSink, Locations, Result};
use perigee_core::time::Timestamp;

use super::super::retention;
use super::submission_queue::Submission;
use super::{delete, everywhere, group_commit, last, log, read};
use crate::{Database, sqlite};

#[async_trait]
impl Locations for Database {
    async fn store_locations(
        &self,
        actor: &Actor,
        device: DeviceId,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>> {
        let submission = Submission::new(actor.scope, device, &locations);
        // They take several times the memory of what waits for the commit.
        drop(locations);
        group_commit::submit(self, submission).await
    }

    async fn list_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
    ) -> Result<History<StoredLocation>> {
        let recent = self.memory().map(|memory| read::from_memory(memory, (scope.account, device), &request));
        self.read_snapshot(move |tx| read::list(tx, scope, device, request, recent).boxed()).await
    }

    async fn read_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
        sink: Box<dyn LocationSink>,
    ) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)> {
        let recent = self.memory().map(|memory| read::from_memory(memory, (scope.account, device), &request));
        self.read_snapshot(move |tx| read::read(tx, scope, device, request, recent, sink).boxed()).await
    }

    async fn find_last_location(&self, scope: Scope, device: DeviceId) -> Result<Option<StoredLocation>> {
        match self.memory() {
            Some(memory) => sqlite::locations::find_last(self, memory, scope, device).await,
            None => self.read(move |tx| last::find_last_in_sight(tx, scope, device).boxed()).await,
        }
    }

    async fn list_last_locations(
        &self,
        scope: Scope,
        filter: &LastFilter,
        page: PageRequest,
    ) -> Result<Page<(DeviceId, StoredLocation)>> {
        let filter = *filter;
        self.read(move |tx| everywhere::list_last(tx, scope, filter, page).boxed()).await
    }

    async fn list_location_feed(&self, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
        self.read_snapshot(move |tx| log::feed(tx, scope, after, limit).boxed()).await
    }

    async fn feed_end(&self, scope: Scope) -> Result<i64> {
        self.read(move |tx| log::end(tx, scope).boxed()).await
    }

    async fn delete_locations(&self, actor: &Actor, device: DeviceId, range: TimeRange) -> Result<u64> {
        let actor = actor.clone();
        delete::delete(self, actor, device, range).await
    }
}

#[async_trait]
impl LocationMaintenance for Database {
    async fn compact(&self, budget: CompactionBudget) -> Result<Compacted> {
        log::compact(self, budget).await
    }

    async fn wait_for_compaction_pressure(&self) {
        match self.memory() {
            Some(memory) => memory.wait_for_compaction_pressure().await,
            None => std::future::pending().await,
        }
    }

    async fn trim_location_log(&self, keep_ms: i64) -> Result<u64> {
        log::trim(self, keep_ms).await
    }

    async fn delete_expired_locations(&self) -> Result<u64> {
        retention::apply(self).await
    }

    async fn apply_retention(
        &self,
        account: AccountId,
        device: Option<DeviceId>,
        before: Timestamp,
    ) -> Result<u64> {
        delete::apply_retention(self, account, device, before).await
    }
}
