//! Statements on a PostgreSQL connection, inside a transaction or without one.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{try_join, try_join_all};
use perigee_core::time::{Clock, Timestamp};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::bind;
use super::connection::Committed;
use super::error::{UniqueIndexes, commit_failure, from_postgres};
use super::pool::Object;
use crate::error::DbError;
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

/// A connection in use. A transaction that is not committed is rolled back on drop, also when the job is cancelled.
#[derive(Debug)]
pub(crate) struct Session {
    client: Object,
    shared: Arc<Shared>,
    open: bool,
}

impl Session {
    /// Begins a transaction with this statement, or none, and reads the clock in the same round trip.
    pub(crate) async fn begin(
        client: Object,
        shared: Arc<Shared>,
        begin: Option<&str>,
    ) -> Result<(Self, Timestamp), DbError> {
        let session = Self { client, shared, open: begin.is_some() };
        let now = session.start(begin).await.map_err(|error| session.failure(&error))?;
        Ok((session, now))
    }

    async fn start(&self, begin: Option<&str>) -> Result<Timestamp, tokio_postgres::Error> {
        let started = async {
            match begin {
                Some(sql) => self.client.batch_execute(sql).await,
                None => Ok(()),
            }
        };
        if let Some(clock) = &self.shared.clock {
            started.await?;
            return Ok(clock.now());
        }
        let statement = self.client.prepare_cached(NOW).await?;
        // Pipelined: one round trip for both.
        let ((), row) = try_join(started, self.client.query_one(&statement, &[])).await?;
        row.try_get(0).map(Timestamp::from_millis)
    }

    /// Commits. When this returns, the server has synced, and so has a synchronous standby.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        self.open = false;
        match self.client.commit().await {
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
        if !self.open {
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
        if self.open {
            // The first poll sends it, ahead of what the next user of the connection sends.
            let _sent = self.client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}
