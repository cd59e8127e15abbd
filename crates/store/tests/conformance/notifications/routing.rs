//! Where alerts go: the most specific routing decides, and people choose what they are notified of and when.

use perigee_core::access::actor::Reach;
use perigee_core::alerts::severity::Severity;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::id::{DeviceId, WebhookId};
use perigee_core::notifications::notification::{
    Channel, MessagingSettings, NotificationState, SendingPolicy, UnitCaps,
};
use perigee_core::notifications::routing::{
    AlertRouting, Recipient, RoutedWebhook, RoutingHolder, StoredRouting,
};
use perigee_core::revision::Revision;
use perigee_core::rules::schedule::{Schedule, TimeOfDay, Weekday};
use perigee_core::store::{Events as _, Groups as _, Outbox as _, Routing as _, Webhooks as _};
use perigee_core::webhooks::webhook::{WebhookSecret, WebhookSettings};

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::notifications::outbox::{candidates, daily, mail, phone, policy};
use crate::sample::{at, group_of, named};

use NotificationState::{Suppressed, Waiting};

pub(crate) async fn the_most_specific_level_decides(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let scope = tenant.scope();
    let who = async || {
        let found = on.store.routing_in_force(scope, device).await.unwrap();
        let to = |people: Vec<Recipient>| -> Vec<String> {
            people.iter().map(|person| person.destination.as_str().to_owned()).collect()
        };
        found.map(|(holder, routing)| (holder, to(routing.recipients)))
    };
    assert_eq!(who().await, None);
    on.route(&tenant, RoutingHolder::Account, vec![mail("all@example.com")]).await;
    assert_eq!(who().await, Some((RoutingHolder::Account, vec!["all@example.com".into()])));
    let (one, two) = (
        on.add_group(&tenant, group_of("one", &[device])).await.id,
        on.add_group(&tenant, group_of("two", &[device])).await.id,
    );
    let empty = on.add_group(&tenant, group_of("three", &[device])).await.id;
    on.route(&tenant, RoutingHolder::Group(one), vec![mail("one@example.com"), phone("+34600123456")]).await;
    on.route(&tenant, RoutingHolder::Group(two), vec![mail("ONE@example.com")]).await;
    let (_, people) = who().await.unwrap();
    assert_eq!(people, ["one@example.com", "+34600123456", "ONE@example.com"], "groups add up");
    on.raise(&tenant, device, "RPM").await;
    assert_eq!(on.due(Channel::EMAIL).await.len(), 1, "nobody is notified twice");
    on.route(&tenant, RoutingHolder::Device(device), vec![]).await;
    assert_eq!(who().await, Some((RoutingHolder::Device(device), vec![])), "set to nobody is nobody");
    on.raise(&tenant, device, "Route").await;
    assert_eq!(on.due(Channel::EMAIL).await.len(), 1);
    let seen = on.store.get_routing(scope, RoutingHolder::Device(device)).await.unwrap().revision;
    on.store.replace_routing(&tenant.actor(), RoutingHolder::Device(device), seen, None).await.unwrap();
    for group in [one, two, empty] {
        on.store.delete_group(&tenant.actor(), group, None).await.unwrap();
    }
    assert_eq!(who().await, Some((RoutingHolder::Account, vec!["all@example.com".into()])));
}

pub(crate) async fn routings_are_stored_by_revision(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let holder = RoutingHolder::Device(device);
    let find = async || on.store.get_routing(tenant.scope(), holder).await.unwrap();
    assert_eq!(find().await, StoredRouting::UNSET);
    let actor = tenant.actor();
    let set = async |seen, routing| on.store.replace_routing(&actor, holder, Revision(seen), routing).await;
    let routing = Some(AlertRouting { recipients: vec![mail("ana@example.com")], ..AlertRouting::default() });
    assert_fails!(set(1, routing.clone()).await, StoreError::RevisionMismatch(Kind::AlertRouting));
    assert_eq!(set(0, routing.clone()).await.unwrap().revision, Revision(1));
    assert_eq!(find().await.routing, routing);
    assert_eq!(set(1, None).await.unwrap().routing, None);
    assert_eq!(set(2, routing).await.unwrap().revision, Revision(3), "each state has a revision of its own");
    let stranger = on.tenant("other").await;
    let seen = on.store.get_routing(stranger.scope(), holder).await;
    assert_fails!(seen, StoreError::NotFound(Kind::Device));
    let other = on.add(&tenant, named("two")).await.id;
    let bound = tenant.within(Reach::Device(other));
    assert_fails!(on.store.get_routing(bound.scope, holder).await, StoreError::NotFound(Kind::Device));
    let account = on.store.get_routing(bound.scope, RoutingHolder::Account).await;
    assert_fails!(account, StoreError::NotFound(Kind::Account));
    let actions: Vec<String> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    assert!(actions.iter().any(|action| action == "alertRouting.update"), "{actions:?}");
    assert!(actions.iter().any(|action| action == "alertRouting.delete"), "{actions:?}");
}

