//! Messages of several devices: found by each of them, visible to those who may see the whole account.

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::accounts::retention::RecordRetention;
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, RawMessage};
use perigee_core::gateways::message_contents::{MessageContents, MessageDevices, NewRequest, RequestMessage};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::page::PageRequest;
use perigee_core::store::{Devices as _, Maintenance as _, RawMessages as _};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, message, named};

/// Stores a request with a location of each of these devices.
async fn send(on: &Fixture, tenant: &Tenant, bytes: &[u8], devices: &[DeviceId]) {
    let contents = || MessageContents::from(vec![fix(on.now(), 1.0)]);
    let request = NewRequest {
        account: tenant.account.id,
        message: Some(RequestMessage {
            message: message(bytes),
            result: MessageResult::Decoded,
            devices: MessageDevices::of(devices.iter().copied().map(Some)),
            sos: Vec::new(),
        }),
        duplicate_rule: DuplicateRule::Content,
        devices: devices.iter().map(|device| (tenant.reporter(*device), contents())).collect(),
        is_past: false,
    };
    on.store.store_request(request).await.unwrap();
}

async fn list(on: &Fixture, scope: Scope, device: Option<DeviceId>) -> Vec<RawMessage> {
    let filter = MessageFilter { device, ..MessageFilter::default() };
    on.store.list_messages(scope, &filter, PageRequest::first(100)).await.unwrap().items
}

/// The texts of the messages in which a device reports, newest first.
async fn texts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<String> {
    let listed = list(on, tenant.scope(), Some(device)).await;
    listed.iter().map(|each| String::from_utf8_lossy(&each.bytes).into_owned()).collect()
}

async fn rows(on: &Fixture) -> i64 {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS count FROM raw_message_device";
    let count =
        on.store.read(move |tx| Box::pin(async move { Ok(tx.query_one(sql, &[]).await?.i64("count")?) }));
    count.await.unwrap()
}

pub(crate) async fn a_message_of_several_devices_is_found_by_each(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let [a, b, c] = [
        on.add(&tenant, named("a")).await.id,
        on.add(&tenant, named("b")).await.id,
        on.add(&tenant, named("c")).await.id,
    ];
    for (text, devices) in [("one", &[a][..]), ("two", &[b, a]), ("three", &[c, b, a])] {
        send(&on, &tenant, text.as_bytes(), devices).await;
        on.clock().advance_seconds(1);
    }
    assert_eq!(texts(&on, &tenant, a).await, ["three", "two", "one"]);
    assert_eq!(texts(&on, &tenant, b).await, ["three", "two"]);
    assert_eq!(texts(&on, &tenant, c).await, ["three"]);
    let all = list(&on, tenant.scope(), None).await;
    let devices: Vec<_> = all.iter().map(|each| (each.device, each.devices.as_slice())).collect();
    assert_eq!(devices, [(None, &[a, b, c][..]), (None, &[a, b]), (Some(a), &[])]);
    assert_eq!(on.store.find_message(tenant.scope(), all[0].id).await.unwrap().unwrap().devices, [a, b, c]);

    // The bytes show the other devices too.
    let bound = tenant.within(Reach::Device(a)).scope;
    assert_eq!(list(&on, bound, Some(a)).await.len(), 1);
    assert_eq!(on.store.find_message(bound, all[0].id).await.unwrap(), None);

    on.store.delete_device(&tenant.actor(), b, None).await.unwrap();
    let left = list(&on, tenant.scope(), None).await;
    let devices: Vec<_> = left.iter().map(|each| each.devices.as_slice()).collect();
    assert_eq!(devices, [&[a, c][..], &[a], &[]], "a deleted device is hidden");
}

pub(crate) async fn devices_of_a_message_are_deleted_with_it(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (a, b) = (on.add(&tenant, named("a")).await.id, on.add(&tenant, named("b")).await.id);
    send(&on, &tenant, b"old", &[a, b]).await;
    on.clock().advance_seconds(2 * 86_400);
    send(&on, &tenant, b"new", &[a, b]).await;
    assert_eq!(rows(&on).await, 4);
    let retention = RecordRetention { messages_ms: Some(86_400_000), ..RecordRetention::default() };
    assert_eq!(on.store.delete_old_records(retention).await.unwrap().messages, 1);
    assert_eq!((rows(&on).await, texts(&on, &tenant, b).await), (2, vec!["new".to_owned()]));
}

pub(crate) async fn reprocessing_adds_devices_to_a_message(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (a, b) = (on.add(&tenant, named("a")).await.id, on.add(&tenant, named("b")).await.id);
    // As an earlier version stored it: without its devices.
    send(&on, &tenant, b"batch", &[]).await;
    assert_eq!(texts(&on, &tenant, a).await.len(), 0);
    let stored = list(&on, tenant.scope(), None).await.remove(0);
    for devices in [vec![a], vec![a, b]] {
        let changed = RawMessage { devices: devices.clone(), ..stored.clone() };
        assert!(on.store.set_message_result(&changed).await.unwrap());
        let found = on.store.find_message(tenant.scope(), stored.id).await.unwrap().unwrap();
        assert_eq!(found.devices, devices);
    }
    assert_eq!(texts(&on, &tenant, b).await, ["batch"]);
    on.sql("DELETE FROM raw_message", &[]).await;
    let changed = RawMessage { devices: vec![a], ..stored };
    assert!(!on.store.set_message_result(&changed).await.unwrap(), "deleted meanwhile");
    assert_eq!(rows(&on).await, 0);
}
