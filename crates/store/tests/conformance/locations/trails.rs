//! The same part of the histories of several devices.

use perigee_core::access::actor::Reach;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, HistoryRequest, Order, TimeRange};
use perigee_core::store::{LocationMaintenance as _, Locations as _};
use perigee_core::time::Timestamp;

use crate::fixture::Fixture;
use crate::sample::{fix, group_of, named};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };

/// Devices whose locations are unpacked, packed, both, in chunks that overlap late ones, and none at all.
pub(crate) async fn trails_equal_the_history_of_each_device(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let at = |second: i64| fix(on.now().plus_seconds(second), 1.0);
    let packed: [&[i64]; 6] = [&[], &[-90, -80, -70], &[-90, -80], &[-90, -50, -10], &[-9_000], &[]];
    let unpacked: [&[i64]; 6] =
        [&[-30, -20, -10], &[], &[-30, -20, -10, -5], &[-95, -60, -55, -20], &[-40], &[]];
    let mut devices: Vec<DeviceId> = Vec::new();
    for (number, seconds) in packed.iter().enumerate() {
        let device = on.add(&tenant, named(&format!("device {number}"))).await.id;
        let track = seconds.iter().map(|second| at(*second)).collect();
        on.store.store_locations(&tenant.actor(), device, track).await.unwrap();
        devices.push(device);
    }
    on.store.compact(ALL).await.unwrap();
    for (device, seconds) in devices.iter().zip(unpacked) {
        let track = seconds.iter().map(|second| at(*second)).collect();
        on.store.store_locations(&tenant.actor(), *device, track).await.unwrap();
    }
    for (from, order) in [(-85, Order::Descending), (-10_000, Order::Descending), (-85, Order::Ascending)] {
        for limit in [1, 2, 3, 100] {
            let range = TimeRange { from: on.now().plus_seconds(from), to: Timestamp::MAX };
            let request = HistoryRequest { range, order, after: None, limit };
            let trails = on.store.list_trails(tenant.scope(), devices.clone(), request).await.unwrap();
            assert_eq!(trails.len(), devices.len());
            for (number, device) in devices.iter().enumerate() {
                let history = on.store.list_locations(tenant.scope(), *device, request).await.unwrap();
                assert_eq!(trails[device], history.items, "device {number} since {from}, {order:?}, {limit}");
            }
        }
    }
    let group = on.add_group(&tenant, group_of("some", &devices[..2])).await.id;
    let request = HistoryRequest {
        range: TimeRange { from: Timestamp::MIN, to: Timestamp::MAX },
        order: Order::Descending,
        after: None,
        limit: 10,
    };
    let members = tenant.within(Reach::Group(group)).scope;
    let mut visible: Vec<_> =
        on.store.list_trails(members, devices.clone(), request).await.unwrap().into_keys().collect();
    visible.sort_unstable();
    assert_eq!(visible, devices[..2]);
    let stranger = on.tenant("other").await.scope();
    assert!(on.store.list_trails(stranger, devices, request).await.unwrap().is_empty());
}
