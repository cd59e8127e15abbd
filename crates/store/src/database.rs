//! A database of either engine: opened, written, read, closed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::bell::Bells;
use crate::error::OpenError;
use crate::migration::Migration;
use crate::postgres::Postgres;
use crate::sql::Gatherer;
use crate::sql::clock::{self, Stopwatch};
use crate::sqlite::locations::save_all;
use crate::sqlite::{Live, Sqlite};
use crate::stats::Stats;
use crate::tx::Tx;
use crate::url::{DatabaseUrl, Place};

/// How long a client of the service waits for a write at the most.
const ANSWER_WITHIN: Duration = Duration::from_secs(9);
/// How long a command does.
const COMMAND_WITHIN: Duration = Duration::from_mins(10);
/// How long to wait before the database is tried again when it cannot be reached: ever longer, up to the second.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, in a file of this machine.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

/// What the database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A server, which owns a SQLite file alone until it ends.
    Serve,
    /// A short command, which may run beside a server.
    Command,
}

/// How long a write may take on PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Somebody waits for the answer.
    Short,
    /// It is work in the background.
    Long,
}

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What for.
    pub role: Role,
    /// How many reads run at once on SQLite.
    pub readers: usize,
    /// How many write jobs may wait on SQLite before more are refused.
    pub queue: usize,
    /// How many connections to PostgreSQL.
    pub connections: usize,
    /// How long a write of a server may take on PostgreSQL until it is answered, done or not.
    pub answer_within: Duration,
    /// Values of PostgreSQL's `synchronous_commit` that are taken although they can lose what was acknowledged.
    pub allow_synchronous_commit: Vec<String>,
    /// Whether PostgreSQL transactions take their time from the given clock instead of the server's, for tests.
    pub use_given_clock: bool,
}

impl OpenOptions {
    /// For a server.
    pub fn serve() -> Self {
        Self {
            role: Role::Serve,
            readers: 8,
            queue: 10_000,
            connections: 16,
            answer_within: ANSWER_WITHIN,
            allow_synchronous_commit: Vec::new(),
            use_given_clock: false,
        }
    }

    /// For a command.
    pub fn command() -> Self {
        Self {
            role: Role::Command,
            readers: 1,
            connections: 2,
            answer_within: COMMAND_WITHIN,
            ..Self::serve()
        }
    }
}

/// An open database. Clones are the same database.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    place: Opened,
    /// Locations that wait to be stored.
    gatherer: Gatherer,
    /// Write jobs that wait for their commit.
    writes: AtomicU64,
    /// Tells how long ago the store's clock was noted.
    stopwatch: Stopwatch,
    answer_within: Duration,
    /// What opening it did.
    at_open: OnceLock<Stats>,
}

/// Counts a write job for as long as it waits.
struct Waiting<'a>(&'a AtomicU64);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum Opened {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Database {
    /// Opens the database and brings its schema up to date.
    pub async fn open(
        url: &DatabaseUrl,
        options: OpenOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let stopwatch = Stopwatch::start(Arc::clone(&clock));
        let (role, answer_within) = (options.role, options.answer_within);
        let place = match &url.0 {
            Place::Sqlite(path) => {
                let path = path.clone();
                let open = tokio::task::spawn_blocking(move || Sqlite::open(&path, &options, clock));
                Opened::Sqlite(open.await.map_err(OpenError::other)??)
            }
            Place::Postgres(place) => Opened::Postgres(Postgres::open(place, &options, clock).await?),
        };
        let database = Self(Arc::new(Inner {
            place,
            gatherer: Gatherer::new(Handle::current()),
            writes: AtomicU64::new(0),
            stopwatch,
            answer_within,
            at_open: OnceLock::new(),
        }));
        if role == Role::Serve {
            clock::believed(&database).await.map_err(OpenError::other)?;
        }
        database.0.at_open.get_or_init(|| database.all_stats());
        Ok(database)
    }

