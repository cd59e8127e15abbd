//! Webhooks: kept as given, fed from the log in step with their cursor, and lent to one worker at a time.

use std::collections::BTreeSet;

use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventFilter, EventKind, EventObject};
use perigee_core::id::{DeliveryId, DeviceId, WebhookId};
use perigee_core::locations::location::CompactionBudget;
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Events as _, LocationMaintenance as _, Locations as _, WebhookWork as _, Webhooks as _,
};
use perigee_core::webhooks::webhook::{
    AttemptOutcome, DeliveryState, LeasedDelivery, NewDelivery, Settlement, WINDOW_MS, Webhook,
    WebhookSecret, WebhookSettings,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, group_of, named};

const LEASE_MS: i64 = 60_000;
const PAGE: PageRequest = PageRequest { after: None, limit: 100 };

fn settings() -> WebhookSettings {
    WebhookSettings {
        name: Some("Dispatch".into()),
        url: "https://example.com/hook".into(),
        filter: EventFilter::default(),
        enabled: true,
    }
}

pub(crate) async fn make(on: &Fixture, tenant: &Tenant) -> Webhook {
    let secret = WebhookSecret(vec![7; 32]);
    on.store.create_webhook(&tenant.actor(), settings(), secret, None).await.unwrap().into_inner()
}

fn message(name: &str) -> NewDelivery {
    NewDelivery {
        message: name.into(),
        kind: "test".into(),
        device: None,
        body: format!("{{\"id\":\"{name}\"}}"),
    }
}

pub(crate) async fn queue(on: &Fixture, webhook: &Webhook, names: &[&str]) {
    let present = on
        .store
        .find_webhook(perigee_core::access::actor::Scope::for_operator(webhook.account), webhook.id)
        .await;
    let from = present.unwrap().unwrap().read_to;
    let new = names.iter().map(|name| message(name)).collect();
    assert!(on.store.advance_webhook(webhook.account, webhook.id, from, from, new).await.unwrap());
}

pub(crate) async fn work(
    on: &Fixture,
    webhook: &Webhook,
    settled: Vec<Settlement>,
    wanted: u32,
) -> Vec<LeasedDelivery> {
    let lease =
        on.store.settle_and_lease_deliveries(webhook.account, webhook.id, settled, wanted, LEASE_MS).await;
    lease.unwrap().unwrap().deliveries
}

pub(crate) fn settled(delivery: &LeasedDelivery, outcome: AttemptOutcome) -> Settlement {
    let (status, error) = match outcome {
        AttemptOutcome::Delivered => (Some(200), None),
        _ => (Some(500), Some("The receiver answered 500.".into())),
    };
    Settlement { id: delivery.id, fence: delivery.fence, status, error, outcome }
}

fn names(deliveries: &[LeasedDelivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| &*delivery.message).collect()
}

