//! A transaction: all that domain SQL sees of either engine.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, Ready, ready};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, IdSource};
use perigee_core::store::{Additions, CommitSignals};
use perigee_core::time::Timestamp;

use crate::damage::{Damage, Damaged, Table};
use crate::database::Engine;
use crate::error::{Corrupted, DbError};
use crate::job::Opened;
use crate::row::Row;
use crate::sql::events::log_watch::LogWatches;
use crate::sql::locations::{LocationLog, Memory};
use crate::value::{self, Value};
use crate::{postgres, sqlite};

/// A value that is not an account's id.
const NO_ACCOUNT: i64 = -1;

/// The first key of the advisory lock of [`Tx::lock_upkeep`]. The locks of accounts have a single key.
const UPKEEP_LOCK: i64 = 1_346_720_082;

/// Work that runs after the commit and before the caller is answered.
pub(crate) type AfterCommit = Box<dyn FnOnce() + Send>;

/// The answer to a statement: ready at once on SQLite, awaited on PostgreSQL. The future is boxed to save compile
/// time: for each of hundreds of jobs the compiler proves that everything it awaits is `Send`.
pub(crate) type Answer<'a, T> = Either<Ready<Result<T, DbError>>, BoxFuture<'a, Result<T, DbError>>>;

/// State that all transactions of a store share.
#[derive(Clone, Debug)]
pub(crate) struct TxContext {
    /// The engine's log of locations.
    pub(crate) log: Arc<dyn LocationLog>,
    /// The state of devices and their locations that the engine keeps in memory.
    pub(crate) memory: Option<Arc<dyn Memory>>,
    /// Records rows that cannot be read.
    pub(crate) damage: Arc<Damage>,
    /// Wakes the tasks of this process that wait for a commit.
    pub(crate) commit_signals: Arc<CommitSignals>,
    /// Whether the readers that follow the logs on this node have something to read.
    pub(crate) log_watches: Arc<LogWatches>,
    /// Makes the ids of rows.
    pub(crate) ids: Arc<IdSource>,
}

impl TxContext {
    /// Wakes tasks that wait for committed rows.
    pub(crate) fn signal(&self, committed: Additions) {
        if committed.has_accounts() {
            self.log_watches.committed();
        }
        self.commit_signals.send(committed);
    }
}

/// A clause that locks the rows of a `SELECT` on PostgreSQL. On SQLite every write job has the database to itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowLock {
    /// Waits for other transactions.
    Update,
    /// Waits, but lets others insert rows that refer to these.
    NoKeyUpdate,
    /// Skips rows that are locked: waiting for them could become a deadlock.
    SkipLocked,
}

/// The transaction of a job. Its statements use `?1` placeholders on both engines.
pub struct Tx {
    session: Session,
    now: Timestamp,
    failed: AtomicBool,
    /// The account locked last: most jobs lock one account several times.
    locked: AtomicI64,
    /// Whether an account was locked beside submissions, and the numbers of events are not announced yet.
    must_announce: AtomicBool,
    context: TxContext,
    after_commit: Mutex<Vec<AfterCommit>>,
    /// What the transaction adds for those who wait for commits.
    additions: Mutex<Additions>,
    /// The answers of the opening statements.
    opened: Mutex<Option<Opened>>,
    /// See [`Self::horizon`].
    horizon: AtomicI64,
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tx").field("session", &self.session).field("now", &self.now).finish_non_exhaustive()
    }
}

/// The session of either engine. Only this file, `database.rs` and `verify` name both engines.
#[derive(Debug)]
enum Session {
    Sqlite(sqlite::Session),
    Postgres(Box<postgres::Session>),
}

impl Tx {
    pub(crate) fn sqlite(session: sqlite::Session, now: Timestamp, context: TxContext) -> Self {
        Self::new(Session::Sqlite(session), now, context)
    }

    pub(crate) fn postgres(session: postgres::Session, now: Timestamp, context: TxContext) -> Self {
        Self::new(Session::Postgres(Box::new(session)), now, context)
    }

    fn new(session: Session, now: Timestamp, context: TxContext) -> Self {
        Self {
            session,
            now,
            failed: AtomicBool::new(false),
            locked: AtomicI64::new(NO_ACCOUNT),
            must_announce: AtomicBool::new(false),
            context,
            after_commit: Mutex::default(),
            additions: Mutex::default(),
            opened: Mutex::default(),
            horizon: AtomicI64::new(i64::MAX),
        }
    }

    /// The transaction with the answers of its opening statements.
    pub(crate) fn with_opened(self, opened: Option<Opened>) -> Self {
        Self { opened: Mutex::new(opened), ..self }
    }

