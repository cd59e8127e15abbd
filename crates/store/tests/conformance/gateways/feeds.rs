//! Emergencies, the health of gateways, leases of polls, and fixes that come by two ways.

use perigee_core::alerts::alert::{Alert, LaterFix};
use perigee_core::alerts::emergency::StepKind;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::gateways::account_gateway::{Gateway, NewGateway};
use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage};
use perigee_core::gateways::message_contents::{MessageDevices, NewRequest, RequestMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::AccountId;
use perigee_core::locations::location::{CompactionBudget, DuplicateRule, Location, Milli, Outcome};
use perigee_core::page::PageRequest;
use perigee_core::store::{
    AccountGateways as _, Alerts as _, GatewayHealth as _, LeasedPoll, LocationMaintenance as _,
    Locations as _, PollSettlement, Polls as _, RawMessages as _,
};

use Outcome::{Accepted, Duplicate};

use perigee_store::verify;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, alert, fix, named, until};

/// The turn begins with the first account.
pub(crate) const NOBODY: AccountId = AccountId::from_i64(0);

pub(crate) async fn gateway(on: &Fixture, tenant: &Tenant, feed: &str, polled: bool) -> Gateway {
    let secret_hash = [u8::try_from(feed.len()).unwrap(); 32];
    let new =
        NewGateway { feed: feed.into(), name: None, device: None, options: "{}".into(), secret_hash, polled };
    on.store.create_gateway(&tenant.actor(), new, None).await.unwrap().into_inner()
}

fn report(gateway: &Gateway) -> GatewayReport {
    GatewayReport {
        account: gateway.account,
        gateway: gateway.id,
        heard: None,
        messages: 0,
        errors: 0,
        refused: 0,
        last_error: None,
    }
}

pub(crate) async fn steps_in_any_order_are_one_alert(on: Fixture) {
    use StepKind::{Cancel, Continue, Declare};
    let tenant = on.tenant("acme").await;
    let steps = [(0, Declare), (60, Continue), (600, Cancel)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let device = on.add(&tenant, named("boat")).await.id;
        let begin = on.now().plus_seconds(-3_600);
        for index in order.into_iter().chain(order) {
            let (seconds, kind) = steps[index];
            let sos = alert(begin.plus_seconds(seconds), "SOSButton");
            on.step(&tenant, device, kind, sos).await.unwrap();
        }
        let alerts = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
        assert_eq!(alerts.len(), 1, "{order:?}: {alerts:?}");
        assert_eq!(alerts[0].ended_at, Some(begin.plus_seconds(600)), "{order:?}");
        let story = on.event_kinds(&tenant, alerts[0].id).await;
        assert_eq!(story, [EventKind::AlertCreated, EventKind::AlertEnded], "{order:?}");
    }
    let expired = on.add(&tenant, until("old", "2020-01-01")).await.id;
    let refused = on.step(&tenant, expired, Declare, alert(on.now(), "SOSButton")).await;
    assert_fails!(refused, StoreError::DeviceExpired(_));
}

pub(crate) async fn a_late_cancellation_divides_two_emergencies(on: Fixture) {
    use StepKind::{Cancel, Declare};
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("boat")).await.id;
    let begin = on.now().plus_seconds(-3_600);
    for (seconds, kind) in [(0, Declare), (1_200, Declare), (600, Cancel)] {
        let sos = alert(begin.plus_seconds(seconds), "SOSButton");
        on.step(&tenant, device, kind, sos).await.unwrap();
    }
    let alerts = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
    let spans: Vec<_> = alerts.iter().map(|alert| (alert.alert.time, alert.ended_at)).collect();
    assert_eq!(spans, [(begin, Some(begin.plus_seconds(600))), (begin.plus_seconds(1_200), None)]);
}

