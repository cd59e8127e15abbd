//! A transaction, the one thing domain SQL sees of either engine.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::id::AccountId;
use perigee_core::notification::Channel;
use perigee_core::time::Timestamp;

use crate::damage::Damage;
use crate::database::Engine;
use crate::error::DbError;
use crate::row::Row;
use crate::sqlite::Live;
use crate::value::{self, Value};
use crate::{postgres, sqlite};

/// No account has this number.
const NO_ACCOUNT: i64 = -1;

/// What is done once a transaction is committed, before anybody hears of it.
pub(crate) type Afterwards = Box<dyn FnOnce() + Send>;

/// A transaction of a job. Its statements take `?1` placeholders on both engines.
pub struct Tx {
    session: Session,
    now: Timestamp,
    failed: AtomicBool,
    /// The account locked last, since most jobs lock one and more than once.
    locked: AtomicI64,
    /// What the server keeps in memory of a SQLite store.
    live: Option<Arc<Live>>,
    /// Where rows are noted that cannot be read.
    damage: Arc<Damage>,
    afterwards: Mutex<Vec<Afterwards>>,
    leaves_facts: AtomicBool,
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tx").field("session", &self.session).field("now", &self.now).finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Session {
    Sqlite(sqlite::Session),
    Postgres(Box<postgres::Session>),
}

impl Tx {
    pub(crate) fn sqlite(session: sqlite::Session, now: Timestamp, live: Arc<Live>) -> Self {
        let damage = Arc::clone(&live.damage);
        Self { live: Some(live), ..Self::new(Session::Sqlite(session), now, damage) }
    }

    pub(crate) fn postgres(session: postgres::Session, now: Timestamp) -> Self {
        let damage = Arc::clone(session.damage());
        Self::new(Session::Postgres(Box::new(session)), now, damage)
    }

    fn new(session: Session, now: Timestamp, damage: Arc<Damage>) -> Self {
        Self {
            session,
            now,
            failed: AtomicBool::new(false),
            locked: AtomicI64::new(NO_ACCOUNT),
            live: None,
            damage,
            afterwards: Mutex::default(),
            leaves_facts: AtomicBool::new(false),
        }
    }

    /// What the server keeps in memory of a SQLite store; nothing on PostgreSQL, which other nodes write too.
    pub(crate) fn live(&self) -> Option<&Arc<Live>> {
        self.live.as_ref()
    }

    /// Has this done after the commit and before anybody hears of it.
    pub(crate) fn after_commit(&self, work: impl FnOnce() + Send + 'static) {
        self.afterwards.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(work));
    }

    /// Wakes who sends by this channel, once what is to be sent is committed.
    pub(crate) fn ring_after_commit(&self, channel: Channel) {
        let bells = match (&self.live, &self.session) {
            (Some(live), _) => Some(&live.bells),
            (None, Session::Postgres(session)) => Some(session.bells()),
            (None, Session::Sqlite(_)) => None,
        };
        if let Some(bells) = bells.map(Arc::clone) {
            self.after_commit(move || bells.of(channel).notify_one());
        }
    }

    /// Where rows are noted that cannot be read.
    pub(crate) fn damage(&self) -> &Arc<Damage> {
        &self.damage
    }

    pub(crate) fn take_afterwards(&self) -> Vec<Afterwards> {
        std::mem::take(&mut self.afterwards.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says that this job changes nothing of accounts, devices and groups that is remembered.
    pub(crate) fn leave_facts(&self) {
        self.leaves_facts.store(true, Ordering::Relaxed);
    }

    pub(crate) fn leaves_facts(&self) -> bool {
        self.leaves_facts.load(Ordering::Relaxed)
    }

    /// The PostgreSQL session, to commit it.
    pub(crate) fn into_postgres(self) -> Option<postgres::Session> {
        match self.session {
            Session::Sqlite(_) => None,
            Session::Postgres(session) => Some(*session),
        }
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

    /// The present by the store's clock, read once when the transaction began.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Which engine runs it, for the few statements that must differ.
    pub fn engine(&self) -> Engine {
        match self.session {
            Session::Sqlite(_) => Engine::Sqlite,
            Session::Postgres(_) => Engine::Postgres,
        }
    }

    /// Every row of the answer.
    pub async fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DbError> {
        self.admit(params)?;
        let answer = match &self.session {
            Session::Sqlite(session) => session.query(sql, params),
            Session::Postgres(session) => session.query(sql, params).await,
        };
        self.note(sql, answer)
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
    pub async fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, DbError> {
        self.admit(params)?;
        let answer = match &self.session {
            Session::Sqlite(session) => session.execute(sql, params),
            Session::Postgres(session) => session.execute(sql, params).await,
        };
        self.note(sql, answer)
    }

    /// Waits until no other job holds this account, and holds it until the end of the transaction, so that what
    /// is read afterwards stays true until the commit. On SQLite every job has the whole database to itself.
    pub async fn lock_account(&self, account: AccountId) -> Result<(), DbError> {
        let locked = self.locked.load(Ordering::Relaxed) == account.as_i64();
        if self.engine() == Engine::Postgres && !locked {
            // Not FOR UPDATE, which would also hold up whoever inserts a row that refers to the account.
            let sql = "SELECT id FROM account WHERE id = ?1 FOR NO KEY UPDATE";
            self.query(sql, crate::params![account]).await?;
            self.locked.store(account.as_i64(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// SQLite would go on after a failure, PostgreSQL would not: neither does.
    fn admit(&self, params: &[Value]) -> Result<(), DbError> {
        if self.has_failed() {
            return Err(DbError::internal("an earlier statement of this transaction has failed"));
        }
        value::check(params).inspect_err(|_refused| self.failed.store(true, Ordering::Relaxed))
    }

    fn note<T>(&self, sql: &str, answer: Result<T, DbError>) -> Result<T, DbError> {
        answer.map_err(|error| {
            self.failed.store(true, Ordering::Relaxed);
            error.of_statement(sql)
        })
    }
}
