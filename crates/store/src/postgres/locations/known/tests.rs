//! Tests that the statements of a submission are fast before the tables have statistics, and update rows in place.

use futures_util::FutureExt as _;

use super::{DEVICES, LIVE};
use crate::testing::Scratch;
use crate::{Database, Engine};

const FLEET: &str = "INSERT INTO account (id, revision, name, time_zone, expiry_notice_days, licenses, creation, last_modified) \
        VALUES (1, 1, 'acme', 'UTC', 0, 1000, 1, 1); \
    INSERT INTO device (account_id, id, revision, name, tags, licensed, critical_reserve, search, creation, last_modified) \
        SELECT 1, number, 1, 'device', '[]', TRUE, 0, '', 1, 1 FROM generate_series(1, 1000) AS g (number); \
    INSERT INTO device_live (account_id, device_id, last_seen) SELECT account_id, id, 1 FROM device;";

/// The first column of the answer.
async fn texts(database: &Database, sql: String) -> Vec<String> {
    let read = database.read(move |tx| {
        async move {
            let rows = tx.query(&sql, &[]).await?;
            Ok(rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?)
        }
        .boxed()
    });
    read.await.unwrap()
}

#[tokio::test]
async fn postgres_finds_devices_by_their_keys_without_statistics() {
    let scratch = Scratch::new(Engine::Postgres).await;
    let database = scratch.open().await;
    scratch.run(FLEET).await;
    for (statement, key) in [(DEVICES, "device_pkey"), (LIVE, "device_live_pkey")] {
        let sql = statement
            .any_account
            .replace("$1", "'{1, 1}'")
            .replace("$2", "'{1, 500}'")
            .replace("$3", "'{f, f}'");
        let plan = texts(&database, format!("EXPLAIN {sql}")).await.join("\n");
        assert!(plan.contains(&format!("Index Scan using {key} ")), "{key} is not used:\n{plan}");
        assert!(!plan.contains("Seq Scan"), "a table is read whole:\n{plan}");
    }
}

#[tokio::test]
async fn postgres_changes_states_of_devices_in_place() {
    let scratch = Scratch::new(Engine::Postgres).await;
    let database = scratch.open().await;
    let sql = "SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = current_schema() \
               AND tablename = 'device_live' ORDER BY 1";
    // The time at which locations are due to be packed seldom changes.
    let expected = ["device_live_by_pack_due", "device_live_pkey"];
    assert_eq!(texts(&database, sql.to_owned()).await, expected);
}