pub(crate) async fn a_later_fix_of_an_emergency_is_the_position_of_its_alert(on: Fixture) {
    use StepKind::{Cancel, Continue, Declare};
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("boat")).await.id;
    let begin = on.now().plus_seconds(-3_600);
    let here = |degrees: f64| {
        let location = fix(begin, degrees);
        Some((location.latitude, location.longitude))
    };
    let steps = [
        (0, Declare, None),
        (30, Continue, None),
        (60, Continue, here(1.0)),
        (90, Continue, here(2.0)),
        (600, Cancel, None),
        (700, Declare, None),
        (800, Cancel, None),
        (900, Declare, here(3.0)),
        (960, Continue, here(4.0)),
    ];
    for (seconds, kind, position) in steps {
        let sos = Alert { position, ..alert(begin.plus_seconds(seconds), "SOSButton") };
        on.step(&tenant, device, kind, sos).await.unwrap();
    }
    let alerts = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
    let later = LaterFix { time: begin.plus_seconds(60), position: here(1.0).unwrap() };
    let positions: Vec<_> = alerts.iter().map(|alert| (alert.alert.position, alert.later_fix)).collect();
    assert_eq!(positions, [(None, Some(later)), (None, None), (here(3.0), None)], "of its own emergency");
    assert_eq!(alerts[0].best_position(), here(1.0));
    let story = on.event_kinds(&tenant, alerts[0].id).await;
    assert_eq!(story, [EventKind::AlertCreated, EventKind::AlertUpdated, EventKind::AlertEnded]);
    let report = verify(&on.store, &mut |_progress| {}).await.unwrap();
    assert_eq!(report.damaged.len(), 0, "{report:?}");
}

pub(crate) async fn reports_of_gateways_add_up(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = gateway(&on, &tenant, "garmin", false).await;
    let find = async || on.store.find_message_gateway(made.account, made.id).await.unwrap().unwrap().state;
    assert_eq!((find().await.last_message, find().await.poll), (None, None));
    let mut heard = report(&made);
    for _ in 0..200 {
        (heard.heard, heard.messages, heard.errors) = (Some((on.now(), on.now())), 2, 1);
        heard.last_error = Some("un\0readable".into());
        assert_eq!(on.store.save_gateway_reports(vec![heard.clone()]).await.unwrap(), 0);
        on.clock().advance_seconds(600);
    }
    let state = find().await;
    assert_eq!((state.interval_s, state.errors, state.late_since), (Some(600), 200, None));
    assert_eq!(state.last_error.unwrap().1, "unreadable");
    assert_eq!(state.hours.last_day(on.now()), 280);
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 0);
    on.clock().advance_seconds(1_000);
    let other = on.other_node().await;
    let both =
        (on.store.announce_late_gateways().await.unwrap(), other.announce_late_gateways().await.unwrap());
    assert_eq!(both, (1, 0), "once");
    assert!(find().await.late_since.is_some());
    let refused = GatewayReport { refused: 3, last_error: Some("no token".into()), ..report(&made) };
    assert_eq!(on.store.save_gateway_reports(vec![refused.clone(), refused]).await.unwrap(), 1);
    assert_eq!((find().await.refused, find().await.late_since.is_some()), (6, true));
    let kinds = on.event_kinds(&tenant, made.id).await;
    assert_eq!(kinds, [EventKind::GatewayCreated, EventKind::FeedLate, EventKind::FeedRefused]);
    on.store.delete_gateway(&tenant.actor(), made.id, None, None).await.unwrap();
    assert_eq!(on.store.save_gateway_reports(vec![heard]).await.unwrap(), 0, "deleted");
}

async fn polled(on: &Fixture, tenant: &Tenant, number: u8) -> Gateway {
    let (feed, options, secret_hash) = ("garmin-history".into(), "{}".into(), [number; 32]);
    let new = NewGateway { feed, name: None, device: None, options, secret_hash, polled: true };
    on.store.create_gateway(&tenant.actor(), new, None).await.unwrap().into_inner()
}

