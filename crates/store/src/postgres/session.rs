//! Statements on a PostgreSQL connection, inside a transaction or without one.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{join, join3, maybe_done, try_join_all};
use perigee_core::time::{Clock, Timestamp};
use tokio_postgres::Statement;
use tokio_postgres::types::{ToSql, Type};

use super::bind;
use super::connection::Committed;
use super::error::{UniqueIndexes, commit_failure, from_postgres};
use super::pool::Object;
use crate::error::DbError;
use crate::job::{Opened, Opening};
use crate::placeholder::Translations;
use crate::row::Row;
use crate::value::Value;

const NOW: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";
/// Begins a read job on connections where every job needs a transaction.
const READ: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY";
/// Statements whose parameter types are cached at most. Statements are few and fixed; the limit bounds the memory of
/// generated ones.
const TYPES_MAX: usize = 2048;

/// State that all sessions of a database share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) translations: Translations,
    pub(crate) indexes: UniqueIndexes,
    /// The clock to use instead of the server's, in tests.
    pub(crate) clock: Option<Arc<dyn Clock>>,
    /// How statements are sent.
    pub(crate) sending: Sending,
    /// Whether the tables are distributed by account.
    pub(crate) is_distributed: bool,
    /// How long a change waits for the lock of its account.
    pub(crate) lock_wait: Duration,
}

/// How statements are sent.
#[derive(Debug)]
pub(crate) enum Sending {
    /// Prepared once for each connection.
    Prepared,
    /// Sent completely each time, and always in a transaction that begins by setting these limits: a pooler gives
    /// each transaction another connection to the server, so nothing prepared or set on a connection can be relied
    /// on.
    Whole { limits: String, types: ParameterTypes },
}

/// The types of the parameters of statements, by their text.
pub(crate) type ParameterTypes = RwLock<HashMap<Box<str>, Arc<[Type]>>>;

/// A statement that can be run.
#[derive(Clone, Debug)]
enum Prepared {
    /// Prepared on this connection.
    OnConnection(Statement),
    /// Sent completely each time, with parameters of these types.
    Whole(Arc<[Type]>),
}

impl Prepared {
    fn parameters(&self) -> &[Type] {
        match self {
            Self::OnConnection(statement) => statement.params(),
            Self::Whole(types) => types,
        }
    }
}

/// Pairs values with their types.
fn typed<'a>(params: &[&'a (dyn ToSql + Sync)], types: &[Type]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    params.iter().copied().zip(types.iter().cloned()).collect()
}

/// A prepared statement, and its text for error messages.
#[derive(Clone, Debug)]
pub(crate) struct Native {
    sql: &'static str,
    statement: Prepared,
}

/// A value for a placeholder that is sent later.
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// A statement that is sent together with the commit.
struct Deferred {
    statement: Native,
    params: Vec<Param>,
}

/// A connection in use. A transaction that is not committed is rolled back on drop, also when the job is cancelled.
pub(crate) struct Session {
    client: Object,
    shared: Arc<Shared>,
    /// Whether a transaction is open, which is rolled back on drop.
    open: AtomicBool,
    may_write: bool,
    deferred: Mutex<Vec<Deferred>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").field("open", &self.open).finish_non_exhaustive()
    }
}

/// A session, its time, and the answers of its opening statements, if there are any.
type Begun = (Session, Timestamp, Result<Option<Opened>, DbError>);
/// The parts of [`Begun`] without the session.
type BegunParts = Result<(Timestamp, Result<Option<Opened>, DbError>), DbError>;

impl Session {
    /// Begins a transaction with this statement, or none, reads the clock and runs opening statements, all in one round
    /// trip. Fails if it cannot begin.
    pub(crate) async fn begin(
        client: Object,
        shared: Arc<Shared>,
        begin: Option<&str>,
        opening: Option<&dyn Opening>,
    ) -> Result<Begun, DbError> {
        let (open, deferred) = (AtomicBool::new(false), Mutex::default());
        let session = Self { client, shared, open, may_write: begin.is_some(), deferred };
        let parts = match &session.shared.sending {
            Sending::Prepared => session.begin_prepared(begin, opening).await,
            Sending::Whole { limits, .. } => {
                session.begin_whole(begin.unwrap_or(READ), limits, opening).await
            }
        };
        let (now, opened) = parts?;
        Ok((session, now, opened))
    }

