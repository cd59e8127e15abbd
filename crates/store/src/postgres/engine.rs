//! An open PostgreSQL database: its pool, its time limits and its commits.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::store::Additions;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::check::{UNSAFE_COMMITS, check, local_limits};
use super::distribute::{self, Distributed};
use super::error::unique_indexes;
use super::locations::PostgresLog;
use super::migrate;
use super::pool::{self, Pool};
use super::replica::Replica;
use super::session::{Sending, Session, Shared};
use crate::database::{OpenOptions, TimeLimit};
use crate::error::{DbError, OpenError, describe};
use crate::job::{Job, JobResult, Opening};
use crate::migration::Migration;
use crate::placeholder::Translations;
use crate::stats::{Counters, Stats};
use crate::tx::{AfterCommit, Tx, TxContext};
use crate::url::{DatabaseAddress, PostgresAddress};

/// The time limit of background work: several statements, each as long as PostgreSQL allows.
const BACKGROUND_TIMEOUT: Duration = Duration::from_mins(10);

/// How long a change waits for the lock of its account.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(6);

const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE";
pub(super) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// How many of the connections may write at the same time: three quarters.
fn writers(connections: usize) -> usize {
    (connections - connections / 4).max(1)
}

/// How many of the writers may do other work than storing locations: changes that wait for the lock of an account
/// must not delay locations of other accounts.
fn changes(writers: usize) -> usize {
    (writers * 2 / 3).max(1)
}

/// What follows a commit on this node.
struct Committed {
    after_commit: Vec<AfterCommit>,
    additions: Additions,
}

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    /// A standby for histories.
    replica: Option<Replica>,
    /// Permits to write. Commits that wait for a lost standby keep their connections; the others stay free for reads.
    writers: Arc<Semaphore>,
    /// Permits to write anything but locations.
    changes: Arc<Semaphore>,
    /// Runs commits, which continue when their caller is cancelled.
    runtime: Handle,
    shared: Arc<Shared>,
    context: TxContext,
    counters: Counters,
    /// The time limit of a request's job, including its commit.
    answer_within: Duration,
}

