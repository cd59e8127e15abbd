//! The log of locations, which each engine keeps in its own form.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Compacted, CompactionBudget, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;

use super::arrival::Ingested;
use super::device_names::DeviceNames;
use super::reads::feed::FeedPart;
use super::reads::window::Window;
use super::submission_queue::Submission;
use super::trim::{TrimBounds, Trimmed};
use crate::codec::Point;
use crate::job::Opening;
use crate::sql::events::event_filter::Wanted;
use crate::{Database, Tx, params};

/// After this time devices with less than a full chunk are packed too.
pub(crate) const PACK_AFTER_MS: i64 = 60 * 60 * 1000;

/// Everything about locations that differs between the engines, other than the optional [`Memory`](super::Memory).
#[async_trait]
pub(crate) trait LocationLog: fmt::Debug + Send + Sync {
    /// Transactions that may store locations at the same time.
    fn concurrent_commits(&self) -> usize;

    /// Locations in a full chunk.
    fn full_chunk(&self) -> usize;

    /// Accounts whose submissions one transaction may store.
    fn accounts_per_commit(&self) -> usize;

    /// The devices that identifiers named, where commits check them; `None` where the cache of devices is exact.
    fn device_names(&self) -> Option<&DeviceNames> {
        None
    }

    /// Statements for this part of a batch that are sent while its transaction begins.
    fn opening(&self, batch: &Arc<Vec<Submission>>, part: Range<usize>) -> Option<Box<dyn Opening>>;

    /// The number up to which the logs of an account can be read from a snapshot that is taken after this call: no
    /// unfinished commit can add a lower number.
    async fn horizon(&self, database: &Database, account: AccountId) -> Result<i64>;

    /// Stores new locations; returns for each whether it was accepted or a duplicate, or why its submission is
    /// refused.
    async fn ingest(&self, tx: &Tx, batch: &[Submission]) -> Result<Ingested>;

    /// Up to `limit` locations of visible devices after this number and up to [`Tx::horizon`]; of wanted devices
    /// only, if `wanted` is given.
    async fn feed(
        &self,
        tx: &Tx,
        scope: Scope,
        wanted: Option<&Wanted<'_>>,
        after: i64,
        limit: usize,
    ) -> Result<FeedPart>;

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

    /// Like [`Self::unpacked`], for several devices.
    async fn unpacked_of_devices(
        &self,
        tx: &Tx,
        account: AccountId,
        devices: &HashSet<DeviceId>,
        window: &Window,
    ) -> Result<HashMap<DeviceId, Vec<Point>>>;

    /// Whether a device has locations from before this instant that are in no chunk.
    async fn has_unpacked_before(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        before: Timestamp,
    ) -> Result<bool>;

    /// Erases a time range of a device from the log. `packed` is how many locations were erased from chunks; returns
    /// how many more were in no chunk.
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

    /// Deletes some rows of an account's log, which is locked: within these bounds, and only what is in chunks.
    async fn trim(&self, tx: &Tx, account: AccountId, bounds: TrimBounds) -> Result<Trimmed>;

    /// The accounts whose logs may have rows from before this instant.
    async fn accounts_to_trim(&self, database: &Database, before: Timestamp) -> Result<Vec<AccountId>>;

    /// The last location of a visible device.
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

    /// Deletes the rows of a device that is about to be deleted, if each row belongs to one device.
    async fn delete_device(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()>;

    /// Updates copies of the licences of these devices after a change. The account is locked.
    async fn licenses_changed(&self, tx: &Tx, account: AccountId, devices: &[i64]) -> Result<()>;

    /// Excludes other changes of an account's chunks on all nodes until the end of the transaction. Taken after the
    /// account's lock where both are taken; submissions do not take it.
    async fn lock_chunks(&self, tx: &Tx, account: AccountId) -> Result<()>;
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
