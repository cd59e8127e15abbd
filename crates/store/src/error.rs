//! The errors of statements and of opening a database.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use perigee_core::error::{Cause, StoreError};

use crate::migration::MigrationError;

/// Why a statement failed. Its transaction is rolled back, unless the outcome is unknown.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// A value that must be unique is already in use; see [`DbError::violates`].
    #[error("unique constraint failed: {on}")]
    UniqueViolation {
        /// The columns of the index, as in `device.account_id, device.identifier`; `index 'name'` if it is over
        /// expressions.
        on: String,
    },
    /// A row refers to a row that does not exist, or the row to delete is still referred to.
    #[error("foreign key constraint failed")]
    ForeignKeyViolation,
    /// The database is temporarily unavailable; a retry is safe.
    #[error("the database is unavailable")]
    Unavailable(#[source] Cause),
    /// The database did not confirm the commit: the change may or may not be stored.
    #[error("the database did not confirm the commit")]
    Unknown(#[source] Cause),
    /// Anything else: a defect or a broken database.
    #[error("the database failed")]
    Internal(#[source] Cause),
}

impl DbError {
    /// An internal error with this cause.
    pub(crate) fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// A temporary error with this cause.
    pub(crate) fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// A commit with unknown outcome and this cause.
    pub(crate) fn unknown(cause: impl Into<Cause>) -> Self {
        Self::Unknown(cause.into())
    }

    /// Whether the statement violated the unique index on exactly these columns, written `table.column, table.column`
    /// in the order of the index.
    pub fn violates(&self, columns: &str) -> bool {
        matches!(self, Self::UniqueViolation { on } if on == columns)
    }

    /// Adds the statement to an internal error, to help find the defect.
    pub(crate) fn with_statement(self, sql: &str) -> Self {
        match self {
            Self::Internal(source) => {
                Self::Internal(Box::new(StatementError { sql: sql.to_owned(), source }))
            }
            other => other,
        }
    }
}

/// The cause of [`StoreError::Unavailable`] when only some rows or one account are locked by another transaction.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Locked(pub(crate) &'static str);

impl Locked {
    /// The error for a row or an account that is locked.
    pub(crate) fn error() -> StoreError {
        StoreError::Unavailable(Box::new(Self("another node or job has locked the rows or the account")))
    }

    /// Whether the error has this cause, rather than a database that cannot be reached.
    pub(crate) fn is_cause_of(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(cause) if cause.is::<Self>())
    }
}

/// The cause of [`StoreError::Unavailable`] when the device of a submission no longer has the identifier that the
/// submission names. The submission is repeated, so callers do not see it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the device no longer has this identifier")]
pub(crate) struct Renamed;

impl Renamed {
    pub(crate) fn error() -> StoreError {
        StoreError::Unavailable(Box::new(Self))
    }

    pub(crate) fn is_cause_of(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(cause) if cause.is::<Self>())
    }
}

/// The cause of [`StoreError::Unavailable`] when the database found its own pages or indexes corrupted.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Corrupted(pub(crate) String);

impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Unavailable(cause) => Self::Unavailable(cause),
            DbError::Unknown(cause) => Self::Unknown(cause),
            DbError::Internal(cause) => Self::Internal(cause),
            violation => Self::Internal(Box::new(violation)),
        }
    }
}

/// An error and the text of its statement. The text may be logged: values are parameters and never part of it.
#[derive(Debug, thiserror::Error)]
#[error("{source} in: {sql}")]
struct StatementError {
    sql: String,
    source: Cause,
}

/// Why a database cannot be used. Each message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server process owns the file.
    #[error("{} is in use by another perigee serve{}; stop that one first, or use another --database", path.display(), process(*holder))]
    InUse {
        /// The path of the database file.
        path: PathBuf,
        /// The id of that process, if the operating system reports it.
        holder: Option<u32>,
    },
    /// Migrations are pending, but a running server uses the file.
    #[error("{} needs a newer schema, but a running server{} uses it; stop the server, then try again", path.display(), process(*holder))]
    MigrationBlocked {
        /// The path of the database file.
        path: PathBuf,
        /// The id of the server's process, if the operating system reports it.
        holder: Option<u32>,
    },
    /// A directory or file could not be created or opened.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The path that could not be used.
        path: PathBuf,
        /// The cause of the failure.
        source: std::io::Error,
    },
    /// The PostgreSQL server is too old.
    #[error("PostgreSQL {found} is too old; use 13 or newer")]
    TooOld {
        /// The version that the server reports.
        found: String,
    },
    /// A setting of the server would lose acknowledged data or garble it.
    #[error("PostgreSQL has {setting} = {value}; {advice}")]
    UnsafeSetting {
        /// The name of the setting.
        setting: &'static str,
        /// The value that the server has.
        value: String,
        /// The remedy for the operator.
        advice: &'static str,
    },
    /// The search path names no existing schema.
    #[error("the search_path names no existing schema; create the schema or correct the search_path")]
    NoSchema,
    /// The tables cannot be distributed here.
    #[error(
        "the tables can only be distributed in a PostgreSQL database with Citus: name its coordinator in store.database, \
         and run CREATE EXTENSION citus there"
    )]
    NoCitus,
    /// The tables could not be distributed, and nothing was changed.
    #[error("the tables could not be distributed, nothing was changed: {0}")]
    Distribute(String),
    /// The server could not be reached, or refused the connection.
    #[error("cannot connect to {url}: {source}")]
    Connect {
        /// The database, without its password.
        url: String,
        /// The cause of the failure.
        source: Cause,
        /// Whether a retry may succeed: nothing listens there yet, or the server is starting.
        is_transient: bool,
    },
    /// The schema does not fit this program.
    #[error(transparent)]
    Migration(#[from] MigrationError),
    /// A failure that the caller cannot act on.
    #[error("cannot open the database: {0}")]
    Other(#[source] Cause),
}

impl OpenError {
    /// Makes [`OpenError::Connect`] and decides whether a retry may succeed.
    pub(crate) fn connect(url: &str, error: &tokio_postgres::Error) -> Self {
        // Without a code from the server, only an I/O error is transient. The classes of codes are connection errors
        // (08), insufficient resources (53) and operator intervention (57), which includes a server that is starting.
        // Others, such as a wrong password, would fail again.
        let is_transient = error.code().map_or_else(
            || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>),
            |code| ["08", "53", "57"].iter().any(|class| code.code().starts_with(class)),
        );
        Self::Connect { url: url.to_owned(), source: describe(error).into(), is_transient }
    }

    /// The server did not answer within the limit.
    pub(crate) fn no_answer(url: &str, limit: Duration) -> Self {
        let source = format!("no answer within {} s", limit.as_secs()).into();
        Self::Connect { url: url.to_owned(), source, is_transient: true }
    }

    /// Whether a retry may succeed without a change of configuration.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Connect { is_transient: true, .. })
    }

    /// A failure without a variant of its own.
    pub(crate) fn other(cause: impl Into<Cause>) -> Self {
        Self::Other(cause.into())
    }
}

/// Names a process at the end of a phrase, with a space before it; empty if it is not known.
fn process(id: Option<u32>) -> String {
    id.map(|id| format!(" (process {id})")).unwrap_or_default()
}

/// The whole chain of causes in one line, because several libraries give the reason only in the source.
pub(crate) fn describe(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}
