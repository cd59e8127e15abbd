//! A clock was a day ahead and was corrected: limits of an hour, ages, periods and orders are those of the correct clock.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::LinkPurpose;
use perigee_core::accounts::limits::Limits;
use perigee_core::accounts::retention::{DeletedRecords, RecordRetention};
use perigee_core::devices::command::{Command, CommandKind, NewCommand};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::devices::device_file::NewDeviceFile;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{NewMessage, Reporter};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::notifications::notification::NotificationFilter;
use perigee_core::page::PageRequest;
use perigee_core::store::{
    AccountGateways as _, Commands as _, Credentials as _, DeviceFiles as _, GatewayHealth as _,
    Maintenance as _, Notifications as _, PASSWORD_MAILS_AN_HOUR, PollSettlement, Polls as _,
    RawMessages as _, Reporters as _, Routing as _, TEST_MESSAGES_AN_HOUR,
};

use crate::fixture::{Fixture, Tenant};
use crate::gateways::feeds;
use crate::sample::{fix, named};

const DAY_S: i64 = 86_400;
const PAGE: PageRequest = PageRequest::first(1_000);

/// Sets the clock, and has the store notice.
async fn step(on: &Fixture, seconds: i64) {
    on.clock().step_seconds(seconds);
    on.store.watch_clock().await.unwrap();
}

async fn tracker(on: &Fixture, tenant: &Tenant) -> Reporter {
    on.add(tenant, DeviceSettings { identifier: Some("imei".into()), ..named("one") }).await;
    on.store.find_claimed_device(&["imei".to_owned()], CountedClaims::All).await.unwrap().unwrap()
}

fn message(text: &str) -> NewMessage {
    NewMessage {
        source: "gt06",
        peer: "192.0.2.9:40000".into(),
        identifier: Some("imei".into()),
        bytes: text.as_bytes().to_vec(),
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    }
}

fn file(name: &str) -> NewDeviceFile {
    NewDeviceFile { captured_at: None, name: name.into(), source: "jt808", bytes: name.as_bytes().to_vec() }
}

async fn give(on: &Fixture, tenant: &Tenant, tracker: &Reporter) -> Command {
    let deadline = on.now().plus_seconds(7 * DAY_S);
    let new = NewCommand { kind: CommandKind::Custom, values: "{\"data\":\"x\"}".into(), deadline };
    on.store.create_command(&tenant.actor(), tracker.device, new, None).await.unwrap().into_inner()
}

/// Sends password mails and test messages until both are refused; returns how many of each.
async fn send_all(on: &Fixture, tenant: &Tenant, tracker: &Reporter) -> (i64, i64) {
    let (mut mails, mut tests) = (0, 0);
    let origin = Origin::service();
    while on.store.mail_password_link(&origin, tenant.owner.id, LinkPurpose::Reset).await.unwrap() {
        mails += 1;
    }
    let actor = tenant.actor();
    while let Some(count) = on.store.send_test_messages(&actor, tracker.device, None).await.unwrap() {
        tests += i64::try_from(count).unwrap();
    }
    (mails, tests)
}

/// Stores a message that completes a file of its name.
async fn store_file(on: &Fixture, tracker: &Reporter, name: &str) {
    let contents = MessageContents { files: vec![file(name)], ..MessageContents::default() };
    on.store.store_message(tracker, message(name), contents).await.unwrap();
}

pub(crate) async fn limits_of_an_hour_follow_a_corrected_clock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, Limits::default()).await;
    let tracker = Reporter { device, ..tracker(&on, &tenant).await };
    let all = (PASSWORD_MAILS_AN_HOUR, TEST_MESSAGES_AN_HOUR);
    step(&on, DAY_S).await;
    assert_eq!(send_all(&on, &tenant, &tracker).await, all);
    step(&on, -DAY_S).await;
    for hour in 0..3 {
        assert_eq!(send_all(&on, &tenant, &tracker).await, all, "hour {hour}");
        assert_eq!(send_all(&on, &tenant, &tracker).await, (0, 0), "hour {hour}");
        on.clock().advance_seconds(3_601);
    }
    let listed = async |from, to| {
        let filter = NotificationFilter { from, to, ..NotificationFilter::default() };
        on.store.list_notifications(tenant.scope(), &filter, PAGE).await.unwrap().items.len()
    };
    let of_an_hour = usize::try_from(all.0 + all.1).unwrap();
    let (begin, now) = (on.now().plus_seconds(-3_601), on.now());
    assert_eq!(listed(Some(begin), Some(now)).await, of_an_hour, "of the last hour");
    assert_eq!(listed(Some(now), Some(now.plus_seconds(3_600))).await, 0, "of the next hour");
}

