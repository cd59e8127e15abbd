//! A primary that is lost while its synchronous standby is there: what was acknowledged is on the standby, and the store
//! goes on with it, without being opened again.

use std::sync::Arc;

use perigee_core::actor::{Actor, Origin};
use perigee_core::device::DeviceSettings;
use perigee_core::id::DeviceId;
use perigee_core::location::{
    HistoryRequest, Latitude, Location, Longitude, Order, Outcome, Readings, TimeRange,
};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::{MockClock, Timestamp};
use perigee_store::testing::{START, new_account};
use perigee_store::{Database, DatabaseUrl, OpenOptions};
use tokio::sync::watch;

use crate::cluster::{Cluster, run};

/// Locations to be acknowledged before the primary is lost.
const BEFORE: i64 = 30;

pub(crate) async fn device(database: &Database) -> (Actor, DeviceId) {
    let new = new_account(1);
    let account = database.create_account(&Origin::command(), new).await.unwrap().0.id;
    let actor = Actor::operator(account);
    let settings = DeviceSettings { name: "device".into(), ..DeviceSettings::default() };
    let device = database.create_device(&actor, settings, None).await.unwrap().into_inner().id;
    (actor, device)
}

pub(crate) fn fix(time: Timestamp) -> Location {
    Location {
        time,
        latitude: Latitude::from_degrees(1.0).unwrap(),
        longitude: Longitude::from_degrees(1.0).unwrap(),
        readings: Readings::default(),
    }
}

/// Waits until commits wait for the standby.
async fn follow_synchronously(primary: &Cluster) {
    let client = primary.connect().await;
    client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let sql = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    while client.query(sql, &[]).await.unwrap().is_empty() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_kept_and_writing_goes_on() {
    let primary = Cluster::new();
    let running = primary.start("");
    let standby = primary.standby();
    let _following = standby.start("");
    follow_synchronously(&primary).await;
    // The standby is named first: it is passed over as long as it refuses writes.
    let url = format!("postgres://perigee@{},{}/postgres", standby.host(), primary.host());
    let url: DatabaseUrl = url.parse().unwrap();
    let clock = Arc::new(MockClock::at(START));
    let database = Database::open(&url, OpenOptions::serve(), clock).await.unwrap();
    let (actor, device) = device(&database).await;

    let (acknowledge, mut acknowledged) = watch::channel(0);
    let sending = tokio::spawn({
        let (database, actor) = (database.clone(), actor.clone());
        async move {
            for second in 1.. {
                let batch = vec![fix(START.plus_seconds(second))];
                if database.store_locations(&actor, device, batch).await.is_err() {
                    break;
                }
                acknowledge.send_replace(second);
            }
        }
    });
    acknowledged.wait_for(|count| *count >= BEFORE).await.unwrap();
    drop(running);
    sending.await.unwrap();
    let count = *acknowledged.borrow();

    let mut promote = standby.program("pg_ctl");
    run(promote.args(["promote", "--silent", "--wait", "--pgdata"]).arg(standby.data()));
    let after = vec![fix(START)];
    assert_eq!(database.store_locations(&actor, device, after).await.unwrap(), [Outcome::Accepted]);
    let request =
        HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 100_000 };
    let history = database.list_locations(actor.scope, device, request).await.unwrap().items;
    let times: Vec<Timestamp> = history.iter().map(|stored| stored.location.time).collect();
    let expected: Vec<Timestamp> = (0..=count).map(|second| START.plus_seconds(second)).collect();
    // The last one that was sent may have been stored without an answer.
    assert_eq!(times[..expected.len()], expected);
    assert!(times.len() <= expected.len() + 1, "nothing else");
}
