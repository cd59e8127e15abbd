//! Names under which devices report, raw messages, and devices that nobody knows.

pub(crate) mod account_gateways;
pub(crate) mod claims;
pub(crate) mod feeds;
pub(crate) mod gateway_changes;
pub(crate) mod message_contents;
pub(crate) mod message_devices;
pub(crate) mod sos_outbox;

use perigee_core::access::actor::Reach;
use perigee_core::accounts::retention::RecordRetention;
use perigee_core::devices::device::{DeviceRef, DeviceSettings};
use perigee_core::error::{StoreError, Unique};
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::decoding::{Decoding, DecodingValue};
use perigee_core::gateways::gateway::{
    DeviceIdentifier, HeardDevice, HeardMessage, HeardReport, MessageFilter, MessageResult, NewMessage,
    RawMessage, Reporter,
};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::{Keep, ListedUsage, RawUsage, StoredToday};
use perigee_core::id::{GatewayId, MessageId};
use perigee_core::locations::location::Location;
use perigee_core::page::PageRequest;
use perigee_core::store::{Devices as _, Locations as _, Maintenance as _, RawMessages as _, Reporters as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, group_of, message, named, until};

fn identifier(name: &str, priority: u8) -> DeviceIdentifier {
    DeviceIdentifier { identifier: name.into(), link: Some("iridium".into()), priority }
}

fn called(name: &str, identifier: &str) -> DeviceSettings {
    DeviceSettings { identifier: Some(identifier.into()), ..named(name) }
}

async fn claimed(on: &Fixture, identifier: &str) -> Option<Reporter> {
    on.store.find_claimed_device(&[identifier.to_owned()], CountedClaims::All).await.unwrap()
}

async fn messages(on: &Fixture, tenant: &Tenant, filter: MessageFilter) -> Vec<RawMessage> {
    on.store.list_messages(tenant.scope(), &filter, PageRequest::first(100)).await.unwrap().items
}

pub(crate) async fn every_name_finds_its_device(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let identifiers = vec![identifier("second", 7), identifier("first", 7), identifier("third", 1)];
    let settings = DeviceSettings { identifiers, model: Some("GL300".into()), ..called("one", "main") };
    let device = on.add(&tenant, settings.clone()).await;
    let order: Vec<_> = device.settings.identifiers.iter().map(|each| each.identifier.as_str()).collect();
    assert_eq!(order, ["third", "first", "second"]);
    for name in ["main", "first", "second", "third"] {
        let found = claimed(&on, name).await.unwrap();
        assert_eq!((found.scope, found.device), (found.scope, device.id));
        assert_eq!((found.identifier.as_str(), found.model.as_deref()), (name, Some("GL300")));
    }
    let order = ["missing".to_owned(), "a\0b".to_owned(), "second".to_owned(), "first".to_owned()];
    let found = on.store.find_claimed_device(&order, CountedClaims::All).await.unwrap().unwrap();
    assert_eq!(found.identifier, "second", "the first that exists");

    let fewer = DeviceSettings { identifiers: vec![identifier("first", 7)], ..called("one", "other") };
    on.set(&tenant, device.id, fewer).await.unwrap();
    for (name, expect) in [("main", false), ("second", false), ("first", true), ("other", true)] {
        assert_eq!(claimed(&on, name).await.is_some(), expect, "{name}");
    }
    assert_eq!(on.look(&tenant, device.id).await.settings.identifiers, [identifier("first", 7)]);
}

pub(crate) async fn a_name_is_taken_once_in_an_account(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let extra = |name: &str| DeviceSettings { identifiers: vec![identifier(name, 0)], ..named(name) };
    on.add(&tenant, called("one", "main")).await;
    let second = on.add(&tenant, extra("extra")).await;
    for taken in [extra("main"), extra("extra"), called("x", "extra"), called("x", "main")] {
        let made = on.store.create_device(&tenant.actor(), taken, None).await;
        assert_fails!(made, StoreError::Taken(Unique::Identifier));
    }
    let own = DeviceSettings { description: Some("changed".into()), ..extra("extra") };
    on.set(&tenant, second.id, own).await.unwrap();
    assert_fails!(on.set(&tenant, second.id, extra("main")).await, StoreError::Taken(Unique::Identifier));
}

