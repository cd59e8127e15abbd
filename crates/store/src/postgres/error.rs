//! Mapping PostgreSQL's error codes.

use std::collections::HashMap;
use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::error::{Corrupted, DbError, Locked, describe};

/// The columns of each unique index by its name, written as SQLite names them.
pub(crate) type UniqueIndexes = HashMap<String, String>;

/// Reads the unique indexes of the schema in use.
pub(crate) async fn unique_indexes(
    client: &tokio_postgres::Client,
) -> Result<UniqueIndexes, tokio_postgres::Error> {
    let sql = "SELECT CAST(i.relname AS TEXT),
                      string_agg(t.relname || '.' || a.attname, ', ' ORDER BY k.position),
                      COUNT(*) = COUNT(a.attname)
               FROM pg_index x
               JOIN pg_class i ON i.oid = x.indexrelid
               JOIN pg_class t ON t.oid = x.indrelid
               JOIN pg_namespace n ON n.oid = t.relnamespace
               CROSS JOIN LATERAL unnest(CAST(x.indkey AS int2[])) WITH ORDINALITY AS k (number, position)
               LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
               WHERE x.indisunique AND n.nspname = current_schema() AND k.position <= x.indnkeyatts
               GROUP BY i.relname";
    let mut indexes = UniqueIndexes::new();
    for row in client.query_typed(sql, &[]).await? {
        if row.try_get(2)? {
            indexes.insert(row.try_get(0)?, row.try_get(1)?);
        }
    }
    Ok(indexes)
}

/// The error of a statement.
pub(crate) fn from_postgres(error: &tokio_postgres::Error, indexes: &UniqueIndexes) -> DbError {
    let Some(refusal) = error.as_db_error() else {
        // Without an answer from the server, the cause is either the connection or a value that did not fit.
        let connection =
            error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
        let cause = describe(error);
        return if connection { DbError::unavailable(cause) } else { DbError::internal(cause) };
    };
    let code = refusal.code();
    if *code == SqlState::UNIQUE_VIOLATION {
        // Citus passes on the message of the server of the shard, but not the name of the constraint.
        let index = refusal.constraint().or_else(|| refusal.message().split('"').nth(1));
        return DbError::UniqueViolation { on: columns_of(index.unwrap_or_default(), indexes) };
    }
    if *code == SqlState::FOREIGN_KEY_VIOLATION {
        return DbError::ForeignKeyViolation;
    }
    if *code == SqlState::LOCK_NOT_AVAILABLE {
        return DbError::unavailable(Locked("another node or job held a lock for too long"));
    }
    if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) {
        return DbError::unavailable(Corrupted(describe(error)));
    }
    if is_temporary(code) {
        DbError::unavailable(describe(error))
    } else {
        DbError::internal(describe(error))
    }
}

/// The columns of a unique index. Citus names the index of a shard like that of the table, with the shard's number
/// after it.
fn columns_of(index: &str, indexes: &UniqueIndexes) -> String {
    let of_table = || {
        let (table, shard) = index.rsplit_once('_')?;
        let is_number = !shard.is_empty() && shard.bytes().all(|digit| digit.is_ascii_digit());
        indexes.get(table).filter(|_| is_number)
    };
    indexes.get(index).or_else(of_table).cloned().unwrap_or_else(|| format!("index '{index}'"))
}

/// The error of a commit. Unless the server itself refused it, the outcome is unknown.
pub(crate) fn commit_failure(error: &tokio_postgres::Error, indexes: &UniqueIndexes) -> DbError {
    let was_refused = error.code().is_some_and(|code| !code.code().starts_with("57"));
    match from_postgres(error, indexes) {
        DbError::Unavailable(cause) if !was_refused => DbError::Unknown(cause),
        failure => failure,
    }
}

/// Whether a retry of the same statement may succeed.
fn is_temporary(code: &SqlState) -> bool {
    // Connection, resources, operator intervention (including time-outs), system errors of the server.
    let classes = ["08", "53", "57", "58"];
    let codes = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::DATA_CORRUPTED,
        SqlState::INDEX_CORRUPTED,
    ];
    classes.iter().any(|class| code.code().starts_with(class)) || codes.contains(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_recognised_by_the_name_of_its_shard() {
        let of = |columns: &str| columns.to_owned();
        let indexes = UniqueIndexes::from([
            (of("device_pkey"), of("device.account_id, device.id")),
            (of("odd_7"), of("odd.seven")),
        ]);
        for (index, columns) in [
            ("device_pkey", "device.account_id, device.id"),
            ("device_pkey_103644", "device.account_id, device.id"),
            ("odd_7", "odd.seven"),
            ("device_pkey_x1", "index 'device_pkey_x1'"),
            ("device_pkey_", "index 'device_pkey_'"),
            ("other_103644", "index 'other_103644'"),
        ] {
            assert_eq!(columns_of(index, &indexes), columns);
        }
    }

    #[test]
    fn temporary_errors_are_distinguished_from_defects() {
        for code in [
            "40001", "40P01", "55P03", "57P01", "57014", "53100", "53300", "08006", "25006", "58030", "XX001",
        ] {
            assert!(is_temporary(&SqlState::from_code(code)), "{code}");
        }
        for code in ["23514", "42601", "42P01", "22P02", "25P02", "23505"] {
            assert!(!is_temporary(&SqlState::from_code(code)), "{code}");
        }
    }
}
