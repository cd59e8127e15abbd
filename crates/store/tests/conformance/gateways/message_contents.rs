//! Messages with alerts and files: all of a message is stored, or nothing.

use futures_util::future::join_all;
use perigee_core::alerts::alert::{Alert, StoredAlert};
use perigee_core::alerts::emergency::{EmergencyStep, StepKind};
use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::devices::device_file::NewDeviceFile;
use perigee_core::events::event::EventKind;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage, RawMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, MessageDevices, NewRequest, RequestMessage};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{DuplicateRule, Latitude, Location, Longitude, Outcome, TimeRange};
use perigee_core::notifications::notification::Channel;
use perigee_core::notifications::routing::RoutingHolder;
use perigee_core::page::PageRequest;
use perigee_core::store::{
    AccountGateways as _, Alerts as _, DeviceFiles as _, Emergencies as _, Locations as _, RawMessages as _,
    Reporters as _,
};

use perigee_store::{params, verify};

use Outcome::{Accepted, Duplicate};

use super::feeds::gateway;
use super::sos_outbox::{notice, request as request_of_unknown};
use crate::fixture::{Fixture, Tenant};
use crate::notifications::outbox::mail;
use crate::sample::{EVERYTHING, alert, fix, message, named, until};

async fn tracker(on: &Fixture, tenant: &Tenant, name: &str) -> Reporter {
    let settings = DeviceSettings { identifier: Some(name.into()), ..named(name) };
    on.add(tenant, settings).await;
    on.store.find_claimed_device(&[name.to_owned()], CountedClaims::All).await.unwrap().unwrap()
}

fn sos_alert(on: &Fixture) -> Alert {
    Alert { critical: true, ..alert(on.now(), "SOSButton") }
}

fn file() -> NewDeviceFile {
    NewDeviceFile { captured_at: None, name: "a.jpg".into(), source: "jt808", bytes: vec![1, 2, 3] }
}

/// A location, an SOS without a position and a file.
fn everything(on: &Fixture) -> MessageContents {
    MessageContents {
        locations: vec![fix(on.now(), 1.0)],
        alerts: vec![sos_alert(on)],
        steps: Vec::new(),
        files: vec![file()],
        texts: Vec::new(),
        sos: None,
    }
}

async fn alerts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<StoredAlert> {
    on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items
}

async fn messages(on: &Fixture, tenant: &Tenant) -> Vec<RawMessage> {
    let (filter, page) = (MessageFilter::default(), PageRequest::first(100));
    on.store.list_messages(tenant.scope(), &filter, page).await.unwrap().items
}

/// How many messages, locations, alerts, files and e-mails a tenant with this device has.
async fn counts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> [usize; 5] {
    let locations = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    let files = on.store.list_files(tenant.scope(), device, PageRequest::first(100)).await.unwrap().items;
    let mails = on.messages(tenant).await;
    let alerts = alerts(on, tenant, device).await;
    [messages(on, tenant).await.len(), locations.len(), alerts.len(), files.len(), mails.len()]
}

async fn alerts_fail(on: &Fixture) {
    on.sql("ALTER TABLE alert RENAME COLUMN severity TO severity_away", &[]).await;
}

async fn alerts_work_again(on: &Fixture) {
    on.sql("ALTER TABLE alert RENAME COLUMN severity_away TO severity", &[]).await;
}

pub(crate) async fn a_message_is_stored_with_all_it_says(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    let device = tracker.device;
    on.route(&tenant, RoutingHolder::Device(device), vec![mail("ana@example.com")]).await;
    let stored = on.store.store_message(&tracker, message(b"sos"), everything(&on)).await.unwrap();
    assert_eq!((stored.result, stored.contents.is_new()), (MessageResult::Decoded, true));
    assert_eq!(counts(&on, &tenant, device).await, [1, 1, 1, 1, 1]);
    let raised = &alerts(&on, &tenant, device).await[0];
    assert_eq!(on.event_kinds(&tenant, raised.id).await, [EventKind::AlertCreated]);
    let degrees = (Latitude::from_degrees(1.0).unwrap(), Longitude::from_degrees(1.0).unwrap());
    assert_eq!(raised.last_known, Some(degrees), "the position of the same message");

    let again = on.store.store_message(&tracker, message(b"sos"), everything(&on)).await.unwrap();
    assert_eq!(again.result, MessageResult::Duplicate);
    assert_eq!(again.contents.alerts, [Duplicate]);
    assert_eq!(counts(&on, &tenant, device).await, [2, 1, 1, 1, 1], "nobody is notified twice");

    let only_alert = MessageContents { alerts: vec![sos_alert(&on)], ..MessageContents::default() };
    let again = on.store.store_message(&tracker, message(b"sos"), only_alert).await.unwrap();
    assert_eq!(again.result, MessageResult::Duplicate);
}

