//! A node whose commit takes long: numbers it has drawn are not passed over by who reads the feed meanwhile.

use perigee_core::location::Outcome;
use perigee_core::store::Locations as _;
use perigee_store::params;

use crate::support::{Holder, Nodes, fix, follow, waiting_for};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_misses_nothing() {
    let nodes = Nodes::new(3).await;
    let [slow, quick, reader] = &nodes.all[..] else { unreachable!("three nodes") };
    let (ours, theirs) = (nodes.account("ours").await, nodes.account("theirs").await);
    let (one, two) = (nodes.device(&ours).await, nodes.device(&ours).await);
    let foreign = nodes.device(&theirs).await;
    let early = fix(nodes.now().plus_seconds(-60));
    slow.store_locations(&ours, one, vec![early]).await.unwrap();
    let (mut cursor, mut foreign_cursor) = (0, 0);
    assert_eq!(follow(reader, &ours, &mut cursor).await.len(), 1);

    // Somebody holds a row that is written after the log, so that the node stands still with its numbers drawn.
    let sql = "SELECT device_id FROM device_live WHERE device_id = ?1 FOR UPDATE";
    let holder = Holder::new(reader, vec![(sql, params![one].to_vec())]).await;
    let send = |node: &perigee_store::Database, actor: &perigee_core::actor::Actor, device| {
        let (node, actor, batch) = (node.clone(), actor.clone(), vec![fix(nodes.now())]);
        tokio::spawn(async move { node.store_locations(&actor, device, batch).await.unwrap() })
    };
    let lower = send(slow, &ours, one);
    let slow_pid = waiting_for(reader, holder.pid, || lower.is_finished()).await.expect("it waits");

    // Another account goes on, with higher numbers.
    assert_eq!(send(quick, &theirs, foreign).await.unwrap(), [Outcome::Accepted]);
    let foreign_feed = follow(reader, &theirs, &mut foreign_cursor).await;
    assert_eq!(foreign_feed.len(), 1);
    // The same account waits by another node; were it not to, its higher number would be read now.
    let higher = send(quick, &ours, two);
    let waits = waiting_for(reader, slow_pid, || higher.is_finished()).await;
    let mut seen = follow(reader, &ours, &mut cursor).await;

    holder.let_go().await;
    assert_eq!(lower.await.unwrap(), [Outcome::Accepted]);
    assert_eq!(higher.await.unwrap(), [Outcome::Accepted]);
    seen.extend(follow(reader, &ours, &mut cursor).await);
    assert_eq!(seen.iter().map(|(device, _)| *device).collect::<Vec<_>>(), [one, two], "nothing is missed");
    assert!(seen[0].1.number < foreign_feed[0].1.number, "the lower number was committed later");
    assert!(waits.is_some());
    assert_eq!(follow(reader, &theirs, &mut foreign_cursor).await, []);
}