pub(crate) async fn a_webhook_is_kept_as_given(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("one")).await.id;
    let group = on.add_group(&tenant, group_of("some", &[device])).await.id;
    let filter = EventFilter {
        kinds: BTreeSet::from([EventKind::AlertCreated, EventKind::LocationCreated]),
        devices: BTreeSet::from([device]),
        groups: BTreeSet::from([group]),
        alerts_by_routing: true,
        reader: None,
    };
    let wanted = WebhookSettings { filter, ..settings() };
    let once = tenant.once("POST /api/webhooks", "k", 1);
    let secret = || WebhookSecret(vec![1, 2, 3]);
    let create =
        async |settings, once| on.store.create_webhook(&tenant.actor(), settings, secret(), once).await;
    let made = create(wanted.clone(), Some(once.clone())).await.unwrap().into_inner();
    assert_eq!(create(wanted.clone(), Some(once)).await.unwrap().into_inner(), made, "the same request");
    assert_eq!((&made.settings, &made.secret), (&wanted, &secret()));
    assert_eq!(made.read_to, on.store.event_end(tenant.scope()).await.unwrap(), "it begins now");
    let find = async |tenant: &Tenant| on.store.find_webhook(tenant.scope(), made.id).await.unwrap();
    assert_eq!(find(&tenant).await, Some(made.clone()));
    assert_eq!(find(&stranger).await, None);
    assert_eq!(
        on.store.list_webhooks(tenant.scope(), PAGE).await.unwrap().items,
        std::slice::from_ref(&made)
    );
    assert_eq!(on.store.list_webhooks(stranger.scope(), PAGE).await.unwrap().items, []);

    let mut foreign = wanted.clone();
    foreign.filter.devices.insert(on.add(&stranger, named("foreign")).await.id);
    assert_fails!(create(foreign, None).await, StoreError::UnknownReference { kind: Kind::Device, .. });

    let changed =
        WebhookSettings { url: "https://example.com/other".into(), enabled: false, ..wanted.clone() };
    let replace =
        async |seen, settings| on.store.replace_webhook(&tenant.actor(), made.id, seen, settings).await;
    let after = replace(made.revision, changed.clone()).await.unwrap();
    assert_eq!((after.revision, &after.settings), (made.revision.next(), &changed));
    assert_fails!(replace(made.revision, wanted.clone()).await, StoreError::RevisionMismatch(Kind::Webhook));
    let until = on.now().plus_seconds(60);
    let rotated =
        on.store.rotate_webhook_secret(&tenant.actor(), made.id, WebhookSecret(vec![9]), until).await;
    let rotated = rotated.unwrap();
    assert_eq!((rotated.secret, rotated.previous), (WebhookSecret(vec![9]), Some((secret(), until))));
    assert_eq!(rotated.revision, after.revision, "a secret is nothing a client sets");

    on.store.add_delivery(&tenant.actor(), made.id, message("m")).await.unwrap();
    assert_fails!(
        on.store.delete_webhook(&stranger.actor(), made.id, None).await,
        StoreError::NotFound(Kind::Webhook)
    );
    on.store.delete_webhook(&tenant.actor(), made.id, Some(after.revision)).await.unwrap();
    assert_eq!(find(&tenant).await, None);
    let listed = on.store.list_deliveries(tenant.scope(), made.id, None, PAGE).await;
    assert_fails!(listed, StoreError::NotFound(Kind::Webhook));
    let actions: Vec<String> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    for action in
        ["webhook.create", "webhook.update", "webhook.rotateSecret", "webhook.test", "webhook.delete"]
    {
        assert_eq!(actions.iter().filter(|noted| *noted == action).count(), 1, "{action}");
    }
}

pub(crate) async fn events_carry_what_they_are_about_and_say_how_far_they_go(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let group = on.add_group(&tenant, group_of("some", &[two])).await.id;
    for (device, degrees) in [(one, 1.0), (two, 2.0), (one, 3.0)] {
        let sent = vec![fix(on.now(), degrees)];
        on.store.store_locations(&tenant.actor(), device, sent).await.unwrap();
    }
    let read = async |filter: EventFilter, after, limit| {
        on.store.read_events(tenant.scope(), &filter, after, limit).await.unwrap()
    };
    let all = read(EventFilter::default(), 0, 100).await;
    assert_eq!(all.next, on.store.event_end(tenant.scope()).await.unwrap());
    let located: Vec<_> =
        all.events.iter().filter(|event| event.kind == EventKind::LocationCreated).collect();
    let feed = on.store.list_location_feed(tenant.scope(), 0, 100).await.unwrap().items;
    for (event, (device, stored)) in located.iter().zip(feed) {
        assert_eq!((event.device, &event.object), (Some(device), &EventObject::Location(Box::new(stored))));
    }
    let has_object = |kind, found: fn(&EventObject) -> bool| {
        all.events.iter().filter(|event| event.kind == kind).all(|event| found(&event.object))
    };
    assert!(has_object(EventKind::DeviceCreated, |object| matches!(object, EventObject::Device(_))));
    assert!(has_object(EventKind::GroupCreated, |object| matches!(object, EventObject::Group(_))));
    assert!(has_object(EventKind::UserCreated, |object| matches!(object, EventObject::User(_))));

    // In parts of any size, whatever is wanted, nothing is missed and the end is reached.
    let wants = [
        EventFilter::default(),
        EventFilter { kinds: BTreeSet::from([EventKind::LocationCreated]), ..EventFilter::default() },
        EventFilter { kinds: BTreeSet::from([EventKind::DeviceCreated]), ..EventFilter::default() },
        EventFilter { devices: BTreeSet::from([one]), ..EventFilter::default() },
        EventFilter { groups: BTreeSet::from([group]), ..EventFilter::default() },
        EventFilter { devices: BTreeSet::from([DeviceId::from_i64(1)]), ..EventFilter::default() },
    ];
    let counts = [all.events.len(), 3, 2];
    for (index, filter) in wants.into_iter().enumerate() {
        let whole = read(filter.clone(), 0, 100).await;
        assert_eq!(whole.next, all.next, "{filter:?}");
        assert_eq!(whole.events.len(), counts.get(index).copied().unwrap_or(whole.events.len()));
        for limit in [1, 2, 3] {
            let (mut parts, mut after) = (Vec::new(), 0);
            while after < all.next {
                let part = read(filter.clone(), after, limit).await;
                assert!(part.next > after && part.events.len() <= usize::try_from(limit).unwrap());
                parts.extend(part.events);
                after = part.next;
            }
            assert_eq!(parts, whole.events, "{filter:?} by {limit}");
        }
    }
}