pub(crate) async fn the_first_account_claims_a_name(on: Fixture) {
    let (first, second) = (on.tenant("first").await, on.tenant("second").await);
    assert!(!on.store.has_one_account().await.unwrap());
    let (ours, theirs) =
        (on.add(&first, called("a", "imei")).await, on.add(&second, called("b", "imei")).await);
    let claimant = async || claimed(&on, "imei").await.map(|found| (found.scope.account, found.device));
    assert_eq!(claimant().await, Some((first.account.id, ours.id)));
    on.store.delete_device(&first.actor(), ours.id, None).await.unwrap();
    assert_eq!(claimant().await, Some((second.account.id, theirs.id)), "passed on");
    on.add(&first, called("a", "imei")).await;
    assert_eq!(claimant().await, Some((second.account.id, theirs.id)));
    on.set(&second, theirs.id, named("b")).await.unwrap();
    assert_eq!(claimant().await.map(|(account, _)| account), Some(first.account.id));
}

pub(crate) async fn a_message_is_stored_with_its_locations(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, called("one", "imei")).await;
    let reporter = claimed(&on, "imei").await.unwrap();
    let locations = vec![fix(on.now(), 1.0), fix(on.now().plus_seconds(1), 1.0)];
    let store = async |bytes: &[u8], locations: Vec<Location>| {
        on.store.store_message(&reporter, message(bytes), locations.into()).await.unwrap().result
    };
    assert_eq!(store(b"one", locations.clone()).await, MessageResult::Decoded);
    on.clock().advance_seconds(1);
    assert_eq!(store(b"two", locations[..1].to_vec()).await, MessageResult::Duplicate);
    on.clock().advance_seconds(60);
    assert_eq!(store(&[0, 255], Vec::new()).await, MessageResult::Decoded, "a heartbeat");
    assert_eq!(on.look(&tenant, device.id).await.last_seen, Some(on.now()));
    let broken = NewMessage { error: Some("no\0t as".into()), ..message(b"four") };
    let stored = on.store.store_message(&reporter, broken, MessageContents::default()).await.unwrap();
    assert_eq!(stored.result, MessageResult::Unparsable);

    let history = on.store.list_locations(tenant.scope(), device.id, EVERYTHING).await.unwrap();
    assert_eq!(history.items.len(), 2);
    let stored = messages(&on, &tenant, MessageFilter::default()).await;
    let summary: Vec<_> = stored.iter().map(|each| (each.bytes.as_slice(), each.result)).collect();
    let expect: [(&[u8], _); 4] = [
        (b"four", MessageResult::Unparsable),
        (&[0, 255], MessageResult::Decoded),
        (b"two", MessageResult::Duplicate),
        (b"one", MessageResult::Decoded),
    ];
    assert_eq!(summary, expect);
    let newest = &stored[0];
    assert_eq!((newest.source.as_str(), newest.peer.as_str()), ("gt06", "192.0.2.9:40000"));
    assert_eq!((newest.device, newest.identifier.as_deref()), (Some(device.id), Some("imei")));
    assert_eq!((newest.error.as_deref(), newest.size), (Some("not as"), 4));
    assert_eq!(newest.received_at, on.now());

    on.store.set_protocol(&reporter, "gt06").await.unwrap();
    assert_eq!(on.look(&tenant, device.id).await.protocol.as_deref(), Some("gt06"));
}

pub(crate) async fn messages_of_devices_that_store_nothing_are_kept(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let date = on.now().to_string()[..10].to_owned();
    let expiring = DeviceSettings { identifier: Some("imei".into()), ..until("one", &date) };
    let device = on.add(&tenant, expiring).await;
    let reporter = claimed(&on, "imei").await.unwrap();
    on.clock().advance_seconds(3 * 86_400);
    let contents = || MessageContents::from(vec![fix(on.now(), 1.0)]);
    let store = async || on.store.store_message(&reporter, message(b"x"), contents()).await;
    assert_eq!(store().await.unwrap().result, MessageResult::ExpiredDevice);
    assert_eq!(
        on.look(&tenant, device.id).await.last_seen,
        Some(on.now()),
        "its owner sees that it is alive"
    );
    let history = on.store.list_locations(tenant.scope(), device.id, EVERYTHING).await.unwrap();
    assert_eq!(history.items.len(), 0);
    assert_eq!(
        messages(&on, &tenant, MessageFilter::default()).await[0].result,
        MessageResult::ExpiredDevice
    );

    on.store.delete_device(&tenant.actor(), device.id, None).await.unwrap();
    assert_fails!(store().await, StoreError::NotFound(_));
    let stored = messages(&on, &tenant, MessageFilter::default()).await;
    let summary: Vec<_> = stored.iter().map(|each| (each.device, each.result)).collect();
    assert_eq!(summary, [(None, MessageResult::UnknownDevice)], "those of the deleted device are hidden");
}