pub(crate) async fn accounts_take_turns_at_polls(on: Fixture) {
    let (first, second) = (on.tenant("first").await, on.tenant("second").await);
    let (greedy, other) =
        if first.account.id < second.account.id { (first, second) } else { (second, first) };
    for number in 1..=6 {
        polled(&on, &greedy, number).await;
    }
    on.clock().advance_seconds(1);
    for number in 7..=9 {
        polled(&on, &other, number).await;
    }
    let lease = async |after: AccountId| {
        let leased = on.store.lease_poll(&["garmin-history"], 60_000, after).await.unwrap();
        leased.map(|poll| (poll.gateway.account, poll))
    };
    let (greedy, other) = (greedy.account.id, other.account.id);
    let mut leased = Vec::new();
    let mut after = NOBODY;
    while let Some((account, poll)) = lease(after).await {
        after = account;
        leased.push((account, poll));
    }
    let order: Vec<AccountId> = leased.iter().map(|(account, _)| *account).collect();
    assert_eq!(order, [greedy, other, greedy, other], "in turn, and two of an account at the same time");

    // One that failed waits behind those that answer, and an account has one of these at a time.
    let failed = PollSettlement {
        cursor: None,
        complete_to: None,
        next: on.now(),
        page: None,
        messages: 0,
        error: Some("no answer".into()),
        refused: false,
    };
    for (_, poll) in leased.drain(..).filter(|(account, _)| *account == greedy) {
        assert!(on.store.settle_poll(&poll, failed.clone()).await.unwrap());
    }
    let failures = |poll: &LeasedPoll| poll.gateway.state.poll.as_ref().unwrap().failures;
    let (account, one) = lease(NOBODY).await.unwrap();
    assert_eq!((account, failures(&one)), (greedy, 1), "one of them goes first, so that it is tried at all");
    let (account, two) = lease(NOBODY).await.unwrap();
    assert_eq!((account, failures(&two)), (greedy, 0));
    assert!(lease(NOBODY).await.is_none(), "both accounts have two");
    assert!(on.store.settle_poll(&two, PollSettlement { error: None, ..failed }).await.unwrap());
    let (account, next) = lease(NOBODY).await.unwrap();
    assert_eq!((account, failures(&next)), (greedy, 0), "no second one that failed");
}

pub(crate) async fn a_feed_that_is_not_fetched_is_late(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = gateway(&on, &tenant, "spot-feed", true).await;
    let is_late = async || {
        on.store
            .find_message_gateway(made.account, made.id)
            .await
            .unwrap()
            .unwrap()
            .state
            .late_since
            .is_some()
    };
    let settle = async |error: Option<&str>| {
        let poll = on.store.lease_poll(&["spot-feed"], 1_000, NOBODY).await.unwrap().unwrap();
        let settlement = PollSettlement {
            cursor: None,
            complete_to: None,
            next: on.now().plus_seconds(150),
            page: None,
            messages: 0,
            error: error.map(str::to_owned),
            refused: false,
        };
        assert!(on.store.settle_poll(&poll, settlement).await.unwrap());
        on.clock().advance_seconds(150);
    };
    // Nobody asks the provider.
    on.clock().advance_seconds(1_800);
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 0);
    on.clock().advance_seconds(1);
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 1);
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 0, "once");
    assert!(is_late().await);
    settle(None).await;
    assert!(!is_late().await, "it was fetched");
    // The provider does not answer.
    for _ in 0..4 {
        settle(Some("no answer")).await;
        assert_eq!(on.store.announce_late_gateways().await.unwrap(), 0);
    }
    settle(Some("no answer")).await;
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 1);
    settle(Some("no answer")).await;
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 0, "once");
    assert!(is_late().await);
    settle(None).await;
    assert!(!is_late().await, "it answers again");
    let story = [EventKind::GatewayCreated, EventKind::FeedLate, EventKind::FeedLate];
    assert_eq!(on.event_kinds(&tenant, made.id).await, story);
}

