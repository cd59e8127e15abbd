//! Commits that take long: numbers they have drawn are not skipped by who reads the logs meanwhile, and other devices
//! of the account continue.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Outcome;
use perigee_core::store::{Devices as _, Events as _, Locations as _, LogScanLimits, RuleEngineStore as _};
use perigee_store::{Database, params};
use tokio::task::JoinHandle;

use crate::support::{Holder, Nodes, fix, follow, lock, waiting_for};

const LIMITS: LogScanLimits = LogScanLimits { locations: 1_000, devices: 1_000, carriers: 1_000 };

/// Takes the next number of the log for this device and gives it back with the commit, so that who draws it stands still
/// with its numbers drawn.
const TAKE_NUMBER: &str = "INSERT INTO location_log (account_id, device_id, first_number, last_number, first_time, \
        last_time, count, received_at, checksum, points) \
    SELECT d.account_id, d.id, s.last_value + 1, s.last_value + 1, 0, 0, 1, 0, 0, '' \
    FROM device d, event_number s WHERE d.id = ?1";
const GIVE_BACK: &str = "DELETE FROM location_log WHERE device_id = ?1 AND points = ''";

/// Holds the next submission of this device at its commit.
async fn hold(node: &Database, device: DeviceId) -> Holder {
    let statements = [TAKE_NUMBER, GIVE_BACK].map(|sql| (sql, params![device].to_vec()));
    Holder::new(node, statements.to_vec()).await
}

/// A submission that waits to be committed.
struct Held {
    holder: Holder,
    sending: JoinHandle<Vec<Outcome>>,
    /// The connection that waits.
    pid: i64,
}

impl Held {
    async fn new(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> Self {
        let reader = &nodes.all[0];
        let holder = hold(reader, device).await;
        let sending = send(nodes, node, actor, device);
        let pid = waiting_for(reader, holder.pid, || sending.is_finished()).await.expect("it waits");
        Self { holder, sending, pid }
    }

    async fn let_go(self) {
        self.holder.let_go().await;
        assert_eq!(self.sending.await.unwrap(), [Outcome::Accepted]);
    }
}

fn send(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> JoinHandle<Vec<Outcome>> {
    let (node, actor, batch) = (node.clone(), actor.clone(), vec![fix(nodes.now())]);
    tokio::spawn(async move { node.store_locations(&actor, device, batch).await.unwrap() })
}

/// Devices with a location each, which all readers have read.
async fn devices<const N: usize>(nodes: &Nodes, actor: &Actor) -> [DeviceId; N] {
    let mut made = [DeviceId::from_i64(0); N];
    for device in &mut made {
        *device = nodes.device(actor).await;
        let early = fix(nodes.now().plus_seconds(-60));
        nodes.all[0].store_locations(actor, *device, vec![early]).await.unwrap();
    }
    made
}

/// All who go by the numbers of the log.
struct Readers<'n> {
    node: &'n Database,
    actor: &'n Actor,
    feed: i64,
    events: i64,
    rules: i64,
}

impl<'n> Readers<'n> {
    async fn at_end(node: &'n Database, actor: &'n Actor) -> Self {
        let mut readers = Self { node, actor, feed: 0, events: 0, rules: 0 };
        readers.read().await;
        readers
    }

