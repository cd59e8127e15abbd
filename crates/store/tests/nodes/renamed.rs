//! A change of an identifier on one node holds for submissions by that identifier on another node as soon as it is
//! confirmed.

use perigee_core::access::actor::Actor;
use perigee_core::devices::device::{DeviceRef, DeviceSettings};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Outcome;
use perigee_core::store::{Devices as _, Locations as _};
use perigee_core::time::Timestamp;
use perigee_store::Database;
use perigee_store::testing::submit_locations_without_check;

use crate::support::{Nodes, fix, history};

const IMEI: &str = "356938035643809";

fn imei() -> DeviceRef {
    DeviceRef::Identifier(IMEI.into())
}

async fn create(node: &Database, actor: &Actor, identifier: Option<&str>) -> DeviceId {
    let identifier = identifier.map(str::to_owned);
    let settings = DeviceSettings { name: "device".into(), identifier, ..DeviceSettings::default() };
    node.create_device(actor, settings, None).await.unwrap().into_inner().id
}

async fn identify(node: &Database, actor: &Actor, device: DeviceId, identifier: Option<&str>) {
    let found = node.find_device(actor.scope, &DeviceRef::Id(device)).await.unwrap().unwrap();
    let settings = DeviceSettings { identifier: identifier.map(str::to_owned), ..found.settings };
    node.replace_device(actor, device, found.revision, settings).await.unwrap();
}

/// Locations of a device that the database has.
async fn count(node: &Database, actor: &Actor, device: DeviceId) -> usize {
    history(node, actor, device).await.len()
}

async fn last_seen(node: &Database, actor: &Actor, device: DeviceId) -> Option<Timestamp> {
    node.find_device(actor.scope, &DeviceRef::Id(device)).await.unwrap().unwrap().last_seen
}

struct Sender<'n> {
    nodes: &'n Nodes,
    actor: Actor,
}

impl Sender<'_> {
    async fn submit(&self, node: &Database) -> Result<Vec<Outcome>, StoreError> {
        self.nodes.clock().advance_seconds(1);
        node.submit_locations(&self.actor, &imei(), vec![fix(self.nodes.now())]).await
    }

    async fn submit_without_check(&self, node: &Database) -> Result<Vec<Outcome>, StoreError> {
        self.nodes.clock().advance_seconds(1);
        submit_locations_without_check(node, &self.actor, &imei(), vec![fix(self.nodes.now())]).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_that_moves_takes_its_submissions_along() {
    let nodes = Nodes::new(2).await;
    let [changing, storing] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let mut holder = create(changing, &actor, Some(IMEI)).await;
    let mut other = create(changing, &actor, None).await;
    let sender = Sender { nodes: &nodes, actor: actor.clone() };
    for round in 1..=5 {
        assert_eq!(sender.submit(storing).await.unwrap(), [Outcome::Accepted]);
        assert_eq!(sender.submit(changing).await.unwrap(), [Outcome::Accepted]);
        let before = count(storing, &actor, holder).await;
        let seen = last_seen(storing, &actor, holder).await;
        identify(changing, &actor, holder, None).await;
        assert!(matches!(sender.submit(storing).await, Err(StoreError::NotFound(Kind::Device))), "{round}");
        identify(changing, &actor, other, Some(IMEI)).await;
        let other_before = count(storing, &actor, other).await;
        assert_eq!(sender.submit(storing).await.unwrap(), [Outcome::Accepted]);
        assert_eq!(count(storing, &actor, holder).await, before, "stored to the device that had it before");
        assert_eq!(count(storing, &actor, other).await, other_before + 1);
        assert_eq!(
            last_seen(storing, &actor, holder).await,
            seen,
            "no contact of the device that had it before"
        );
        (holder, other) = (other, holder);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_is_deleted_takes_nothing_more() {
    let nodes = Nodes::new(2).await;
    let [changing, storing] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let sender = Sender { nodes: &nodes, actor: actor.clone() };
    for _ in 0..3 {
        let device = create(changing, &actor, Some(IMEI)).await;
        for node in [storing, changing, storing] {
            assert_eq!(sender.submit(node).await.unwrap(), [Outcome::Accepted]);
        }
        changing.delete_device(&actor, device, None).await.unwrap();
        for node in [storing, changing] {
            assert!(matches!(sender.submit(node).await, Err(StoreError::NotFound(Kind::Device))));
        }
        assert_eq!(nodes.rows("location_log", device).await, 0);
    }
    let device = create(changing, &actor, Some(IMEI)).await;
    assert_eq!(sender.submit(storing).await.unwrap(), [Outcome::Accepted]);
    assert_eq!(count(storing, &actor, device).await, 1);
}

/// Submissions run all the time while the identifier moves: after each move that is confirmed, the device that had it
/// before gets no location that was submitted after the confirmation.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn submissions_that_race_with_a_move_go_to_one_device_and_none_is_lost() {
    const SENT: i64 = 200;
    let nodes = Nodes::new(2).await;
    let [changing, storing] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let devices = [create(changing, &actor, Some(IMEI)).await, create(changing, &actor, None).await];
    let (start, submitting) = (nodes.now(), actor.clone());
    let node = storing.clone();
    let sending = tokio::spawn(async move {
        let mut accepted = 0;
        for second in 0..SENT {
            let location = vec![fix(start.plus_seconds(second))];
            // Between the two changes no device has the identifier.
            match node.submit_locations(&submitting, &imei(), location).await {
                Ok(outcomes) => {
                    assert_eq!(outcomes, [Outcome::Accepted]);
                    accepted += 1;
                }
                Err(StoreError::NotFound(Kind::Device)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        accepted
    });
    let mut moves = 0;
    while !sending.is_finished() {
        let (from, to) = (devices[moves % 2], devices[(moves + 1) % 2]);
        identify(changing, &actor, from, None).await;
        let left = count(changing, &actor, from).await;
        identify(changing, &actor, to, Some(IMEI)).await;
        assert_eq!(count(changing, &actor, from).await, left, "stored after the move was confirmed");
        moves += 1;
    }
    let accepted = sending.await.unwrap();
    let stored = count(storing, &actor, devices[0]).await + count(storing, &actor, devices[1]).await;
    assert_eq!(stored, accepted);
}

/// What these tests must catch: a node that trusts what it has remembered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_without_the_check_stores_to_the_wrong_device() {
    let nodes = Nodes::new(2).await;
    let [changing, storing] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let (holder, other) = (create(changing, &actor, Some(IMEI)).await, create(changing, &actor, None).await);
    let sender = Sender { nodes: &nodes, actor: actor.clone() };
    assert_eq!(sender.submit_without_check(storing).await.unwrap(), [Outcome::Accepted]);
    identify(changing, &actor, holder, None).await;
    identify(changing, &actor, other, Some(IMEI)).await;
    assert_eq!(sender.submit_without_check(storing).await.unwrap(), [Outcome::Accepted]);
    assert_eq!(count(storing, &actor, holder).await, 2, "the variant is wrong as intended");
    assert_eq!(count(storing, &actor, other).await, 0);
    assert_eq!(sender.submit(storing).await.unwrap(), [Outcome::Accepted]);
    assert_eq!(count(storing, &actor, other).await, 1);
}