pub(crate) async fn a_poll_is_leased_to_one_node(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let reporting = on.add(&tenant, named("spot")).await.id;
    let made = gateway(&on, &tenant, "spot-feed", true).await;
    gateway(&on, &tenant, "garmin", false).await;
    let other = on.other_node().await;
    assert_eq!(on.store.lease_poll(&["garmin-history"], 1_000, NOBODY).await.unwrap(), None);
    let first = on.store.lease_poll(&["garmin-history", "spot-feed"], 1_000, NOBODY).await.unwrap().unwrap();
    assert_eq!((first.gateway.id, first.at), (made.id, on.now()));
    assert_eq!(other.lease_poll(&["spot-feed"], 1_000, NOBODY).await.unwrap(), None);
    on.clock().advance_seconds(2);
    let second = other.lease_poll(&["spot-feed"], 1_000, NOBODY).await.unwrap().unwrap();
    let devices = MessageDevices::Several(vec![reporting]);
    let message = NewMessage {
        source: "spot-feed",
        peer: "x".into(),
        identifier: None,
        bytes: vec![1],
        error: None,
        gateway: Some(made.id),
        duplicate_rule: DuplicateRule::Fix,
        keep: Keep::Always,
    };
    let settlement = PollSettlement {
        cursor: Some("next".into()),
        complete_to: Some(on.now()),
        next: on.now().plus_seconds(150),
        page: Some(RequestMessage { message, result: MessageResult::Decoded, devices, sos: Vec::new() }),
        messages: 3,
        error: None,
        refused: false,
    };
    assert!(
        !on.store.settle_poll(&first, settlement.clone()).await.unwrap(),
        "its lease has passed to another"
    );
    assert!(other.settle_poll(&second, settlement.clone()).await.unwrap());
    assert!(!other.settle_poll(&second, settlement).await.unwrap(), "once");
    let filter = MessageFilter { device: Some(reporting), ..MessageFilter::default() };
    let messages = on.store.list_messages(tenant.scope(), &filter, PageRequest::first(10)).await;
    assert_eq!(messages.unwrap().items.len(), 1);
    let state = on.store.find_message_gateway(made.account, made.id).await.unwrap().unwrap().state;
    let poll = state.poll.unwrap();
    assert_eq!((poll.cursor.as_str(), poll.next, poll.failures), ("next", on.now().plus_seconds(150), 0));
    assert_eq!(on.store.lease_poll(&["spot-feed"], 1_000, NOBODY).await.unwrap(), None, "not due");
    on.clock().advance_seconds(150);
    let third = on.store.lease_poll(&["spot-feed"], 1_000, NOBODY).await.unwrap().unwrap();
    let failed = PollSettlement {
        cursor: None,
        complete_to: None,
        next: on.now(),
        page: None,
        messages: 0,
        error: Some("The provider answered 403.".into()),
        refused: true,
    };
    assert!(on.store.settle_poll(&third, failed).await.unwrap());
    let state = on.store.find_message_gateway(made.account, made.id).await.unwrap().unwrap().state;
    let poll = state.poll.unwrap();
    assert_eq!((poll.cursor.as_str(), poll.failures, state.refused), ("next", 1, 1));
    assert_eq!(on.event_kinds(&tenant, made.id).await, [EventKind::GatewayCreated, EventKind::FeedRefused]);
}

pub(crate) async fn a_fix_that_comes_by_two_ways_is_stored_once(on: Fixture) {
    const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };
    let tenant = on.tenant("acme").await;
    let settings = DeviceSettings { identifier: Some("imei".into()), ..named("boat") };
    let device = on.add(&tenant, settings).await.id;
    let track: Vec<Location> = (1..=50).map(|second| fix(on.now().plus_seconds(-second), 1.0)).collect();
    let other_readings = |location: &Location, degrees: f64| {
        let mut other = fix(location.time, degrees);
        other.readings.speed = Some(Milli::from_thousandths(5_000));
        other
    };
    let send = async |locations: Vec<Location>, duplicate_rule| {
        let devices = vec![(tenant.reporter(device), locations.into())];
        let account = tenant.account.id;
        let request = NewRequest { account, message: None, duplicate_rule, devices, is_past: false };
        let stored = on.store.store_request(request).await.unwrap().pop().unwrap();
        stored.unwrap().locations
    };
    assert_eq!(send(track.clone(), DuplicateRule::Fix).await, vec![Accepted; 50]);
    for packed in [false, true] {
        let near: Vec<Location> = track.iter().map(|location| other_readings(location, 1.000_005)).collect();
        assert_eq!(send(near, DuplicateRule::Fix).await, vec![Duplicate; 50], "packed: {packed}");
        let far = other_readings(&track[0], if packed { 1.2 } else { 1.1 });
        assert_eq!(send(vec![far.clone(), far], DuplicateRule::Fix).await, [Accepted, Duplicate]);
        on.store.compact(ALL).await.unwrap();
    }
    let by_content = other_readings(&track[1], 1.0);
    assert_eq!(send(vec![by_content.clone()], DuplicateRule::Content).await, [Accepted]);
    assert_eq!(send(vec![by_content], DuplicateRule::Content).await, [Duplicate]);
    let stored = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    assert_eq!(stored.len(), 53);
}