    /// The answer of the opening statements, once.
    pub(crate) fn take_opened<T: 'static>(&self) -> Option<T> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        opened.and_then(|opened| opened.downcast().ok()).map(|opened| *opened)
    }

    /// The number up to which the logs of the account may be read: no unfinished commit can add a lower number. Only
    /// jobs of [`crate::Database::read_log_snapshot`], and jobs that have locked the account, may rely on the numbers
    /// that they see.
    pub(crate) fn horizon(&self) -> i64 {
        self.horizon.load(Ordering::Relaxed)
    }

    pub(crate) fn set_horizon(&self, number: i64) {
        self.horizon.store(number, Ordering::Relaxed);
    }

    /// The engine's log of locations.
    pub(crate) fn log(&self) -> &Arc<dyn LocationLog> {
        &self.context.log
    }

    /// The state of devices and their locations that the engine keeps in memory.
    pub(crate) fn memory(&self) -> Option<&Arc<dyn Memory>> {
        self.context.memory.as_ref()
    }

    /// The text of a lock clause on this engine.
    pub(crate) fn row_lock(&self, lock: RowLock) -> &'static str {
        match (self.engine(), lock) {
            (Engine::Sqlite, _) => "",
            (Engine::Postgres, RowLock::Update) => "FOR UPDATE",
            (Engine::Postgres, RowLock::NoKeyUpdate) => "FOR NO KEY UPDATE",
            (Engine::Postgres, RowLock::SkipLocked) => "FOR UPDATE SKIP LOCKED",
        }
    }

    /// Runs this after the commit and before the caller is answered.
    pub(crate) fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        self.after_commit.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(work));
    }

    /// Marks an addition, so that those who wait for it are woken after the commit. Statements that add to a log or a
    /// queue call this, and nobody else has to.
    pub(crate) fn mark(&self, addition: Additions) {
        *self.additions.lock().unwrap_or_else(PoisonError::into_inner) |= addition;
    }

    /// What was marked, for the engine that commits.
    pub(crate) fn additions(&self) -> Additions {
        *self.additions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the tables are distributed by account (Citus).
    pub(crate) fn is_distributed(&self) -> bool {
        self.as_postgres().is_some_and(postgres::Session::is_distributed)
    }

    /// The source of new ids.
    pub(crate) fn ids(&self) -> &IdSource {
        &self.context.ids
    }

    /// Whether the readers that follow the logs on this node have something to read.
    pub(crate) fn log_watches(&self) -> &LogWatches {
        &self.context.log_watches
    }

    /// Records rows that cannot be read.
    pub(crate) fn damage(&self) -> &Arc<Damage> {
        &self.context.damage
    }

    pub(crate) fn take_after_commit(&self) -> Vec<AfterCommit> {
        std::mem::take(&mut self.after_commit.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The PostgreSQL session, to commit it.
    pub(crate) fn into_postgres(self) -> Option<postgres::Session> {
        match self.session {
            Session::Sqlite(_) => None,
            Session::Postgres(session) => Some(*session),
        }
    }

    /// The PostgreSQL session, in code that runs on PostgreSQL alone.
    pub(crate) fn require_postgres(&self) -> Result<&postgres::Session, StoreError> {
        self.as_postgres().ok_or_else(|| StoreError::Internal("not a PostgreSQL transaction".into()))
    }

    /// The PostgreSQL session, for statements that need its own types.
    pub(crate) fn as_postgres(&self) -> Option<&postgres::Session> {
        match &self.session {
            Session::Sqlite(_) => None,
            Session::Postgres(session) => Some(session),
        }
    }

    /// Whether a statement has failed, so that nothing may be committed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// The time by the store's clock, read once when the transaction began.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The engine that runs it, for the few statements that must differ.
    pub fn engine(&self) -> Engine {
        match self.session {
            Session::Sqlite(_) => Engine::Sqlite,
            Session::Postgres(_) => Engine::Postgres,
        }
    }

    /// Every row of the answer.
    pub fn query<'a>(&'a self, sql: &'a str, params: &'a [Value]) -> Answer<'a, Vec<Row>> {
        if let Err(refused) = self.admit(params) {
            return ready(Err(refused)).left_future();
        }
        match &self.session {
            Session::Sqlite(session) => ready(self.note(sql, session.query(sql, params))).left_future(),
            Session::Postgres(session) => {
                async move { self.note(sql, session.query(sql, params).await) }.boxed().right_future()
            }
        }
    }

    /// The row of the answer, if any; more than one is an error.
    pub async fn query_opt(&self, sql: &str, params: &[Value]) -> Result<Option<Row>, DbError> {
        let mut rows = self.query(sql, params).await?;
        if rows.len() > 1 {
            return self.note(sql, Err(DbError::internal("more than one row where one was expected")));
        }
        Ok(rows.pop())
    }

    /// The one row of the answer.
    pub async fn query_one(&self, sql: &str, params: &[Value]) -> Result<Row, DbError> {
        match self.query_opt(sql, params).await? {
            Some(row) => Ok(row),
            None => self.note(sql, Err(DbError::internal("no row where one was expected"))),
        }
    }

    /// How many rows the statement changed.
    pub fn execute<'a>(&'a self, sql: &'a str, params: &'a [Value]) -> Answer<'a, u64> {
        if let Err(refused) = self.admit(params) {
            return ready(Err(refused)).left_future();
        }
        match &self.session {
            Session::Sqlite(session) => ready(self.note(sql, session.execute(sql, params))).left_future(),
            Session::Postgres(session) => {
                async move { self.note(sql, session.execute(sql, params).await) }.boxed().right_future()
            }
        }
    }

    /// Locks this account until the end of the transaction, so that what is read after it stays true until the commit.
    /// Submissions of locations share the lock, and others wait for all of them, for a few seconds at most. Only for
    /// changes of what submissions rely on; others take `lock_account_beside`. On SQLite
    /// every write job has the whole database to itself.
    pub async fn lock_account(&self, account: AccountId) -> Result<(), DbError> {
        let is_locked = self.locked.load(Ordering::Relaxed) == account.as_i64();
        if let Some(session) = self.as_postgres().filter(|_| !is_locked) {
            self.admit(&[])?;
            // Boxed, because hundreds of jobs wait for it.
            let lock = postgres::account_lock::lock(session, account).boxed().await;
            self.note("the lock of an account", lock)?;
            self.locked.store(account.as_i64(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Locks this account against all changes, but not against submissions of locations, until the end of the
    /// transaction: for changes of nothing that submissions rely on. Has no effect if the account is locked, and
    /// [`Self::lock_account`] has none after it.
    pub(crate) async fn lock_account_beside(&self, account: AccountId) -> Result<(), DbError> {
        let is_locked = self.locked.load(Ordering::Relaxed) == account.as_i64();
        if let Some(session) = self.as_postgres().filter(|_| !is_locked) {
            self.admit(&[])?;
            let lock = postgres::account_lock::lock_beside(session, account).boxed().await;
            self.note("the second lock of an account", lock)?;
            self.locked.store(account.as_i64(), Ordering::Relaxed);
            self.must_announce.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Limits how long statements wait for a locked row: a node that hangs may hold it. A job that fails for this may be
    /// repeated, see [`Locked`](crate::error::Locked).
    pub(crate) async fn wait_briefly_for_rows(&self) -> Result<(), DbError> {
        if self.engine() == Engine::Postgres {
            self.query("SELECT set_config('lock_timeout', '250ms', true)", &[]).await?;
        }
        Ok(())
    }

    /// Must be called before events are appended: readers of the logs then stop before their numbers until the commit,
    /// if submissions draw numbers meanwhile.
    pub(crate) async fn announce_events(&self) -> Result<(), DbError> {
        if self.must_announce.swap(false, Ordering::Relaxed)
            && let Some(session) = self.as_postgres()
        {
            let announced = postgres::account_lock::announce(session).boxed().await;
            self.note("the announcement of events", announced)?;
        }
        Ok(())
    }

    /// Excludes deletions of old rows on other nodes until the end of the transaction: they would otherwise lock the
    /// same rows in different orders and deadlock. Such statements repeat their condition outside of the selection,
    /// because a row may have changed since it was selected.
    pub(crate) async fn lock_upkeep(&self) -> Result<(), DbError> {
        if self.engine() == Engine::Postgres {
            self.query("SELECT pg_advisory_xact_lock(?1, 0)", crate::params![UPKEEP_LOCK]).await?;
        }
        Ok(())
    }

    /// Refuses invalid parameters, and every statement after a failed one. PostgreSQL refuses the latter anyway,
    /// SQLite would continue.
    fn admit(&self, params: &[Value]) -> Result<(), DbError> {
        if self.has_failed() {
            return Err(DbError::internal("an earlier statement of this transaction has failed"));
        }
        value::check(params).inspect_err(|_refused| self.failed.store(true, Ordering::Relaxed))
    }

    /// Passes the answer on. An error marks the transaction as failed and gets the statement added to it.
    fn note<T>(&self, sql: &str, answer: Result<T, DbError>) -> Result<T, DbError> {
        answer.map_err(|error| {
            self.failed.store(true, Ordering::Relaxed);
            if let DbError::Unavailable(cause) = &error
                && let Some(Corrupted(reason)) = cause.downcast_ref()
            {
                self.context.damage.note(&Damaged::new(Table::Other, reason));
            }
            error.with_statement(sql)
        })
    }
}
