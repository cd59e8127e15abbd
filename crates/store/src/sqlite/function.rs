//! SQL functions that PostgreSQL has and SQLite lacks, and `is_utf8` for the integrity check.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

/// Adds the functions to a connection.
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("is_utf8", 1, flags, |call| {
        Ok(match call.get_raw(0) {
            ValueRef::Text(text) => std::str::from_utf8(text).is_ok(),
            _ => true,
        })
    })?;
    connection.create_scalar_function("strpos", 2, flags, |call| {
        let (text, part) = (call.get_raw(0).as_str_or_null()?, call.get_raw(1).as_str_or_null()?);
        Ok(text.zip(part).map(|(text, part)| position(text, part)))
    })
}

/// The position of `part` in `text`, counted in characters from 1; 0 if it is absent.
fn position(text: &str, part: &str) -> i64 {
    text.split_once(part).map_or(0, |(before, _after)| {
        i64::try_from(before.chars().count()).unwrap_or(i64::MAX).saturating_add(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strpos_counts_as_postgresql_does() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let check = |call: &str, expect: Option<i64>| {
            let found: Option<i64> =
                connection.query_row(&format!("SELECT strpos({call})"), [], |row| row.get(0)).unwrap();
            assert_eq!(found, expect, "{call}");
        };
        check("'ábc', 'b'", Some(2));
        check("'abc', 'B'", Some(0));
        check("'a%b', '%'", Some(2));
        check("'abc', ''", Some(1));
        check("'', ''", Some(1));
        check("NULL, 'a'", None);
        check("'a', NULL", None);
    }
}