pub(crate) async fn without_its_alert_no_message_is_stored(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (tracker, quiet) = (tracker(&on, &tenant, "imei").await, tracker(&on, &tenant, "quiet").await);
    let device = tracker.device;
    on.route(&tenant, RoutingHolder::Device(device), vec![mail("ana@example.com")]).await;
    alerts_fail(&on).await;
    on.store.store_message(&tracker, message(b"sos"), everything(&on)).await.unwrap_err();
    let step = EmergencyStep { kind: StepKind::Declare, alert: sos_alert(&on) };
    let contents = MessageContents { steps: vec![step], ..MessageContents::default() };
    on.store.store_message(&tracker, message(b"step"), contents).await.unwrap_err();
    // Others are stored meanwhile.
    let fixes = MessageContents::from(vec![fix(on.now(), 2.0)]);
    let stored = on.store.store_message(&quiet, message(b"fix"), fixes).await.unwrap();
    assert_eq!(stored.result, MessageResult::Decoded);
    alerts_work_again(&on).await;
    // The memory of a node must agree with the tables.
    for _ in 0..2 {
        assert_eq!(counts(&on, &tenant, device).await, [1, 0, 0, 0, 0], "only the message of the other");
        on.crash().await;
    }
    let stored = on.store.store_message(&tracker, message(b"sos"), everything(&on)).await.unwrap();
    assert_eq!(stored.contents.locations, [Accepted]);
    assert_eq!(counts(&on, &tenant, device).await, [2, 1, 1, 1, 1]);
}

fn request(tenant: &Tenant, devices: Vec<(Reporter, MessageContents)>) -> NewRequest {
    let message = Some(RequestMessage {
        message: message(b"several"),
        result: MessageResult::Decoded,
        devices: MessageDevices::of(devices.iter().map(|(reporter, _)| Some(reporter.device))),
        sos: Vec::new(),
    });
    let (account, duplicate_rule) = (tenant.account.id, DuplicateRule::Content);
    NewRequest { account, message, duplicate_rule, devices, is_past: false }
}