pub(crate) async fn people_are_notified_of_what_they_want_when_they_want(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    // 2026-05-01 is a Friday; Madrid is two hours ahead of UTC.
    on.clock().set(at("2026-05-01T17:30:00Z"));
    let hours = Schedule {
        weekdays: vec![Weekday::Friday],
        from: "08:00".parse().unwrap(),
        to: "18:00".parse::<TimeOfDay>().unwrap(),
        time_zone: None,
    };
    let office = Recipient { schedule: Some(hours), ..mail("office@example.com") };
    let calm = Recipient { minimum_severity: Severity::Critical, ..mail("calm@example.com") };
    on.route(&tenant, RoutingHolder::Device(device), vec![office, calm]).await;
    on.raise(&tenant, device, "RPM").await;
    let off = (Suppressed, Some("schedule".to_owned()));
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, std::slice::from_ref(&off));
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, [off.clone(), off, (Waiting, None)]);
    on.clock().set(at("2026-05-08T15:30:00Z"));
    on.raise(&tenant, device, "RPM").await;
    assert_eq!(on.states(&tenant, Channel::EMAIL).await[3], (Waiting, None));
}

pub(crate) async fn accounts_and_operators_switch_channels_off(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(5, 5)).await;
    let set = async |settings: MessagingSettings| {
        let seen = on.store.get_notification_settings(tenant.scope()).await.unwrap().revision;
        on.store.replace_messaging(&tenant.actor(), seen, settings).await.unwrap()
    };
    on.raise(&tenant, device, "a").await;
    let off = SendingPolicy { on: vec![Channel::SMS], sms_prefixes: vec!["+33".into()], ..policy() };
    for channel in [Channel::EMAIL, Channel::SMS] {
        let due = on.due(channel).await;
        let reserved = on.store.reserve(candidates(&due, 1), &off).await.unwrap();
        assert_eq!((reserved.granted.len(), reserved.suppressed), (0, 1));
    }
    set(MessagingSettings {
        email_on: false,
        sms_prefixes: vec!["+1".into()],
        ..MessagingSettings::default()
    })
    .await;
    on.raise(&tenant, device, "b").await;
    assert!(on.reserve_all(Channel::EMAIL).await.is_empty() && on.reserve_all(Channel::SMS).await.is_empty());
    let reasons = async |channel| -> Vec<String> {
        on.states(&tenant, channel).await.into_iter().filter_map(|(_, reason)| reason).collect()
    };
    assert_eq!(reasons(Channel::EMAIL).await, ["channel-off", "account-off"]);
    assert_eq!(reasons(Channel::SMS).await, ["country", "country"]);
    set(MessagingSettings::default()).await;
    on.raise(&tenant, device, "c").await;
    assert_eq!(on.reserve_all(Channel::EMAIL).await.len(), 1);
    let counters = on.look(&tenant, device).await.counters;
    assert_eq!(
        (counters.by(Channel::EMAIL).messages, counters.by(Channel::SMS).messages),
        (1, 0),
        "what is not sent is not counted"
    );
}

pub(crate) async fn sms_are_capped_by_segments(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(99, 99)).await;
    let policy = SendingPolicy {
        caps: [(Channel::SMS, UnitCaps { daily: Some(5), monthly: Some(8) })].into(),
        ..policy()
    };
    let mut fresh = 0;
    let mut send = async |segments: u32| {
        fresh += 1;
        on.raise(&tenant, device, &format!("alert {fresh}")).await;
        let due = on.due(Channel::SMS).await;
        let held = on.store.reserve(candidates(&due, segments), &policy).await.unwrap().granted;
        on.settle_all(&held, &crate::notifications::outbox::sent()).await;
        (held.len(), on.states(&tenant, Channel::SMS).await.pop().and_then(|(_, reason)| reason))
    };
    on.clock().set(at("2026-03-30T12:00:00Z"));
    assert_eq!(send(3).await, (1, None));
    assert_eq!(send(3).await, (0, Some("sms-daily-cap".into())));
    assert_eq!(send(2).await, (1, None));
    on.clock().set(at("2026-03-31T12:00:00Z"));
    assert_eq!(send(3).await, (1, None));
    assert_eq!(send(1).await, (0, Some("sms-monthly-cap".into())));
    on.clock().set(at("2026-04-01T12:00:00Z"));
    assert_eq!(send(5).await, (1, None));
    assert_eq!(on.look(&tenant, device).await.counters.by(Channel::SMS).segments, 5);
    // An e-mail uses no segments: a cap on SMS below the number in use does not stop it.
    let mean = SendingPolicy {
        caps: [(Channel::SMS, UnitCaps { daily: Some(1), monthly: Some(8) })].into(),
        ..policy
    };
    let mails = on.due(Channel::EMAIL).await;
    assert!(!mails.is_empty());
    assert_eq!(on.store.reserve(candidates(&mails, 0), &mean).await.unwrap().granted.len(), mails.len());
}

