//! A handle to an open database of either engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::store::{CommitSignals, Commits};
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::error::OpenError;
use crate::job::{self, Job, JobResult, Opening};
use crate::migration::Migration;
use crate::postgres::{Distributed, Postgres};
use crate::sql::SubmissionQueue;
use crate::sql::clock::{self, Stopwatch};
use crate::sql::locations::{LocationLog, Memory};
use crate::sqlite::Sqlite;
use crate::stats::Stats;
use crate::tx::{Tx, TxContext};
use crate::url::{DatabaseAddress, DatabaseUrl};

/// How long a request of a server waits for a write.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(9);
/// How long a command waits for a write.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// How long a read waits for the replica to catch up.
const REPLICA_LAG: Duration = Duration::from_millis(200);
/// Exponential back-off between attempts to reach the database: the first delay and the longest.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(5);

/// The database engines that a store can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, in a local file.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

/// The purpose of opening the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A server, which owns a SQLite file exclusively until it ends.
    Serve,
    /// A short command, which may run beside a server.
    Command,
}

/// The time limit of a write on PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// The limit of a request: [`OpenOptions::answer_within`].
    Request,
    /// The long limit of background work.
    Background,
}

/// How a job reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadMode {
    /// A request waits for the result.
    Plain,
    /// Background work: no request waits for the result, so other reads go first.
    LowPriority,
    /// All statements from one snapshot.
    Snapshot,
    /// Like `Snapshot`, and possibly long: the replica may serve it.
    History,
}

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Whether a server or a command opens it.
    pub role: Role,
    /// Concurrent reads on SQLite.
    pub readers: usize,
    /// Write jobs that may be queued on SQLite before more are refused.
    pub queue: usize,
    /// Size of the connection pool to PostgreSQL.
    pub connections: usize,
    /// How long a write of a request may take on PostgreSQL before it is answered as unknown.
    pub answer_within: Duration,
    /// Values of PostgreSQL's `synchronous_commit` that are accepted although they can lose acknowledged data.
    pub allow_synchronous_commit: Vec<String>,
    /// A streaming standby of PostgreSQL that histories are read from.
    pub replica: Option<DatabaseUrl>,
    /// How long a read waits until the replica has everything that was committed before.
    pub replica_lag: Duration,
    /// Whether PostgreSQL transactions use the given clock instead of the server's, for tests.
    pub use_given_clock: bool,
}

impl OpenOptions {
    /// The options of a server.
    pub fn serve() -> Self {
        Self {
            role: Role::Serve,
            readers: 8,
            queue: 10_000,
            connections: 16,
            answer_within: REQUEST_TIMEOUT,
            allow_synchronous_commit: Vec::new(),
            replica: None,
            replica_lag: REPLICA_LAG,
            use_given_clock: false,
        }
    }

    /// The options of a command.
    pub fn command() -> Self {
        Self {
            role: Role::Command,
            readers: 1,
            connections: 2,
            answer_within: COMMAND_TIMEOUT,
            ..Self::serve()
        }
    }
}

/// An open database. Clones are the same database.
///
/// Large methods return boxed futures, because an `async fn` is compiled again in each crate that awaits it.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    engine: EngineHandle,
    /// Locations that wait for their group commit.
    submission_queue: SubmissionQueue,
    /// Write jobs that wait for their commit.
    writes: AtomicU64,
    /// Measures the time since the store's clock was last saved.
    stopwatch: Stopwatch,
    answer_within: Duration,
    /// The counters after opening, which [`Database::stats`] subtracts.
    at_open: OnceLock<Stats>,
}

/// Counts a write job while it waits.
struct PendingWrite<'a>(&'a AtomicU64);

