//! Locations.

use std::any::Any;

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::{AccountId, DeviceId};
use crate::location::{
    Compacted, CompactionBudget, Feed, History, HistoryCursor, HistoryRequest, LastFilter, Location, Outcome,
    StoredLocation, TimeRange,
};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// Takes the locations of a history one after another, so that nobody has to hold them all.
///
/// It is handed back when a part was read; being [`Any`], it is then again what it was.
pub trait LocationSink: Any + Send {
    /// Takes a location, which is lent for as long as this takes, and says whether to go on.
    fn take(&mut self, stored: &StoredLocation) -> Appetite;
}

/// How much more somebody wants to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appetite {
    /// More.
    Hungry,
    /// No more once stopping costs nothing that would have to be done again.
    Sated,
    /// No more.
    Full,
}

/// Where devices were.
#[async_trait]
pub trait Locations: Send + Sync {
    /// Stores locations of a device in sight and says of each whether it is new. Refused when it is expired.
    async fn store_locations(
        &self,
        actor: &Actor,
        device: DeviceId,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>>;

    /// A device's history.
    async fn list_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
    ) -> Result<History<StoredLocation>>;

    /// Gives a device's history to a sink, and the sink back with where to go on. That is certain when the limit was
    /// reached; when the sink wanted no more, there may be nothing there.
    async fn read_locations(
        &self,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
        sink: Box<dyn LocationSink>,
    ) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)>;

    /// The newest location that can be trusted.
    async fn find_last_location(&self, scope: Scope, device: DeviceId) -> Result<Option<StoredLocation>>;

    /// Every visible device's last location, by device id.
    async fn list_last_locations(
        &self,
        scope: Scope,
        filter: &LastFilter,
        page: PageRequest,
    ) -> Result<Page<(DeviceId, StoredLocation)>>;

    /// Locations in arrival order after this number, of devices in sight. Nothing missed, nothing twice.
    ///
    /// Zero is the beginning of what is kept; any other number from before that is an expired cursor.
    async fn list_location_feed(&self, scope: Scope, after: i64, limit: u32) -> Result<Feed>;

    /// The present end of the feed: where to go on for what arrives from now on.
    async fn feed_end(&self, scope: Scope) -> Result<i64>;

    /// Deletes a device's locations in a range; gives how many went.
    async fn delete_locations(&self, actor: &Actor, device: DeviceId, range: TimeRange) -> Result<u64>;
}

/// What keeps locations small and the log short; a server does it in the background.
#[async_trait]
pub trait LocationUpkeep: Send + Sync {
    /// Moves locations from the log into packed chunks, in small transactions.
    async fn compact(&self, budget: CompactionBudget) -> Result<Compacted>;

    /// Waits until so much wants to be packed that it should not wait for the next round; for ever where memory
    /// holds nothing of it.
    async fn until_pressed(&self);

    /// Forgets what was received this long ago from the log that feed and events read; histories keep it. Gives how
    /// many went.
    async fn trim_location_log(&self, keep_ms: i64) -> Result<u64>;

    /// Deletes what was kept for as many days as each device, or else its account, wants. Gives how many went.
    async fn retire_locations(&self) -> Result<u64>;

    /// Deletes what an account's devices, or one of them, recorded before this instant. Gives how many went.
    async fn apply_retention(
        &self,
        account: AccountId,
        device: Option<DeviceId>,
        before: Timestamp,
    ) -> Result<u64>;
}