pub(crate) async fn only_visible_messages_are_listed(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let (a, b) = (on.add(&tenant, called("a", "a")).await, on.add(&tenant, called("b", "b")).await);
    let group = on.add_group(&tenant, group_of("g", &[a.id])).await;
    for name in ["a", "b", "a"] {
        let reporter = claimed(&on, name).await.unwrap();
        on.store
            .store_message(&reporter, message(name.as_bytes()), MessageContents::default())
            .await
            .unwrap();
    }
    let all = MessageFilter::default();
    let count = async |filter: &MessageFilter, scope| {
        on.store.list_messages(scope, filter, PageRequest::first(10)).await.unwrap().items.len()
    };
    assert_eq!(count(&all, tenant.scope()).await, 3);
    assert_eq!(count(&all, other.scope()).await, 0);
    assert_eq!(count(&all, tenant.within(Reach::Group(group.id)).scope).await, 2);
    assert_eq!(count(&all, tenant.within(Reach::Device(b.id)).scope).await, 1);
    assert_eq!(count(&MessageFilter { device: Some(b.id), ..all.clone() }, tenant.scope()).await, 1);
    let source = |source: &str| MessageFilter { source: Some(source.into()), ..MessageFilter::default() };
    assert_eq!(count(&source("gt06"), tenant.scope()).await, 3);
    assert_eq!(count(&source("h\0"), tenant.scope()).await, 0);
    let result = Some(MessageResult::Duplicate);
    assert_eq!(count(&MessageFilter { result, ..all.clone() }, tenant.scope()).await, 0);

    let first = on.store.list_messages(tenant.scope(), &all, PageRequest::first(2)).await.unwrap();
    let rest = PageRequest { after: first.next, limit: 2 };
    let rest = on.store.list_messages(tenant.scope(), &all, rest).await.unwrap();
    assert_eq!((first.items.len(), rest.items.len(), rest.next), (2, 1, None));
    let id = rest.items[0].id;
    assert_eq!(on.store.find_message(tenant.scope(), id).await.unwrap(), Some(rest.items[0].clone()));
    let hidden = tenant.within(Reach::Device(b.id)).scope;
    let size = on.store.find_message_size(tenant.scope(), id).await.unwrap();
    assert_eq!(size, Some(rest.items[0].size));
    assert_eq!(on.store.find_message_size(hidden, id).await.unwrap(), None);
    assert_eq!(on.store.find_message(hidden, id).await.unwrap(), None);
    assert_eq!(on.store.find_message(other.scope(), id).await.unwrap(), None);
    assert_eq!(on.store.find_message(tenant.scope(), MessageId::from_i64(1)).await.unwrap(), None);
}

pub(crate) async fn old_messages_are_deleted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.add(&tenant, called("one", "imei")).await;
    let reporter = claimed(&on, "imei").await.unwrap();
    on.store.store_message(&reporter, message(b"old"), MessageContents::default()).await.unwrap();
    on.clock().advance_seconds(2 * 86_400);
    on.store.store_message(&reporter, message(b"new"), MessageContents::default()).await.unwrap();
    let keeping =
        |days: i64| RecordRetention { messages_ms: Some(days * 86_400_000), ..RecordRetention::default() };
    assert_eq!(on.store.delete_old_records(keeping(3)).await.unwrap().messages, 0);
    assert_eq!(on.store.delete_old_records(keeping(1)).await.unwrap().messages, 1);
    let left = messages(&on, &tenant, MessageFilter::default()).await;
    assert_eq!(left.iter().map(|each| each.bytes.as_slice()).collect::<Vec<_>>(), [b"new"]);
}

