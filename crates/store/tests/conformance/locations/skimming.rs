//! The log as the rule engine reads it: nothing missed and nothing twice, in parts of any size.

use std::collections::BTreeSet;

use perigee_core::id::DeviceId;
use perigee_core::locations::location::{Location, Readings, StoredLocation, TimeRange};
use perigee_core::store::{Locations as _, LogScan, LogScanLimits, RuleEngineStore as _};
use perigee_core::time::Timestamp;

use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, named};

const ALL: LogScanLimits = LogScanLimits { locations: 10_000, devices: 10_000, carriers: 10_000 };

fn sos(time: Timestamp, name: &str) -> Location {
    let readings = Readings { alerts: Some(vec![name.to_owned()]), ..Readings::default() };
    Location { readings, ..fix(time, 1.0) }
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: Vec<Location>) {
    on.store.store_locations(&tenant.actor(), device, locations).await.unwrap();
}

/// Every part of the log from its beginning.
async fn parts(on: &Fixture, tenant: &Tenant, limits: LogScanLimits) -> Vec<(i64, LogScan)> {
    let (mut parts, mut cursor) = (Vec::new(), 0);
    loop {
        let part = on.store.scan_log(tenant.account.id, cursor, limits).await.unwrap();
        assert!(part.count <= limits.locations && part.devices.len() <= limits.devices);
        assert!(part.carriers.len() <= limits.carriers);
        let (begin, more) = (std::mem::replace(&mut cursor, part.next), part.more);
        parts.push((begin, part));
        if !more {
            return parts;
        }
    }
}

pub(crate) async fn the_log_is_skimmed_in_parts_of_any_size(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let mut devices = Vec::new();
    for name in ["one", "two", "three"] {
        devices.push(on.add(&tenant, named(name)).await.id);
    }
    let foreign = on.add(&stranger, named("foreign")).await.id;
    for step in 0..30_i64 {
        let time = on.now().plus_seconds(-10 * step);
        let device = devices[usize::try_from(step % 3).unwrap()];
        let alarm = if step % 7 == 0 { sos(time, "SOSButton") } else { fix(time, 2.0) };
        send(&on, &tenant, device, vec![fix(time.plus_millis(-5_000), 1.0), alarm]).await;
        send(&on, &stranger, foreign, vec![sos(time, "Vibration")]).await;
    }
    let feed = on.store.list_location_feed(tenant.scope(), 0, 100).await.unwrap();
    let carriers: Vec<_> =
        feed.items.iter().filter(|(_, stored)| stored.location.readings.alerts.is_some()).cloned().collect();
    assert_eq!((feed.items.len(), carriers.len()), (60, 5));
    for limits in [
        ALL,
        LogScanLimits { locations: 1, ..ALL },
        LogScanLimits { locations: 7, ..ALL },
        LogScanLimits { devices: 1, ..ALL },
        LogScanLimits { devices: 2, ..ALL },
        LogScanLimits { carriers: 1, ..ALL },
    ] {
        let parts = parts(&on, &tenant, limits).await;
        assert_eq!(parts.iter().map(|(_, part)| part.count).sum::<usize>(), 60, "{limits:?}");
        let found: Vec<_> = parts.iter().flat_map(|(_, part)| part.carriers.clone()).collect();
        assert_eq!(found, carriers, "{limits:?}");
        assert_eq!(parts.last().unwrap().1.next, feed.next, "{limits:?}");
        let mut read: Vec<(DeviceId, StoredLocation)> = Vec::new();
        for (begin, part) in &parts {
            let rows =
                on.store.read_log(tenant.account.id, (*begin, part.next), &part.devices).await.unwrap();
            assert_eq!(rows.len(), part.count, "{limits:?}");
            let sent: BTreeSet<DeviceId> = rows.iter().map(|(device, _)| *device).collect();
            assert!(sent.into_iter().eq(part.devices.iter().copied()), "{limits:?}");
            read.extend(rows);
        }
        assert_eq!(read, feed.items, "{limits:?}");
    }
    let of_one = on.store.read_log(tenant.account.id, (0, feed.next), &devices[..1]).await.unwrap();
    let expect: Vec<_> = feed.items.into_iter().filter(|(device, _)| *device == devices[0]).collect();
    assert_eq!(of_one, expect);
}

pub(crate) async fn deleted_locations_are_not_evaluated(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let time = on.now();
    send(&on, &tenant, device, vec![sos(time.plus_seconds(-20), "SOSButton"), sos(time, "Vibration")]).await;
    let range = TimeRange { from: time.plus_seconds(-30), to: time.plus_seconds(-10) };
    on.store.delete_locations(&tenant.actor(), device, range).await.unwrap();
    let skimmed = on.store.scan_log(tenant.account.id, 0, ALL).await.unwrap();
    let times = |found: &[(DeviceId, StoredLocation)]| -> Vec<Timestamp> {
        found.iter().map(|(_, stored)| stored.location.time).collect()
    };
    assert_eq!(times(&skimmed.carriers), [time]);
    let read = on.store.read_log(tenant.account.id, (0, skimmed.next), &[device]).await.unwrap();
    assert_eq!(times(&read), [time]);
}
