//! Storing, reading and maintaining locations.

use std::any::Any;
use std::collections::HashMap;

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::devices::device::DeviceRef;
use crate::id::{AccountId, DeviceId};
use crate::locations::location::{
    Compacted, CompactionBudget, Feed, History, HistoryCursor, HistoryRequest, LastFilter, Location, Outcome,
    StoredLocation, TimeRange,
};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// Receives the locations of a history one by one, so that they are never all in memory.
///
/// The store returns the boxed sink after reading; [`Any`] lets the caller downcast it to its own type.
pub trait LocationSink: Any + Send {
    /// Receives a location and returns whether to continue.
    fn take(&mut self, stored: &StoredLocation) -> Next;
}

/// Whether to continue after a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Continue with the next location.
    More,
    /// Stop at the end of the chunk being read, so that it need not be unpacked twice.
    StopAtChunkEnd,
    /// Stop before the next location.
    Stop,
}

/// Reads and changes of locations.
#[async_trait]
pub trait Locations: Send + Sync {
    /// Stores locations of a device and returns for each whether it is new or a duplicate. Refused if the device is
    /// expired.
    async fn store_locations(
        &self,
        actor: &Actor,
        device: DeviceId,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>>;

    /// Like [`Self::store_locations`], for a device given by its id or its identifier. Once a change of an identifier
    /// is confirmed on any node, no node stores locations for the device that had it before.
    async fn submit_locations(
        &self,
        actor: &Actor,
        device: &DeviceRef,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>>;

    /// Lists a device's history, sorted by fix time.
    async fn list_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
    ) -> Result<History<StoredLocation>>;

    /// The requested part of the history of each of these devices that is in the scope.
    async fn list_trails(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
        request: HistoryRequest,
    ) -> Result<HashMap<DeviceId, Vec<StoredLocation>>>;

    /// Passes a device's history to a sink. Returns the sink, and a cursor to continue from. If the limit was reached
    /// there is more; if the sink stopped there may be nothing more.
    async fn read_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
        sink: Box<dyn LocationSink>,
    ) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)>;

    /// Finds the last location: the newest that is not suspect.
    async fn find_last_location(&self, scope: Scope, device: DeviceId) -> Result<Option<StoredLocation>>;

    /// The last location of each of these devices that is in the scope and has one.
    async fn last_locations_of(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
    ) -> Result<HashMap<DeviceId, StoredLocation>>;

    /// Lists the last location of every device in the scope, by device id.
    async fn list_last_locations(
        &self,
        scope: Scope,
        filter: &LastFilter,
        page: PageRequest,
    ) -> Result<Page<(DeviceId, StoredLocation)>>;

    /// Lists locations of devices in the scope in order of arrival after this number, without gaps or duplicates.
    ///
    /// Zero starts at the oldest stored location; any other number before that is an expired cursor.
    async fn list_location_feed(&self, scope: Scope, after: i64, limit: u32) -> Result<Feed>;

    /// The number of the last location; continue from here for later ones.
    async fn feed_end(&self, scope: Scope) -> Result<i64>;

    /// Deletes a device's locations in a range. Returns how many.
    async fn delete_locations(&self, actor: &Actor, device: DeviceId, range: TimeRange) -> Result<u64>;
}

/// Background work on locations: compaction, trimming of the log and retention.
#[async_trait]
pub trait LocationMaintenance: Send + Sync {
    /// Packs locations of the log into chunks, in small transactions.
    async fn compact(&self, budget: CompactionBudget) -> Result<Compacted>;

    /// Waits until memory holds so many unpacked locations that compaction should start early. Never returns on
    /// engines that keep none in memory.
    async fn wait_for_compaction_pressure(&self);

    /// Deletes locations from the log that were received more than `keep_ms` ago. Histories keep them. Returns how
    /// many.
    async fn trim_location_log(&self, keep_ms: i64) -> Result<u64>;

    /// Deletes locations past the retention of their device or account. Returns how many.
    async fn delete_expired_locations(&self) -> Result<u64>;

    /// Deletes locations of an account's devices, or of one device, with a fix time before this instant. Returns how
    /// many.
    async fn apply_retention(
        &self,
        account: AccountId,
        device: Option<DeviceId>,
        before: Timestamp,
    ) -> Result<u64>;
}
