//! Locations that were packed: read as before, refused a second time, trimmed from the log and deleted.

use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, Location, Outcome, TimeRange};
use perigee_core::store::{LocationMaintenance as _, Locations as _};

use Outcome::{Accepted, Duplicate};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, named};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };
const HOUR_MS: i64 = 60 * 60 * 1000;

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: &[Location]) -> Vec<Outcome> {
    on.store.store_locations(&tenant.actor(), device, locations.to_vec()).await.unwrap()
}

async fn history(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Location> {
    let history = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap();
    history.items.into_iter().map(|item| item.location).collect()
}

/// A location for each of these seconds after the present.
fn track(on: &Fixture, seconds: impl Iterator<Item = i64>) -> Vec<Location> {
    seconds.map(|second| fix(on.now().plus_seconds(second), 1.0)).collect()
}

pub(crate) async fn packed_locations_read_as_before(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let batch = track(&on, (-3_000..0).rev());
    let before = fix(on.now().plus_seconds(-9_999), 2.0);
    send(&on, &tenant, device, &batch).await;
    let stored = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap();
    let packed = on.store.compact(ALL).await.unwrap();
    assert_eq!((packed.devices, packed.locations, packed.more), (1, 3_000, false));
    assert_eq!(on.store.compact(ALL).await.unwrap().locations, 0);
    assert_eq!(on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap(), stored);
    let late = track(&on, (-2_999..0).step_by(10)).into_iter().map(|point| fix(point.time, 3.0));
    let late: Vec<Location> = late.chain([before]).collect();
    assert_eq!(send(&on, &tenant, device, &late).await, vec![Accepted; late.len()]);
    let stored = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap();
    assert_eq!(stored.items.len(), 3_301);
    on.store.compact(ALL).await.unwrap();
    on.restart().await;
    assert_eq!(on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap(), stored);
}

pub(crate) async fn a_packed_location_is_a_duplicate(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let batch = track(&on, -2_000..0);
    send(&on, &tenant, device, &batch).await;
    on.store.compact(ALL).await.unwrap();
    assert_eq!(send(&on, &tenant, device, &batch).await, vec![Duplicate; batch.len()]);
    on.clock().advance_seconds(10);
    assert_eq!(on.store.trim_location_log(0).await.unwrap(), 2_000);
    assert_eq!(
        send(&on, &tenant, device, &batch).await,
        vec![Duplicate; batch.len()],
        "also by chunks alone"
    );
    let other = fix(batch[77].time, 5.0);
    let mixed = [batch[1_999].clone(), other.clone(), batch[0].clone(), other];
    assert_eq!(send(&on, &tenant, device, &mixed).await, [Duplicate, Accepted, Duplicate, Duplicate]);
    assert_eq!(history(&on, &tenant, device).await.len(), 2_001);
}

pub(crate) async fn the_log_is_trimmed_behind_the_feed(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    send(&on, &tenant, device, &track(&on, -20..0)).await;
    let cursor = on.store.list_location_feed(tenant.scope(), 0, 10).await.unwrap().next;
    let end = on.store.feed_end(tenant.scope()).await.unwrap();
    on.clock().advance_seconds(3_601);
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 0, "what is in no chunk stays");
    on.store.compact(ALL).await.unwrap();
    let fresh = track(&on, -5..0);
    send(&on, &tenant, device, &fresh).await;
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 20);
    assert_fails!(on.store.list_location_feed(tenant.scope(), cursor, 10).await, StoreError::CursorExpired);
    for after in [0, end] {
        let feed = on.store.list_location_feed(tenant.scope(), after, 10).await.unwrap();
        assert_eq!(feed.items.iter().map(|(_, item)| item.location.clone()).collect::<Vec<_>>(), fresh);
    }
    assert_eq!(history(&on, &tenant, device).await.len(), 25);
}

pub(crate) async fn few_locations_are_packed_after_a_while(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    send(&on, &tenant, device, &track(&on, -20..0)).await;
    let ordinary = CompactionBudget { devices: 10, everything: false };
    assert_eq!(on.store.compact(ordinary).await.unwrap().locations, 0);
    on.clock().advance_seconds(3_601);
    assert_eq!(on.store.compact(ordinary).await.unwrap().locations, 20);
    send(&on, &tenant, device, &track(&on, -2_048..0)).await;
    assert_eq!(on.store.compact(ordinary).await.unwrap().locations, 2_048);
}

pub(crate) async fn packed_ranges_are_deleted_and_retired(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let batch = track(&on, -4_000..0);
    for device in [one, two] {
        send(&on, &tenant, device, &batch).await;
    }
    on.store.compact(ALL).await.unwrap();
    let range = TimeRange { from: batch[500].time, to: batch[3_499].time };
    assert_eq!(on.store.delete_locations(&tenant.actor(), one, range).await.unwrap(), 3_000);
    assert_eq!(history(&on, &tenant, one).await, [&batch[..500], &batch[3_500..]].concat());
    let retired = on.store.apply_retention(tenant.account.id, None, batch[3_600].time).await.unwrap();
    assert_eq!(retired, 600 + 3_600);
    assert_eq!(history(&on, &tenant, one).await, batch[3_600..]);
    assert_eq!(history(&on, &tenant, two).await, batch[3_600..]);
    let all = on.store.apply_retention(tenant.account.id, Some(one), on.now()).await.unwrap();
    assert_eq!(all, 400);
    assert_eq!(on.store.find_last_location(tenant.scope(), one).await.unwrap(), None);
    let last = on.store.find_last_location(tenant.scope(), two).await.unwrap().unwrap();
    assert_eq!(Some(&last.location), batch.last());
}
