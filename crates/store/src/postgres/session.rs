//! Statements on a PostgreSQL connection, inside a transaction or without one.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::{join, join3, maybe_done, try_join_all};
use perigee_core::time::{Clock, Timestamp};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

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

/// What all sessions of a database share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) translations: Translations,
    pub(crate) indexes: UniqueIndexes,
    /// The clock to use instead of the server's, in tests.
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

/// A prepared statement, and its text for error messages.
#[derive(Debug)]
pub(crate) struct Native {
    sql: &'static str,
    statement: Statement,
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
    open: AtomicBool,
    deferred: Mutex<Vec<Deferred>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").field("open", &self.open).finish_non_exhaustive()
    }
}

/// A session, its time, and what its opening statements answered, if there are any.
type Begun = (Session, Timestamp, Result<Option<Opened>, DbError>);

impl Session {
    /// Begins a transaction with this statement, or none, reads the clock and runs opening statements, all in one round
    /// trip. Fails if it cannot begin.
    pub(crate) async fn begin(
        client: Object,
        shared: Arc<Shared>,
        begin: Option<&str>,
        opening: Option<&dyn Opening>,
    ) -> Result<Begun, DbError> {
        let session = Self { client, shared, open: AtomicBool::new(false), deferred: Mutex::default() };
        if let Some(opening) = opening {
            opening.prepare(&session).await?;
        }
        let opened = async {
            match opening {
                Some(opening) => opening.run(&session).await.map(Some),
                None => Ok(None),
            }
        };
        let (now, opened) = session.start(begin, opened).await.map_err(|error| session.failure(&error))?;
        Ok((session, now, opened))
    }

    /// Sends the beginning, and after it what `opened` sends when it is first polled.
    async fn start<T>(
        &self,
        begin: Option<&str>,
        opened: impl Future<Output = T>,
    ) -> Result<(Timestamp, T), tokio_postgres::Error> {
        let clock = match &self.shared.clock {
            Some(_) => None,
            None => Some(self.client.prepare_cached(NOW).await?),
        };
        self.open.store(begin.is_some(), Ordering::Relaxed);
        let started = async {
            match begin {
                Some(sql) => self.client.batch_execute(sql).await,
                None => Ok(()),
            }
        };
        let now = async {
            match &clock {
                Some(statement) => self.client.query_one(statement, &[]).await.map(Some),
                None => Ok(None),
            }
        };
        // Polled in this order.
        let (started, row, opened) = join3(started, now, opened).await;
        started?;
        let now = match row? {
            Some(row) => Timestamp::from_millis(row.try_get(0)?),
            None => self.shared.clock.as_ref().map_or(Timestamp::MIN, |clock| clock.now()),
        };
        Ok((now, opened))
    }

    /// Sends a statement with the commit, ahead of it and in the same round trip. What it answers is not used.
    pub(crate) fn defer(&self, statement: Native, params: Vec<Param>) {
        let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
        deferred.push(Deferred { statement, params });
    }

    /// Commits. When this returns, the server has synced, and so has a synchronous standby.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        let deferred = std::mem::take(self.deferred.get_mut().unwrap_or_else(PoisonError::into_inner));
        let writing = deferred.iter().map(|Deferred { statement, params }| async {
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| &**value as _).collect();
            self.client.execute(&statement.statement, &params).await.map_err(|error| (statement.sql, error))
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
            // The server has answered the commit with a rollback, unless it has gone away.
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

    pub(crate) async fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DbError> {
        let statement = self.prepare(sql, params).await?;
        let params = params.iter().map(|value| value as _).collect::<Vec<_>>();
        let rows = self.client.query(&statement, &params).await;
        bind::read(&rows.map_err(|error| self.failure(&error))?)
    }

    pub(crate) async fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, DbError> {
        if !self.open.load(Ordering::Relaxed) {
            return Err(DbError::internal("a job that reads tried to write"));
        }
        let statement = self.prepare(sql, params).await?;
        let params = params.iter().map(|value| value as _).collect::<Vec<_>>();
        self.client.execute(&statement, &params).await.map_err(|error| self.failure(&error))
    }

    /// Prepares statements in PostgreSQL's own syntax, so that [`Self::run`] sends each without a further round trip.
    pub(crate) async fn prepare_native<const N: usize>(
        &self,
        statements: [&'static str; N],
    ) -> Result<[Native; N], DbError> {
        let prepared = statements.map(|sql| async move {
            let statement = self.client.prepare_cached(sql).await;
            statement
                .map(|statement| Native { sql, statement })
                .map_err(|error| self.failure(&error).with_statement(sql))
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
        let rows = self.client.query(statement, params).await;
        rows.map_err(|error| self.failure(&error).with_statement(sql))
    }

    async fn prepare(&self, sql: &str, params: &[Value]) -> Result<Statement, DbError> {
        let translated = self.shared.translations.get(sql)?;
        let statement =
            self.client.prepare_cached(&translated).await.map_err(|error| self.failure(&error))?;
        let wanted = statement.params().len();
        if wanted != params.len() {
            return Err(DbError::internal(format!("{wanted} parameters wanted, {} given", params.len())));
        }
        Ok(statement)
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
