//! Histories from a real streaming standby: everything that was acknowledged is in them, also when the standby is behind or
//! away.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::access::actor::Actor;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};
use perigee_core::store::Locations as _;
use perigee_core::time::{MockClock, Timestamp};
use perigee_store::testing::START;
use perigee_store::{Database, OpenOptions};

use crate::cluster::Cluster;
use crate::failover::{device, fix};

async fn open(primary: &Cluster, standby: &Cluster, lag: Duration) -> Database {
    let replica = Some(standby.address().parse().unwrap());
    let options = OpenOptions { replica, replica_lag: lag, ..OpenOptions::serve() };
    let clock = Arc::new(MockClock::at(START));
    Database::open(&primary.address().parse().unwrap(), options, clock).await.unwrap()
}

/// The number of locations in the history.
async fn stored(database: &Database, actor: &Actor, device: DeviceId) -> usize {
    let request =
        HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 100_000 };
    database.list_locations(actor.scope, device, request).await.unwrap().items.len()
}

async fn store(database: &Database, actor: &Actor, device: DeviceId, at: Timestamp) {
    database.store_locations(actor, device, vec![fix(at)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_has_what_was_just_acknowledged() {
    let primary = Cluster::new();
    let _running = primary.start("");
    let standby = primary.standby();
    let _following = standby.start("");
    // Far longer than replaying takes: it is the standby that answers.
    let database = open(&primary, &standby, Duration::from_mins(1)).await;
    let (actor, device) = device(&database).await;
    let other = open(&primary, &standby, Duration::from_mins(1)).await;
    for count in 1..=20 {
        store(&database, &actor, device, START.plus_seconds(count)).await;
        assert_eq!(stored(&other, &actor, device).await, usize::try_from(count).unwrap());
    }
    assert_eq!((other.stats().replica_reads, database.stats().replica_reads), (20, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_is_behind_or_away_is_passed_over() {
    let primary = Cluster::new();
    let _running = primary.start("");
    let standby = primary.standby();
    let following = standby.start("");
    let database = open(&primary, &standby, Duration::from_millis(200)).await;
    let (actor, device) = device(&database).await;
    let on_standby = standby.connect().await;
    on_standby.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    store(&database, &actor, device, START.plus_seconds(1)).await;
    let before = database.stats().replica_reads;
    assert_eq!(stored(&database, &actor, device).await, 1, "read from the primary");
    assert_eq!(database.stats().replica_reads, before);

    on_standby.batch_execute("SELECT pg_wal_replay_resume()").await.unwrap();
    while database.stats().replica_reads == before {
        assert_eq!(stored(&database, &actor, device).await, 1);
    }
    drop(following);
    store(&database, &actor, device, START.plus_seconds(2)).await;
    assert_eq!(stored(&database, &actor, device).await, 2, "read from the primary");
    let following = standby.start("");
    let before = database.stats().replica_reads;
    while database.stats().replica_reads == before {
        assert_eq!(stored(&database, &actor, device).await, 2);
    }
    drop(following);
}