pub(crate) async fn records_go_by_their_age_after_a_corrected_clock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant).await;
    let fill = async |name: &str| {
        store_file(&on, &tracker, name).await;
        on.raise(&tenant, tracker.device, "RPM").await;
        on.user(&tenant, name).await;
    };
    step(&on, DAY_S).await;
    fill("ahead").await;
    step(&on, -DAY_S).await;
    fill("corrected").await;
    let keep = Some(7 * DAY_S * 1_000);
    let keeping = RecordRetention {
        audits_ms: keep,
        alerts_ms: keep,
        occurrences_ms: keep,
        messages_ms: keep,
        unused_messages_ms: None,
    };
    let nothing = DeletedRecords::default();
    on.clock().advance_seconds(7 * DAY_S);
    assert_eq!(on.store.delete_old_records(keeping).await.unwrap(), nothing, "not older");
    on.clock().advance_seconds(1);
    // The account, its device and a user were made by the correct clock, another user by the wrong one.
    let deleted = DeletedRecords { audits: 4, alerts: 1, messages: 1, files: 1, ..nothing };
    assert_eq!(on.store.delete_old_records(keeping).await.unwrap(), deleted);
    on.clock().advance_seconds(DAY_S);
    let deleted = DeletedRecords { audits: 1, ..deleted };
    assert_eq!(on.store.delete_old_records(keeping).await.unwrap(), deleted);
}

pub(crate) async fn order_outlasts_a_corrected_clock(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant).await;
    step(&on, DAY_S).await;
    let mut given = vec![give(&on, &tenant, &tracker).await.id];
    store_file(&on, &tracker, "ahead").await;
    step(&on, -DAY_S).await;
    given.push(give(&on, &tenant, &tracker).await.id);
    store_file(&on, &tracker, "corrected").await;
    on.restart().await;
    given.push(give(&on, &tenant, &tracker).await.id);
    store_file(&on, &tracker, "restarted").await;
    let queued = on.store.queued_commands(&tracker, 10).await.unwrap();
    assert_eq!(queued.into_iter().map(|command| command.id).collect::<Vec<_>>(), given);
    let files = on.store.list_files(tracker.scope, tracker.device, PAGE).await.unwrap().items;
    let names: Vec<_> = files.into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["restarted", "corrected", "ahead"]);
    let targets: Vec<_> = on.audits(&tenant).await.into_iter().filter_map(|entry| entry.target).collect();
    let expect: Vec<_> = given.iter().rev().map(ToString::to_string).collect();
    assert_eq!(targets[..3], expect);
}

pub(crate) async fn feeds_are_fetched_after_a_corrected_clock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = feeds::gateway(&on, &tenant, "spot-feed", true).await;
    let feeds = ["spot-feed"];
    let state = async || on.store.find_message_gateway(made.account, made.id).await.unwrap().unwrap().state;
    step(&on, DAY_S).await;
    let poll = on.store.lease_poll(&feeds, 1_000, feeds::NOBODY).await.unwrap().unwrap();
    let settlement = PollSettlement {
        cursor: Some("next".into()),
        complete_to: Some(on.now()),
        next: on.now().plus_seconds(150),
        page: None,
        messages: 3,
        error: None,
        refused: true,
    };
    on.store.settle_poll(&poll, settlement).await.unwrap();
    step(&on, -DAY_S).await;
    let now = on.now();
    let known = state().await;
    assert_eq!((known.last_message, known.refused_at), (Some(now), Some(now)));
    let poll = known.poll.unwrap();
    assert_eq!((poll.next, poll.complete_to), (now.plus_seconds(150), Some(now)));
    assert_eq!(on.store.lease_poll(&feeds, 1_000, feeds::NOBODY).await.unwrap(), None, "not due");
    on.clock().advance_seconds(150);
    // Leased by a node that dies, before the clock is corrected.
    step(&on, DAY_S).await;
    assert!(on.store.lease_poll(&feeds, 60_000, feeds::NOBODY).await.unwrap().is_some());
    step(&on, -DAY_S).await;
    assert_eq!(on.store.lease_poll(&feeds, 1_000, feeds::NOBODY).await.unwrap(), None, "leased");
    on.clock().advance_seconds(60);
    assert!(on.store.lease_poll(&feeds, 1_000, feeds::NOBODY).await.unwrap().is_some());
    on.clock().advance_seconds(1_800);
    assert_eq!(on.store.announce_late_gateways().await.unwrap(), 1, "it was due half an hour ago");
}

pub(crate) async fn a_silent_device_is_noticed_after_a_corrected_clock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant).await;
    step(&on, DAY_S).await;
    on.store.store_message(&tracker, message("x"), vec![fix(on.now(), 1.0)].into()).await.unwrap();
    let seen = async || on.look(&tenant, tracker.device).await.last_seen;
    assert_eq!(seen().await, Some(on.now()));
    step(&on, -DAY_S).await;
    assert_eq!(seen().await, Some(on.now()));
    on.clock().advance_seconds(60);
    on.store.store_message(&tracker, message("y"), vec![fix(on.now(), 1.0)].into()).await.unwrap();
    assert_eq!(seen().await, Some(on.now()));
}
