//! How often a device reports is learned from hearing it.

use perigee_core::devices::device::DeviceStatus;
use perigee_core::error::StoreError;
use perigee_core::store::{Alerts as _, Locations as _};

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::{alert, fix, named, until};

const HOURS_4: i64 = 4 * 3_600;

pub(crate) async fn an_interval_is_learned_by_each_device(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await, on.add(&tenant, named("two")).await);
    let (first, location) = (on.now(), fix(on.now(), 1.0));
    for turn in 0..4 {
        on.clock().set(first.plus_seconds(turn * HOURS_4));
        // The same one again is a duplicate, and shows all the same that the device is there.
        on.store.store_locations(&tenant.actor(), one.id, vec![location.clone()]).await.unwrap();
        if turn % 2 == 0 {
            on.store.store_locations(&tenant.actor(), two.id, vec![location.clone()]).await.unwrap();
        }
        let early = on.look(&tenant, one.id).await.learned_interval_s;
        assert_eq!(early, (turn == 3).then_some(14_400), "after {turn} silences");
    }
    assert_eq!(on.look(&tenant, two.id).await.learned_interval_s, None);
    on.restart().await;
    let learned = on.look(&tenant, one.id).await;
    assert_eq!(learned.learned_interval_s, Some(14_400));
    assert_eq!((learned.revision, learned.last_modified), (one.revision, one.last_modified));
    let status = |after_s: i64| learned.status(on.now().plus_seconds(after_s));
    assert_eq!(status(2 * HOURS_4), DeviceStatus::Online);
    assert_eq!(status(2 * HOURS_4 + 1), DeviceStatus::Late);
    assert_eq!(status(6 * HOURS_4 + 1), DeviceStatus::Offline);
}

pub(crate) async fn alerts_and_what_is_refused_are_heard_too(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-01-01")).await;
    let first = on.now();
    on.store.store_alerts(&tenant.actor(), device.id, vec![alert(first, "SOSButton")]).await.unwrap();
    on.clock().set(first.plus_seconds(HOURS_4));
    on.store.store_locations(&tenant.actor(), device.id, vec![fix(first, 1.0)]).await.unwrap();
    on.clock().set(device.expires.unwrap());
    let refused = on.store.store_locations(&tenant.actor(), device.id, vec![fix(on.now(), 1.0)]).await;
    assert_fails!(refused, StoreError::DeviceExpired(_));
    let so_far_s = (on.now().as_millis() - first.as_millis()) / 1_000;
    on.clock().advance_seconds(HOURS_4);
    let refused = on.store.store_alerts(&tenant.actor(), device.id, vec![alert(on.now(), "SOSButton")]).await;
    assert_fails!(refused, StoreError::DeviceExpired(_));
    on.clock().advance_seconds(HOURS_4);
    let refused = on.store.store_alerts(&tenant.actor(), device.id, vec![alert(on.now(), "SOSButton")]).await;
    assert_fails!(refused, StoreError::DeviceExpired(_));
    assert!(so_far_s > 2 * HOURS_4, "the one long silence is not the interval");
    assert_eq!(on.look(&tenant, device.id).await.learned_interval_s, Some(14_400));
}
