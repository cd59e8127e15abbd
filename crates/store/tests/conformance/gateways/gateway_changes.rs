//! Gateways that are changed, get another address, and are deleted with their settings kept for their messages.

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::accounts::retention::RecordRetention;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use perigee_core::gateways::gateway::{MessageResult, NewMessage};
use perigee_core::gateways::message_contents::{MessageDevices, RequestMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::DuplicateRule;
use perigee_core::revision::Revision;
use perigee_core::store::{
    AccountGateways as _, Devices as _, GatewayHealth as _, Maintenance as _, PollSettlement, Polls as _,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::named;

const DAY_S: i64 = 86_400;

fn new(secret: u8, device: Option<DeviceId>, polled: bool) -> NewGateway {
    NewGateway {
        feed: if polled { "spot-feed" } else { "json" }.into(),
        name: Some("boats".into()),
        device,
        options: "{\"feedId\":\"a\",\"password\":\"p\"}".into(),
        secret_hash: [secret; 32],
        polled,
    }
}

async fn make(on: &Fixture, tenant: &Tenant, new: NewGateway) -> Gateway {
    on.store.create_gateway(&tenant.actor(), new, None).await.unwrap().into_inner()
}

fn settings(of: &Gateway) -> GatewaySettings {
    let NewGateway { name, device, options, .. } = of.settings.clone();
    GatewaySettings { name, device, options }
}

async fn hear(on: &Fixture, gateway: &Gateway) {
    let message = NewMessage {
        source: "json",
        peer: "192.0.2.1".into(),
        identifier: None,
        bytes: b"body".to_vec(),
        error: None,
        gateway: Some(gateway.id),
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    };
    let devices = MessageDevices::Unknown;
    let message = RequestMessage { message, result: MessageResult::Decoded, devices, sos: Vec::new() };
    on.store.store_gateway_message(gateway, message).await.unwrap();
}

async fn kinds(on: &Fixture, tenant: &Tenant, gateway: &Gateway) -> Vec<EventKind> {
    let events = on.events(tenant).await;
    events.iter().filter(|event| event.subject == gateway.id.to_string()).map(|event| event.kind).collect()
}

async fn actions(on: &Fixture, tenant: &Tenant, gateway: &Gateway) -> Vec<(String, Option<String>)> {
    let target = Some(gateway.id.to_string());
    let mut audits: Vec<_> =
        on.audits(tenant).await.into_iter().filter(|entry| entry.target == target).collect();
    audits.sort_by_key(|entry| entry.id);
    audits.into_iter().map(|entry| (entry.action, entry.detail)).collect()
}

pub(crate) async fn a_gateway_is_changed_from_the_revision_that_was_read(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let made = make(&on, &tenant, new(1, None, false)).await;
    assert_eq!((made.revision, made.last_modified, made.previous_until), (Revision::FIRST, None, None));
    let replace =
        async |actor: &Actor, seen, settings| on.store.replace_gateway(actor, made.id, seen, settings).await;
    let actor = tenant.actor();
    let same = replace(&actor, Revision::FIRST, settings(&made)).await.unwrap();
    assert_eq!(same, made, "nothing changed");

    on.clock().advance_seconds(60);
    let device = on.add(&tenant, named("one")).await.id;
    let wanted = GatewaySettings { name: None, device: Some(device), options: "{\"mapping\":{}}".into() };
    let changed = replace(&actor, Revision::FIRST, wanted.clone()).await.unwrap();
    assert_eq!((settings(&changed), changed.revision), (wanted.clone(), Revision::FIRST.next()));
    assert_eq!((changed.last_modified, changed.creation), (Some(on.now()), made.creation));
    assert_eq!(on.store.find_gateway([1; 32]).await.unwrap(), Some(changed), "the address stays");
    let late = replace(&actor, Revision::FIRST, settings(&made)).await;
    assert_fails!(late, StoreError::RevisionMismatch(Kind::Gateway));

    let foreign = on.add(&other, named("theirs")).await.id;
    let strange = GatewaySettings { device: Some(foreign), ..wanted.clone() };
    let strange = replace(&actor, Revision::FIRST.next(), strange).await;
    assert_fails!(strange, StoreError::UnknownReference { kind: Kind::Device, .. });
    for actor in [other.actor(), tenant.within(Reach::Device(device))] {
        let outside = replace(&actor, Revision::FIRST.next(), settings(&made)).await;
        assert_fails!(outside, StoreError::NotFound(Kind::Gateway));
        let outside = on.store.renew_gateway_secret(&actor, made.id, [9; 32], on.now()).await;
        assert_fails!(outside, StoreError::NotFound(Kind::Gateway));
    }
    assert_eq!(kinds(&on, &tenant, &made).await, [EventKind::GatewayCreated, EventKind::GatewayUpdated]);
    let detail = Some("changed name, deviceId, options".to_owned());
    let expect = [("gateway.create".to_owned(), None), ("gateway.update".to_owned(), detail)];
    assert_eq!(actions(&on, &tenant, &made).await, expect);
}

pub(crate) async fn a_renewed_address_leaves_the_old_one_for_a_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = make(&on, &tenant, new(1, None, false)).await;
    let renew = async |secret: u8| {
        let until = on.now().plus_seconds(DAY_S);
        on.store.renew_gateway_secret(&tenant.actor(), made.id, [secret; 32], until).await.unwrap()
    };
    let found = async |secret: u8| on.store.find_gateway([secret; 32]).await.unwrap().map(|found| found.id);
    let renewed = renew(2).await;
    assert_eq!(renewed.previous_until, Some(on.now().plus_seconds(DAY_S)));
    assert_eq!(renewed.revision, Revision::FIRST, "its settings did not change");
    assert_eq!((found(1).await, found(2).await), (Some(made.id), Some(made.id)));
    on.clock().advance_seconds(DAY_S);
    assert_eq!((found(1).await, found(2).await), (None, Some(made.id)));
    renew(3).await;
    renew(4).await;
    let all = (found(2).await, found(3).await, found(4).await);
    assert_eq!(all, (None, Some(made.id), Some(made.id)), "the last two");
    let actions = actions(&on, &tenant, &made).await;
    assert_eq!(actions.iter().filter(|(action, _)| action == "gateway.renewAddress").count(), 3);
}

pub(crate) async fn a_deleted_gateway_leaves_its_settings_to_its_messages(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let silent = make(&on, &tenant, new(1, None, false)).await;
    let heard = make(&on, &tenant, new(2, None, false)).await;
    hear(&on, &heard).await;
    let since = Some(on.now().plus_seconds(-30 * DAY_S));
    let delete = async |gateway: &Gateway, seen, since| {
        on.store.delete_gateway(&tenant.actor(), gateway.id, seen, since).await
    };
    assert_fails!(
        delete(&silent, Some(Revision::FIRST.next()), since).await,
        StoreError::RevisionMismatch(Kind::Gateway)
    );
    delete(&silent, Some(Revision::FIRST), since).await.unwrap();
    let found =
        async |gateway: &Gateway| on.store.find_message_gateway(gateway.account, gateway.id).await.unwrap();
    assert_eq!(found(&silent).await, None, "nothing came by it");
    assert_fails!(delete(&heard, None, since).await, StoreError::InUse(Kind::Gateway));
    assert_eq!(found(&heard).await.as_ref().map(|found| &found.settings), Some(&heard.settings));
    delete(&heard, None, None).await.unwrap();
    assert_eq!(on.store.find_gateway([2; 32]).await.unwrap(), None);
    let kept = found(&heard).await.unwrap().settings;
    assert_eq!(
        (kept.feed.as_str(), kept.options.as_str()),
        ("json", "{\"feedId\":\"a\"}"),
        "without secrets"
    );
    assert_eq!(kinds(&on, &tenant, &heard).await, [EventKind::GatewayCreated, EventKind::GatewayDeleted]);
    let other = on.tenant("other").await;
    assert_eq!(on.store.find_message_gateway(other.account.id, heard.id).await.unwrap(), None);

    // Messages that are too old to be stored do not count.
    let old = make(&on, &tenant, new(3, None, false)).await;
    hear(&on, &old).await;
    on.clock().advance_seconds(31 * DAY_S);
    delete(&old, None, Some(on.now().plus_seconds(-30 * DAY_S))).await.unwrap();
    let retention = RecordRetention { messages_ms: Some(30 * DAY_S * 1000), ..RecordRetention::default() };
    on.store.delete_old_records(retention).await.unwrap();
    assert_eq!(found(&heard).await, None, "kept as long as its messages");
}

pub(crate) async fn a_gateway_goes_with_its_device_and_leaves_its_settings(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("phone")).await.id;
    let made = make(&on, &tenant, new(1, Some(device), false)).await;
    let report = perigee_core::gateways::feed_health::GatewayReport {
        account: made.account,
        gateway: made.id,
        heard: Some((on.now(), on.now())),
        messages: 1,
        errors: 0,
        refused: 0,
        last_error: None,
    };
    on.store.save_gateway_reports(vec![report]).await.unwrap();
    on.store.delete_device(&tenant.actor(), device, None).await.unwrap();
    assert_eq!(on.store.find_gateway([1; 32]).await.unwrap(), None);
    let kept = on.store.find_message_gateway(made.account, made.id).await.unwrap().unwrap();
    assert_eq!(kept.settings.device, Some(device));
    assert_eq!(kinds(&on, &tenant, &made).await, [EventKind::GatewayCreated, EventKind::GatewayDeleted]);
}

