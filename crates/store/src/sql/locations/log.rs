//! The log of locations, which each engine keeps in its own form.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::Scope;
use perigee_core::devices::device::DeviceRef;
use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::events::event::{Event, EventKind, EventObject};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Compacted, CompactionBudget, Feed, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;
use tokio::sync::MutexGuard;

use super::arrival::Ingested;
use super::submission_queue::Submission;
use super::window::Window;
use crate::codec::Point;
use crate::job::Opening;
use crate::sql::events::event_filter::Wanted;
use crate::sql::{accounts, clock};
use crate::{Database, Tx, params};

/// After this time devices with less than a full chunk are packed too.
pub(crate) const PACK_AFTER_MS: i64 = 60 * 60 * 1000;

/// The state of a device that an engine holds in memory, never behind the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceMemory {
    pub(crate) last_seen: Option<Timestamp>,
    pub(crate) rhythm: ReportingInterval,
}

/// What memory knows of a device's last location.
#[derive(Clone, Debug)]
pub(crate) enum LastInMemory {
    /// Nothing: the table must be read.
    Unknown,
    /// The last location, if the device has one.
    Known(Option<Point>),
}

/// Held while locations are erased: nothing else changes chunks or adds locations.
pub(crate) type ChangeGuard<'a> = (MutexGuard<'a, ()>, MutexGuard<'a, ()>);

/// Everything about locations that differs between the engines. The defaults are those of an engine that keeps nothing
/// in memory.
#[async_trait]
pub(crate) trait LocationLog: fmt::Debug + Send + Sync {
    /// Transactions that may store locations at the same time.
    fn concurrent_commits(&self) -> usize;

    /// Locations in a full chunk.
    fn full_chunk(&self) -> usize;

    /// Accounts whose submissions one transaction may store.
    fn accounts_per_commit(&self) -> usize {
        usize::MAX
    }

    /// Statements for this part of a batch that are sent while its transaction begins.
    fn opening(&self, _: &Arc<Vec<Submission>>, _: Range<usize>) -> Option<Box<dyn Opening>> {
        None
    }

    /// The number up to which the logs of an account can be read from a snapshot that is taken after this: no unfinished
    /// commit can add a lower one.
    async fn horizon(&self, _: &Database, _: AccountId) -> Result<i64> {
        Ok(i64::MAX)
    }

    /// Stores new locations; says of each whether it was accepted or a duplicate, or why its submission is refused.
    async fn ingest(&self, tx: &Tx, batch: &[Submission]) -> Result<Ingested>;

