//! Maps SQLite's error codes, and aborts the process after errors that leave the content of the disk unknown.

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::error::{Corrupted, DbError};

/// The error of a failed statement: a violated constraint, unavailable (a retry may succeed), or internal.
pub(crate) fn from_sqlite(error: rusqlite::Error) -> DbError {
    let extended = error.sqlite_extended_error_code().unwrap_or(0);
    match extended {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            let message = error.to_string();
            let on = message.strip_prefix("UNIQUE constraint failed: ").unwrap_or(&message);
            return DbError::UniqueViolation { on: on.to_owned() };
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return DbError::ForeignKeyViolation,
        _ => {}
    }
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::ReadOnly,
        ) => DbError::unavailable(error),
        // The caller cannot correct it; a repaired store can answer the same request.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            DbError::unavailable(Corrupted(error.to_string()))
        }
        _ => DbError::internal(error),
    }
}

/// Whether the content of the disk is unknown. After a failed sync the kernel may have dropped the pages it could not
/// write, and a second sync would report success although they are lost.
pub(crate) fn is_fatal(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// Aborts the process when a commit or checkpoint failed in a way after which only a restart can determine what is
/// stored.
pub(crate) fn abort_if_fatal(error: &rusqlite::Error, attempted: &'static str) {
    if is_fatal(error) {
        tracing::error!(%error, attempted, "a write to disk failed; aborting so that no lost data is acknowledged");
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32, message: &str) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(message.into()))
    }

    #[test]
    fn only_io_errors_are_fatal() {
        let fatal = [
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_DIR_FSYNC,
            ffi::SQLITE_IOERR_WRITE,
        ];
        let not_fatal =
            [ffi::SQLITE_FULL, ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_CONSTRAINT];
        assert!(fatal.iter().all(|code| is_fatal(&failure(*code, "x"))));
        assert!(!not_fatal.iter().any(|code| is_fatal(&failure(*code, "x"))));
    }

    #[test]
    fn error_codes_are_mapped() {
        let unique = failure(ffi::SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: a.b, a.c");
        assert!(from_sqlite(unique).violates("a.b, a.c"));
        let unavailable_codes = [
            ffi::SQLITE_FULL,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
        ];
        for code in unavailable_codes {
            assert!(matches!(from_sqlite(failure(code, "x")), DbError::Unavailable(_)), "{code}");
        }
        for code in [ffi::SQLITE_CONSTRAINT_CHECK, ffi::SQLITE_ERROR] {
            assert!(matches!(from_sqlite(failure(code, "x")), DbError::Internal(_)), "{code}");
        }
    }
}