pub(crate) async fn a_request_of_several_devices_is_stored_whole(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (first, second) = (tracker(&on, &tenant, "one").await, tracker(&on, &tenant, "two").await);
    let expired = on.add(&tenant, until("old", "2020-01-01")).await.id;
    let devices = || {
        let each = [first.clone(), tenant.reporter(expired), second.clone()];
        each.map(|reporter| (reporter, everything(&on))).to_vec()
    };
    alerts_fail(&on).await;
    on.store.store_request(request(&tenant, devices())).await.unwrap_err();
    alerts_work_again(&on).await;
    assert_eq!(counts(&on, &tenant, first.device).await[..4], [0, 0, 0, 0]);
    assert_eq!(counts(&on, &tenant, second.device).await[..4], [0, 0, 0, 0]);
    for expect in [Accepted, Duplicate] {
        let stored = on.store.store_request(request(&tenant, devices())).await.unwrap();
        assert_eq!(stored.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(stored[0].as_ref().unwrap().alerts, [expect]);
        assert_eq!(stored[2].as_ref().unwrap().files, [expect]);
    }
    assert_eq!(counts(&on, &tenant, first.device).await[..4], [2, 1, 1, 1]);
    assert_eq!(counts(&on, &tenant, expired).await[..4], [2, 0, 0, 0]);
    let nobody = on.store.store_request(request(&tenant, Vec::new())).await.unwrap();
    assert_eq!((nobody.len(), messages(&on, &tenant).await.len()), (0, 3));
}

pub(crate) async fn a_request_that_says_very_much_is_stored_in_parts(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (first, second) = (tracker(&on, &tenant, "one").await, tracker(&on, &tenant, "two").await);
    let much = |count: i64| {
        let times = (0..count).map(|second| on.now().plus_seconds(-second));
        let locations: Vec<Location> = times.clone().map(|time| fix(time, 1.0)).collect();
        let alerts = times.take(150).map(|time| alert(time, "Door")).collect();
        MessageContents { locations, alerts, ..MessageContents::default() }
    };
    let devices = vec![(first.clone(), much(4_000)), (second.clone(), much(3_000))];
    let stored = on.store.store_request(request(&tenant, devices)).await.unwrap();
    let sizes: Vec<_> = stored.iter().map(|each| each.as_ref().unwrap()).collect();
    let sizes: Vec<_> = sizes.iter().map(|each| (each.locations.len(), each.alerts.len())).collect();
    assert_eq!(sizes, [(4_000, 150), (3_000, 150)]);
    assert_eq!(counts(&on, &tenant, first.device).await[..3], [1, 4_000, 150]);
    assert_eq!(counts(&on, &tenant, second.device).await[..3], [1, 3_000, 150]);
}

pub(crate) async fn alerts_and_locations_of_an_account_do_not_block_each_other(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let trackers = join_all(["a", "b", "c", "d"].map(|name| tracker(&on, &tenant, name))).await;
    let (node, other) = (on.store.clone(), on.other_node().await);
    let mut all = Vec::new();
    for number in 0..60_i64 {
        let store = if number % 2 == 0 { &node } else { &other };
        let tracker = &trackers[usize::try_from(number).unwrap() % trackers.len()];
        let time = on.now().plus_seconds(-number);
        let mut contents = MessageContents::from(vec![fix(time, 1.0)]);
        if number % 3 == 0 {
            contents.alerts.push(alert(time, "SOSButton"));
        }
        all.push(async move { store.store_message(tracker, message(b"x"), contents).await });
    }
    let stored = join_all(all).await;
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
    let mut raised = 0;
    for tracker in &trackers {
        raised += alerts(&on, &tenant, tracker.device).await.len();
    }
    assert_eq!(raised, 20);
}

pub(crate) async fn alerts_of_the_past_notify_nobody(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    on.route(&tenant, RoutingHolder::Device(tracker.device), vec![mail("ana@example.com")]).await;
    let before = on.events(&tenant).await.len();
    let step = EmergencyStep { kind: StepKind::Declare, alert: sos_alert(&on) };
    let contents = MessageContents {
        alerts: vec![alert(on.now(), "Door")],
        steps: vec![step],
        ..MessageContents::default()
    };
    let past = NewRequest { is_past: true, ..request(&tenant, vec![(tracker.clone(), contents)]) };
    for expect in [Accepted, Duplicate] {
        let stored = on.store.store_request(past.clone()).await.unwrap().pop().unwrap().unwrap();
        assert_eq!(
            (stored.alerts.as_slice(), stored.steps.as_slice()),
            ([expect].as_slice(), [expect].as_slice())
        );
    }
    let ended: Vec<_> = alerts(&on, &tenant, tracker.device).await.iter().map(|one| one.ended_at).collect();
    assert_eq!(ended, [Some(on.now()), Some(on.now())]);
    assert_eq!(on.messages(&tenant).await.len(), 0);
    assert_eq!(on.events(&tenant).await.len(), before);
    let report = verify(&on.store, &mut |_progress| {}).await.unwrap();
    assert_eq!(report.damaged.len(), 0, "{report:?}");
}

pub(crate) async fn messages_of_before_are_searched_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    assert!(on.store.next_searched_messages().await.unwrap().is_none(), "a new account has none");
    for bytes in [b"one", b"two"] {
        on.store.store_message(&tracker, message(bytes), MessageContents::default()).await.unwrap();
    }
    let broken = NewMessage { error: Some("unreadable".into()), ..message(b"broken") };
    on.store.store_message(&tracker, broken, MessageContents::default()).await.unwrap();
    let sql = "INSERT INTO alert_search (account_id, after_id) VALUES (?1, 0)";
    on.sql(sql, params![tenant.account.id]).await;
    let first = on.store.next_searched_messages().await.unwrap().unwrap();
    let bytes: Vec<_> = first.messages.iter().map(|each| each.bytes.as_slice()).collect();
    assert_eq!((bytes.as_slice(), first.after), ([b"one".as_slice(), b"two"].as_slice(), 0));
    for _ in 0..2 {
        on.store.finish_searched_messages(&first).await.unwrap();
    }
    let rest = on.store.next_searched_messages().await.unwrap().unwrap();
    assert_eq!((rest.messages.len(), rest.to, Some(rest.after)), (0, None, first.to));
    on.store.finish_searched_messages(&rest).await.unwrap();
    assert!(on.store.next_searched_messages().await.unwrap().is_none());

    let contents = MessageContents { alerts: vec![sos_alert(&on)], ..MessageContents::default() };
    on.store.store_message(&tracker, message(b"sos"), contents).await.unwrap();
    let has = async |name: &str, seconds: i64| {
        let range =
            TimeRange { from: on.now().plus_seconds(seconds), to: on.now().plus_seconds(seconds + 1) };
        on.store.has_alert_within(&tracker, name, range).await.unwrap()
    };
    assert!(has("SOSButton", 0).await && has("SOSButton", -1).await);
    assert!(!has("SOSButton", 1).await && !has("Door", 0).await);
}

