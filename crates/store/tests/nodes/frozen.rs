//! A node that stands still in the middle of a commit: it holds its locks, and delays nothing but the devices of that commit.

use std::time::Duration;

use perigee_core::access::actor::Actor;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Outcome;
use perigee_core::store::{Devices as _, Locations as _};
use perigee_store::{Database, Value, params};
use tokio::task::JoinHandle;

use crate::support::{Holder, Nodes, fix, lock, number, waiting_for};

const SHARE: &str = "SELECT pg_advisory_xact_lock_shared(?1)";
const LOCK_STATE: &str =
    "SELECT device_id FROM device_live WHERE account_id = ?1 AND device_id = ?2 FOR NO KEY UPDATE";
const LOCK_DEVICE: &str = "SELECT id FROM device WHERE account_id = ?1 AND id = ?2 FOR NO KEY UPDATE";
const ANNOUNCE: &str = "SELECT pg_advisory_xact_lock_shared(-1 - last_value) FROM event_number";
const DRAW: &str = "SELECT nextval('event_number')";

/// Whether a submission could share the lock of the account at this moment.
const IS_FREE: &str = "SELECT CASE WHEN pg_try_advisory_xact_lock_shared(?1) THEN 1 ELSE 0 END";
/// How many changes of an account wait, in the queue of its lock or out of it.
const CHANGES: &str = "SELECT (SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 \
        AND CAST(classid AS BIGINT) = 1346720083) \
    + (SELECT COUNT(*) FROM pg_stat_activity WHERE CAST(?1 AS INTEGER) = ANY (pg_blocking_pids(pid)))";

/// A node that stands still with the locks that a submission of this device takes.
pub(crate) async fn freeze(nodes: &Nodes, actor: &Actor, device: DeviceId) -> Holder {
    let account = params![actor.scope.account].to_vec();
    let key = params![actor.scope.account, device].to_vec();
    let statements: Vec<(&'static str, Vec<Value>)> = vec![
        (SHARE, account),
        (LOCK_DEVICE, key.clone()),
        (LOCK_STATE, key),
        (ANNOUNCE, Vec::new()),
        (DRAW, Vec::new()),
    ];
    Holder::new(&nodes.that_may_hang().await, statements).await
}

/// Devices with a location each.
async fn devices<const N: usize>(nodes: &Nodes, actor: &Actor) -> [DeviceId; N] {
    let mut made = [DeviceId::from_i64(0); N];
    for device in &mut made {
        *device = nodes.device(actor).await;
        let early = fix(nodes.now().plus_seconds(-60));
        nodes.all[0].store_locations(actor, *device, vec![early]).await.unwrap();
    }
    made
}

type Sent = JoinHandle<Result<Vec<Outcome>, StoreError>>;

