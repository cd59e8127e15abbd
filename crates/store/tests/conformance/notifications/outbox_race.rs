//! Many workers at one outbox: no limit is exceeded, no counter falls below what was received, and the harness sees
//! it when one does.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::alerts::alert::Alert;
use perigee_core::id::{DeviceId, NotificationId};
use perigee_core::notifications::notification::{
    Channel, Content, NotificationState, Occasion, SendOutcome, SendingPolicy, UnitCaps,
};
use perigee_core::notifications::routing::{Destination, RoutingHolder};
use perigee_core::store::{Alerts as _, Outbox as _};
use perigee_store::Database;
use perigee_store::testing::reserve_uncounted;
use tokio::task::JoinSet;

use crate::fixture::{Fixture, Tenant};
use crate::notifications::outbox::{candidates, daily, policy, recipient};
use crate::sample::{alert, named};

const WORKERS: usize = 32;
const MOST_ROUNDS: usize = 200;
const DEVICES: usize = 5;
const ALERTS: usize = 16;
const LIMIT: u32 = 5;

/// The received messages, by device.
#[derive(Default)]
struct Sink(Mutex<HashMap<DeviceId, u32>>);

impl Sink {
    /// Takes a message; what notifies an owner of a limit is not a message of the device.
    fn receive(&self, content: &Content) {
        let Some(device) = content.device.as_ref().map(|device| device.id) else { return };
        if matches!(content.occasion, Occasion::LimitReached { .. }) {
            return;
        }
        *self.0.lock().entry(device).or_default() += 1;
    }

    fn of(&self, device: DeviceId) -> u32 {
        self.0.lock().get(&device).copied().unwrap_or_default()
    }
}

/// Every alert has a name of its own, so that none repeats another.
fn storm(on: &Fixture) -> Vec<Alert> {
    (0..ALERTS).map(|index| alert(on.now(), &format!("alert {index}"))).collect()
}

async fn devices_in_a_storm(on: &Fixture, tenant: &Tenant) -> Vec<DeviceId> {
    let mut devices = Vec::new();
    for _ in 0..DEVICES {
        let device = on.limited(tenant, daily(LIMIT, LIMIT)).await;
        on.store.store_alerts(&tenant.actor(), device, storm(on)).await.expect("they are stored");
        devices.push(device);
    }
    devices
}

/// One attempt: whether it reaches the sink, and what is recorded of it, if the sender survives.
async fn attempt(store: &Database, channel: Channel, chance: usize, sink: &Sink) {
    let due = store.due_notifications(channel, 4).await.expect("it is read");
    let reserved = store.reserve(candidates(&due, 2), &policy()).await.expect("it is decided");
    for (index, held) in reserved.granted.into_iter().enumerate() {
        let content = due.iter().find(|content| content.id == held.id).expect("it was asked for");
        let delivery = match (chance + index) % 8 {
            0 => Some(SendOutcome::Refused { reason: "no".into() }),
            1 => Some(SendOutcome::RetryLater { reason: "busy".into(), wait: None }),
            outcome => {
                sink.receive(content);
                match outcome {
                    2 => Some(SendOutcome::Unclear { reason: "silence".into() }),
                    // The worker dies before it can say anything.
                    3 => None,
                    _ => Some(SendOutcome::Sent { reference: None }),
                }
            }
        };
        if let Some(delivery) = delivery {
            store.settle(held, delivery).await.expect("it is recorded");
        }
    }
}

pub(crate) async fn workers_at_once_never_exceed_a_limit(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let devices = devices_in_a_storm(&on, &tenant).await;
    let sinks = Arc::new([Sink::default(), Sink::default()]);
    let stores = [on.store.clone(), on.other_node().await];
    let mut turn = 0;
    for round in 0.. {
        assert!(round < MOST_ROUNDS, "it does not come to an end");
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (store, sinks) = (stores[worker % 2].clone(), Arc::clone(&sinks));
            turn += 5;
            workers.spawn(async move {
                let (channel, sink) =
                    if worker % 4 == 0 { (Channel::SMS, &sinks[1]) } else { (Channel::EMAIL, &sinks[0]) };
                attempt(&store, channel, turn, sink).await;
            });
        }
        while let Some(ended) = workers.join_next().await {
            ended.expect("the worker does not panic");
        }
        // Time passes when all that is due is under way: then what was lost becomes due again.
        if on.due(Channel::EMAIL).await.is_empty() && on.due(Channel::SMS).await.is_empty() {
            let next = [on.store.next_due(Channel::EMAIL).await, on.store.next_due(Channel::SMS).await];
            match next.into_iter().filter_map(|next| next.expect("it is read")).max() {
                Some(next) => on.clock().set(next),
                None => break,
            }
        }
    }
    let mut suppressed = 0;
    for device in devices {
        let counters = on.look(&tenant, device).await.counters;
        for (counted, sink) in [
            (counters.by(Channel::EMAIL).messages, &sinks[0]),
            (counters.by(Channel::SMS).messages, &sinks[1]),
        ] {
            let received = sink.of(device);
            assert!(received <= LIMIT && counted <= LIMIT, "{received} received, {counted} counted");
            assert!(received <= counted, "{received} were received, {counted} counted");
            assert!(received >= LIMIT / 2, "there was something to exceed: {received}");
        }
    }
    let messages = on.messages(&tenant).await;
    assert_eq!(messages.iter().filter(|message| message.alert.is_some()).count(), DEVICES * ALERTS * 2);
    for message in messages.iter().filter(|message| message.alert.is_some()) {
        assert_ne!(message.state, NotificationState::Sending, "{message:?}");
        if message.state == NotificationState::Suppressed {
            suppressed += 1;
            assert_eq!(message.reason.as_deref(), Some("limit"));
        }
    }
    assert!(suppressed > DEVICES, "{suppressed} were suppressed");
}

