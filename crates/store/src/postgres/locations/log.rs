//! The log of locations on PostgreSQL, as the portable SQL uses it.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::event::Event;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Compacted, CompactionBudget, Feed, Outcome, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;

use super::{compact, contact, erase, feed, ingest, recent, skim, trim};
use crate::codec::Point;
use crate::sql::event_filter::Wanted;
use crate::sql::locations::{LocationLog, Submission, Window, find_last_visible};
use crate::{Database, Tx};

/// Transactions that store locations at the same time from this node.
const CONCURRENT_COMMITS: usize = 4;

/// The log of a PostgreSQL store, which keeps nothing in memory because other nodes write too.
#[derive(Debug)]
pub(crate) struct PostgresLog;

#[async_trait]
impl LocationLog for PostgresLog {
    fn concurrent_commits(&self) -> usize {
        CONCURRENT_COMMITS
    }

    async fn ingest(&self, tx: &Tx, batch: &[Submission]) -> Result<Vec<Result<Vec<Outcome>>>> {
        let session = tx.as_postgres();
        let session = session.ok_or_else(|| StoreError::Internal("not a PostgreSQL transaction".into()))?;
        ingest::ingest(tx, session, batch).await
    }

    async fn feed(&self, tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
        feed::list(tx, scope, after, limit).await
    }

    async fn events(
        &self,
        tx: &Tx,
        scope: Scope,
        wanted: &Wanted<'_>,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<Event>, Option<i64>)> {
        feed::events(tx, scope, wanted, after, limit).await
    }

    async fn end(&self, tx: &Tx, scope: Scope) -> Result<i64> {
        feed::end(tx, scope).await
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

    async fn lock_chunks(&self, tx: &Tx, account: AccountId) -> Result<()> {
        compact::lock_chunks(tx, account).await
    }

    async fn record_contact(&self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        contact::record_contact(tx, account, device).await
    }

    async fn compact(&self, database: &Database, budget: CompactionBudget) -> Result<Compacted> {
        compact::compact(database, budget).await
    }

    async fn trim(
        &self,
        database: &Database,
        account: AccountId,
        keep_ms: i64,
        now: Timestamp,
    ) -> Result<u64> {
        trim::trim(database, account, (keep_ms, now)).await
    }

    async fn find_last(
        &self,
        database: &Database,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<StoredLocation>> {
        database.read(move |tx| find_last_visible(tx, scope, device).boxed()).await
    }
}
