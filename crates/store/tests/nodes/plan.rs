//! Tests that PostgreSQL reads the log by indexes and in their order.

use perigee_store::Database;

use crate::support::Nodes;

async fn plan(node: &Database, sql: &str) -> String {
    let sql = format!("EXPLAIN (COSTS OFF) {sql}");
    let job = node.write(move |tx| {
        Box::pin(async move {
            // Tables as small as these would otherwise be read completely.
            tx.execute("SET LOCAL enable_seqscan = off", &[]).await?;
            tx.execute("SET LOCAL enable_bitmapscan = off", &[]).await?;
            let rows = tx.query(&sql, &[]).await?;
            Ok(rows.iter().map(|row| row.text(0).unwrap()).collect::<Vec<_>>().join("\n"))
        })
    });
    job.await.unwrap()
}

#[tokio::test]
async fn the_feed_is_read_in_the_order_of_the_key() {
    let nodes = Nodes::new(1).await;
    let sql = "SELECT * FROM location_log WHERE account_id = 1 AND last_number > 5 AND last_number <= 9 \
               ORDER BY last_number LIMIT 100";
    let plan = plan(&nodes.all[0], sql).await;
    assert!(plan.contains("Index Scan using location_log_pkey"), "{plan}");
    assert!(!plan.contains("Sort") && !plan.contains("Seq Scan"), "{plan}");
    let end =
        self::plan(&nodes.all[0], "SELECT MAX(last_number) FROM location_log WHERE account_id = 1").await;
    assert!(end.contains("Scan Backward using location_log_pkey"), "{end}");
}

#[tokio::test]
async fn a_device_is_found_by_its_index() {
    let nodes = Nodes::new(1).await;
    for sql in [
        "SELECT * FROM location_log WHERE account_id = 1 AND device_id = 2 AND last_number > 5 \
         ORDER BY last_number LIMIT 9",
        "SELECT * FROM location_log WHERE account_id = 1 AND device_id = 2 AND last_number > 5 \
         AND first_time <= 9 AND last_time >= 7",
        "DELETE FROM location_log WHERE account_id = 1 AND device_id = 2 AND first_time >= 5 AND last_time <= 9",
    ] {
        let plan = plan(&nodes.all[0], sql).await;
        assert_eq!(plan.matches("Index Scan using location_log_by_device").count(), 1, "{plan}");
        assert!(!plan.contains("Sort"), "{plan}");
    }
}

/// The statements that create a device, and the checks of foreign keys to one, in a table that was never analyzed: no other
/// index is as good as the one that answers them.
#[tokio::test]
async fn a_device_is_found_by_its_key_without_statistics() {
    let nodes = Nodes::new(1).await;
    for (sql, index) in [
        ("SELECT 1 FROM ONLY device x WHERE account_id = 1 AND id = 2 FOR KEY SHARE OF x", "device_pkey"),
        ("SELECT id FROM device WHERE account_id = 1 AND id BETWEEN 2 AND 3 LIMIT 1", "device_pkey"),
        ("SELECT id FROM device WHERE account_id = 1 AND identifier = 'a'", "device_by_identifier"),
        (
            "UPDATE device SET licensed = FALSE WHERE account_id = 1 AND licensed = TRUE AND expires <= 2",
            "device_by_license",
        ),
        ("SELECT id FROM device WHERE account_id = 1 AND lapsed = TRUE", "device_lapsed"),
        ("SELECT id FROM audit WHERE account_id = 1 ORDER BY id DESC LIMIT 1", "audit_pkey"),
    ] {
        let plan = plan(&nodes.all[0], sql).await;
        assert!(plan.contains(&format!("using {index} ")), "{sql}: {plan}");
    }
    // The indexes that could be taken instead: a new one must have a condition.
    let sql = "SELECT CAST(CAST(i.indexrelid AS regclass) AS TEXT) AS name FROM pg_index i WHERE i.indrelid = CAST('device' AS regclass) \
               AND i.indpred IS NULL ORDER BY 1";
    let job = nodes.all[0].read(move |tx| {
        Box::pin(async move {
            let rows = tx.query(sql, &[]).await?;
            Ok(rows.iter().map(|row| row.text("name").unwrap()).collect::<Vec<_>>())
        })
    });
    assert_eq!(job.await.unwrap(), ["device_pkey"]);
}
