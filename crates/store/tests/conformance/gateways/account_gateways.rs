//! Gateways of accounts: found by their secret, with the devices of their account only.

use perigee_core::access::actor::Reach;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{Kind, StoreError};
use perigee_core::gateways::account_gateway::NewGateway;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, NewMessage, RawMessage};
use perigee_core::gateways::message_contents::{MessageDevices, RequestMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::{DeviceId, MessageId};
use perigee_core::idempotency::Created;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::page::PageRequest;
use perigee_core::store::{AccountGateways as _, Devices as _, RawMessages as _, Reporters as _};

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::named;

fn gateway(secret: u8, device: Option<DeviceId>) -> NewGateway {
    NewGateway {
        feed: "osmand".into(),
        name: Some("phone".into()),
        device,
        options: "{\"a\":1}".into(),
        secret_hash: [secret; 32],
        polled: false,
    }
}

pub(crate) async fn a_gateway_is_found_by_its_secret(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let once = tenant.once("gateways", "key", 1);
    let made = on.store.create_gateway(&tenant.actor(), gateway(1, None), Some(once.clone())).await.unwrap();
    assert!(matches!(made, Created::Now(_)), "it is new");
    let made = made.into_inner();
    assert_eq!((&made.settings, made.created_by), (&gateway(1, None), Some(tenant.owner.id)));
    let again = on.store.create_gateway(&tenant.actor(), gateway(1, None), Some(once)).await.unwrap();
    assert_eq!(again.into_inner(), made, "sent twice");
    assert_eq!(on.store.find_gateway([1; 32]).await.unwrap(), Some(made.clone()));
    assert_eq!(on.store.find_gateway([2; 32]).await.unwrap(), None);

    let list = async |scope| on.store.list_gateways(scope, PageRequest::first(10)).await.unwrap().items;
    assert_eq!(list(tenant.scope()).await, std::slice::from_ref(&made));
    assert_eq!(list(other.scope()).await, []);
    let device = on.add(&tenant, named("one")).await.id;
    let narrow = tenant.within(Reach::Device(device));
    assert_eq!(list(narrow.scope).await, []);
    let narrowly = on.store.create_gateway(&narrow, gateway(3, None), None).await;
    assert_fails!(narrowly, StoreError::NotFound(Kind::Gateway));
    let foreign = on.store.create_gateway(&other.actor(), gateway(3, Some(device)), None).await;
    assert_fails!(foreign, StoreError::UnknownReference { kind: Kind::Device, .. });

    for actor in [other.actor(), narrow] {
        let deleted = on.store.delete_gateway(&actor, made.id, None, None).await;
        assert_fails!(deleted, StoreError::NotFound(Kind::Gateway));
    }
    on.store.delete_gateway(&tenant.actor(), made.id, None, None).await.unwrap();
    assert_eq!(on.store.find_gateway([1; 32]).await.unwrap(), None);
}

pub(crate) async fn a_gateway_reaches_devices_of_its_account(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let called = |name: &str| DeviceSettings { identifier: Some(name.into()), ..named(name) };
    let first = on.add(&other, called("imei")).await;
    let ours = on.add(&tenant, called("imei")).await;
    let phone = on.add(&tenant, named("phone")).await;
    let make = async |secret, device| {
        on.store.create_gateway(&tenant.actor(), gateway(secret, device), None).await.unwrap().into_inner()
    };
    let (open, bound) = (make(1, None).await, make(2, Some(phone.id)).await);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let find = async |gateway, identifiers: &[&str]| {
        let found = on.store.find_gateway_devices(gateway, vec![names(identifiers)]).await.unwrap();
        assert_eq!(found.len(), 1);
        found[0].as_ref().map(|found| found.device)
    };
    assert_ne!(first.id, ours.id);
    assert_eq!(
        find(&open, &["x", "a\0", "imei"]).await,
        Some(ours.id),
        "not that of the account with the claim"
    );
    assert_eq!(find(&open, &["x"]).await, None);
    assert_eq!(find(&open, &[]).await, None);
    assert_eq!(find(&bound, &["imei"]).await, Some(phone.id), "its own device and no other");
    assert_eq!(find(&bound, &[]).await, Some(phone.id));
    let mut many: Vec<Vec<String>> =
        (0..3_000).map(|number| names(&[&format!("unknown {number}")])).collect();
    many.extend([names(&["y", "imei"]), names(&[]), names(&["a\0"])]);
    let found = on.store.find_gateway_devices(&open, many.clone()).await.unwrap();
    let found: Vec<_> =
        found.into_iter().map(|found| found.map(|found| (found.device, found.identifier))).collect();
    assert_eq!((found.len(), &found[3_000]), (3_003, &Some((ours.id, "imei".to_owned()))));
    assert_eq!(found.iter().flatten().count(), 1);
    let found = on.store.find_gateway_devices(&bound, many).await.unwrap();
    assert!(found.iter().all(|found| found.as_ref().is_some_and(|found| found.device == phone.id)));

    let message = NewMessage {
        source: "osmand",
        peer: "192.0.2.1".into(),
        identifier: Some("x".into()),
        bytes: b"body".to_vec(),
        error: None,
        gateway: Some(open.id),
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    };
    let message = RequestMessage {
        message,
        result: MessageResult::UnknownDevice,
        devices: MessageDevices::Unknown,
        sos: Vec::new(),
    };
    on.store.store_gateway_message(&open, message).await.unwrap();
    let stored =
        on.store.list_messages(tenant.scope(), &MessageFilter::default(), PageRequest::first(10)).await;
    let stored = stored.unwrap().items;
    assert_eq!(stored.len(), 1);
    assert_eq!((stored[0].device, stored[0].result), (None, MessageResult::UnknownDevice));
    assert_eq!((stored[0].bytes.as_slice(), stored[0].gateway), (b"body".as_slice(), Some(open.id)));

    assert_eq!(on.store.find_message_device(&stored[0]).await.unwrap(), None);
    let late = on.add(&tenant, called("x")).await;
    let found = on.store.find_message_device(&stored[0]).await.unwrap().unwrap();
    assert_eq!((found.device, found.identifier.as_str()), (late.id, "x"));
    let changed = RawMessage {
        device: Some(late.id),
        result: MessageResult::Decoded,
        error: Some("partly".into()),
        ..stored[0].clone()
    };
    assert!(on.store.set_message_result(&changed).await.unwrap());
    assert_eq!(on.store.find_message(tenant.scope(), changed.id).await.unwrap(), Some(changed.clone()));
    let missing = RawMessage { id: MessageId::from_i64(1), ..changed };
    assert!(!on.store.set_message_result(&missing).await.unwrap());

    on.store.delete_device(&tenant.actor(), phone.id, None).await.unwrap();
    assert_eq!(on.store.find_gateway([2; 32]).await.unwrap(), None, "deleted with its device");
}