    /// The devices that sent what is new, in the order in which each of the readers learns of it.
    async fn read(&mut self) -> Vec<DeviceId> {
        let (account, scope) = (self.actor.scope.account, self.actor.scope);
        let feed = follow(self.node, self.actor, &mut self.feed).await;
        let feed: Vec<DeviceId> = feed.into_iter().map(|(device, _)| device).collect();
        let mut events = Vec::new();
        loop {
            let page = self.node.read_events(scope, &EventFilter::default(), self.events, 2).await.unwrap();
            let locations = page.events.iter().filter(|event| event.kind == EventKind::LocationCreated);
            events.extend(locations.filter_map(|event| event.device));
            if std::mem::replace(&mut self.events, page.next) == page.next {
                break;
            }
        }
        assert_eq!(feed, events);
        let end = self.node.event_end(Scope::for_store_check(account)).await.unwrap();
        assert!(end <= self.events, "nobody waits for more than there is to read");
        let scan = self.node.scan_log(account, self.rules, LIMITS).await.unwrap();
        assert_eq!(scan.count, feed.len());
        self.rules = scan.next;
        feed
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lower_number_that_is_committed_later_is_not_missed() {
    let nodes = Nodes::new(3).await;
    let [reader, slow, quick] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("ours").await;
    let [one, two] = devices(&nodes, &actor).await;
    let mut readers = Readers::at_end(reader, &actor).await;
    let lower = Held::new(&nodes, slow, &actor, one).await;
    // Another device of the account does not wait.
    assert_eq!(send(&nodes, quick, &actor, two).await.unwrap(), [Outcome::Accepted]);
    assert_eq!(readers.read().await, [], "the lower number is still to come");
    lower.let_go().await;
    assert_eq!(readers.read().await, [one, two]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_accounts_are_read_meanwhile() {
    let nodes = Nodes::new(3).await;
    let [reader, slow, quick] = &nodes.all[..] else { unreachable!("three nodes") };
    let (ours, theirs) = (nodes.account("ours").await, nodes.account("theirs").await);
    let [one] = devices(&nodes, &ours).await;
    let [foreign] = devices(&nodes, &theirs).await;
    let mut readers = Readers::at_end(reader, &theirs).await;
    let held = Held::new(&nodes, slow, &ours, one).await;
    assert_eq!(send(&nodes, quick, &theirs, foreign).await.unwrap(), [Outcome::Accepted]);
    assert_eq!(readers.read().await, [foreign]);
    held.let_go().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_whatever_order_they_are_committed() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let nodes = Nodes::new(4).await;
        let actor = nodes.account("ours").await;
        let devices = devices::<3>(&nodes, &actor).await;
        let mut readers = Readers::at_end(&nodes.all[0], &actor).await;
        let mut held = Vec::new();
        for (node, device) in nodes.all[1..].iter().zip(devices) {
            held.push(Some(Held::new(&nodes, node, &actor, device).await));
        }
        let (mut seen, mut done) = (Vec::new(), [false; 3]);
        for index in order {
            held[index].take().unwrap().let_go().await;
            done[index] = true;
            seen.extend(readers.read().await);
            let settled = done.iter().take_while(|done| **done).count();
            assert_eq!(seen, devices[..settled], "{order:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_fails_holds_up_nobody() {
    let nodes = Nodes::new(3).await;
    let [reader, slow, quick] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("ours").await;
    let [one, two] = devices(&nodes, &actor).await;
    let mut readers = Readers::at_end(reader, &actor).await;
    let holder = hold(reader, one).await;
    let lost = tokio::spawn({
        let (slow, actor, batch) = (slow.clone(), actor.clone(), vec![fix(nodes.now())]);
        async move { slow.store_locations(&actor, one, batch).await }
    });
    let pid = waiting_for(reader, holder.pid, || lost.is_finished()).await.expect("it waits");
    assert_eq!(send(&nodes, quick, &actor, two).await.unwrap(), [Outcome::Accepted]);
    let end = ("SELECT pg_terminate_backend(CAST(?1 AS INTEGER))", params![pid].to_vec());
    Holder::new(reader, vec![end]).await.let_go().await;
    assert!(lost.await.unwrap().is_err(), "its connection was closed");
    holder.let_go().await;
    assert_eq!(readers.read().await, [two]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_waits_for_itself() {
    let nodes = Nodes::new(3).await;
    let [reader, slow, quick] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("ours").await;
    let [one, two] = devices(&nodes, &actor).await;
    let first = Held::new(&nodes, slow, &actor, one).await;
    let again = send(&nodes, quick, &actor, one);
    // It is tried again and again; another device is stored meanwhile.
    assert_eq!(send(&nodes, reader, &actor, two).await.unwrap(), [Outcome::Accepted]);
    assert!(!again.is_finished(), "the first one is not committed");
    first.let_go().await;
    assert_eq!(again.await.unwrap(), [Outcome::Duplicate]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_the_account_wait_for_submissions_and_the_other_way_round() {
    let nodes = Nodes::new(3).await;
    let [reader, slow, quick] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("ours").await;
    let [one, two] = devices(&nodes, &actor).await;
    let held = Held::new(&nodes, slow, &actor, one).await;
    let deleting = tokio::spawn({
        let (reader, actor) = (reader.clone(), actor.clone());
        async move { reader.delete_device(&actor, two, None).await.unwrap() }
    });
    assert!(waiting_for(reader, held.pid, || deleting.is_finished()).await.is_some(), "it waits");
    held.let_go().await;
    deleting.await.unwrap();
    let late = quick.store_locations(&actor, two, vec![fix(nodes.now())]).await;
    assert!(late.is_err(), "the device is deleted");
    let holder = Holder::new(reader, vec![lock(actor.scope.account)]).await;
    let waiting = send(&nodes, quick, &actor, one);
    assert!(waiting_for(reader, holder.pid, || waiting.is_finished()).await.is_some());
    holder.let_go().await;
    assert_eq!(waiting.await.unwrap(), [Outcome::Duplicate]);
}