fn send(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> Sent {
    let (node, actor, batch) = (node.clone(), actor.clone(), vec![fix(nodes.now())]);
    tokio::spawn(async move { node.store_locations(&actor, device, batch).await })
}

/// Creates a device, for which the lock of the account is taken alone.
fn change(node: &Database, actor: &Actor) -> JoinHandle<Result<(), StoreError>> {
    let (node, actor) = (node.clone(), actor.clone());
    let settings = DeviceSettings { name: "new".into(), ..DeviceSettings::default() };
    tokio::spawn(async move { node.create_device(&actor, settings, None).await.map(drop) })
}

/// Waits until this many changes wait for the node that stands still.
async fn changes_wait(node: &Database, frozen: &Holder, count: i64) {
    while number(node, CHANGES, params![frozen.pid]).await < count {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_devices_are_stored_while_a_change_waits_for_a_frozen_node() {
    let nodes = Nodes::new(2).await;
    let [node, other] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("ours").await;
    let [held, two, three] = devices(&nodes, &actor).await;
    let frozen = freeze(&nodes, &actor, held).await;
    let changing = change(other, &actor);
    changes_wait(other, &frozen, 1).await;
    for _ in 0..3 {
        nodes.clock().advance_seconds(1);
        for device in [two, three] {
            assert_eq!(send(&nodes, node, &actor, device).await.unwrap().unwrap(), [Outcome::Accepted]);
        }
    }
    frozen.let_go().await;
    // It was waiting all the time, or its time was over.
    assert!(matches!(changing.await.unwrap(), Ok(()) | Err(StoreError::Unavailable(_))));
    change(other, &actor).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn devices_of_one_commit_do_not_wait_for_one_that_a_frozen_node_holds() {
    let nodes = Nodes::new(1).await;
    let node = nodes.that_may_hang().await;
    let actor = nodes.account("ours").await;
    let [held, two, three] = devices(&nodes, &actor).await;
    let new = nodes.device(&actor).await;
    for frozen_device in [held, new] {
        nodes.clock().advance_seconds(1);
        let frozen = freeze(&nodes, &actor, frozen_device).await;
        // More than one commit: those that wait must not use up all that may run at once.
        let waiting: Vec<Sent> = (0..8).map(|_| send(&nodes, &node, &actor, frozen_device)).collect();
        let others = [two, three].map(|device| send(&nodes, &node, &actor, device));
        for other in others {
            assert_eq!(other.await.unwrap().unwrap(), [Outcome::Accepted]);
        }
        assert!(waiting.iter().all(|sent| !sent.is_finished()));
        frozen.let_go().await;
        let mut outcomes = Vec::new();
        for sent in waiting {
            outcomes.extend(sent.await.unwrap().unwrap());
        }
        let accepted = outcomes.iter().filter(|outcome| **outcome == Outcome::Accepted).count();
        assert_eq!((outcomes.len(), accepted), (8, 1), "all have the same time and position");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_accounts_are_stored_while_a_frozen_node_changes_one() {
    let nodes = Nodes::new(1).await;
    let node = nodes.that_may_hang().await;
    let (ours, theirs) = (nodes.account("ours").await, nodes.account("theirs").await);
    let [held] = devices(&nodes, &ours).await;
    let [free] = devices(&nodes, &theirs).await;
    let frozen = Holder::new(&nodes.that_may_hang().await, vec![lock(ours.scope.account)]).await;
    let waiting: Vec<Sent> = (0..8).map(|_| send(&nodes, &node, &ours, held)).collect();
    for _ in 0..3 {
        nodes.clock().advance_seconds(1);
        assert_eq!(send(&nodes, &node, &theirs, free).await.unwrap().unwrap(), [Outcome::Accepted]);
    }
    assert!(waiting.iter().all(|sent| !sent.is_finished()));
    frozen.let_go().await;
    for sent in waiting {
        sent.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_wait_leave_connections_for_locations() {
    let nodes = Nodes::new(1).await;
    let node = nodes.that_may_hang().await;
    let actor = nodes.account("ours").await;
    let [held, two] = devices(&nodes, &actor).await;
    let frozen = freeze(&nodes, &actor, held).await;
    let changing: Vec<_> = (0..20).map(|_| change(&node, &actor)).collect();
    changes_wait(&nodes.all[0], &frozen, 2).await;
    for _ in 0..3 {
        nodes.clock().advance_seconds(1);
        assert_eq!(send(&nodes, &node, &actor, two).await.unwrap().unwrap(), [Outcome::Accepted]);
    }
    frozen.let_go().await;
    for change in changing {
        assert!(matches!(change.await.unwrap(), Ok(()) | Err(StoreError::Unavailable(_))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn submissions_that_wait_too_long_are_refused() {
    let nodes = Nodes::new(1).await;
    let node = nodes.that_answers_within(Duration::from_secs(2)).await;
    let actor = nodes.account("ours").await;
    let [held] = devices(&nodes, &actor).await;
    let frozen = freeze(&nodes, &actor, held).await;
    let (changed, sent) = (change(&node, &actor), send(&nodes, &node, &actor, held));
    assert!(matches!(changed.await.unwrap(), Err(StoreError::Unavailable(_))));
    assert!(matches!(sent.await.unwrap(), Err(StoreError::Unavailable(_) | StoreError::Unknown(_))));
    frozen.let_go().await;
    change(&nodes.all[0], &actor).await.unwrap().unwrap();
    nodes.clock().advance_seconds(1);
    assert_eq!(send(&nodes, &nodes.all[0], &actor, held).await.unwrap().unwrap(), [Outcome::Accepted]);
}

/// The deliberately wrong variant: a change that stays in the queue of the lock, as it would without a time limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_stays_in_the_queue_shuts_out_submissions() {
    let nodes = Nodes::new(1).await;
    let (node, patient) = (&nodes.all[0], nodes.that_may_hang().await);
    let actor = nodes.account("ours").await;
    let [held] = devices(&nodes, &actor).await;
    let frozen = freeze(&nodes, &actor, held).await;
    let account = params![actor.scope.account];
    assert_eq!(number(node, IS_FREE, account).await, 1);
    let naive = tokio::spawn(async move { Holder::new(&patient, vec![lock(actor.scope.account)]).await });
    waiting_for(node, frozen.pid, || naive.is_finished()).await.expect("it waits");
    assert_eq!(number(node, IS_FREE, account).await, 0, "the harness catches it");
    frozen.let_go().await;
    naive.await.unwrap().let_go().await;
}
