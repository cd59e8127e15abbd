//! Servers of a Citus cluster that are killed and started again while locations are stored: what was acknowledged is
//! there, each location once, and the store continues without being opened again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::{MockClock, Timestamp};
use perigee_store::testing::{START, Scratch, new_account};
use perigee_store::{Database, Engine, OpenOptions};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::failover::fix;

/// Senders, each with an account of its own, so that every server has some.
const SENDERS: usize = 12;
/// Locations of each sender to be acknowledged before and after a fault.
const BETWEEN: usize = 15;
/// How soon all must be able to write after a server was started again.
const WRITING_AGAIN: Duration = Duration::from_mins(1);

/// The programs that end and start servers, made by scripts/citus.
fn run(action: &str, server: &str) {
    let folder = std::env::var("PERIGEE_CITUS_DIR").expect("run this by scripts/test --citus");
    let status = std::process::Command::new(format!("{folder}/{action}-{server}")).status().unwrap();
    assert!(status.success(), "{action} {server}");
}

fn time(number: usize) -> Timestamp {
    START.plus_seconds(i64::try_from(number).unwrap())
}

type Counts = watch::Sender<[usize; SENDERS]>;

/// Sends one location after the other, each until it is acknowledged, and counts them.
async fn send(database: Database, (actor, device): (Actor, DeviceId), sender: usize, acknowledged: Counts) {
    for count in 1.. {
        // A location that is sent again may have been stored the first time.
        while database.store_locations(&actor, device, vec![fix(time(count))]).await.is_err() {}
        acknowledged.send_modify(|counts| counts[sender] = count);
        if acknowledged.is_closed() {
            break;
        }
    }
}

async fn device(database: &Database, number: usize) -> (Actor, DeviceId) {
    let mut new = new_account(1);
    new.owner_email = format!("owner@a{number}.example").parse().unwrap();
    let account = database.create_account(&Origin::command(), new).await.unwrap().0.id;
    let actor = Actor::operator(account);
    let settings = DeviceSettings { name: "device".into(), ..DeviceSettings::default() };
    let device = database.create_device(&actor, settings, None).await.unwrap().into_inner().id;
    (actor, device)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Citus cluster: scripts/test --citus"]
async fn acknowledged_writes_outlast_every_server() {
    let scratch = Scratch::migrated(Engine::Postgres).await;
    let clock = Arc::new(MockClock::at(START));
    let database = Database::open(scratch.url(), OpenOptions::serve(), clock).await.unwrap();
    let (acknowledge, mut acknowledged) = watch::channel([0; SENDERS]);
    let (mut senders, mut devices) = (JoinSet::new(), Vec::new());
    for sender in 0..SENDERS {
        let device = device(&database, sender).await;
        devices.push(device.clone());
        senders.spawn(send(database.clone(), device, sender, acknowledge.clone()));
    }
    for server in ["worker1", "worker2", "coordinator", "worker1"] {
        let begun = *acknowledged.borrow();
        let enough =
            |counts: &[usize; SENDERS]| counts.iter().zip(begun).all(|(now, then)| *now >= then + BETWEEN);
        acknowledged.wait_for(enough).await.unwrap();
        run("kill", server);
        let down = *acknowledged.borrow();
        run("start", server);
        let (started, lost_at) = (Instant::now(), *acknowledged.borrow());
        let again =
            acknowledged.wait_for(|counts| counts.iter().zip(lost_at).all(|(now, then)| *now > then + 1));
        tokio::time::timeout(WRITING_AGAIN, again).await.expect("nobody can write").unwrap();
        let meanwhile: usize = lost_at.iter().zip(down).map(|(now, then)| now - then).sum();
        println!(
            "{server}: {meanwhile} stored while it was down, all write again {} ms after its start",
            started.elapsed().as_millis()
        );
    }
    drop(acknowledged);
    while senders.join_next().await.is_some() {}
    let counts = *acknowledge.borrow();
    println!("{} acknowledged", counts.iter().sum::<usize>());
    for ((actor, device), count) in devices.into_iter().zip(counts) {
        let request =
            HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 1_000_000 };
        let history = database.list_locations(actor.scope, device, request).await.unwrap().items;
        let times: Vec<Timestamp> = history.iter().map(|stored| stored.location.time).collect();
        assert_eq!(times, (1..=count).map(time).collect::<Vec<_>>(), "each once, and nothing else");
    }
}