    /// Locations of visible devices after this number.
    async fn feed(&self, tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed>;

    /// The same locations as events, and the number up to which the log was read if there is more of it.
    async fn events(
        &self,
        tx: &Tx,
        scope: Scope,
        wanted: &Wanted<'_>,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<Event>, Option<i64>)>;

    /// The highest number of the account's log, including rows that are trimmed.
    async fn end(&self, tx: &Tx, scope: Scope) -> Result<i64>;

    /// Summarises the log after this number for the rule engine.
    async fn skim(&self, tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan>;

    /// The locations of these devices after the first number and up to the second.
    async fn read(
        &self,
        tx: &Tx,
        account: AccountId,
        part: (i64, i64),
        devices: Vec<DeviceId>,
    ) -> Result<Vec<(DeviceId, StoredLocation)>>;

    /// The locations of a device within the window that are in no chunk.
    async fn unpacked(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        window: &Window,
    ) -> Result<Vec<Point>>;

    /// Whether a device has locations from before this instant that are in no chunk.
    async fn has_unpacked_before(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        before: Timestamp,
    ) -> Result<bool>;

    /// Erases a time range of a device from the log. `packed` is how many locations were erased from chunks; gives how
    /// many more were in no chunk.
    async fn erase(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        range: TimeRange,
        packed: u64,
    ) -> Result<u64>;

    /// Records that a device made contact without a location. The account is locked.
    async fn record_contact(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()>;

    /// Packs the devices that are due, within the budget.
    async fn compact(&self, database: &Database, budget: CompactionBudget) -> Result<Compacted>;

    /// Deletes rows of an account's log that are older than `keep_ms` and in chunks. Gives how many locations that were.
    async fn trim(
        &self,
        database: &Database,
        account: AccountId,
        keep_ms: i64,
        now: Timestamp,
    ) -> Result<u64>;

    /// The accounts whose logs may have rows from before this instant.
    async fn accounts_to_trim(&self, database: &Database, _before: Timestamp) -> Result<Vec<AccountId>> {
        database.read(|tx| accounts::ids(tx).boxed()).await
    }

    /// The last trusted location of a visible device.
    async fn find_last(
        &self,
        database: &Database,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<StoredLocation>>;

    /// Replaces the last location of a device, which has one.
    async fn replace_last(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        last: Option<StoredLocation>,
    ) -> Result<()>;

    /// The unpacked locations of a device within the window, if they are in memory. Must be called before the snapshot
    /// begins that chunks are read from.
    fn unpacked_in_memory(&self, _: AccountId, _: DeviceId, _: &Window) -> Option<Vec<Point>> {
        None
    }

    /// Moves times after `now` that memory holds back by as much as the clock was set back.
    fn clock_set_back(&self, _now: Timestamp, _by_ms: i64) {}

    /// The state of a device, if it is in memory.
    fn device_in_memory(&self, _: AccountId, _: DeviceId) -> Option<DeviceMemory> {
        None
    }

    /// The last locations of these devices; `None` for an engine that keeps none in memory.
    fn last_in_memory(&self, _: AccountId, _: &[DeviceId]) -> Option<Vec<LastInMemory>> {
        None
    }

    /// Deletes the rows of a device that is about to be deleted. Rows of SQLite's log hold many devices and are left.
    async fn delete_device(&self, _: &Tx, _: AccountId, _: DeviceId) -> Result<()> {
        Ok(())
    }

    /// Follows up a change of the licences of these devices of an account, whose lock is held.
    async fn licenses_changed(&self, _: &Tx, _: AccountId, _devices: &[i64]) -> Result<()> {
        Ok(())
    }

    /// After the commit, removes a deleted device from memory.
    fn remove_device_from_memory(&self, _: &Tx, _: AccountId, _: DeviceId) {}

    /// Looks up a device in the cache: its epoch, and the id if it is cached.
    fn find_cached_id(&self, _: Scope, _: &DeviceRef) -> Option<(u64, Option<DeviceId>)> {
        None
    }

    /// Caches an id that was read since this epoch.
    fn cache_id(&self, _epoch: u64, _: Scope, _: &DeviceRef, _: DeviceId) {}

    /// Writes what is only in memory to the tables.
    async fn save(&self, _: &Database) -> Result<()> {
        Ok(())
    }

    /// Waits until compaction falls behind.
    async fn wait_for_compaction_pressure(&self) {
        std::future::pending::<()>().await;
    }

    /// Excludes other changes of an account's chunks on all nodes until the end of the transaction. Taken after the
    /// account's lock where both are taken; submissions do not take it.
    async fn lock_chunks(&self, _: &Tx, _: AccountId) -> Result<()> {
        Ok(())
    }

    /// Excludes other changes of chunks and arriving locations on this node. On PostgreSQL the account's lock and
    /// [`Self::lock_chunks`] do that, on all nodes.
    async fn exclude_changes(&self) -> Option<ChangeGuard<'_>> {
        None
    }

    /// Waits until memory has room for more locations and none are being erased. The guard is held until the commit.
    async fn admit_arrivals(&self, _: &Database) -> Option<MutexGuard<'_, ()>> {
        None
    }
}

/// The event of a location.
pub(crate) fn event_of(account: AccountId, device: DeviceId, stored: StoredLocation) -> Event {
    Event {
        number: stored.number,
        account,
        at: stored.received_at,
        kind: EventKind::LocationCreated,
        subject: device.to_string(),
        device: Some(device),
        data: serde_json::Value::Null,
        object: EventObject::Location(Box::new(stored)),
    }
}

/// Deletes what was received this long ago and is in chunks, in the logs of all accounts. Gives how many locations that
/// were.
pub(super) async fn trim(database: &Database, keep_ms: i64) -> Result<u64> {
    let now = clock::trusted_now(database).await?;
    let before = now.plus_millis(-keep_ms);
    let accounts = database.log().accounts_to_trim(database, before).await?;
    let mut gone = 0;
    // What is saved need not be replayed when the store is opened, so that its rows can be trimmed.
    database.log().save(database).await?;
    for account in accounts {
        gone += database.log().trim(database, account, keep_ms, now).await?;
    }
    Ok(gone)
}

/// The number up to which the log was trimmed.
pub(crate) async fn trimmed_to(tx: &Tx, account: AccountId) -> Result<i64> {
    let sql = "SELECT number FROM location_trim WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    Ok(row.map(|row| row.i64("number")).transpose()?.unwrap_or(0))
}

/// Saves the number up to which the log was trimmed.
pub(crate) async fn save_trimmed_to(tx: &Tx, account: AccountId, number: i64) -> Result<()> {
    let sql = "INSERT INTO location_trim (account_id, number) VALUES (?1, ?2) \
               ON CONFLICT (account_id) DO UPDATE SET number = CASE \
                   WHEN excluded.number > location_trim.number \
                   THEN excluded.number ELSE location_trim.number END";
    tx.execute(sql, params![account, number]).await?;
    Ok(())
}
