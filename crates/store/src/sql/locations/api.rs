//! Storing, listing and deleting locations: implements the store's `Locations` and `LocationMaintenance` traits by SQL.

use std::collections::HashMap;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::device::DeviceRef;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{
    Compacted, CompactionBudget, Feed, History, HistoryCursor, HistoryRequest, LastFilter, Location, Outcome,
    StoredLocation, TimeRange,
};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{LocationMaintenance, LocationSink, Locations, Result};
use perigee_core::time::Timestamp;

use super::super::scope::visible_devices;
use super::reads::of_devices::last_of_devices;
use super::reads::window::Window;
use super::reads::{feed, last_list, read, trails};
use super::submission_queue::Submission;
use super::{delete, group_commit, named, trim};
use crate::Database;
use crate::sql::accounts::retention;

#[async_trait]
impl Locations for Database {
    async fn store_locations(
        &self,
        actor: &Actor,
        device: DeviceId,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>> {
        let submission = Submission::new(actor.scope, device, &locations);
        // The parsed locations take several times the memory of the packed ones that wait for the commit.
        drop(locations);
        Ok(group_commit::submit(self, submission).await?.locations)
    }

    async fn submit_locations(
        &self,
        actor: &Actor,
        device: &DeviceRef,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>> {
        let submission = named::submission(self, actor.scope, device, &locations).await?;
        drop(locations);
        Ok(group_commit::submit(self, submission).await?.locations)
    }

    async fn list_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
    ) -> Result<History<StoredLocation>> {
        let recent =
            self.memory().map(|memory| memory.unpacked(scope.account, device, &Window::of(&request)));
        self.read_history(move |tx| read::list(tx, scope, device, request, recent).boxed()).await
    }

    async fn list_trails(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
        request: HistoryRequest,
    ) -> Result<HashMap<DeviceId, Vec<StoredLocation>>> {
        let recent = self.memory().map(|memory| {
            let unpacked = |device| memory.unpacked(scope.account, device, &Window::of(&request));
            devices.iter().map(|device| (*device, unpacked(*device))).collect()
        });
        self.read_history(move |tx| trails::list(tx, scope, devices, request, recent).boxed()).await
    }

    async fn read_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
        sink: Box<dyn LocationSink>,
    ) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)> {
        let recent =
            self.memory().map(|memory| memory.unpacked(scope.account, device, &Window::of(&request)));
        self.read_history(move |tx| read::read(tx, scope, device, request, recent, sink).boxed()).await
    }

    async fn find_last_location(&self, scope: Scope, device: DeviceId) -> Result<Option<StoredLocation>> {
        self.log().find_last(self, scope, device).await
    }

    async fn last_locations_of(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
    ) -> Result<HashMap<DeviceId, StoredLocation>> {
        if devices.is_empty() {
            return Ok(HashMap::new());
        }
        self.read(move |tx| {
            async move {
                let visible = visible_devices(tx, scope, devices.into_iter().collect()).await?;
                last_of_devices(tx, scope.account, visible.into_iter()).await
            }
            .boxed()
        })
        .await
    }

    async fn list_last_locations(
        &self,
        scope: Scope,
        filter: &LastFilter,
        page: PageRequest,
    ) -> Result<Page<(DeviceId, StoredLocation)>> {
        let filter = *filter;
        self.read(move |tx| last_list::list_last(tx, scope, filter, page).boxed()).await
    }

    async fn list_location_feed(&self, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
        self.read_log_snapshot(scope.account, move |tx| feed::list(tx, scope, after, limit).boxed()).await
    }

    async fn feed_end(&self, scope: Scope) -> Result<i64> {
        self.read_log_snapshot(scope.account, move |tx| feed::end(tx, scope).boxed()).await
    }

    async fn delete_locations(&self, actor: &Actor, device: DeviceId, range: TimeRange) -> Result<u64> {
        let actor = actor.clone();
        delete::delete(self, actor, device, range).await
    }
}

#[async_trait]
impl LocationMaintenance for Database {
    async fn compact(&self, budget: CompactionBudget) -> Result<Compacted> {
        self.log().compact(self, budget).await
    }

    async fn wait_for_compaction_pressure(&self) {
        match self.memory() {
            Some(memory) => memory.wait_for_compaction_pressure().await,
            None => std::future::pending().await,
        }
    }

    async fn trim_location_log(&self, keep_ms: i64) -> Result<u64> {
        trim::trim(self, keep_ms).await
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