    async fn begin_prepared(&self, begin: Option<&str>, opening: Option<&dyn Opening>) -> BegunParts {
        if let Some(opening) = opening {
            opening.prepare(self).await?;
        }
        let clock = match &self.shared.clock {
            Some(_) => None,
            None => Some(self.prepare_text(NOW).await?),
        };
        let started = async {
            match begin {
                Some(sql) => self.client.batch_execute(sql).await,
                None => Ok(()),
            }
        };
        self.open.store(begin.is_some(), Ordering::Relaxed);
        // Polled in this order.
        let (started, now, opened) =
            join3(started, self.read_clock(clock.as_ref()), self.open_with(opening)).await;
        started.map_err(|error| self.failure(&error))?;
        Ok((now?, opened))
    }

    /// Like [`Self::begin_prepared`], in two round trips: parameter types can only be requested within the
    /// transaction.
    async fn begin_whole(&self, begin: &str, limits: &str, opening: Option<&dyn Opening>) -> BegunParts {
        self.open.store(true, Ordering::Relaxed);
        let started = self.client.batch_execute(&format!("{begin}; {limits}")).await;
        started.map_err(|error| self.failure(&error))?;
        if let Some(opening) = opening {
            opening.prepare(self).await?;
        }
        let clock = Prepared::Whole(Arc::default());
        let (now, opened) = join(self.read_clock(Some(&clock)), self.open_with(opening)).await;
        Ok((now?, opened))
    }

    async fn open_with(&self, opening: Option<&dyn Opening>) -> Result<Option<Opened>, DbError> {
        match opening {
            Some(opening) => opening.run(self).await.map(Some),
            None => Ok(None),
        }
    }

    async fn read_clock(&self, statement: Option<&Prepared>) -> Result<Timestamp, DbError> {
        if let Some(clock) = &self.shared.clock {
            return Ok(clock.now());
        }
        let Some(statement) = statement else { return Err(DbError::internal("the clock is not prepared")) };
        let rows = self.send_query(NOW, statement, &[]).await.map_err(|error| self.failure(&error))?;
        let row = rows.first().ok_or_else(|| DbError::internal("the server has no clock"))?;
        Ok(Timestamp::from_millis(row.try_get(0).map_err(|error| self.failure(&error))?))
    }

    /// Whether the tables are distributed by account.
    pub(crate) fn is_distributed(&self) -> bool {
        self.shared.is_distributed
    }

    /// Sends a statement in the same round trip as the commit, before it. The answer is not used.
    pub(crate) fn defer(&self, statement: Native, params: Vec<Param>) {
        let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
        deferred.push(Deferred { statement, params });
    }

    /// Inserts rows of equal length with the commit, by a statement that takes an array for each column.
    pub(crate) async fn insert_with_commit(
        &self,
        sql: &'static str,
        rows: Vec<Vec<Value>>,
    ) -> Result<(), DbError> {
        let Some(width) = rows.first().map(Vec::len) else { return Ok(()) };
        let [statement] = self.prepare_native([sql]).await?;
        let mut columns: Vec<Vec<Value>> = (0..width).map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        self.defer(statement, columns.into_iter().map(|column| Box::new(column) as Param).collect());
        Ok(())
    }