impl Postgres {
    /// Checks the server, applies pending migrations and opens the pool.
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
        let failed = |error: tokio_postgres::Error| OpenError::other(describe(&error));
        let sending = if address.prepares {
            Sending::Prepared
        } else {
            Sending::Whole { limits: local_limits(&client).await.map_err(failed)?, types: RwLock::default() }
        };
        let is_distributed = distribute::is_distributed(&client).await.map_err(failed)?;
        // Less than the time limit of a request, so that the request gets the error about the lock.
        let lock_wait = LOCK_WAIT_MAX.min(options.answer_within * 2 / 3);
        let shared = Shared {
            translations: Translations::default(),
            indexes,
            clock,
            sending,
            is_distributed,
            lock_wait,
        };
        let context = TxContext {
            log: Arc::new(PostgresLog::new(options.connections, is_distributed)),
            memory: None,
            damage: Arc::default(),
            commit_signals: Arc::default(),
            log_watches: Arc::default(),
            ids: Arc::default(),
        };
        let shared = Arc::new(shared);
        let replica = match options.replica.as_ref().map(|url| &url.0) {
            Some(DatabaseAddress::Postgres(replica)) => {
                let replica = PostgresAddress { prepares: address.prepares, ..(**replica).clone() };
                let limits = (options.connections, options.replica_lag);
                Some(Replica::new(&replica, limits, Arc::clone(&shared))?)
            }
            _ => None,
        };
        Ok(Self {
            replica,
            pool: pool::build(address, options.connections, options.allow_synchronous_commit.clone())?,
            writers: Arc::new(Semaphore::new(writers(options.connections))),
            changes: Arc::new(Semaphore::new(changes(writers(options.connections)))),
            runtime: Handle::current(),
            shared,
            context,
            counters: Counters::default(),
            answer_within: options.answer_within,
        })
    }

    /// The migrations that opening would apply.
    pub(crate) async fn pending_migrations(address: &PostgresAddress) -> Result<Vec<Migration>, OpenError> {
        let client = pool::connect(address).await?;
        check(&client, &UNSAFE_COMMITS.map(str::to_owned)).await?;
        Ok(migrate::pending(&client).await?.to_vec())
    }

    /// Distributes the tables of a Citus cluster by account.
    pub(crate) async fn distribute(address: &PostgresAddress) -> Result<Distributed, OpenError> {
        let mut client = pool::connect(address).await?;
        distribute::distribute(&mut client).await
    }

    pub(crate) async fn write(&self, job: Job, limit: TimeLimit) -> Result<JobResult, StoreError> {
        let result = self.run_and_commit(job, limit).await;
        match result {
            Ok(_) => {
                self.counters.commits.add(1);
                self.counters.jobs_committed.add(1);
            }
            Err(_) => self.counters.jobs_failed.add(1),
        }
        result
    }

    async fn run_and_commit(&self, mut job: Job, limit: TimeLimit) -> Result<JobResult, StoreError> {
        let begun = Instant::now();
        let (job_limit, commit_limit) = match limit {
            // An eighth of the time is left for the commit.
            TimeLimit::Request => (self.answer_within * 7 / 8, self.answer_within),
            TimeLimit::Background => (BACKGROUND_TIMEOUT, BACKGROUND_TIMEOUT),
        };
        let run = async {
            let opening = job.take_opening();
            // Only transactions that store locations have opening statements.
            let change = match &opening {
                Some(_) => None,
                None => Arc::clone(&self.changes).acquire_owned().await.ok(),
            };
            let permit = (change, Arc::clone(&self.writers).acquire_owned().await.ok());
            let tx = self.begin(Some(WRITE), opening.as_deref()).await?;
            let made = job.run(&tx).await?;
            Ok::<_, StoreError>((made, tx, permit))
        };
        // A transaction that is dropped before its commit is rolled back.
        let Ok(ran) = timeout(job_limit, run).await else {
            let cause = format!("the database did not do it within {} s", job_limit.as_secs());
            return Err(StoreError::Unavailable(cause.into()));
        };
        let (made, tx, permit) = ran?;
        let committed = Committed { after_commit: tx.take_after_commit(), additions: tx.additions() };
        if let Some(session) = tx.into_postgres() {
            self.commit(session, committed, permit, begun + commit_limit).await?;
        }
        Ok(made)
    }

    /// Commits before the deadline; after it, the outcome is unknown to the caller. The connection is not reused until
    /// its commit ends, also when the caller has given up.
    async fn commit(
        &self,
        session: Session,
        Committed { after_commit, additions }: Committed,
        permit: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
        deadline: Instant,
    ) -> Result<(), DbError> {
        let context = self.context.clone();
        let commit = self.runtime.spawn(async move {
            let committed = session.commit().await;
            drop(permit);
            if committed.is_ok() {
                for work in after_commit {
                    work();
                }
                context.signal(additions);
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
        job.run(&self.begin(None, None).await?).await
    }

    /// The transaction is dropped without a commit, which costs no round trip.
    pub(crate) async fn read_snapshot(&self, job: Job) -> Result<JobResult, StoreError> {
        job.run(&self.begin(Some(SNAPSHOT), None).await?).await
    }

    /// Like [`Self::read_snapshot`], on the replica if it has everything that was committed before.
    pub(crate) async fn read_history(&self, job: Job) -> Result<JobResult, StoreError> {
        if let Some(replica) = self.replica.as_ref().filter(|replica| replica.should_try()) {
            let primary = self.begin(None, None).await?;
            let sql = "SELECT CAST(pg_current_wal_flush_lsn() AS TEXT) AS position";
            let position = primary.query_one(sql, &[]).await?.text("position")?;
            // By the clock of the primary, as everywhere else.
            let now = primary.now();
            drop(primary);
            if let Some(session) = replica.begin(&position).await {
                self.counters.replica_reads.add(1);
                return job.run(&Tx::postgres(session, now, self.context.clone())).await;
            }
        }
        self.read_snapshot(job).await
    }

    /// Begins a transaction. After a restart of the server the pool is full of dead connections that are not yet
    /// detected; nothing of the job has run at this point, so they are skipped.
    async fn begin(&self, begin: Option<&str>, opening: Option<&dyn Opening>) -> Result<Tx, DbError> {
        let mut spare = self.pool.max_size();
        loop {
            let client = self.pool.get().await?;
            match Session::begin(client, Arc::clone(&self.shared), begin, opening).await {
                Ok((session, now, opened)) => {
                    let tx = Tx::postgres(session, now, self.context.clone());
                    return Ok(tx.with_opened(opened?));
                }
                Err(DbError::Unavailable(_)) if spare > 0 => spare -= 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) const fn context(&self) -> &TxContext {
        &self.context
    }

    pub(crate) fn stats(&self) -> Stats {
        self.counters.read()
    }

    /// Refuses further jobs; running ones finish on their own.
    pub(crate) fn close(&self) {
        self.pool.close();
        if let Some(replica) = &self.replica {
            replica.close();
        }
    }
}
