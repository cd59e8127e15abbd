//! The state of devices and their locations that an engine keeps in memory.

use std::fmt;

use async_trait::async_trait;
use perigee_core::access::actor::Scope;
use perigee_core::devices::device::DeviceRef;
use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use tokio::sync::MutexGuard;

use super::reads::window::Window;
use crate::Database;
use crate::codec::Point;

/// The state of a device in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceMemory {
    pub(crate) last_seen: Option<Timestamp>,
    pub(crate) interval: ReportingInterval,
}

/// A device's last location in memory.
#[derive(Clone, Debug)]
pub(crate) enum LastInMemory {
    /// Nothing: the table must be read.
    Unknown,
    /// The last location, if the device has one.
    Known(Option<Point>),
}

/// Held while locations are erased: nothing else changes chunks or adds locations.
pub(crate) type ChangeGuard<'a> = (MutexGuard<'a, ()>, MutexGuard<'a, ()>);

/// The memory of an engine whose file no other node writes: SQLite. It is never behind the tables. PostgreSQL has none.
#[async_trait]
pub(crate) trait Memory: fmt::Debug + Send + Sync {
    /// The locations of a device within the window that are in no chunk. Must be called before the snapshot begins that
    /// chunks are read from.
    fn unpacked(&self, account: AccountId, device: DeviceId, window: &Window) -> Vec<Point>;

    /// The state of a device, if it is in memory.
    fn device(&self, account: AccountId, device: DeviceId) -> Option<DeviceMemory>;

    /// The last locations of these devices, in their order.
    fn last(&self, account: AccountId, devices: &[DeviceId]) -> Vec<LastInMemory>;

    /// Moves times after `now` back by as much as the clock was set back.
    fn clock_set_back(&self, now: Timestamp, by_ms: i64);

    /// Removes a device whose deletion is committed.
    fn remove_device(&self, account: AccountId, device: DeviceId);

    /// Looks up a device in the cache: its epoch, and the id if it is cached.
    fn find_cached_id(&self, scope: Scope, device: &DeviceRef) -> (u64, Option<DeviceId>);

    /// Caches an id that was read since this epoch.
    fn cache_id(&self, epoch: u64, scope: Scope, device: &DeviceRef, id: DeviceId);

    /// Writes unsaved changes in memory to the tables.
    async fn save(&self, database: &Database) -> Result<()>;

    /// Waits until compaction falls behind.
    async fn wait_for_compaction_pressure(&self);

    /// Excludes other changes of chunks and arriving locations.
    async fn exclude_changes(&self) -> ChangeGuard<'_>;

    /// Waits until there is room for more locations and none are being erased. The guard is held until the commit.
    async fn admit_arrivals(&self, database: &Database) -> MutexGuard<'_, ()>;
}

/// Excludes other changes of chunks and arriving locations on this node. On PostgreSQL the account's lock and that of
/// its chunks do that, on all nodes.
pub(crate) async fn exclude_changes(database: &Database) -> Option<ChangeGuard<'_>> {
    Some(database.memory()?.exclude_changes().await)
}

/// Waits until memory has room for more locations and none are being erased. The guard is held until the commit.
pub(super) async fn admit_arrivals(database: &Database) -> Option<MutexGuard<'_, ()>> {
    Some(database.memory()?.admit_arrivals(database).await)
}
