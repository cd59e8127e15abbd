//! What a statement and what opening a database can fail with.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use perigee_core::error::{Cause, StoreError};

use crate::migration::MigrationError;

/// Why a statement did not run. Whatever its transaction had done is undone, unless that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// A value that must be unique is in use; see [`DbError::violates`].
    #[error("unique constraint failed: {on}")]
    UniqueViolation {
        /// The columns, as in `device.account_id, device.identifier`; `index 'name'` for one over expressions.
        on: String,
    },
    /// A row refers to one that does not exist, or one that goes is still referred to.
    #[error("foreign key constraint failed")]
    ForeignKeyViolation,
    /// The database cannot do it at present; trying again is safe.
    #[error("the database is unavailable")]
    Unavailable(#[source] Cause),
    /// The database was told to commit and did not confirm it: what was to be done may be done.
    #[error("the database did not confirm the commit")]
    Unknown(#[source] Cause),
    /// Anything else: a defect or a broken database.
    #[error("the database failed")]
    Internal(#[source] Cause),
}

impl DbError {
    /// An internal error that says this.
    pub(crate) fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// A passing error that says this.
    pub(crate) fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// A commit of which nobody knows what became, and why.
    pub(crate) fn unknown(cause: impl Into<Cause>) -> Self {
        Self::Unknown(cause.into())
    }

    /// Whether the statement broke the uniqueness of exactly these columns, written
    /// `table.column, table.column` in the order of the index.
    pub fn violates(&self, columns: &str) -> bool {
        matches!(self, Self::UniqueViolation { on } if on == columns)
    }

    /// The same failure, with the statement it came from where that helps to find a defect.
    pub(crate) fn of_statement(self, sql: &str) -> Self {
        match self {
            Self::Internal(source) => {
                Self::Internal(Box::new(StatementError { sql: sql.to_owned(), source }))
            }
            other => other,
        }
    }
}

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

/// A failure and the text of its statement, which never holds values.
#[derive(Debug, thiserror::Error)]
#[error("{source} in: {sql}")]
struct StatementError {
    sql: String,
    source: Cause,
}

/// Why a database cannot be used. Each message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server owns the file.
    #[error("{} is in use by another perigee serve{}; stop that one first, or use another --database", path.display(), process(*holder))]
    InUse {
        /// The database file.
        path: PathBuf,
        /// The id of that process, where the system tells.
        holder: Option<u32>,
    },
    /// The schema must be changed, but a running server uses it.
    #[error("{} needs a newer schema, but a running server{} uses it; stop the server, then try again", path.display(), process(*holder))]
    MigrationBlocked {
        /// The database file.
        path: PathBuf,
        /// The id of the server's process, where the system tells.
        holder: Option<u32>,
    },
    /// A directory or file could not be made or opened.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// What could not be used.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The server is too old.
    #[error("PostgreSQL {found} is too old; use 13 or newer")]
    TooOld {
        /// The server's version.
        found: String,
    },
    /// A setting of the server would lose acknowledged data or garble it.
    #[error("PostgreSQL has {setting} = {value}; {advice}")]
    UnsafeSetting {
        /// The setting's name.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What to change.
        advice: &'static str,
    },
    /// There is no schema to keep tables in.
    #[error("the search_path names no existing schema; create the schema or correct the search_path")]
    NoSchema,
    /// The server could not be reached, or did not let us in.
    #[error("cannot connect to {url}: {source}")]
    Connect {
        /// The database, without its password.
        url: String,
        /// Why.
        source: Cause,
        /// Whether it may well work later: nobody listens there yet, or the server is starting.
        may_pass: bool,
    },
    /// The schema does not fit this program.
    #[error(transparent)]
    Migration(#[from] MigrationError),
    /// Anything else.
    #[error("cannot open the database: {0}")]
    Other(#[source] Cause),
}

impl OpenError {
    /// The server could not be reached, or did not let us in.
    pub(crate) fn connect(url: &str, error: &tokio_postgres::Error) -> Self {
        // Refused for a wrong password or a database that is not there, it would be refused again.
        let may_pass = error.code().map_or_else(
            || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>),
            |code| ["08", "53", "57"].iter().any(|class| code.code().starts_with(class)),
        );
        Self::Connect { url: url.to_owned(), source: describe(error).into(), may_pass }
    }

    /// The server did not answer for so long.
    pub(crate) fn no_answer(url: &str, limit: Duration) -> Self {
        let source = format!("no answer within {} s", limit.as_secs()).into();
        Self::Connect { url: url.to_owned(), source, may_pass: true }
    }

    /// Whether opening again may well succeed without anything being changed.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Connect { may_pass: true, .. })
    }

    /// Any other failure.
    pub(crate) fn other(cause: impl Into<Cause>) -> Self {
        Self::Other(cause.into())
    }
}

/// Which process it is, in an error's sentence.
fn process(id: Option<u32>) -> String {
    id.map(|id| format!(" (process {id})")).unwrap_or_default()
}

/// The whole chain of causes in one line, since several libraries put the reason into the source only.
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
