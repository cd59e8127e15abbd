//! Checks schema and source against the rules that let PostgreSQL distribute the tables by account (Citus).

use std::collections::BTreeSet;
use std::path::Path;

use perigee_store::testing::Scratch;
use perigee_store::{Engine, LOCAL_TABLES, REFERENCE_TABLES, Row};

/// Whether the table is not distributed.
fn is_whole(table: &str) -> bool {
    REFERENCE_TABLES.contains(&table) || LOCAL_TABLES.contains(&table)
}

async fn rows(sql: &'static str) -> Vec<Row> {
    let scratch = Scratch::new(Engine::Postgres).await;
    let database = scratch.open().await;
    database.read(move |tx| Box::pin(async move { Ok(tx.query(sql, &[]).await?) })).await.unwrap()
}

#[tokio::test]
async fn every_unique_key_of_a_distributed_table_contains_the_account() {
    let sql = "SELECT CAST(t.relname AS TEXT) AS table_name, CAST(i.relname AS TEXT) AS index_name, \
                   EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid \
                           AND a.attname = CASE t.relname WHEN 'account' THEN 'id' ELSE 'account_id' END \
                           AND a.attnum = ANY (CAST(x.indkey AS int2[]))) AS has_account \
               FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
               WHERE x.indisunique AND t.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema())";
    let mut tables = BTreeSet::new();
    for row in rows(sql).await {
        let table = row.text("table_name").unwrap();
        let is_fine = is_whole(&table) || row.bool("has_account").unwrap();
        assert!(is_fine, "{table}: {}", row.text("index_name").unwrap());
        tables.insert(table);
    }
    assert!(tables.len() > 30, "they were found: {tables:?}");
    for table in REFERENCE_TABLES.iter().chain(LOCAL_TABLES) {
        assert!(tables.contains(*table), "{table} is not there any more");
    }
}

#[tokio::test]
async fn every_reference_stays_within_the_account() {
    let sql = "SELECT CAST(c.conname AS TEXT) AS name, CAST(t.relname AS TEXT) AS table_name, \
                   CAST(f.relname AS TEXT) AS other, \
                   EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'account_id' \
                           AND a.attnum = ANY (c.conkey)) AS has_account \
               FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid \
               WHERE c.contype = 'f' AND t.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema())";
    let found = rows(sql).await;
    assert!(found.len() > 20, "they were found");
    for row in found {
        assert!(row.bool("has_account").unwrap(), "{}", row.text("name").unwrap());
    }
}

/// Rows are locked with a selection only within one account.
#[test]
fn no_statement_locks_rows_across_accounts() {
    let allowed = ["deliveries.rs", "fill_checksums.rs", "known.rs", "records.rs", "tx.rs"];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("SkipLocked") || text.contains("SKIP LOCKED") {
                found.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    assert_eq!(found, allowed.map(str::to_owned).into());
}
