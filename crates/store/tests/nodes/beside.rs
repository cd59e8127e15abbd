//! Changes that submissions do not rely on: however long one takes, the locations of the account are stored meanwhile,
//! and readers of the logs miss nothing. A node that hangs with a lock of an account delays it only briefly.

use std::time::{Duration, Instant};

use perigee_core::access::actor::Actor;
use perigee_core::alerts::alert::Alert;
use perigee_core::devices::device::{DeviceSettings, DeviceStatus};
use perigee_core::error::StoreError;
use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::gateways::decoding::Decoding;
use perigee_core::gateways::gateway::{NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, StoredMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{DuplicateRule, Outcome};
use perigee_core::store::{
    AccountLease, Alerts as _, Devices as _, Events as _, Locations as _, RawMessages as _, Round,
    RuleEngineStore as _, StatusChange,
};
use perigee_core::time::Timestamp;
use perigee_store::{Database, params};
use tokio::task::JoinHandle;

use crate::frozen::freeze;
use crate::support::{Holder, Nodes, fix, waiting_for};

const LEASE: AccountLease<'_> = AccountLease { owner: "node", duration_ms: 10_000 };

/// Takes the number of the next event of the account and gives it back with the commit, so that who appends that event
/// stands still with its number drawn.
const TAKE_NUMBER: &str = "INSERT INTO event (account_id, number, at, kind, subject, data) \
    OVERRIDING SYSTEM VALUE SELECT ?1, last_value + 8192, 0, 'taken', '', '{}' FROM event_number";
const GIVE_BACK: &str = "DELETE FROM event WHERE account_id = ?1 AND kind = 'taken'";

/// Holds the next change of this account at its event.
async fn hold(node: &Database, account: AccountId) -> Holder {
    let statements = [TAKE_NUMBER, GIVE_BACK].map(|sql| (sql, params![account].to_vec()));
    Holder::new(node, statements.to_vec()).await
}

/// Saves a round of the rule engine that finds a device online.
fn round(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> JoinHandle<bool> {
    let (node, account, due) = (node.clone(), actor.scope.account, nodes.now().plus_seconds(600));
    tokio::spawn(async move {
        let round_start = node.lease_account(account, LEASE).await.unwrap().expect("nobody else has it");
        let statuses = vec![StatusChange { device, from: None, to: DeviceStatus::Online, due }];
        let (rules, devices) = (Vec::new(), Vec::new());
        let round = Round { round_start, cursor: 0, catch_up: None, rules, devices, statuses };
        node.finish_round(round, LEASE).await.unwrap()
    })
}

fn alert(time: Timestamp) -> Alert {
    Alert {
        time,
        name: "SOS".into(),
        text: None,
        position: None,
        critical: true,
        attributes: std::collections::BTreeMap::new(),
    }
}

/// Stores a message with an SOS and no location.
fn sos(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> JoinHandle<StoredMessage> {
    let reporter = Reporter {
        scope: actor.scope,
        device,
        identifier: "imei".into(),
        model: None,
        reported_model: None,
        decoding: Decoding::new(),
        proposed_zone_minutes: None,
        proof: None,
    };
    let contents = MessageContents { alerts: vec![alert(nodes.now())], ..MessageContents::default() };
    let message = NewMessage {
        source: "gt06",
        peer: "192.0.2.9:40000".into(),
        identifier: Some("imei".into()),
        bytes: vec![1],
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    };
    let node = node.clone();
    tokio::spawn(async move { node.store_message(&reporter, message, contents).await.unwrap() })
}

async fn store(nodes: &Nodes, node: &Database, actor: &Actor, device: DeviceId) -> Vec<Outcome> {
    node.store_locations(actor, device, vec![fix(nodes.now())]).await.unwrap()
}

/// The kinds of the events after this cursor, and the new cursor.
async fn events(node: &Database, actor: &Actor, cursor: &mut i64) -> Vec<EventKind> {
    let mut kinds = Vec::new();
    loop {
        let page = node.read_events(actor.scope, &EventFilter::default(), *cursor, 100).await.unwrap();
        kinds.extend(page.events.iter().map(|event| event.kind));
        if std::mem::replace(cursor, page.next) == page.next {
            break kinds;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locations_are_stored_while_a_round_is_saved_and_no_event_is_missed() {
    let nodes = Nodes::new(2).await;
    let (slow, node) = (nodes.that_may_hang().await, &nodes.all[1]);
    let actor = nodes.account("ours").await;
    let (watched, other) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let mut cursor = 0;
    events(node, &actor, &mut cursor).await;
    let held = hold(&nodes.all[0], actor.scope.account).await;
    let saving = round(&nodes, &slow, &actor, watched);
    waiting_for(node, held.pid, || saving.is_finished()).await.expect("the round is at its event");
    assert_eq!(store(&nodes, node, &actor, other).await, [Outcome::Accepted]);
    assert_eq!(store(&nodes, node, &actor, watched).await, [Outcome::Accepted]);
    assert_eq!(events(node, &actor, &mut cursor).await, [], "an event with a lower number is still to come");
    held.let_go().await;
    assert!(saving.await.unwrap());
    assert_eq!(
        events(node, &actor, &mut cursor).await,
        [EventKind::DeviceOnline, EventKind::LocationCreated, EventKind::LocationCreated]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locations_are_stored_while_an_sos_is_stored_and_no_event_is_missed() {
    let nodes = Nodes::new(2).await;
    let (slow, node) = (nodes.that_may_hang().await, &nodes.all[1]);
    let actor = nodes.account("ours").await;
    let (calling, other) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let mut cursor = 0;
    events(node, &actor, &mut cursor).await;
    let held = hold(&nodes.all[0], actor.scope.account).await;
    let storing = sos(&nodes, &slow, &actor, calling);
    waiting_for(node, held.pid, || storing.is_finished()).await.expect("the alert is at its event");
    assert_eq!(store(&nodes, node, &actor, other).await, [Outcome::Accepted]);
    assert_eq!(events(node, &actor, &mut cursor).await, [], "the alert is still to come");
    held.let_go().await;
    storing.await.unwrap();
    assert_eq!(
        events(node, &actor, &mut cursor).await,
        [EventKind::AlertCreated, EventKind::LocationCreated]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_sos_and_a_change_wait_for_a_round() {
    let nodes = Nodes::new(2).await;
    let (slow, node) = (nodes.that_may_hang().await, nodes.all[1].clone());
    let actor = nodes.account("ours").await;
    let (watched, calling) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let held = hold(&nodes.all[0], actor.scope.account).await;
    let saving = round(&nodes, &slow, &actor, watched);
    let saves =
        waiting_for(&node, held.pid, || saving.is_finished()).await.expect("the round is at its event");
    let storing = sos(&nodes, &node, &actor, calling);
    assert!(waiting_for(&node, saves, || storing.is_finished()).await.is_some(), "the SOS waits");
    let settings = DeviceSettings { name: "new".into(), ..DeviceSettings::default() };
    let changing = tokio::spawn({
        let node = node.clone();
        async move { node.create_device(&actor, settings, None).await.map(drop) }
    });
    held.let_go().await;
    assert!(saving.await.unwrap());
    storing.await.unwrap();
    changing.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_of_other_devices_are_stored_while_a_node_hangs_with_locations() {
    let nodes = Nodes::new(1).await;
    let node = nodes.that_answers_within(Duration::from_secs(2)).await;
    let actor = nodes.account("ours").await;
    let (held, other) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let frozen = freeze(&nodes, &actor, held).await;
    let waiting = tokio::spawn({
        let (node, actor, alerts) = (node.clone(), actor.clone(), vec![alert(nodes.now())]);
        async move { node.store_alerts(&actor, held, alerts).await }
    });
    let stored = node.store_alerts(&actor, other, vec![alert(nodes.now())]).await.unwrap();
    assert_eq!(stored.iter().map(|(outcome, _)| *outcome).collect::<Vec<_>>(), [Outcome::Accepted]);
    sos(&nodes, &node, &actor, other).await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(StoreError::Unavailable(_))), "its own device is locked");
    frozen.let_go().await;
    let stored = node.store_alerts(&actor, held, vec![alert(nodes.now())]).await.unwrap();
    assert_eq!(stored.len(), 1);
}

/// A job that has locked an account and goes no further, as on a machine that is suspended.
fn hang(node: &Database, account: AccountId) -> (tokio::sync::oneshot::Receiver<()>, JoinHandle<()>) {
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let node = node.clone();
    let job = tokio::spawn(async move {
        let job = node.write(move |tx| {
            Box::pin(async move {
                tx.lock_account(account).await?;
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
                Ok(())
            })
        });
        let _ = job.await;
    });
    (has_begun, job)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hangs_in_a_change_delays_the_account_only_briefly() {
    let nodes = Nodes::new(2).await;
    let node = nodes.that_may_hang().await;
    let actor = nodes.account("ours").await;
    let device = nodes.device(&actor).await;
    let (has_begun, job) = hang(&nodes.all[0], actor.scope.account);
    has_begun.await.unwrap();
    let begun = Instant::now();
    assert_eq!(store(&nodes, &node, &actor, device).await, [Outcome::Accepted]);
    // PostgreSQL ends the transaction after 1.5 seconds; 10 seconds are what it allows other transactions.
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    job.abort();
}
