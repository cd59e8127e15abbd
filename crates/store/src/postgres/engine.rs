//! A PostgreSQL database as a whole.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::check::{UNSAFE_COMMITS, check};
use super::error::unique_indexes;
use super::migrate;
use super::pool::{self, Pool};
use super::session::{Session, Shared};
use crate::database::{OpenOptions, TimeLimit};
use crate::error::{DbError, OpenError, describe};
use crate::job::{Job, JobResult};
use crate::migration::Migration;
use crate::outbox_signal::OutboxSignals;
use crate::placeholder::Translations;
use crate::stats::{Counters, Stats};
use crate::tx::{AfterCommit, Tx};
use crate::url::PostgresAddress;

/// How long a job is given that nobody waits for: as long as PostgreSQL gives a statement, and some.
const LONG_JOB_LIMIT: Duration = Duration::from_mins(10);

const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE";
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// How many of so many connections may write at once.
fn writers(connections: usize) -> usize {
    (connections - connections / 4).max(1)
}

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    /// Commits that wait for a standby which is gone keep their connections: some are left for reading.
    writers: Arc<Semaphore>,
    /// Where commits go on that nobody waits for any longer.
    runtime: Handle,
    shared: Arc<Shared>,
    counters: Counters,
    /// How long a job that somebody waits for may take, its commit included.
    answer_within: Duration,
}

impl Postgres {
    /// Checks the server, brings the schema up to date and opens the pool.
    pub(crate) async fn open(
        address: &PostgresAddress,
        options: &OpenOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let mut client = pool::connect(address).await?;
        check(&client, &options.allow_synchronous_commit).await?;
        let clock = options.use_given_clock.then_some(clock);
        migrate::apply(&mut client, clock.as_ref().map(|clock| clock.now())).await?;
        let indexes = unique_indexes(&client).await.map_err(|error| OpenError::other(describe(&error)))?;
        let shared = Shared {
            translations: Translations::default(),
            indexes,
            clock,
            outbox_signals: Arc::default(),
            damage: Arc::default(),
        };
        Ok(Self {
            pool: pool::build(address, options.connections, options.allow_synchronous_commit.clone())?,
            writers: Arc::new(Semaphore::new(writers(options.connections))),
            runtime: Handle::current(),
            shared: Arc::new(shared),
            counters: Counters::default(),
            answer_within: options.answer_within,
        })
    }

    /// What opening would change.
    pub(crate) async fn pending_migrations(address: &PostgresAddress) -> Result<Vec<Migration>, OpenError> {
        let client = pool::connect(address).await?;
        check(&client, &UNSAFE_COMMITS.map(str::to_owned)).await?;
        Ok(migrate::pending(&client).await?.to_vec())
    }

    pub(crate) async fn write(&self, job: Job, patience: TimeLimit) -> Result<JobResult, StoreError> {
        let result = self.run_and_commit(job, patience).await;
        match result {
            Ok(_) => {
                self.counters.commits.add(1);
                self.counters.jobs_committed.add(1);
            }
            Err(_) => self.counters.jobs_failed.add(1),
        }
        result
    }

    async fn run_and_commit(&self, job: Job, patience: TimeLimit) -> Result<JobResult, StoreError> {
        let begun = Instant::now();
        let (job_limit, commit_limit) = match patience {
            // Some of the time is left for the commit.
            TimeLimit::Request => (self.answer_within * 7 / 8, self.answer_within),
            TimeLimit::Background => (LONG_JOB_LIMIT, LONG_JOB_LIMIT),
        };
        let run = async {
            let turn = Arc::clone(&self.writers).acquire_owned().await.ok();
            let tx = self.begin(Some(WRITE)).await?;
            let made = job.run(&tx).await?;
            Ok::<_, StoreError>((made, tx, turn))
        };
        // Dropped before its commit, a transaction is undone.
        let Ok(ran) = timeout(job_limit, run).await else {
            let cause = format!("the database did not do it within {} s", job_limit.as_secs());
            return Err(StoreError::Unavailable(cause.into()));
        };
        let (made, tx, turn) = ran?;
        let after_commit = tx.take_after_commit();
        if let Some(session) = tx.into_postgres() {
            self.commit(session, after_commit, turn, begun + commit_limit).await?;
        }
        Ok(made)
    }

    /// Commits, until then: what becomes of it later is unknown. The connection is kept from others until its commit
    /// ends, also when nobody waits for that any longer.
    async fn commit(
        &self,
        session: Session,
        after_commit: Vec<AfterCommit>,
        turn: Option<OwnedSemaphorePermit>,
        deadline: Instant,
    ) -> Result<(), DbError> {
        let commit = self.runtime.spawn(async move {
            let committed = session.commit().await;
            drop(turn);
            if committed.is_ok() {
                for work in after_commit {
                    work();
                }
            }
            committed
        });
        match timeout_at(deadline, commit).await {
            Ok(Ok(committed)) => committed,
            Ok(Err(ended)) => Err(DbError::unknown(ended)),
            Err(_elapsed) => Err(DbError::unknown("the database did not confirm the commit in time")),
        }
    }

    pub(crate) async fn read(&self, job: Job) -> Result<JobResult, StoreError> {
        job.run(&self.begin(None).await?).await
    }

    /// The transaction is dropped unfinished, which nobody has to wait for.
    pub(crate) async fn read_snapshot(&self, job: Job) -> Result<JobResult, StoreError> {
        job.run(&self.begin(Some(SNAPSHOT)).await?).await
    }

    /// After a restart of the server the pool is full of connections that do not yet know they are dead. Nothing of
    /// the job has run at this point, so each of them is passed over.
    async fn begin(&self, begin: Option<&str>) -> Result<Tx, DbError> {
        let mut spare = self.pool.max_size();
        loop {
            let client = self.pool.get().await?;
            match Session::begin(client, Arc::clone(&self.shared), begin).await {
                Ok((session, now)) => return Ok(Tx::postgres(session, now)),
                Err(DbError::Unavailable(_)) if spare > 0 => spare -= 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// What tells those who wait for something to send.
    pub(crate) fn outbox_signals(&self) -> &Arc<OutboxSignals> {
        &self.shared.outbox_signals
    }

    pub(crate) fn stats(&self) -> Stats {
        self.counters.read()
    }

    /// Takes no more jobs; those under way end on their own.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