impl<'a> PendingWrite<'a> {
    fn begin(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum EngineHandle {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl EngineHandle {
    fn context(&self) -> &TxContext {
        match self {
            Self::Sqlite(sqlite) => sqlite.context(),
            Self::Postgres(postgres) => postgres.context(),
        }
    }
}

impl Database {
    /// Opens the database and applies pending migrations.
    pub fn open(
        url: &DatabaseUrl,
        options: OpenOptions,
        clock: Arc<dyn Clock>,
    ) -> BoxFuture<'_, Result<Self, OpenError>> {
        Box::pin(Self::open_now(url, options, clock))
    }

    async fn open_now(
        url: &DatabaseUrl,
        options: OpenOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let stopwatch = Stopwatch::start(Arc::clone(&clock));
        let (role, answer_within) = (options.role, options.answer_within);
        let engine = match &url.0 {
            DatabaseAddress::Sqlite(path) => {
                let path = path.clone();
                let open = tokio::task::spawn_blocking(move || Sqlite::open(&path, &options, clock));
                EngineHandle::Sqlite(open.await.map_err(OpenError::other)??)
            }
            DatabaseAddress::Postgres(address) => {
                EngineHandle::Postgres(Postgres::open(address, &options, clock).await?)
            }
        };
        let log = &engine.context().log;
        let (concurrent_commits, by_account) = (log.concurrent_commits(), log.accounts_per_commit() == 1);
        let database = Self(Arc::new(Inner {
            engine,
            submission_queue: SubmissionQueue::new(Handle::current(), concurrent_commits, by_account),
            writes: AtomicU64::new(0),
            stopwatch,
            answer_within,
            at_open: OnceLock::new(),
        }));
        if role == Role::Serve {
            clock::trusted_now(&database).await.map_err(OpenError::other)?;
        }
        database.0.at_open.get_or_init(|| database.all_stats());
        Ok(database)
    }

    /// Opens the database; retries for up to `timeout` while it cannot be reached, and logs that.
    pub async fn open_within(
        url: &DatabaseUrl,
        options: OpenOptions,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Result<Self, OpenError> {
        let (started, mut delay) = (Instant::now(), FIRST_DELAY);
        loop {
            let error = match Self::open(url, options.clone(), Arc::clone(&clock)).await {
                Err(error) if error.is_transient() => error,
                opened => return opened,
            };
            let left = timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(error);
            }
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                waiting_s = left.as_secs(),
                "waiting for the database; see store.wait_seconds"
            );
            tokio::time::sleep(delay.min(left)).await;
            delay = (delay * 2).min(DELAY_MAX);
        }
    }

    /// The migrations that opening this database would apply; creates and changes nothing.
    pub async fn pending_migrations(url: &DatabaseUrl) -> Result<Vec<Migration>, OpenError> {
        match &url.0 {
            DatabaseAddress::Sqlite(path) => {
                let path = path.clone();
                let look = tokio::task::spawn_blocking(move || Sqlite::pending_migrations(&path));
                look.await.map_err(OpenError::other)?
            }
            DatabaseAddress::Postgres(address) => Postgres::pending_migrations(address).await,
        }
    }

    /// Distributes the tables by account over the servers of a Citus cluster. The schema must be up to date, and no
    /// node may run meanwhile: nodes check only at their start whether tables are distributed.
    pub async fn distribute(url: &DatabaseUrl) -> Result<Distributed, OpenError> {
        match &url.0 {
            DatabaseAddress::Sqlite(_) => Err(OpenError::NoCitus),
            DatabaseAddress::Postgres(address) => Postgres::distribute(address).await,
        }
    }

    /// Runs the job in a transaction and returns its result once the transaction is committed and synced. When the job
    /// fails or panics, its changes are rolled back. Call it as `db.write(move |tx| Box::pin(async move { ... }))`.
    pub fn write<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_write(Job::new(job), TimeLimit::Request))
    }

    /// Like [`Self::write`], with statements that are sent to PostgreSQL together with the start of the transaction.
    pub(crate) fn write_after<T, F>(
        &self,
        opening: Option<Box<dyn Opening>>,
        job: F,
    ) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_write(Job::new(job).after(opening), TimeLimit::Request))
    }

    /// Like [`Self::write`], for background work, which may take longer.
    pub(crate) fn write_background<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_write(Job::new(job), TimeLimit::Background))
    }

    /// Runs a job that only reads. On PostgreSQL each statement sees what was committed before it; a job of several
    /// statements that must agree needs [`Self::read_snapshot`].
    pub fn read<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_read(Job::new(job), ReadMode::Plain))
    }

    /// Runs a background job that only reads: on SQLite, on a low-priority thread.
    pub(crate) fn read_low_priority<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_read(Job::new(job), ReadMode::LowPriority))
    }

    /// Runs a job that only reads, all of it from one snapshot.
    pub fn read_snapshot<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_read(Job::new(job), ReadMode::Snapshot))
    }

    /// Runs a job that reads a history from one snapshot, on the replica if possible. The snapshot contains everything
    /// that was committed before the call.
    pub(crate) fn read_history<T, F>(&self, job: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        job::typed(self.run_read(Job::new(job), ReadMode::History))
    }

    /// Runs a job that reads the logs of an account from one snapshot, up to [`Tx::horizon`]. The horizon is determined
    /// before the snapshot is taken, so that the snapshot contains everything that was committed below the horizon.
    pub(crate) fn read_log_snapshot<T, F>(
        &self,
        account: AccountId,
        job: F,
    ) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        Box::pin(async move {
            let horizon = self.log().horizon(self, account).await?;
            let job = Job::new(move |tx| {
                tx.set_horizon(horizon);
                job(tx)
            });
            job::typed(self.run_read(job, ReadMode::Snapshot)).await
        })
    }

    fn run_write(&self, job: Job, limit: TimeLimit) -> BoxFuture<'_, Result<JobResult, StoreError>> {
        Box::pin(async move {
            let _counted = PendingWrite::begin(&self.0.writes);
            match &self.0.engine {
                EngineHandle::Sqlite(sqlite) => sqlite.write(job).await,
                EngineHandle::Postgres(postgres) => postgres.write(job, limit).await,
            }
        })
    }

    fn run_read(&self, job: Job, mode: ReadMode) -> BoxFuture<'_, Result<JobResult, StoreError>> {
        Box::pin(async move {
            match (&self.0.engine, mode) {
                (EngineHandle::Sqlite(sqlite), ReadMode::LowPriority) => sqlite.read_low_priority(job).await,
                // Every read job on SQLite has a snapshot.
                (EngineHandle::Sqlite(sqlite), ReadMode::Plain | ReadMode::Snapshot | ReadMode::History) => {
                    sqlite.read(job).await
                }
                (EngineHandle::Postgres(postgres), ReadMode::Snapshot) => postgres.read_snapshot(job).await,
                (EngineHandle::Postgres(postgres), ReadMode::History) => postgres.read_history(job).await,
                (EngineHandle::Postgres(postgres), ReadMode::Plain | ReadMode::LowPriority) => {
                    postgres.read(job).await
                }
            }
        })
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| {
            Box::pin(async move {
                tx.query_one("SELECT 1 AS one", &[]).await?;
                Ok(())
            })
        })
        .await
    }

    fn context(&self) -> &TxContext {
        self.0.engine.context()
    }

    /// The engine's log of locations.
    pub(crate) fn log(&self) -> &dyn LocationLog {
        &*self.context().log
    }

    /// The state of devices and their locations that the engine keeps in memory.
    pub(crate) fn memory(&self) -> Option<&dyn Memory> {
        self.context().memory.as_deref()
    }

    /// The location memory of a SQLite store, for its tests.
    #[cfg(all(test, feature = "testing"))]
    pub(crate) fn sqlite_memory(&self) -> Option<&Arc<crate::sqlite::LocationMemory>> {
        match &self.0.engine {
            EngineHandle::Sqlite(sqlite) => Some(sqlite.memory()),
            EngineHandle::Postgres(_) => None,
        }
    }

    /// The queue in which locations wait for their group commit.
    pub(crate) fn submission_queue(&self) -> &SubmissionQueue {
        &self.0.submission_queue
    }

    /// How long a request waits for a write.
    pub(crate) fn answer_within(&self) -> Duration {
        self.0.answer_within
    }

    /// Measures the time since the store's clock was last saved.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.0.stopwatch
    }

    /// Write jobs that wait for their commit.
    pub fn writes_waiting(&self) -> u64 {
        self.0.writes.load(Ordering::Relaxed)
    }

    /// The engine of this database.
    pub fn engine(&self) -> Engine {
        match &self.0.engine {
            EngineHandle::Sqlite(_) => Engine::Sqlite,
            EngineHandle::Postgres(_) => Engine::Postgres,
        }
    }

    /// Counters since the database was opened.
    pub fn stats(&self) -> Stats {
        self.all_stats().since(self.0.at_open.get().copied().unwrap_or_default())
    }

    fn all_stats(&self) -> Stats {
        match &self.0.engine {
            EngineHandle::Sqlite(sqlite) => sqlite.stats(),
            EngineHandle::Postgres(postgres) => postgres.stats(),
        }
    }

    /// Releases the database without saving anything, as a crash would, for tests.
    #[cfg(feature = "testing")]
    pub async fn abandon(&self) {
        match &self.0.engine {
            EngineHandle::Sqlite(sqlite) => sqlite.close().await,
            EngineHandle::Postgres(postgres) => postgres.close(),
        }
    }

    /// Finishes accepted work, refuses more and releases the database. Closing twice is harmless.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.finish_and_close())
    }

    async fn finish_and_close(&self) {
        if let Some(memory) = self.memory()
            && let Err(error) = memory.save(self).await
        {
            // Nothing is lost: opening replays it from the log.
            tracing::warn!(error = &error as &dyn std::error::Error, "closing without a last save");
        }
        match &self.0.engine {
            EngineHandle::Sqlite(sqlite) => sqlite.close().await,
            EngineHandle::Postgres(postgres) => postgres.close(),
        }
    }
}

impl Commits for Database {
    fn commit_signals(&self) -> &CommitSignals {
        &self.context().commit_signals
    }
}
