//! The database's own checks: pages, indexes, foreign keys and text encoding.

use perigee_core::store::Result;

use super::report::of_database;
use crate::damage::Damaged;
use crate::{Engine, Tx};

/// Findings of SQLite's integrity check that are reported.
const FINDINGS_MAX: u32 = 100;

/// Problems that the database itself reports, and notes for the operator about checks that it does not make.
pub(super) async fn check(tx: &Tx) -> Result<(Vec<Damaged>, Vec<String>)> {
    match tx.engine() {
        Engine::Sqlite => Ok((on_sqlite(tx).await?, Vec::new())),
        Engine::Postgres => on_postgres(tx).await,
    }
}

async fn on_sqlite(tx: &Tx) -> Result<Vec<Damaged>> {
    let mut damaged = Vec::new();
    for row in tx.query(&format!("PRAGMA integrity_check({FINDINGS_MAX})"), &[]).await? {
        let found = row.text(0_usize)?;
        if found != "ok" {
            damaged.push(of_database(found));
        }
    }
    for row in tx.query("PRAGMA foreign_key_check", &[]).await? {
        let (table, parent) = (row.text("table")?, row.text("parent")?);
        damaged
            .push(of_database(format!("a row of {table} refers to a row of {parent} that does not exist")));
    }
    let sql = "SELECT m.name AS name, string_agg('is_utf8(\"' || c.name || '\")', ' AND ') AS texts \
               FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
               WHERE m.type = 'table' AND c.type = 'TEXT' GROUP BY m.name";
    for row in tx.query(sql, &[]).await? {
        let (table, texts) = (row.text("name")?, row.text("texts")?);
        let sql = format!("SELECT COUNT(*) AS count FROM \"{table}\" WHERE NOT ({texts})");
        let count = tx.query_one(&sql, &[]).await?.i64("count")?;
        if count > 0 {
            damaged.push(of_database(format!("{count} rows of {table} hold a text that is not UTF-8")));
        }
    }
    Ok(damaged)
}

async fn on_postgres(tx: &Tx) -> Result<(Vec<Damaged>, Vec<String>)> {
    let sql = "SELECT current_setting('data_checksums') AS kept, \
                   (SELECT CAST(checksum_failures AS BIGINT) FROM pg_stat_database \
                    WHERE datname = current_database()) AS failures";
    let row = tx.query_one(sql, &[]).await?;
    let (mut damaged, mut notes) = (Vec::new(), Vec::new());
    if let Some(failures) = row.opt_i64("failures")?.filter(|failures| *failures > 0) {
        damaged.push(of_database(format!(
            "PostgreSQL found {failures} pages that do not match their checksum; see its log"
        )));
    }
    if row.text("kept")? != "on" {
        notes.push(
            "PostgreSQL keeps no checksums of its pages; with the server stopped, pg_checksums --enable turns \
             them on"
                .to_owned(),
        );
    }
    notes.push(
        "indexes and pages are PostgreSQL's own: check them with pg_amcheck --heapallindexed".to_owned(),
    );
    Ok((damaged, notes))
}
