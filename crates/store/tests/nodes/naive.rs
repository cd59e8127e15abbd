//! The bug that the tests of a held commit must catch: a writer that draws numbers without announcing it.

use perigee_core::store::Locations as _;
use perigee_store::{Value, params};

use crate::support::{Holder, Nodes};

const SHARE: &str = "SELECT pg_advisory_xact_lock_shared(?1)";
const ANNOUNCE: &str = "SELECT pg_advisory_xact_lock_shared(-1 - last_value) FROM event_number";
const INSERT: &str = "WITH drawn AS (SELECT nextval('event_number') AS number) \
    INSERT INTO location_log (account_id, device_id, first_number, last_number, first_time, last_time, count, \
        received_at, checksum, points) \
    SELECT ?1, ?2, number, number, 0, 0, 1, 0, 0, '' FROM drawn RETURNING last_number";

/// By how much the end of the log has moved for a reader: while the commit of a first writer is held and that of a
/// second is done, and when both are done.
async fn ends(announced: bool) -> (i64, i64) {
    let nodes = Nodes::new(3).await;
    let [first, second, reader] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let before = reader.feed_end(actor.scope).await.unwrap();
    let statements = || -> Vec<(&'static str, Vec<Value>)> {
        let share = (SHARE, params![actor.scope.account].to_vec());
        let insert = (INSERT, params![actor.scope.account, device].to_vec());
        if announced { vec![share, (ANNOUNCE, Vec::new()), insert] } else { vec![share, insert] }
    };
    let holder = Holder::new(first, statements()).await;
    Holder::new(second, statements()).await.let_go().await;
    let while_held = reader.feed_end(actor.scope).await.unwrap();
    holder.let_go().await;
    let after = reader.feed_end(actor.scope).await.unwrap();
    (while_held - before, after - before)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_passes_what_is_not_announced() {
    let (while_held, after) = ends(false).await;
    assert_eq!(while_held, after, "the harness catches it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_stops_before_what_is_announced() {
    let (while_held, after) = ends(true).await;
    assert_eq!(while_held, 0);
    assert!(after > 0);
}