pub(crate) async fn a_cursor_in_the_log_moves_with_what_it_brought(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let webhook = make(&on, &tenant).await;
    let behind = async || on.store.webhooks_behind().await.unwrap().into_iter().map(|webhook| webhook.id);
    assert_eq!(behind().await.count(), 0);
    let device = on.add(&tenant, named("one")).await.id;
    assert_eq!(behind().await.collect::<Vec<_>>(), [webhook.id]);
    let from = webhook.read_to;
    let to = on.store.event_end(tenant.scope()).await.unwrap();
    let advance =
        async |from, to, new| on.store.advance_webhook(tenant.account.id, webhook.id, from, to, new).await;
    assert!(advance(from, to, vec![message("a"), message("b")]).await.unwrap());
    assert!(!advance(from, to, vec![message("c")]).await.unwrap(), "another node was quicker");
    assert_eq!(behind().await.count(), 0);
    let list = async || on.store.list_deliveries(tenant.scope(), webhook.id, None, PAGE).await.unwrap().items;
    let listed: Vec<String> = list().await.into_iter().map(|delivery| delivery.content.message).collect();
    assert_eq!(listed, ["b", "a"], "newest first, and nothing of who was late");

    // A webhook that is behind keeps the log from being trimmed, for 72 hours.
    on.store.store_locations(&tenant.actor(), device, vec![fix(on.now(), 1.0)]).await.unwrap();
    on.clock().advance_seconds(24 * 3600);
    let trim = async || {
        while on.store.compact(CompactionBudget { devices: 100, everything: true }).await.unwrap().more {}
        on.store.trim_location_log(3_600_000).await.unwrap() + on.store.trim_events(3_600_000).await.unwrap()
    };
    trim().await;
    let rest = on.store.read_events(tenant.scope(), &EventFilter::default(), to, 10).await.unwrap();
    assert_eq!(rest.events.len(), 1, "what it has not read is still there");
    on.clock().advance_seconds(49 * 3600);
    trim().await;
    let expired = on.store.read_events(tenant.scope(), &EventFilter::default(), to, 10).await;
    assert_fails!(expired, StoreError::CursorExpired);
    on.store.record_webhook_gap(tenant.account.id, webhook.id).await.unwrap();
    let found = on.store.find_webhook(tenant.scope(), webhook.id).await.unwrap().unwrap();
    let gap = found.gap.unwrap();
    assert_eq!((gap.from, gap.to, gap.at), (to, found.read_to, on.now()));
    on.store.record_webhook_gap(tenant.account.id, webhook.id).await.unwrap();
    let audits = on.audits(&tenant).await;
    assert_eq!(audits.iter().filter(|entry| entry.action == "webhook.gap").count(), 1, "recorded once");
}

