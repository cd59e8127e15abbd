//! How PostgreSQL reads the log: by indexes and in their order.

use perigee_store::Database;

use crate::support::Nodes;

async fn plan(node: &Database, sql: &str) -> String {
    let sql = format!("EXPLAIN (COSTS OFF) {sql}");
    let job = node.write(move |tx| {
        Box::pin(async move {
            // Of tables as small as these it would rather read the whole.
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
