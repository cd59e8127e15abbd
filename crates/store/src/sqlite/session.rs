//! Statements on a SQLite connection. They block, so only writer and reader threads run them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use super::device_writes::DeviceWrites;
use super::error::from_sqlite;
use crate::error::DbError;
use crate::row::Row;
use crate::value::Value;

/// A connection shared with the jobs that run on it. The mutex is never contended, because jobs on a connection run one
/// after the other; it makes the futures of domain SQL `Send`, which PostgreSQL needs.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    connection: Arc<Mutex<Connection>>,
    /// Only on the connection of the writer.
    device_writes: Option<Arc<DeviceWrites>>,
}

impl Session {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection: Arc::new(Mutex::new(connection)), device_writes: None }
    }

    /// A session that detects changes of the columns from which the device cache is read.
    pub(crate) fn writer(mut connection: Connection) -> rusqlite::Result<Self> {
        let device_writes = Some(Arc::new(DeviceWrites::of(&mut connection)?));
        Ok(Self { device_writes, ..Self::new(connection) })
    }

    /// Whether a statement has changed such a column since the last call.
    pub(crate) fn take_device_writes(&self) -> bool {
        self.device_writes.as_ref().is_some_and(|writes| writes.take())
    }

    /// The connection itself, which is usable also after a job panicked.
    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a transaction statement, such as `BEGIN`.
    pub(crate) fn control(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection().prepare_cached(sql)?.raw_execute().map(drop)
    }

    /// Whether a transaction is open.
    pub(crate) fn in_transaction(&self) -> bool {
        !self.connection().is_autocommit()
    }

    pub(crate) fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DbError> {
        let connection = self.connection();
        let mut statement = self.prepare(&connection, sql, params)?;
        let columns: Arc<[Box<str>]> = statement.column_names().map(Box::from).collect();
        let mut rows = statement.raw_query();
        let mut result = Vec::new();
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            let values = (0..columns.len())
                .map(|position| row.get_ref(position).map(read).map_err(from_sqlite))
                .collect::<Result<_, _>>()?;
            result.push(Row::new(Arc::clone(&columns), values));
        }
        Ok(result)
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, DbError> {
        let connection = self.connection();
        let changed = self.prepare(&connection, sql, params)?.raw_execute().map_err(from_sqlite)?;
        u64::try_from(changed).map_err(DbError::internal)
    }

    fn prepare<'c>(
        &self,
        connection: &'c Connection,
        sql: &str,
        params: &[Value],
    ) -> Result<CachedStatement<'c>, DbError> {
        if let Some(writes) = &self.device_writes {
            writes.preparing();
        }
        let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
        if let Some(writes) = self.device_writes.as_ref().filter(|_| !statement.readonly()) {
            writes.running(sql);
        }
        let wanted = statement.parameter_count();
        if wanted != params.len() {
            return Err(DbError::internal(format!("{wanted} parameters expected, {} given", params.len())));
        }
        for (position, value) in params.iter().enumerate() {
            statement.raw_bind_parameter(position + 1, value).map_err(from_sqlite)?;
        }
        Ok(statement)
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Bool(truth) => ValueRef::Integer(i64::from(*truth)),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Reads text lossily, so that one flipped bit does not fail a query over many rows. `perigee verify` finds such texts.
fn read_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        // Logged once per process, because such a text may be read with every request.
        static LOGGED: Once = Once::new();
        LOGGED.call_once(|| tracing::error!("a text in the store is not UTF-8; run perigee verify"));
    }
    text.into_owned()
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(read_text(text)),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}
