//! SOS of unknown and expired devices: recorded in the commit of their message, and announced once, also after a crash.

use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage};
use perigee_core::gateways::message_contents::{MessageContents, MessageDevices, RequestMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::page::PageRequest;
use perigee_core::store::{AccountGateways as _, Devices as _, Emergencies as _, RawMessages as _};

use super::feeds::gateway;
use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{message, named, until};

pub(crate) fn notice(identifier: &str, reason: SosReason) -> SosNotice {
    SosNotice {
        reason,
        identifier: identifier.into(),
        source: "garmin".into(),
        peer: "192.0.2.9".into(),
        time: "2026-01-01T00:00:00Z".parse().unwrap(),
        position: None,
    }
}

/// A message of unknown devices that ask for help.
pub(crate) fn request(identifiers: &[&str]) -> RequestMessage {
    let sos = identifiers.iter().map(|name| notice(name, SosReason::UnknownDevice)).collect();
    let (result, devices) = (MessageResult::UnknownDevice, MessageDevices::Unknown);
    RequestMessage { message: message(b"sos"), result, devices, sos }
}

/// A tenant whose owner is an operator too.
async fn house(on: &Fixture) -> Tenant {
    let tenant = on.tenant("acme").await;
    on.sql("UPDATE account_user SET operator = TRUE", &[]).await;
    tenant
}

/// How many raw messages and e-mails there are.
async fn counts(on: &Fixture, tenant: &Tenant) -> (usize, usize) {
    let (filter, page) = (MessageFilter::default(), PageRequest::first(100));
    let raw = on.store.list_messages(tenant.scope(), &filter, page).await.unwrap().items;
    (raw.len(), on.messages(tenant).await.len())
}

pub(crate) async fn an_sos_is_announced_once_after_a_crash(mut on: Fixture) {
    let tenant = house(&on).await;
    let made = gateway(&on, &tenant, "garmin", false).await;
    on.store.store_gateway_message(&made, request(&["imei"])).await.unwrap();
    on.store.record_sos(notice("tracker", SosReason::UnknownDevice)).await.unwrap();
    // Nothing but the commit happened.
    on.crash().await;
    assert_eq!(counts(&on, &tenant).await, (1, 0));
    let other = on.other_node().await;
    let (ours, theirs) = tokio::join!(on.store.announce_recorded_sos(), other.announce_recorded_sos());
    assert_eq!(ours.unwrap() + theirs.unwrap(), 3, "two for the operators, one for the account");
    assert_eq!(counts(&on, &tenant).await, (1, 3));
    on.crash().await;
    assert_eq!(on.store.announce_recorded_sos().await.unwrap(), 0);
    assert_eq!(counts(&on, &tenant).await, (1, 3));
}

pub(crate) async fn an_sos_is_recorded_with_its_message_or_not_at_all(on: Fixture) {
    let tenant = house(&on).await;
    let made = gateway(&on, &tenant, "garmin", false).await;
    on.sql("ALTER TABLE raw_message RENAME COLUMN peer TO peer_away", &[]).await;
    on.store.store_gateway_message(&made, request(&["imei"])).await.unwrap_err();
    on.sql("ALTER TABLE raw_message RENAME COLUMN peer_away TO peer", &[]).await;
    assert_eq!(on.store.announce_recorded_sos().await.unwrap(), 0);
    // Beyond the quota of raw messages.
    let mut dropped = request(&["imei"]);
    dropped.message = NewMessage { keep: Keep::Never, ..dropped.message };
    on.store.store_gateway_message(&made, dropped).await.unwrap();
    assert_eq!(on.store.announce_recorded_sos().await.unwrap(), 2);
    assert_eq!(counts(&on, &tenant).await, (0, 2));
}

pub(crate) async fn an_sos_of_an_expired_or_deleted_device_is_recorded(mut on: Fixture) {
    let tenant = house(&on).await;
    let (expired, deleted) =
        (on.add(&tenant, until("old", "2020-01-01")).await.id, on.add(&tenant, named("x")).await.id);
    on.store.delete_device(&tenant.actor(), deleted, None).await.unwrap();
    let contents = |name: &str| MessageContents {
        sos: Some(notice(name, SosReason::ExpiredDevice)),
        ..MessageContents::default()
    };
    let stored = on.store.store_message(&tenant.reporter(expired), message(b"sos"), contents("one")).await;
    assert_eq!(stored.unwrap().result, MessageResult::ExpiredDevice);
    let stored = on.store.store_message(&tenant.reporter(deleted), message(b"sos"), contents("two")).await;
    assert_fails!(stored, StoreError::NotFound(_));
    on.crash().await;
    assert_eq!(counts(&on, &tenant).await, (2, 1), "the people of the expired device");
    assert_eq!(on.store.announce_recorded_sos().await.unwrap(), 3);
    assert_eq!(counts(&on, &tenant).await, (2, 4));
}

pub(crate) async fn an_unreadable_sos_keeps_no_other_back(on: Fixture) {
    let tenant = house(&on).await;
    on.store.record_sos(notice("broken", SosReason::UnknownDevice)).await.unwrap();
    on.sql("UPDATE sos_outbox SET notice = '{'", &[]).await;
    on.store.record_sos(notice("imei", SosReason::UnknownDevice)).await.unwrap();
    for _ in 0..2 {
        on.store.announce_recorded_sos().await.unwrap_err();
        assert_eq!(counts(&on, &tenant).await, (0, 1));
    }
}
