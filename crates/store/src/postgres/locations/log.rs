//! The log of locations on PostgreSQL, as the portable SQL uses it.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Compacted, CompactionBudget, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;

use super::packed_gaps::PackedGaps;
use super::seen_states::SeenStates;
use super::{compact, contact, erase, feed, ingest, last, licenses, numbers, recent, skim, trim};
use crate::codec::Point;
use crate::job::Opening;
use crate::sql::accounts;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::reads::feed::FeedPart;
use crate::sql::locations::{
    DeviceNames, Ingested, LocationLog, Submission, TrimBounds, Trimmed, Window, find_last_visible,
};
use crate::{Database, Tx, params};

/// How many transactions of this node store locations at the same time: one more than there are cores, within this
/// range. Half of them, rounded down, are for batches. With one, the server waits for this node and this node for the
/// server; with many, each commit is small and costs more per location. The default number of connections has room
/// for one more of each kind.
const CONCURRENT_COMMITS: RangeInclusive<usize> = 3..=4;
/// Locations in a full chunk. More than on SQLite: PostgreSQL stores long values in parts of 2 KB, which fill pages
/// better the more parts a chunk has.
pub(super) const FULL_CHUNK: usize = 2_048;
/// Accounts of one transaction. Each needs a lock in memory that the server shares among all connections; with its
/// default settings there is room for 6,400.
const ACCOUNTS_PER_COMMIT: usize = 128;

/// The log of a PostgreSQL store. It keeps no locations in memory, because other nodes write too.
#[derive(Debug)]
pub(crate) struct PostgresLog {
    concurrent_commits: usize,
    accounts_per_commit: usize,
    seen_states: Arc<SeenStates>,
    gaps: PackedGaps,
    device_names: DeviceNames,
    /// Whether the last compaction left everything to other nodes.
    left_to_others: AtomicBool,
}

impl PostgresLog {
    /// The log of a store that opens at most this many connections.
    pub(crate) fn new(connections: usize, is_distributed: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let concurrent_commits = if is_distributed {
            // Each is of one account, so more of them run at the same time.
            (connections / 2).max(*CONCURRENT_COMMITS.start())
        } else {
            (cores + 1).clamp(*CONCURRENT_COMMITS.start(), *CONCURRENT_COMMITS.end())
        };
        Self {
            concurrent_commits,
            accounts_per_commit: if is_distributed { 1 } else { ACCOUNTS_PER_COMMIT },
            seen_states: Arc::default(),
            gaps: PackedGaps::default(),
            device_names: DeviceNames::default(),
            left_to_others: AtomicBool::new(false),
        }
    }
}

#[async_trait]
impl LocationLog for PostgresLog {
    fn concurrent_commits(&self) -> usize {
        self.concurrent_commits
    }

    fn full_chunk(&self) -> usize {
        FULL_CHUNK
    }

    fn accounts_per_commit(&self) -> usize {
        self.accounts_per_commit
    }

    fn device_names(&self) -> Option<&DeviceNames> {
        Some(&self.device_names)
    }

    fn opening(&self, batch: &Arc<Vec<Submission>>, part: Range<usize>) -> Option<Box<dyn Opening>> {
        let seen_states = Arc::clone(&self.seen_states);
        Some(Box::new(ingest::ReadDevices { batch: Arc::clone(batch), part, seen_states }))
    }

    async fn horizon(&self, database: &Database, account: AccountId) -> Result<i64> {
        database.read(move |tx| numbers::horizon(tx, account).boxed()).await
    }

    async fn ingest(&self, tx: &Tx, batch: &[Submission]) -> Result<Ingested> {
        ingest::ingest(tx, tx.require_postgres()?, batch, &self.seen_states, &self.gaps).await
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
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        window: &Window,
    ) -> Result<Vec<Point>> {
        recent::within(tx, account, device, window).await
    }

    async fn unpacked_of_devices(
        &self,
        tx: &Tx,
        account: AccountId,
        devices: &HashSet<DeviceId>,
        window: &Window,
    ) -> Result<HashMap<DeviceId, Vec<Point>>> {
        recent::within_of_devices(tx, account, devices, window).await
    }

    async fn has_unpacked_before(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        before: Timestamp,
    ) -> Result<bool> {
        erase::holds_before(tx, account, device, before).await
    }

    async fn erase(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        range: TimeRange,
        _: u64,
    ) -> Result<u64> {
        erase::erase(tx, account, device, range).await
    }

    async fn delete_device(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        // A trigger does this too, unless the tables are distributed.
        let sql = "DELETE FROM location_log WHERE account_id = ?1 AND device_id = ?2";
        tx.execute(sql, params![account, device]).await?;
        Ok(())
    }

    async fn licenses_changed(&self, tx: &Tx, account: AccountId, devices: &[i64]) -> Result<()> {
        licenses::copy(tx, account, devices).await
    }

    async fn lock_chunks(&self, tx: &Tx, account: AccountId) -> Result<()> {
        compact::lock_chunks(tx, account).await
    }

    async fn record_contact(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        contact::record_contact(tx, account, device).await
    }

    async fn compact(&self, database: &Database, budget: CompactionBudget) -> Result<Compacted> {
        compact::compact(database, budget, &self.left_to_others).await
    }

    async fn trim(&self, tx: &Tx, account: AccountId, bounds: TrimBounds) -> Result<Trimmed> {
        trim::trim(tx, account, bounds).await
    }

    async fn accounts_to_trim(&self, database: &Database, before: Timestamp) -> Result<Vec<AccountId>> {
        accounts::ids_where(database, trim::HAS_OLDER, before.as_millis()).await
    }

    async fn find_last(
        &self,
        database: &Database,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<StoredLocation>> {
        database.read(move |tx| find_last_visible(tx, scope, device).boxed()).await
    }

    async fn replace_last(
        &self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
        last: Option<StoredLocation>,
    ) -> Result<()> {
        last::replace(tx, account, device, last).await
    }
}
