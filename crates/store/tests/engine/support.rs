//! A table with a column of every type, and short ways to use it.

use perigee_core::error::StoreError;
use perigee_store::testing::Scratch;
use perigee_store::{Database, DbError, Engine, Row, Tx, Value, params};

/// A scratch database with the tables of these tests.
pub(crate) struct Bench {
    pub(crate) db: Database,
    pub(crate) scratch: Scratch,
}

pub(crate) async fn bench(engine: Engine) -> Bench {
    let scratch = Scratch::new(engine).await;
    make_tables(&scratch, engine).await;
    Bench { db: scratch.open().await, scratch }
}

pub(crate) async fn make_tables(scratch: &Scratch, engine: Engine) {
    let sql = "CREATE TABLE thing (
            id BIGINT NOT NULL PRIMARY KEY,
            code TEXT UNIQUE,
            num BIGINT,
            ratio DOUBLE PRECISION,
            flag BOOLEAN,
            blob BYTEA,
            parent BIGINT REFERENCES thing (id)
        ) STRICT;
        CREATE TABLE pair (a BIGINT NOT NULL, b TEXT NOT NULL, UNIQUE (b, a)) STRICT;";
    let sql = match engine {
        Engine::Sqlite => sql
            .replace("BIGINT", "INTEGER")
            .replace("DOUBLE PRECISION", "REAL")
            .replace("BOOLEAN", "INTEGER")
            .replace("BYTEA", "BLOB"),
        Engine::Postgres => sql.replace(" STRICT", "").replace("TEXT", "TEXT COLLATE \"C\""),
    };
    scratch.run(&sql).await;
}

impl Bench {
    /// One statement in a transaction of its own.
    pub(crate) async fn execute(&self, sql: &'static str, values: &[Value]) -> Result<u64, StoreError> {
        let values = values.to_vec();
        self.db.write(move |tx| Box::pin(async move { Ok(tx.execute(sql, &values).await?) })).await
    }

    pub(crate) async fn query(&self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let values = values.to_vec();
        self.db.read(move |tx| Box::pin(async move { Ok(tx.query(sql, &values).await?) })).await
    }

    /// How many rows there are.
    pub(crate) async fn count(&self) -> i64 {
        let rows = self.query("SELECT COUNT(*) AS n FROM thing", &[]).await.unwrap();
        rows[0].i64("n").unwrap()
    }
}

/// Adds a row with this number and nothing else.
pub(crate) async fn add(tx: &Tx, id: i64) -> Result<u64, DbError> {
    tx.execute("INSERT INTO thing (id) VALUES (?1)", params![id]).await
}

/// The text of an internal error; panics on any other result.
pub(crate) fn internal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(StoreError::Internal(cause)) => cause.to_string(),
        other => panic!("an internal error was expected: {other:?}"),
    }
}