    /// Opens the database, and waits for one that cannot be reached for up to so long. Says so in the log.
    pub async fn open_within(
        url: &DatabaseUrl,
        options: OpenOptions,
        clock: Arc<dyn Clock>,
        patience: Duration,
    ) -> Result<Self, OpenError> {
        let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            let error = match Self::open(url, options.clone(), Arc::clone(&clock)).await {
                Err(error) if error.may_pass() => error,
                opened => return opened,
            };
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(error);
            }
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                waiting_s = left.as_secs(),
                "waiting for the database; see store.wait_seconds"
            );
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// What opening this database would change in its schema; makes and changes nothing.
    pub async fn pending_migrations(url: &DatabaseUrl) -> Result<Vec<Migration>, OpenError> {
        match &url.0 {
            Place::Sqlite(path) => {
                let path = path.clone();
                let look = tokio::task::spawn_blocking(move || Sqlite::pending_migrations(&path));
                look.await.map_err(OpenError::other)?
            }
            Place::Postgres(place) => Postgres::pending_migrations(place).await,
        }
    }

    /// Runs the job in a transaction and returns what it made once that is committed and synced. When the job
    /// fails or panics, nothing of it is kept. Written `db.write(move |tx| Box::pin(async move { ... }))`.
    pub async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let _counted = Waiting::begin(&self.0.writes);
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.write(job).await,
            Opened::Postgres(postgres) => postgres.write(job, Patience::Short).await,
        }
    }

    /// The same for work that nobody waits for and that may take long.
    pub(crate) async fn write_aside<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let _counted = Waiting::begin(&self.0.writes);
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.write(job).await,
            Opened::Postgres(postgres) => postgres.write(job, Patience::Long).await,
        }
    }

    /// Runs a job that only reads. On PostgreSQL each statement sees what was committed before it, so a job of
    /// several statements that must agree wants [`Self::read_snapshot`].
    pub async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.read(job).await,
            Opened::Postgres(postgres) => postgres.read(job).await,
        }
    }

    /// Runs a job that only reads and that nobody waits for at the moment: on SQLite, after everybody else's.
    pub(crate) async fn read_aside<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.read_aside(job).await,
            Opened::Postgres(postgres) => postgres.read(job).await,
        }
    }

    /// Runs a job that only reads, all of it from one moment of the database.
    pub async fn read_snapshot<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.read(job).await,
            Opened::Postgres(postgres) => postgres.read_snapshot(job).await,
        }
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

    /// What is kept in memory of the locations of a SQLite store.
    pub(crate) fn live(&self) -> Option<&Arc<Live>> {
        match &self.0.place {
            Opened::Sqlite(sqlite) => Some(sqlite.live()),
            Opened::Postgres(_) => None,
        }
    }

    /// What tells those who wait for something to send.
    pub(crate) fn bells(&self) -> &Arc<Bells> {
        match &self.0.place {
            Opened::Sqlite(sqlite) => &sqlite.live().bells,
            Opened::Postgres(postgres) => postgres.bells(),
        }
    }

    /// Where locations wait to be stored.
    pub(crate) fn gatherer(&self) -> &Gatherer {
        &self.0.gatherer
    }

    /// How long somebody waits for a write.
    pub(crate) fn answer_within(&self) -> Duration {
        self.0.answer_within
    }

    /// Tells how long ago the store's clock was noted.
    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.0.stopwatch
    }

    /// Write jobs that wait for their commit.
    pub fn writes_waiting(&self) -> u64 {
        self.0.writes.load(Ordering::Relaxed)
    }

    /// Which engine it is.
    pub fn engine(&self) -> Engine {
        match &self.0.place {
            Opened::Sqlite(_) => Engine::Sqlite,
            Opened::Postgres(_) => Engine::Postgres,
        }
    }

    /// What it has done since it was opened.
    pub fn stats(&self) -> Stats {
        self.all_stats().since(self.0.at_open.get().copied().unwrap_or_default())
    }

    fn all_stats(&self) -> Stats {
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.stats(),
            Opened::Postgres(postgres) => postgres.stats(),
        }
    }

    /// Lets go of the database as a crash would, as far as a living process can: nothing is saved that is not yet.
    #[cfg(feature = "testing")]
    pub async fn abandon(&self) {
        match &self.0.place {
            Opened::Sqlite(sqlite) => sqlite.close().await,
            Opened::Postgres(postgres) => postgres.close(),
        }
    }

    /// Finishes the work accepted so far, refuses more and lets go of the database. Closing twice is harmless.
    pub async fn close(&self) {
        match &self.0.place {
            Opened::Sqlite(sqlite) => {
                if let Err(error) = save_all(self, sqlite.live()).await {
                    // The log has it, and opening reads that.
                    tracing::warn!(error = &error as &dyn std::error::Error, "closing without a last save");
                }
                sqlite.close().await;
            }
            Opened::Postgres(postgres) => postgres.close(),
        }
    }
}