    /// Commits. When this returns, the server has synced, and so has a synchronous standby.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        let deferred = std::mem::take(self.deferred.get_mut().unwrap_or_else(PoisonError::into_inner));
        let writing = deferred.iter().map(|Deferred { statement, params }| async {
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| &**value as _).collect();
            let done = self.send(statement.sql, &statement.statement, &params).await;
            done.map_err(|error| (statement.sql, error))
        });
        let mut writing = pin!(maybe_done(try_join_all(writing)));
        // The first poll sends them all, or fails on a value that does not fit: then there must be no commit.
        if poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await.is_ready()
            && let Some(Err((sql, error))) = writing.as_mut().output_mut()
        {
            return Err(self.failure(error).with_statement(sql));
        }
        self.open.store(false, Ordering::Relaxed);
        let ((), committed) = join(writing.as_mut(), self.client.commit()).await;
        if let Some(Err((sql, error))) = writing.take_output() {
            // The server has answered the commit with a rollback, unless it has disconnected.
            return Err(commit_failure(&error, &self.shared.indexes).with_statement(sql));
        }
        match committed {
            Ok(Committed::Confirmed) => Ok(()),
            Ok(Committed::WithWarning) => {
                Err(DbError::unknown("PostgreSQL warned while it committed; see the log"))
            }
            Err(error) => Err(commit_failure(&error, &self.shared.indexes)),
        }
    }

    /// How long a change waits for the lock of its account.
    pub(crate) fn lock_wait(&self) -> Duration {
        self.shared.lock_wait
    }

    /// Runs statements without parameters in one round trip.
    pub(crate) async fn run_script(&self, sql: &str) -> Result<(), DbError> {
        self.client.batch_execute(sql).await.map_err(|error| self.failure(&error))
    }

    pub(crate) async fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DbError> {
        let (text, statement) = self.prepare(sql, params).await?;
        let params = params.iter().map(|value| value as _).collect::<Vec<_>>();
        let rows = self.send_query(&text, &statement, &params).await;
        bind::read(&rows.map_err(|error| self.failure(&error))?)
    }

    pub(crate) async fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, DbError> {
        if !self.may_write {
            return Err(DbError::internal("a job that reads tried to write"));
        }
        let (text, statement) = self.prepare(sql, params).await?;
        let params = params.iter().map(|value| value as _).collect::<Vec<_>>();
        self.send(&text, &statement, &params).await.map_err(|error| self.failure(&error))
    }

    /// Prepares statements in PostgreSQL's own syntax, so that [`Self::run`] sends each without a further round trip.
    pub(crate) async fn prepare_native<const N: usize>(
        &self,
        statements: [&'static str; N],
    ) -> Result<[Native; N], DbError> {
        let prepared = statements.map(|sql| async move {
            let statement = self.prepare_text(sql).await;
            statement.map(|statement| Native { sql, statement }).map_err(|error| error.with_statement(sql))
        });
        let prepared = try_join_all(prepared).await?;
        prepared.try_into().map_err(|_other: Vec<Native>| DbError::internal("a statement is missing"))
    }

    /// Runs a statement with parameters of PostgreSQL's own types, such as arrays. Statements run together by
    /// `try_join` are pipelined and executed in that order.
    pub(crate) async fn run(
        &self,
        Native { sql, statement }: &Native,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, DbError> {
        let rows = self.send_query(sql, statement, params).await;
        rows.map_err(|error| self.failure(&error).with_statement(sql))
    }

    async fn prepare(&self, sql: &str, params: &[Value]) -> Result<(Arc<str>, Prepared), DbError> {
        let translated = self.shared.translations.get(sql)?;
        let statement = self.prepare_text(&translated).await?;
        let wanted = statement.parameters().len();
        if wanted != params.len() {
            return Err(DbError::internal(format!("{wanted} parameters expected, {} given", params.len())));
        }
        Ok((translated, statement))
    }

    async fn prepare_text(&self, text: &str) -> Result<Prepared, DbError> {
        let Sending::Whole { types, .. } = &self.shared.sending else {
            let statement = self.client.prepare_cached(text).await;
            return statement.map(Prepared::OnConnection).map_err(|error| self.failure(&error));
        };
        if let Some(known) = types.read().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(Prepared::Whole(Arc::clone(known)));
        }
        // Within the transaction it is prepared, described and, when it is dropped, closed on the same server
        // connection.
        let statement = self.client.prepare(text).await.map_err(|error| self.failure(&error))?;
        let found: Arc<[Type]> = statement.params().into();
        drop(statement);
        let mut types = types.write().unwrap_or_else(PoisonError::into_inner);
        if types.len() < TYPES_MAX {
            types.insert(text.into(), Arc::clone(&found));
        }
        Ok(Prepared::Whole(found))
    }

    async fn send_query(
        &self,
        text: &str,
        statement: &Prepared,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, tokio_postgres::Error> {
        match statement {
            Prepared::OnConnection(statement) => self.client.query(statement, params).await,
            Prepared::Whole(types) => self.client.query_typed(text, &typed(params, types)).await,
        }
    }

    async fn send(
        &self,
        text: &str,
        statement: &Prepared,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, tokio_postgres::Error> {
        match statement {
            Prepared::OnConnection(statement) => self.client.execute(statement, params).await,
            Prepared::Whole(types) => self.client.execute_typed(text, &typed(params, types)).await,
        }
    }

    fn failure(&self, error: &tokio_postgres::Error) -> DbError {
        from_postgres(error, &self.shared.indexes)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.open.load(Ordering::Relaxed) {
            // The first poll sends it, ahead of what the next user of the connection sends.
            let _sent = self.client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}
