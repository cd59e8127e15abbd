//! Compaction beside submissions: neither waits for the other longer than for a commit, and what is being packed is known.

use perigee_core::id::DeviceId;
use perigee_core::locations::location::{Compacted, CompactionBudget, Location, Outcome};
use perigee_core::store::{LocationMaintenance as _, Locations as _};
use perigee_store::{Database, params};
use tokio::task::JoinHandle;

use crate::support::{Holder, Nodes, fix, follow, history, lock, waiting_for};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };

fn track(nodes: &Nodes, seconds: std::ops::Range<i64>) -> Vec<Location> {
    seconds.map(|second| fix(nodes.now().plus_seconds(second))).collect()
}

/// Locks the state of a device: compaction then has written the chunk and waits to record it.
async fn hold_state(node: &Database, device: DeviceId) -> Holder {
    let sql = "SELECT device_id FROM device_live WHERE device_id = ?1 FOR UPDATE";
    Holder::new(node, vec![(sql, params![device].to_vec())]).await
}

/// Packs on a task of its own.
fn pack(node: &Database, budget: CompactionBudget) -> JoinHandle<Compacted> {
    let node = node.clone();
    tokio::spawn(async move { node.compact(budget).await.unwrap() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_location_being_packed_is_a_duplicate() {
    let nodes = Nodes::new(3).await;
    let [one, two, three] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let batch = track(&nodes, -40..0);
    one.store_locations(&actor, device, batch.clone()).await.unwrap();

    let holder = hold_state(three, device).await;
    let packing = pack(one, ALL);
    waiting_for(three, holder.pid, || packing.is_finished()).await.expect("it waits");
    // Late locations, some of them sent again, arrive meanwhile and are tried again until the row is free.
    let late = [track(&nodes, -50..-45), batch.clone()].concat();
    let storing = tokio::spawn({
        let (two, actor) = (two.clone(), actor.clone());
        async move { two.store_locations(&actor, device, late).await.unwrap() }
    });
    let other = nodes.device(&actor).await;
    two.store_locations(&actor, other, track(&nodes, -1..0)).await.unwrap();
    assert!(!storing.is_finished(), "it is not stored before what is being packed");
    holder.let_go().await;
    assert_eq!(packing.await.unwrap().locations, 40);
    let outcomes = storing.await.unwrap();
    assert_eq!(outcomes[..5], [Outcome::Accepted; 5]);
    assert_eq!(outcomes[5..], [Outcome::Duplicate; 40]);

    assert_eq!(two.store_locations(&actor, device, batch).await.unwrap(), [Outcome::Duplicate; 40]);
    assert_eq!(history(two, &actor, device).await.len(), 45);
    assert_eq!(follow(two, &actor, &mut 0).await.len(), 46, "with that of the other device");
    assert_eq!(one.compact(ALL).await.unwrap().locations, 6, "the late ones are still to be packed");
    assert_eq!(history(two, &actor, device).await.len(), 45);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compaction_does_not_wait_for_the_account() {
    let nodes = Nodes::new(2).await;
    let [one, two] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    one.store_locations(&actor, device, track(&nodes, -40..0)).await.unwrap();
    let holder = Holder::new(two, vec![lock(actor.scope.account)]).await;
    assert_eq!(one.compact(ALL).await.unwrap().locations, 40);
    holder.let_go().await;
    assert_eq!(history(two, &actor, device).await.len(), 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_pack_a_device_once() {
    let nodes = Nodes::new(3).await;
    let [one, two, three] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    one.store_locations(&actor, device, track(&nodes, -40..0)).await.unwrap();
    let holder = hold_state(three, device).await;
    let first = pack(one, ALL);
    let first_pid = waiting_for(three, holder.pid, || first.is_finished()).await.expect("it waits");
    let second = pack(two, ALL);
    waiting_for(three, first_pid, || second.is_finished()).await.expect("it waits for the first");
    holder.let_go().await;
    assert_eq!((first.await.unwrap().locations, second.await.unwrap().locations), (40, 0));
    assert_eq!(history(two, &actor, device).await.len(), 40);
    assert_eq!(nodes.rows("location_chunk", device).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_leaves_an_account_to_the_one_that_packs_it() {
    let nodes = Nodes::new(3).await;
    let [one, two, three] = &nodes.all[..] else { unreachable!("three nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    one.store_locations(&actor, device, track(&nodes, -2_048..0)).await.unwrap();
    let ordinary = CompactionBudget { devices: 100, everything: false };
    let holder = hold_state(three, device).await;
    let first = pack(one, ordinary);
    let first_pid =
        waiting_for(three, holder.pid, || first.is_finished()).await.expect("it waits to record it");
    let second = two.compact(ordinary).await.unwrap();
    assert_eq!((second.locations, second.more), (0, false), "it does not wait, and comes again later");
    let third = pack(two, ordinary);
    waiting_for(three, first_pid, || third.is_finished()).await.expect("then it waits for its turn");
    holder.let_go().await;
    assert_eq!((first.await.unwrap().locations, third.await.unwrap().locations), (2_048, 0));
    assert_eq!(nodes.rows("location_chunk", device).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locations_packed_by_another_node_leave_no_gap() {
    let nodes = Nodes::new(2).await;
    let [one, two] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let store = async |second| {
        let location = track(&nodes, second..second + 1);
        two.store_locations(&actor, device, location).await.unwrap()[0]
    };
    for seconds in [-300..-200, -100..0] {
        one.store_locations(&actor, device, track(&nodes, seconds)).await.unwrap();
    }
    one.compact(ALL).await.unwrap();
    assert_eq!(store(-150).await, Outcome::Accepted, "from now on the gap is known");
    assert_eq!(store(-160).await, Outcome::Accepted);
    assert_eq!(store(-150).await, Outcome::Duplicate, "it is in the log");
    assert_eq!(store(-250).await, Outcome::Duplicate, "before the gap");
    assert_eq!(store(-50).await, Outcome::Duplicate, "after it");
    assert_eq!(store(-140).await, Outcome::Accepted);
    assert_eq!(one.compact(ALL).await.unwrap().locations, 3);
    for second in [-150, -160, -140] {
        assert_eq!(store(second).await, Outcome::Duplicate, "{second}");
    }
    assert_eq!(history(two, &actor, device).await.len(), 203);
}