pub(crate) async fn alerts_are_routed_to_webhooks(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (actor, scope) = (tenant.actor(), tenant.scope());
    let device = on.add(&tenant, named("one")).await.id;
    let create = async |alerts_by_routing| {
        let kinds = [EventKind::DeviceCreated].into();
        let filter = EventFilter { kinds, alerts_by_routing, ..EventFilter::default() };
        let settings =
            WebhookSettings { name: None, url: "https://example.com".into(), filter, enabled: true };
        let made = on.store.create_webhook(&actor, settings, WebhookSecret(vec![1]), None).await;
        made.unwrap().into_inner()
    };
    let (first, other) = (create(false).await, create(true).await);
    let route = async |webhook: WebhookId, minimum_severity, schedule| {
        let seen = on.store.get_routing(scope, RoutingHolder::Account).await?.revision;
        let webhooks = vec![RoutedWebhook { webhook, minimum_severity, schedule }];
        let routing = Some(AlertRouting { webhooks, ..AlertRouting::default() });
        on.store.replace_routing(&actor, RoutingHolder::Account, seen, routing).await
    };
    let unknown = route(WebhookId::from_i64(9), Severity::Info, None).await;
    assert_fails!(unknown, StoreError::UnknownReference { kind: Kind::Webhook, .. });
    let stored = route(first.id, Severity::Warning, None).await.unwrap();
    assert_eq!(on.store.get_routing(scope, RoutingHolder::Account).await.unwrap(), stored);
    assert_fails!(on.store.delete_webhook(&actor, first.id, None).await, StoreError::InUse(Kind::Webhook));

    let after = on.store.event_end(scope).await.unwrap();
    on.raise(&tenant, device, "CheckPoint").await;
    on.raise(&tenant, device, "RPM").await;
    on.clock().set(at("2026-01-03T10:00:00Z"));
    let (from, to) = (TimeOfDay::MIDNIGHT, TimeOfDay::END);
    let sundays = Schedule { weekdays: vec![Weekday::Sunday], from, to, time_zone: None };
    route(first.id, Severity::Info, Some(sundays)).await.unwrap();
    on.raise(&tenant, device, "Route").await;
    on.clock().set(at("2026-01-04T10:00:00Z"));
    on.raise(&tenant, device, "Mileage").await;
    let read = async |filter: EventFilter| {
        let page = on.store.read_events(scope, &filter, after, 100).await.unwrap();
        assert_eq!(page.next, on.store.event_end(scope).await.unwrap());
        assert!(page.events.iter().all(|event| event.data == serde_json::json!({})), "{:?}", page.events);
        page.events.len()
    };
    let own = |filter: &EventFilter, id| EventFilter { reader: Some(id), ..filter.clone() };
    assert_eq!(read(own(&first.settings.filter, first.id)).await, 2, "RPM, and Mileage on a Sunday");
    assert_eq!(read(own(&other.settings.filter, other.id)).await, 0);
    let alerts = EventFilter { kinds: [EventKind::AlertCreated].into(), ..EventFilter::default() };
    assert_eq!(read(alerts.clone()).await, 4);
    assert_eq!(read(own(&alerts, first.id)).await, 4, "who is named and subscribed is notified once");
    let by_routing = EventFilter { alerts_by_routing: true, ..alerts };
    assert_eq!(read(own(&by_routing, first.id)).await, 2);
    let elsewhere = EventFilter { devices: [DeviceId::from_i64(1)].into(), ..EventFilter::default() };
    assert_eq!(
        read(own(&elsewhere, first.id)).await,
        2,
        "a webhook named by a routing gets alerts that its own filter leaves out"
    );

    let seen = on.store.get_routing(scope, RoutingHolder::Account).await.unwrap().revision;
    on.store.replace_routing(&actor, RoutingHolder::Account, seen, None).await.unwrap();
    on.store.delete_webhook(&actor, first.id, None).await.unwrap();
}