pub(crate) async fn the_race_is_seen_when_the_limit_is_counted_too_late(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(LIMIT, 0)).await;
    on.store.store_alerts(&tenant.actor(), device, storm(&on)).await.expect("they are stored");
    let sink = Arc::new(Sink::default());
    let mut workers = JoinSet::new();
    for content in on.due(Channel::EMAIL).await {
        let (store, sink) = (on.store.clone(), Arc::clone(&sink));
        workers.spawn(async move {
            let candidate = candidates(std::slice::from_ref(&content), 0).remove(0);
            let reserved = reserve_uncounted(&store, candidate, policy()).await.expect("it is decided");
            reserved.granted.iter().for_each(|_| sink.receive(&content));
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended.expect("the worker does not panic");
    }
    let received = sink.of(device);
    assert!(received > LIMIT, "the harness is blind: it saw {received}");
}

pub(crate) async fn no_message_is_reserved_twice(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(100, 100)).await;
    on.store.store_alerts(&tenant.actor(), device, storm(&on)).await.expect("they are stored");
    let due = on.due(Channel::SMS).await;
    let stores = [on.store.clone(), on.other_node().await];
    let mut workers = JoinSet::new();
    for worker in 0..8 {
        let (store, asked) = (stores[worker % 2].clone(), candidates(&due, 1));
        workers.spawn(async move { store.reserve(asked, &policy()).await.expect("it is decided").granted });
    }
    let mut granted: Vec<NotificationId> = Vec::new();
    while let Some(ended) = workers.join_next().await {
        granted.extend(ended.expect("the worker does not panic").iter().map(|held| held.id));
    }
    granted.sort_unstable();
    let all = granted.len();
    granted.dedup();
    assert_eq!((granted.len(), all), (ALERTS, ALERTS));
    assert_eq!(
        on.look(&tenant, device).await.counters.by(Channel::SMS).messages,
        u32::try_from(ALERTS).unwrap()
    );
}

/// Sends every due message of the channel with many workers on two nodes, and returns how many were granted.
async fn granted_by_many(on: &Fixture, channel: Channel, policy: &SendingPolicy) -> usize {
    let due = on.due(channel).await;
    let stores = [on.store.clone(), on.other_node().await];
    let mut workers = JoinSet::new();
    for (index, content) in due.into_iter().enumerate() {
        let (store, policy) = (stores[index % 2].clone(), policy.clone());
        workers.spawn(async move {
            let asked = candidates(std::slice::from_ref(&content), 0);
            store.reserve(asked, &policy).await.expect("it is decided").granted.len()
        });
    }
    let mut granted = 0;
    while let Some(ended) = workers.join_next().await {
        granted += ended.expect("the worker does not panic");
    }
    granted
}

pub(crate) async fn workers_at_once_never_exceed_the_cap_of_a_preset(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let telegram: Channel = "telegram".parse().unwrap();
    let chat = recipient(Destination::parse(telegram, "-1001234567890").unwrap());
    on.route(&tenant, RoutingHolder::Account, vec![chat]).await;
    let mut devices = Vec::new();
    for _ in 0..DEVICES {
        let device = on.add(&tenant, named("one")).await.id;
        on.store.store_alerts(&tenant.actor(), device, storm(&on)).await.expect("they are stored");
        devices.push(device);
    }
    let cap = UnitCaps { daily: Some(7), monthly: Some(9) };
    let policy = SendingPolicy { caps: [(telegram, cap)].into(), ..policy() };
    assert_eq!(granted_by_many(&on, telegram, &policy).await, 7, "the cap of the day");
    let mut counted = 0;
    for device in &devices {
        counted += on.look(&tenant, *device).await.counters.by(telegram).messages;
    }
    assert_eq!(counted, 7, "they are counted on their devices too");
    let reasons = on.states(&tenant, telegram).await.into_iter().filter_map(|(_, reason)| reason);
    assert_eq!(reasons.filter(|reason| reason == "daily-cap").count(), DEVICES * ALERTS - 7);

    on.clock().advance_seconds(86_400);
    let uncapped = SendingPolicy { caps: [(telegram, UnitCaps::default())].into(), ..policy.clone() };
    for device in &devices {
        on.store.store_alerts(&tenant.actor(), *device, storm(&on)).await.expect("they are stored");
    }
    assert!(granted_by_many(&on, telegram, &uncapped).await > 2, "without its cap the test sees more");
}