fn heard(on: &Fixture, identifier: &str, kept: usize) -> HeardReport {
    let message = |number: usize| HeardMessage {
        received_at: on.now(),
        source: "gt06".into(),
        peer: "192.0.2.9:1".into(),
        datagram: false,
        bytes: number.to_string().into_bytes(),
    };
    HeardReport {
        account: None,
        identifier: identifier.into(),
        source: "gt06",
        peer: "192.0.2.9:1".into(),
        last_heard: on.now(),
        messages: 3,
        kept: (0..kept).map(message).collect(),
    }
}

pub(crate) async fn unknown_devices_are_remembered_until_they_are_claimed(on: Fixture) {
    let tenant = on.tenant("acme").await;
    assert!(on.store.has_one_account().await.unwrap());
    let begin = on.now();
    on.store.save_heard(vec![heard(&on, "old", 1), heard(&on, "a\0b", 1)]).await.unwrap();
    on.clock().advance_seconds(10);
    on.store.save_heard(vec![heard(&on, "new", 30), heard(&on, "old", 0)]).await.unwrap();
    let list = on.store.list_heard(None).await.unwrap();
    assert_eq!(list.iter().map(|each| each.identifier.as_str()).collect::<Vec<_>>(), ["new", "old"]);
    assert_eq!((list[1].first_heard, list[1].last_heard, list[1].messages), (begin, on.now(), 6));
    assert_eq!(list[0].last_message.as_deref(), Some(b"29".as_slice()));
    assert_eq!(on.store.list_heard(Some(tenant.account.id)).await.unwrap(), []);
    assert_eq!(on.store.take_claimed(10, CountedClaims::All).await.unwrap(), []);

    let device = on.add(&tenant, called("one", "new")).await;
    assert_eq!(on.store.list_heard(None).await.unwrap().len(), 1);
    let taken = on.store.take_claimed(10, CountedClaims::All).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].0.device, taken[0].0.identifier.as_str()), (device.id, "new"));
    assert_eq!(taken[0].1.len(), HeardDevice::KEPT_MAX);
    assert_eq!(taken[0].1[0].bytes, b"10", "the newest ones, oldest first");
    assert_eq!(on.store.take_claimed(10, CountedClaims::All).await.unwrap(), [], "once");

    on.clock().advance_seconds(HeardDevice::REMEMBERED_MS / 1000 + 1);
    on.store.save_heard(vec![heard(&on, "later", 0)]).await.unwrap();
    let list = on.store.list_heard(None).await.unwrap();
    assert_eq!(list.iter().map(|each| each.identifier.as_str()).collect::<Vec<_>>(), ["later"]);
}

pub(crate) async fn reported_facts_are_stored_beside_the_settings(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let decoding: Decoding = [("hbm".to_owned(), DecodingValue::Whole(2))].into();
    let settings = DeviceSettings { decoding: decoding.clone(), ..called("one", "imei") };
    let device = on.add(&tenant, settings.clone()).await;
    let reporter = claimed(&on, "imei").await.unwrap();
    assert_eq!((&reporter.decoding, &reporter.reported_model), (&decoding, &None));
    assert_eq!(reporter.proposed_zone_minutes, None);
    on.store.set_reported_model(&reporter, "GV300").await.unwrap();
    on.store.set_proposed_zone(&reporter, Some(-570)).await.unwrap();
    let read = async || {
        let found = on.store.find_device(tenant.scope(), &DeviceRef::Id(device.id)).await.unwrap().unwrap();
        (found.revision, found.reported_model, found.proposed_zone_minutes)
    };
    // A report of the device is not a change by a client.
    assert_eq!(read().await, (device.revision, Some("GV300".to_owned()), Some(-570)));
    let reporter = claimed(&on, "imei").await.unwrap();
    assert_eq!(
        (reporter.reported_model.as_deref(), reporter.proposed_zone_minutes),
        (Some("GV300"), Some(-570))
    );
    assert_eq!(reporter.model, None);
    // A change of something else leaves the proposal, one of how messages are read ends it.
    let renamed = DeviceSettings { name: "two".into(), ..settings };
    let actor = tenant.actor();
    let after = on.store.replace_device(&actor, device.id, device.revision, renamed.clone()).await.unwrap();
    assert_eq!(after.proposed_zone_minutes, Some(-570));
    let accepted: Decoding = [("timeZoneMinutes".to_owned(), DecodingValue::Whole(-570))].into();
    let accepting = DeviceSettings { decoding: accepted.clone(), ..renamed };
    let after = on.store.replace_device(&actor, device.id, after.revision, accepting).await.unwrap();
    assert_eq!((after.settings.decoding, after.proposed_zone_minutes), (accepted, None));
    assert_eq!(after.reported_model.as_deref(), Some("GV300"));
    on.store.set_proposed_zone(&reporter, None).await.unwrap();
    // A device that was deleted meanwhile is not a failure.
    on.store.delete_device(&actor, device.id, None).await.unwrap();
    on.store.set_reported_model(&reporter, "GV300").await.unwrap();
}