pub(crate) async fn a_fetched_gateway_begins_again_with_other_options(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = make(&on, &tenant, new(1, None, true)).await;
    let lease = async || on.store.lease_poll(&["spot-feed"], 60_000, AccountId::from_i64(0)).await.unwrap();
    let settlement = |cursor: &str| PollSettlement {
        cursor: Some(cursor.into()),
        complete_to: Some(on.now()),
        next: on.now().plus_seconds(3_600),
        page: None,
        messages: 0,
        error: None,
        refused: false,
    };
    let poll = lease().await.unwrap();
    assert!(on.store.settle_poll(&poll, settlement("far")).await.unwrap());
    assert_eq!(lease().await, None, "not due");
    let change = async |options: &str| {
        let present = on.store.find_gateway([1; 32]).await.unwrap().unwrap();
        let wanted = GatewaySettings { options: options.into(), ..settings(&present) };
        on.store.replace_gateway(&tenant.actor(), made.id, present.revision, wanted).await.unwrap()
    };
    let cursor = |of: &Gateway| of.state.poll.as_ref().unwrap().cursor.clone();
    let changed = change("{\"feedId\":\"a\",\"password\":\"other\"}").await;
    assert_eq!(cursor(&changed), "far", "only a secret changed");
    let poll = lease().await.expect("due at once");
    let changed = change("{\"feedId\":\"b\"}").await;
    assert_eq!(cursor(&changed), "", "another page");
    assert!(!on.store.settle_poll(&poll, settlement("old page")).await.unwrap(), "its answer is not stored");
    on.clock().advance_seconds(60);
    assert_eq!(cursor(&lease().await.unwrap().gateway), "");
}
