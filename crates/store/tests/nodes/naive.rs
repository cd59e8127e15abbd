//! What the tests of a held commit must catch: writers that do not wait for each other, and a reader that goes by
//! number all the same.

use perigee_core::actor::Actor;
use perigee_core::id::DeviceId;
use perigee_store::{Database, Value, params};

use crate::support::{Holder, Nodes, lock, number, waiting_for};

const INSERT: &str = "WITH drawn AS (SELECT nextval('event_number_seq') AS number) \
    INSERT INTO location_log (account_id, device_id, first_number, last_number, first_time, last_time, count, \
        received_at, checksum, points) \
    SELECT ?1, ?2, number, number, ?3, ?3, 1, 0, 0, '' FROM drawn";

fn insert(actor: &Actor, device: DeviceId, time: i64) -> (&'static str, Vec<Value>) {
    (INSERT, params![actor.scope.account, device, time].to_vec())
}

/// The times of what has a number above the cursor, which then stands at the highest.
async fn read(node: &Database, cursor: &mut i64) -> Vec<i64> {
    let after = *cursor;
    let job = node.read(move |tx| {
        Box::pin(async move {
            let sql =
                "SELECT last_number, last_time FROM location_log WHERE last_number > ?1 ORDER BY last_number";
            let rows = tx.query(sql, params![after]).await?;
            Ok(rows.iter().map(|row| (row.i64(0).unwrap(), row.i64(1).unwrap())).collect())
        })
    });
    let rows: Vec<(i64, i64)> = job.await.unwrap();
    *cursor = rows.last().map_or(after, |(number, _)| *number);
    rows.into_iter().map(|(_, time)| time).collect()
}

/// A reader looks while a first writer's commit is held and a second one has gone as far as it can, and again when
/// both are through. What it has seen in the end of 1 and 2.
async fn seen(locked: bool) -> Vec<i64> {
    let nodes = Nodes::new(3).await;
    let [first, second, reader] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let statements = |time| {
        let insert = insert(&actor, device, time);
        if locked { vec![lock(actor.scope.account), insert] } else { vec![insert] }
    };
    let holder = Holder::new(first, statements(1)).await;
    let later = tokio::spawn({
        let (second, statements) = (second.clone(), statements(2));
        async move { Holder::new(&second, statements).await.let_go().await }
    });
    let waits = waiting_for(reader, holder.pid, || later.is_finished()).await;
    assert_eq!(waits.is_some(), locked);
    let mut cursor = 0;
    let mut seen = read(reader, &mut cursor).await;
    holder.let_go().await;
    later.await.unwrap();
    seen.extend(read(reader, &mut cursor).await);
    assert_eq!(number(reader, "SELECT COUNT(*) FROM location_log", &[]).await, 2);
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_by_number_misses_what_is_committed_late() {
    assert_eq!(seen(false).await, [2], "the harness catches it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lock_of_the_account_keeps_it_from_that() {
    assert_eq!(seen(true).await, [1, 2]);
}