pub(crate) async fn messages_that_stored_nothing_new_are_deleted_first(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.add(&tenant, called("one", "imei")).await;
    let reporter = claimed(&on, "imei").await.unwrap();
    for _ in 0..2 {
        on.store.store_message(&reporter, message(b"same"), vec![fix(on.now(), 1.0)].into()).await.unwrap();
    }
    let dropped = NewMessage { keep: Keep::Never, ..message(b"dropped") };
    assert_eq!(
        on.store.store_message(&reporter, dropped, vec![fix(on.now(), 2.0)].into()).await.unwrap().result,
        MessageResult::Decoded
    );
    let again = NewMessage { keep: Keep::IfUsed, ..message(b"again") };
    assert_eq!(
        on.store.store_message(&reporter, again, vec![fix(on.now(), 2.0)].into()).await.unwrap().result,
        MessageResult::Duplicate
    );
    let results = async || {
        let list = messages(&on, &tenant, MessageFilter::default()).await;
        list.iter().map(|message| message.result).collect::<Vec<_>>()
    };
    assert_eq!(results().await, [MessageResult::Duplicate, MessageResult::Decoded]);
    on.clock().advance_seconds(3 * 86_400);
    let retention = RecordRetention {
        messages_ms: Some(30 * 86_400_000),
        unused_messages_ms: Some(86_400_000),
        ..RecordRetention::default()
    };
    assert_eq!(on.store.delete_old_records(retention).await.unwrap().messages, 1);
    assert_eq!(results().await, [MessageResult::Decoded]);
}

pub(crate) async fn room_of_raw_messages_is_counted(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("Car")).await.id;
    let some = RawUsage {
        kept: 2,
        kept_bytes: 200,
        unused_bytes: 100,
        dropped: 1,
        dropped_bytes: 50,
        ..RawUsage::none(tenant.scope().account, None, Some(device))
    };
    let gateway = GatewayId::from_i64(7);
    let more =
        RawUsage { kept: 1, kept_bytes: 900, ..RawUsage::none(other.scope().account, Some(gateway), None) };
    let sums = async |usage| {
        let stored = on.store.save_raw_usage(usage).await.unwrap();
        let sum = |one: StoredToday| (one.account, one.sender, (one.kept, one.kept_bytes, one.unused_bytes));
        stored.into_iter().map(sum).collect::<Vec<_>>()
    };
    let (acme, sender) = (tenant.scope().account, Some((None, Some(device))));
    let one = other.scope().account;
    assert_eq!(
        sums(vec![some, more]).await,
        [
            (acme, sender, (2, 200, 100)),
            (acme, None, (2, 200, 100)),
            (one, Some((Some(gateway), None)), (1, 900, 0)),
            (one, None, (1, 900, 0)),
        ]
    );
    on.clock().advance_seconds(86_400);
    let of_day = [(acme, sender, (2, 200, 100)), (acme, None, (2, 200, 100))];
    assert_eq!(sums(vec![some]).await, of_day, "only of this day");
    let twice =
        RawUsage { kept: 4, kept_bytes: 400, unused_bytes: 200, dropped: 2, dropped_bytes: 100, ..some };
    let listed = async || on.store.list_raw_usage().await.unwrap();
    let named = |account_name: &str, usage| ListedUsage { account_name: account_name.to_owned(), usage };
    assert_eq!(listed().await, [named("other", more), named("acme", twice)]);
    on.clock().advance_seconds(29 * 86_400);
    on.store.save_raw_usage(vec![some]).await.unwrap();
    assert_eq!(listed().await, [named("acme", twice)], "the first day is forgotten");
}
