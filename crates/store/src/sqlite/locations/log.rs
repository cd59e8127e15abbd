//! The log of locations on SQLite, as the portable SQL uses it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::Scope;
use perigee_core::devices::device::DeviceRef;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Compacted, CompactionBudget, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;
use tokio::sync::MutexGuard;

use super::memory::LocationMemory;
use super::unpacked::FULL_CHUNK;
use super::{compact, device_state, erase, feed, ingest, last, save, skim, trim};
use crate::codec::Point;
use crate::job::Opening;
use crate::sql::accounts;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::reads::feed::FeedPart;
use crate::sql::locations::{
    ChangeGuard, DeviceMemory, Ingested, LastInMemory, LocationLog, Memory, Submission, TrimBounds, Trimmed,
    Window,
};
use crate::{Database, Tx};

/// Devices that a submission packs at a time when memory is full and no compaction is running.
const DEVICES_PACKED_WHEN_FULL: usize = 8;

/// The log of a SQLite store, with the memory beside it.
#[derive(Debug)]
pub(crate) struct SqliteLog(Arc<LocationMemory>);

impl SqliteLog {
    pub(super) const fn new(memory: Arc<LocationMemory>) -> Self {
        Self(memory)
    }
}

#[async_trait]
impl LocationLog for SqliteLog {
    fn concurrent_commits(&self) -> usize {
        1
    }

    fn full_chunk(&self) -> usize {
        FULL_CHUNK
    }

    fn accounts_per_commit(&self) -> usize {
        usize::MAX
    }

    fn opening(&self, _: &Arc<Vec<Submission>>, _: Range<usize>) -> Option<Box<dyn Opening>> {
        None
    }

    async fn horizon(&self, _: &Database, _: AccountId) -> Result<i64> {
        Ok(i64::MAX)
    }

    async fn ingest(&self, tx: &Tx, batch: &[Submission]) -> Result<Ingested> {
        ingest::ingest(tx, &self.0, batch).await
    }

    async fn feed(
        &self,
        tx: &Tx,
        scope: Scope,
        wanted: Option<&Wanted<'_>>,
        after: i64,
        limit: usize,
    ) -> Result<FeedPart> {
        feed::read(tx, scope, wanted, after, limit).await
    }

    async fn skim(&self, tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
        skim::skim(tx, account, after, limits).await
    }

    async fn read(
        &self,
        tx: &Tx,
        account: AccountId,
        part: (i64, i64),
        devices: Vec<DeviceId>,
    ) -> Result<Vec<(DeviceId, StoredLocation)>> {
        skim::read(tx, account, part, devices).await
    }

    async fn unpacked(
        &self,
        _: &Tx,
        account: AccountId,
        device: DeviceId,
        window: &Window,
    ) -> Result<Vec<Point>> {
        Ok(Memory::unpacked(self, account, device, window))
    }

    async fn unpacked_of_devices(
        &self,
        _: &Tx,
        account: AccountId,
        devices: &HashSet<DeviceId>,
        window: &Window,
    ) -> Result<HashMap<DeviceId, Vec<Point>>> {
        let unpacked = |device: &DeviceId| (*device, Memory::unpacked(self, account, *device, window));
        Ok(devices.iter().map(unpacked).collect())
    }

    async fn has_unpacked_before(
        &self,
        _: &Tx,
        account: AccountId,
        device: DeviceId,
        before: Timestamp,
    ) -> Result<bool> {
        let range = TimeRange { from: Timestamp::MIN, to: before.plus_millis(-1) };
        Ok(self.0.unpacked().count_within((account, device), range) > 0)
    }

    async fn erase(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        range: TimeRange,
        packed: u64,
    ) -> Result<u64> {
        erase::erase(tx, &self.0, account, device, range, packed).await
    }

    async fn record_contact(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        device_state::record_contact(tx, &self.0, (account, device)).await
    }

    async fn compact(&self, database: &Database, budget: CompactionBudget) -> Result<Compacted> {
        compact::compact(database, &self.0, budget).await
    }

    async fn trim(&self, tx: &Tx, account: AccountId, bounds: TrimBounds) -> Result<Trimmed> {
        trim::trim(tx, &self.0, account, bounds).await
    }

    async fn accounts_to_trim(&self, database: &Database, _: Timestamp) -> Result<Vec<AccountId>> {
        database.read(|tx| accounts::ids(tx).boxed()).await
    }

    async fn find_last(
        &self,
        database: &Database,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<StoredLocation>> {
        last::find_last(database, &self.0, scope, device).await
    }

    async fn replace_last(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        last: Option<StoredLocation>,
    ) -> Result<()> {
        last::replace(tx, &self.0, (account, device), last).await
    }

    /// Does nothing: rows hold many devices and are left.
    async fn delete_device(&self, _: &Tx, _: AccountId, _: DeviceId) -> Result<()> {
        Ok(())
    }

    async fn licenses_changed(&self, _: &Tx, _: AccountId, _: &[i64]) -> Result<()> {
        Ok(())
    }

    /// Does nothing: every write job has the whole database to itself.
    async fn lock_chunks(&self, _: &Tx, _: AccountId) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Memory for SqliteLog {
    fn unpacked(&self, account: AccountId, device: DeviceId, window: &Window) -> Vec<Point> {
        let keys = (window.after, window.before);
        self.0.unpacked().between((account, device), keys, window.order, window.wanted())
    }

    fn device(&self, account: AccountId, device: DeviceId) -> Option<DeviceMemory> {
        let states = self.0.device_states();
        let entry = states.get((account, device))?;
        Some(DeviceMemory { last_seen: entry.last_seen, interval: entry.interval.clone() })
    }

    fn last(&self, account: AccountId, devices: &[DeviceId]) -> Vec<LastInMemory> {
        let states = self.0.device_states();
        let last = |device: &DeviceId| match states.get((account, *device)) {
            Some(entry) => LastInMemory::Known(entry.last.clone()),
            None => LastInMemory::Unknown,
        };
        devices.iter().map(last).collect()
    }

    fn clock_set_back(&self, now: Timestamp, by_ms: i64) {
        self.0.device_states_mut().clock_set_back(now, by_ms);
    }

    fn remove_device(&self, account: AccountId, device: DeviceId) {
        self.0.remove_device(account, device);
    }

    fn find_cached_id(&self, scope: Scope, device: &DeviceRef) -> (u64, Option<DeviceId>) {
        let cache = self.0.device_cache();
        (cache.epoch(), cache.find_id(scope, device))
    }

    fn cache_id(&self, epoch: u64, scope: Scope, device: &DeviceRef, id: DeviceId) {
        self.0.device_cache_mut().put_id(epoch, scope, device, id);
    }

    async fn save(&self, database: &Database) -> Result<()> {
        save::save_all(database, &self.0).await
    }

    async fn wait_for_compaction_pressure(&self) {
        self.0.wait_for_compaction_pressure().await;
    }

    async fn exclude_changes(&self) -> ChangeGuard<'_> {
        // Locked in the same order wherever both are held, which prevents deadlocks.
        let chunks = self.0.chunks.lock().await;
        (chunks, self.0.arriving.lock().await)
    }

    async fn admit_arrivals(&self, database: &Database) -> MutexGuard<'_, ()> {
        while self.0.is_full() {
            if self.0.wait_for_room().await {
                continue;
            }
            let budget = CompactionBudget { devices: DEVICES_PACKED_WHEN_FULL, everything: false };
            if let Err(error) = compact::compact(database, &self.0, budget).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not compact locations to free memory"
                );
                break;
            }
        }
        self.0.arriving.lock().await
    }
}
