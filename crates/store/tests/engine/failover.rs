//! A primary that is lost while its synchronous standby is there: what was acknowledged is on the standby, and the
//! store continues with it, without being opened again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    HistoryRequest, Latitude, Location, Longitude, Order, Readings, TimeRange,
};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::{MockClock, Timestamp};
use perigee_store::testing::{START, new_account};
use perigee_store::{Database, DatabaseUrl, OpenOptions};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cluster::{Cluster, run};

const SENDERS: usize = 8;
/// Locations of each sender to be acknowledged before the primary is lost.
const BEFORE: usize = 30;
/// How soon all must be able to write after the standby was promoted.
const WRITING_AGAIN: Duration = Duration::from_secs(10);

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

/// Sends one location after the other, each until it is acknowledged, and counts them.
async fn send(
    database: Database,
    (actor, device): (Actor, DeviceId),
    sender: usize,
    acknowledged: watch::Sender<[usize; SENDERS]>,
) {
    for count in 1.. {
        // A location that is sent again may have been stored the first time.
        while database.store_locations(&actor, device, vec![fix(time(sender, count))]).await.is_err() {}
        acknowledged.send_modify(|counts| counts[sender] = count);
        if acknowledged.is_closed() {
            break;
        }
    }
}

/// The time of a sender's location with this number.
fn time(sender: usize, number: usize) -> Timestamp {
    START.plus_seconds(i64::try_from(number * SENDERS + sender).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_are_kept_and_writing_continues() {
    let primary = Cluster::new();
    let running = primary.start("");
    let standby = primary.standby();
    let _following = standby.start("");
    follow_synchronously(&primary).await;
    // The standby is named first: it is skipped as long as it refuses writes.
    let url = format!("postgres://perigee@{},{}/postgres", standby.host(), primary.host());
    let url: DatabaseUrl = url.parse().unwrap();
    let clock = Arc::new(MockClock::at(START));
    let database = Database::open(&url, OpenOptions::serve(), clock).await.unwrap();
    let (actor, device) = device(&database).await;

    let (acknowledge, mut acknowledged) = watch::channel([0; SENDERS]);
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        senders.spawn(send(database.clone(), (actor.clone(), device), sender, acknowledge.clone()));
    }
    acknowledged.wait_for(|counts| counts.iter().all(|count| *count >= BEFORE)).await.unwrap();
    drop(running);
    let mut promote = standby.program("pg_ctl");
    run(promote.args(["promote", "--silent", "--wait", "--pgdata"]).arg(standby.data()));

    let (promoted, lost_at) = (Instant::now(), *acknowledged.borrow());
    let again = acknowledged.wait_for(|counts| counts.iter().zip(lost_at).all(|(now, then)| *now > then + 1));
    tokio::time::timeout(WRITING_AGAIN, again).await.expect("nobody can write").unwrap();
    println!("all write again {} ms after the promotion", promoted.elapsed().as_millis());
    drop(acknowledged);
    while senders.join_next().await.is_some() {}
    let counts = *acknowledge.borrow();

    let request =
        HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 1_000_000 };
    let history = database.list_locations(actor.scope, device, request).await.unwrap().items;
    let times: Vec<Timestamp> = history.iter().map(|stored| stored.location.time).collect();
    let of_sender = |(sender, count)| (1..=count).map(move |number| time(sender, number));
    let mut expected: Vec<Timestamp> = counts.into_iter().enumerate().flat_map(of_sender).collect();
    expected.sort_unstable();
    assert_eq!(times, expected, "each once, and nothing else");
}
