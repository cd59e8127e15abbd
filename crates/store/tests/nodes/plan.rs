//! How the server goes about the reads of the log: by indexes, in order, and in one part for one device.

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
async fn the_feed_merges_the_parts_in_order() {
    let nodes = Nodes::new(1).await;
    let sql = "SELECT * FROM location_log WHERE account_id = 1 AND number > 5 AND number <= 9 \
               ORDER BY number LIMIT 100";
    let plan = plan(&nodes.all[0], sql).await;
    assert!(plan.contains("Merge Append"), "{plan}");
    assert!(!plan.contains("Sort  ") && !plan.contains("Seq Scan"), "{plan}");
    assert_eq!(plan.matches("account_id_number_idx").count(), 16, "{plan}");
    let end = self::plan(&nodes.all[0], "SELECT MAX(number) FROM location_log WHERE account_id = 1").await;
    assert_eq!(end.matches("Scan Backward using").count(), 16, "{end}");
}

#[tokio::test]
async fn a_device_is_in_one_part() {
    let nodes = Nodes::new(1).await;
    for sql in [
        "SELECT * FROM location_log WHERE account_id = 1 AND device_id = 2 AND number > 5 ORDER BY number LIMIT 9",
        "DELETE FROM location_log WHERE account_id = 1 AND device_id = 2 AND time BETWEEN 5 AND 9",
    ] {
        let plan = plan(&nodes.all[0], sql).await;
        assert_eq!(plan.matches("Index Scan using").count(), 1, "{plan}");
        assert!(!plan.contains("Append") && !plan.contains("Sort"), "{plan}");
    }
}
