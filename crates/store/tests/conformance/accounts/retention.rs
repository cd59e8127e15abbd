//! How long locations are kept: by the account's settings, unless the device has its own.

use perigee_core::accounts::account::AccountSettings;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, Location};
use perigee_core::store::{Accounts as _, LocationMaintenance as _, Locations as _};
use perigee_core::time::Timestamp;
use perigee_store::params;

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, at, fix, named};

const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };

fn keeping(name: &str, days: u32) -> DeviceSettings {
    DeviceSettings { retention_days: Some(days), ..named(name) }
}

async fn keep_for(on: &Fixture, tenant: &Tenant, days: Option<u32>) {
    let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
    let settings = AccountSettings { retention_days: days, ..account.settings };
    on.store.replace_account(&tenant.actor(), account.revision, settings).await.unwrap();
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, times: &[Timestamp]) {
    let locations: Vec<Location> = times.iter().map(|time| fix(*time, 1.0)).collect();
    on.store.store_locations(&tenant.actor(), device, locations).await.unwrap();
}

async fn times(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Timestamp> {
    let history = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap();
    history.items.into_iter().map(|item| item.location.time).collect()
}

/// So many instants, a day apart, the last of them now.
fn daily(on: &Fixture, count: i64) -> Vec<Timestamp> {
    (0..count).rev().map(|day| on.now().plus_seconds(-day * 86_400)).collect()
}

pub(crate) async fn locations_are_kept_as_long_as_wanted(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    on.clock().set(at("2026-06-15T12:00:00Z"));
    let days = daily(&on, 40);
    let plain = on.add(&tenant, named("plain")).await.id;
    let longer = on.add(&tenant, keeping("longer", 30)).await.id;
    let shorter = on.add(&tenant, keeping("shorter", 1)).await.id;
    let elsewhere = on.add(&other, named("elsewhere")).await.id;
    for device in [plain, longer, shorter] {
        send(&on, &tenant, device, &days).await;
    }
    send(&on, &other, elsewhere, &days).await;
    on.store.compact(ALL).await.unwrap();
    // Unpacked locations are old too, and future ones are not.
    let ahead = on.now().plus_seconds(400 * 86_400);
    send(&on, &tenant, plain, &[at("2020-01-01T00:00:00Z"), ahead]).await;

    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 9 + 38, "the devices' own");
    keep_for(&on, &tenant, Some(7)).await;
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 32 + 1);
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 0);
    assert_eq!(times(&on, &tenant, plain).await, [&days[32..], &[ahead]].concat());
    assert_eq!(times(&on, &tenant, longer).await, days[9..]);
    assert_eq!(times(&on, &tenant, shorter).await, days[38..]);
    assert_eq!(times(&on, &other, elsewhere).await, days, "another account's");

    on.clock().set(at("2026-06-15T23:59:59Z"));
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 0, "once a day");
    on.clock().set(at("2026-06-16T00:00:00Z"));
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 3);
}

pub(crate) async fn a_longer_retention_is_obeyed_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let days = daily(&on, 20);
    send(&on, &tenant, device, &days).await;
    keep_for(&on, &tenant, Some(1)).await;
    on.set(&tenant, device, keeping("one", 36_500)).await.unwrap();
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 0);
    on.set(&tenant, device, named("one")).await.unwrap();
    keep_for(&on, &tenant, None).await;
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 0);
    assert_eq!(times(&on, &tenant, device).await, days);
}

pub(crate) async fn a_long_history_goes_in_parts(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, keeping("one", 1)).await.id;
    send(&on, &tenant, device, &[on.now().plus_seconds(-86_400)]).await;
    on.store.compact(ALL).await.unwrap();
    // The same chunk for each of many days before: more than one transaction takes.
    on.sql(
        "INSERT INTO location_chunk
             (account_id, device_id, first_time, first_number, last_time, last_number, count, points)
         WITH RECURSIVE earlier (ms) AS (
             SELECT CAST(86400000 AS BIGINT) UNION ALL SELECT ms + 86400000 FROM earlier WHERE ms < 51840000000)
         SELECT account_id, device_id, first_time - ms, first_number, last_time - ms, last_number, count, points
         FROM location_chunk, earlier WHERE account_id = ?1 AND device_id = ?2",
        params![tenant.account.id, device],
    )
    .await;
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 600);
    assert_eq!(times(&on, &tenant, device).await, [on.now().plus_seconds(-86_400)]);
}

pub(crate) async fn a_last_location_goes_with_its_time(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, keeping("one", 3)).await.id;
    send(&on, &tenant, device, &[on.now()]).await;
    on.clock().advance_seconds(3 * 86_400);
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 0);
    assert!(on.store.find_last_location(tenant.scope(), device).await.unwrap().is_some());
    on.clock().advance_seconds(86_400);
    assert_eq!(on.store.delete_expired_locations().await.unwrap(), 1);
    assert_eq!(on.store.find_last_location(tenant.scope(), device).await.unwrap(), None);
}