pub(crate) async fn a_delivery_is_lent_to_one_worker_at_a_time(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let webhook = make(&on, &tenant).await;
    queue(&on, &webhook, &["a", "b", "c"]).await;
    let due = async || on.store.webhooks_due().await.unwrap();
    assert_eq!(due().await, [(tenant.account.id, webhook.id)]);
    let first = work(&on, &webhook, vec![], 2).await;
    assert_eq!(names(&first), ["a", "b"]);
    let second = work(&on, &webhook, vec![], 5).await;
    assert_eq!(names(&second), ["c"]);
    assert_eq!(due().await, []);

    // A worker that was away for too long has lost its loan, and with it the right to settle.
    on.clock().advance_seconds(61);
    let again = work(&on, &webhook, vec![settled(&first[1], AttemptOutcome::Delivered)], 1).await;
    assert_eq!(names(&again), ["a"], "the longest waiting first; b was settled in time by nobody else");
    let late = settled(&first[0], AttemptOutcome::Delivered);
    work(&on, &webhook, vec![late], 0).await;
    let state = async |id: DeliveryId| {
        let all = on.store.list_deliveries(tenant.scope(), webhook.id, None, PAGE).await.unwrap().items;
        all.into_iter().find(|delivery| delivery.id == id).unwrap()
    };
    assert_eq!(state(first[0].id).await.state, DeliveryState::Waiting, "the late word counts for nothing");
    assert_eq!(state(first[1].id).await.state, DeliveryState::Delivered);
    let wait = AttemptOutcome::Retry { wait_ms: 5_000, all: false };
    work(&on, &webhook, vec![settled(&again[0], wait)], 0).await;
    let waiting = state(first[0].id).await;
    assert_eq!((waiting.attempts, waiting.last_status), (1, Some(500)));
    assert_eq!(waiting.next_at, on.now().plus_millis(5_000));
    assert_eq!(names(&work(&on, &webhook, vec![], 5).await), ["c"], "whose loan was over too");
    on.clock().advance_seconds(5);
    let third = work(&on, &webhook, vec![], 5).await;
    assert_eq!((names(&third), third[0].attempts), (vec!["a"], 1));

    // Rest for everybody.
    let rest = AttemptOutcome::Retry { wait_ms: 120_000, all: true };
    work(&on, &webhook, vec![settled(&third[0], rest)], 0).await;
    queue(&on, &webhook, &["d"]).await;
    assert_eq!((due().await, work(&on, &webhook, vec![], 5).await), (vec![], vec![]));
    on.clock().advance_seconds(120);
    let fourth = work(&on, &webhook, vec![], 5).await;
    assert_eq!(names(&fourth), ["a", "c", "d"]);

    // After 72 hours it is given up; whoever wants it can have it sent again.
    on.clock().advance_seconds(WINDOW_MS / 1000);
    work(&on, &webhook, vec![settled(&fourth[0], wait)], 5).await;
    assert_eq!(state(first[0].id).await.state, DeliveryState::Failed);
    assert_eq!(on.store.trim_deliveries(WINDOW_MS * 2).await.unwrap(), 0);
    assert_eq!(state(fourth[1].id).await.state, DeliveryState::Failed);
    let retried = on.store.retry_delivery(&tenant.actor(), webhook.id, first[0].id).await.unwrap();
    assert_eq!((retried.state, retried.attempts), (DeliveryState::Waiting, 3));
    assert_eq!(names(&work(&on, &webhook, vec![], 5).await), ["a"]);
    let missing = on.store.retry_delivery(&tenant.actor(), webhook.id, DeliveryId::from_i64(1)).await;
    assert_fails!(missing, StoreError::NotFound(Kind::Delivery));
    on.clock().advance_seconds(WINDOW_MS / 1000);
    assert_eq!(on.store.trim_deliveries(WINDOW_MS).await.unwrap(), 4, "what does not wait is forgotten");
}

pub(crate) async fn a_receiver_that_answers_410_switches_its_webhook_off(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let webhook = make(&on, &tenant).await;
    queue(&on, &webhook, &["a", "b"]).await;
    let lent = work(&on, &webhook, vec![], 1).await;
    let answered_410 = Settlement { status: Some(410), ..settled(&lent[0], AttemptOutcome::Gone) };
    assert_eq!(work(&on, &webhook, vec![answered_410], 5).await, [], "nothing more is lent");
    let off = on.store.find_webhook(tenant.scope(), webhook.id).await.unwrap().unwrap();
    assert!(!off.settings.enabled && off.revision == webhook.revision.next());
    assert!(off.disabled.unwrap().1.contains("410"));
    let announced = on.events(&tenant).await.pop().unwrap();
    assert_eq!((announced.kind, announced.subject), (EventKind::WebhookDisabled, webhook.id.to_string()));
    assert_eq!(on.audits(&tenant).await[0].action, "webhook.disable");
    assert_eq!(
        (on.store.webhooks_due().await.unwrap(), on.store.webhooks_behind().await.unwrap()),
        (vec![], vec![])
    );
    let from = off.read_to;
    let pushed =
        on.store.advance_webhook(tenant.account.id, webhook.id, from, from + 1, vec![]).await.unwrap();
    assert!(!pushed, "nothing is taken for it either");
    let replaced =
        on.store.replace_webhook(&tenant.actor(), webhook.id, off.revision, settings()).await.unwrap();
    assert_eq!((replaced.disabled, replaced.read_to), (None, from), "it goes on where it stopped");
    assert_eq!(names(&work(&on, &webhook, vec![], 5).await), ["a", "b"]);
    let nobody =
        on.store.settle_and_lease_deliveries(tenant.account.id, WebhookId::from_i64(1), vec![], 1, 1).await;
    assert_eq!(nobody.unwrap(), None);
}
