//! A licence that one node changes holds for what another one stores, which reads it beside the state of the device.

use perigee_core::access::actor::Actor;
use perigee_core::devices::device::{DeviceRef, DeviceSettings};
use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Outcome;
use perigee_core::store::{Devices as _, Locations as _};
use perigee_store::{Database, params};

use crate::support::{Nodes, fix, number};

/// Sets the date through which the device is active; none for ever.
async fn set_expiry(node: &Database, actor: &Actor, device: DeviceId, date: Option<&str>) {
    let found = node.find_device(actor.scope, &DeviceRef::Id(device)).await.unwrap().unwrap();
    let mut settings: DeviceSettings = found.settings.clone();
    settings.limits.expiration_date = date.map(|date| date.parse().unwrap());
    node.replace_device(actor, device, found.revision, settings).await.unwrap();
}

/// States whose licence is not the one of their device.
async fn differing(node: &Database) -> i64 {
    let sql = "SELECT COUNT(*) FROM device_live v JOIN device d ON d.account_id = v.account_id AND d.id = v.device_id \
               WHERE (v.licensed, v.expires) IS DISTINCT FROM (d.licensed, d.expires)";
    number(node, sql, &[]).await
}

struct Sender<'n> {
    nodes: &'n Nodes,
    actor: Actor,
    device: DeviceId,
}

impl Sender<'_> {
    /// Whether the node stores a new location of the device.
    async fn is_stored_by(&self, node: &Database) -> bool {
        self.nodes.clock().advance_seconds(1);
        let stored = node.store_locations(&self.actor, self.device, vec![fix(self.nodes.now())]).await;
        if let Err(StoreError::DeviceExpired(device)) = stored {
            assert_eq!(device, self.device);
            return false;
        }
        assert_eq!(stored.unwrap(), [Outcome::Accepted]);
        true
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_on_one_node_holds_on_the_other() {
    let nodes = Nodes::new(2).await;
    let [node, other] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let sender = Sender { nodes: &nodes, actor, device };
    assert!(sender.is_stored_by(node).await && sender.is_stored_by(node).await);
    for _ in 0..2 {
        set_expiry(other, &sender.actor, device, Some("2001-01-01")).await;
        assert!(!sender.is_stored_by(node).await);
        set_expiry(other, &sender.actor, device, None).await;
        assert!(sender.is_stored_by(node).await);
        assert_eq!(differing(node).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expiry_that_a_node_saw_stays_when_clocks_go_back() {
    let nodes = Nodes::new(2).await;
    let [node, other] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let (seen, swept) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let before = nodes.now();
    let today = before.to_string()[..10].to_owned();
    for device in [seen, swept] {
        set_expiry(other, &actor, device, Some(&today)).await;
        let sender = Sender { nodes: &nodes, actor: actor.clone(), device };
        assert!(sender.is_stored_by(node).await);
    }
    let active = nodes.now();
    nodes.clock().advance_seconds(86_400);
    let sender = Sender { nodes: &nodes, actor: actor.clone(), device: seen };
    assert!(!sender.is_stored_by(node).await, "its day is over");
    assert_eq!(differing(node).await, 0, "a submission saw it");
    nodes.device(&actor).await;
    assert_eq!(differing(node).await, 0, "a decision about another licence saw it");
    nodes.clock().set(active);
    for device in [seen, swept] {
        let sender = Sender { nodes: &nodes, actor: actor.clone(), device };
        assert!(!sender.is_stored_by(node).await && !sender.is_stored_by(other).await);
    }
}

/// Runs a statement about a device.
async fn run(node: &Database, sql: &'static str, actor: &Actor, device: DeviceId) {
    let account = actor.scope.account;
    let job =
        node.write(move |tx| Box::pin(async move { Ok(tx.execute(sql, params![account, device]).await?) }));
    assert_eq!(job.await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_was_made_without_a_licence_gets_it() {
    let nodes = Nodes::new(1).await;
    let node = &nodes.all[0];
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    // As what a device reports is kept before its first location.
    let make = "INSERT INTO device_live (account_id, device_id, last_seen) VALUES (?1, ?2, 1)";
    run(node, make, &actor, device).await;
    let sender = Sender { nodes: &nodes, actor, device };
    assert!(sender.is_stored_by(node).await && sender.is_stored_by(node).await);
    assert_eq!(differing(node).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_the_database_lost_is_made_again() {
    let nodes = Nodes::new(1).await;
    let node = &nodes.all[0];
    let actor = nodes.account("acme").await;
    let device = nodes.device(&actor).await;
    let sender = Sender { nodes: &nodes, actor, device };
    assert!(sender.is_stored_by(node).await && sender.is_stored_by(node).await);
    let lose = "DELETE FROM device_live WHERE account_id = ?1 AND device_id = ?2";
    run(node, lose, &sender.actor, device).await;
    assert!(sender.is_stored_by(node).await);
    assert_eq!(nodes.rows("device_live", device).await, 1);
}