pub(crate) async fn an_sos_of_an_expired_device_notifies_its_people(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("old", "2020-01-01")).await.id;
    on.route(&tenant, RoutingHolder::Device(device), vec![mail("ana@example.com")]).await;
    let send = async || {
        let sos = Some(notice("imei", SosReason::ExpiredDevice));
        let contents = MessageContents { alerts: vec![sos_alert(&on)], sos, ..MessageContents::default() };
        let stored =
            on.store.store_message(&tenant.reporter(device), message(b"sos"), contents).await.unwrap();
        assert_eq!(stored.result, MessageResult::ExpiredDevice);
        on.messages(&tenant).await.into_iter().map(|mail| mail.address).collect::<Vec<_>>()
    };
    assert_eq!(send().await, ["ana@example.com"]);
    assert_eq!(send().await.len(), 1, "once in a while");
    on.clock().advance_seconds(6 * 3_600);
    assert_eq!(send().await.len(), 2);
    assert_eq!(alerts(&on, &tenant, device).await.len(), 0);
    let kinds: Vec<_> = on.events(&tenant).await.iter().map(|event| (event.kind, event.device)).collect();
    let announced = (EventKind::SosUnregistered, Some(device));
    assert_eq!(kinds.iter().filter(|kind| **kind == announced).count(), 2, "{kinds:?}");
    assert_eq!(on.due(Channel::EMAIL).await.len(), 2);
}

pub(crate) async fn strangers_cannot_flood_people_with_sos(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.sql("UPDATE account_user SET operator = TRUE", &[]).await;
    let made = gateway(&on, &tenant, "garmin", false).await;
    let names: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mails = async || {
        on.store.announce_recorded_sos().await.unwrap();
        i64::try_from(on.messages(&tenant).await.len()).unwrap()
    };
    let most = SosNotice::PER_ACCOUNT_A_DAY + SosNotice::TO_OPERATORS_A_DAY;
    on.store.store_gateway_message(&made, request_of_unknown(&names)).await.unwrap();
    assert_eq!(mails().await, most);
    let to_operators = async || {
        for name in &names {
            on.store.record_sos(notice(name, SosReason::UnknownDevice)).await.unwrap();
        }
    };
    to_operators().await;
    assert_eq!(mails().await, most);
    on.clock().advance_seconds(86_400);
    to_operators().await;
    assert_eq!(mails().await, most + SosNotice::TO_OPERATORS_A_DAY);
}
