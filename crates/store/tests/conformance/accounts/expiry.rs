//! Expiry: to the millisecond, fixed when the date is set, never undone by a clock or a zone, announced once.

use perigee_core::accounts::account::AccountSettings;
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::id::DeviceId;
use perigee_core::store::{Accounts as _, Devices as _, ExpiryAnnouncement, Locations as _};

use EventKind::{DeviceCreated, DeviceExpired, DeviceReactivated, DeviceUpdated};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, zone};
use crate::sample::{at, fix, named, until};

async fn state(on: &Fixture, tenant: &Tenant, device: DeviceId) -> DeviceState {
    on.look(tenant, device).await.state(on.now())
}

async fn set_zone(on: &Fixture, tenant: &Tenant, id: &str) {
    let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
    let settings = AccountSettings { time_zone: zone(id), ..account.settings };
    on.store.replace_account(&tenant.actor(), account.revision, settings).await.unwrap();
}

pub(crate) async fn a_device_is_active_through_its_date(on: Fixture) {
    for (case, (id, date, end)) in [
        ("Europe/Madrid", "2026-01-15", "2026-01-15T23:00:00Z"),
        // The nights in which clocks there are set forth and back.
        ("Europe/Madrid", "2026-03-28", "2026-03-28T23:00:00Z"),
        ("Europe/Madrid", "2026-03-29", "2026-03-29T22:00:00Z"),
        ("Europe/Madrid", "2026-10-24", "2026-10-24T22:00:00Z"),
        ("Europe/Madrid", "2026-10-25", "2026-10-25T23:00:00Z"),
        // Midnight itself is skipped: the date after begins at one o'clock.
        ("America/Santiago", "2026-09-05", "2026-09-06T04:00:00Z"),
        ("Pacific/Kiritimati", "2026-05-01", "2026-05-01T10:00:00Z"),
        ("Asia/Kathmandu", "2026-05-01", "2026-05-01T18:15:00Z"),
    ]
    .into_iter()
    .enumerate()
    {
        let tenant = on.tenant(&format!("case{case}")).await;
        on.clock().set(at("2026-01-02T00:00:00Z"));
        set_zone(&on, &tenant, id).await;
        let account = tenant.account.id;
        let device = on.add(&tenant, until("one", date)).await;
        assert_eq!(device.expires, Some(at(end)), "{id} {date}");
        on.clock().set(at(end).plus_millis(-1));
        assert_eq!(state(&on, &tenant, device.id).await, DeviceState::Active, "{id} {date}");
        assert_eq!(on.store.license_use(account).await.unwrap().used, 1);
        let fixes = vec![fix(on.now(), 1.0)];
        on.store.store_locations(&tenant.actor(), device.id, fixes.clone()).await.unwrap();
        on.clock().set(at(end));
        assert_eq!(state(&on, &tenant, device.id).await, DeviceState::Expired, "{id} {date}");
        assert_eq!(on.store.license_use(account).await.unwrap().used, 0);
        let refused = on.store.store_locations(&tenant.actor(), device.id, fixes).await;
        assert_fails!(refused, StoreError::DeviceExpired(id) if *id == device.id);
        on.store.delete_device(&tenant.actor(), device.id, None).await.unwrap();
    }
}

pub(crate) async fn a_change_of_zone_moves_no_expiry(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-02-01")).await;
    let expired = on.add(&tenant, until("expired", "2025-12-31")).await;
    set_zone(&on, &tenant, "Pacific/Pago_Pago").await;
    on.clock().advance_seconds(86_400);
    assert_eq!(on.look(&tenant, device.id).await.expires, device.expires);
    assert_eq!(state(&on, &tenant, expired.id).await, DeviceState::Expired);
    let renamed = DeviceSettings { name: "renamed".into(), ..until("one", "2026-02-01") };
    let renamed = on.set(&tenant, device.id, renamed).await.unwrap();
    assert_eq!(renamed.expires, device.expires, "the date is the same");
    let moved = on.set(&tenant, device.id, until("one", "2026-02-02")).await.unwrap();
    assert_eq!(moved.expires, Some(at("2026-02-03T11:00:00Z")), "another date is one of the new zone");
}

pub(crate) async fn a_clock_going_back_brings_nothing_back(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.store
        .set_licenses(&perigee_core::access::actor::Origin::command(), tenant.account.id, 1)
        .await
        .unwrap();
    let device = on.add(&tenant, until("one", "2026-01-10")).await;
    let expires = device.expires.unwrap();
    on.clock().set(expires.plus_seconds(1));
    let second = on.add(&tenant, named("takes the licence")).await;

    on.clock().set(expires.plus_seconds(-3_600));
    for _ in 0..2 {
        assert_eq!(state(&on, &tenant, device.id).await, DeviceState::Expired);
        let refused = on.store.store_locations(&tenant.actor(), device.id, vec![fix(on.now(), 1.0)]).await;
        assert_fails!(refused, StoreError::DeviceExpired(_));
        let renamed = on.set(&tenant, device.id, until("renamed", "2026-01-10")).await.unwrap();
        assert_eq!(renamed.state(on.now()), DeviceState::Expired);
        let back = on.set(&tenant, device.id, until("renamed", "2026-01-11")).await;
        assert_fails!(back, StoreError::LicenseExhausted(_));
        assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, 1);
        on.restart().await;
    }
    on.store.delete_device(&tenant.actor(), second.id, None).await.unwrap();
    assert_eq!(state(&on, &tenant, device.id).await, DeviceState::Expired);
    let back = on.set(&tenant, device.id, until("renamed", "2026-01-11")).await.unwrap();
    assert_eq!(back.state(on.now()), DeviceState::Active, "through the licence check");

    on.clock().set(back.expires.unwrap());
    let refused = on.store.store_locations(&tenant.actor(), device.id, vec![fix(on.now(), 1.0)]).await;
    assert_fails!(refused, StoreError::DeviceExpired(_));
    on.clock().advance_seconds(-3_600);
    assert_eq!(state(&on, &tenant, device.id).await, DeviceState::Expired, "seen to be over by a location");
}

pub(crate) async fn a_past_date_expires_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let origin = perigee_core::access::actor::Origin::command();
    on.store.set_licenses(&origin, tenant.account.id, 1).await.unwrap();
    let device = on.add(&tenant, named("one")).await;
    let born_expired = on.add(&tenant, until("no licence needed", "2025-12-31")).await;
    assert_eq!(born_expired.state(on.now()), DeviceState::Expired);
    let expired = on.set(&tenant, device.id, until("one", "2025-06-01")).await.unwrap();
    assert_eq!(expired.state(on.now()), DeviceState::Expired);
    assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, 0);
    on.set(&tenant, device.id, until("one", "2025-05-01")).await.unwrap();
    let back = on.set(&tenant, device.id, named("one")).await.unwrap();
    assert_eq!((back.state(on.now()), back.expires), (DeviceState::Active, None));
    let second = on.set(&tenant, born_expired.id, named("no licence left")).await;
    assert_fails!(second, StoreError::LicenseExhausted(_));
    let story =
        [DeviceCreated, DeviceUpdated, DeviceExpired, DeviceUpdated, DeviceUpdated, DeviceReactivated];
    assert_eq!(on.event_kinds(&tenant, device.id).await, story);
    assert_eq!(on.store.announce_expiries().await.unwrap(), [], "all was announced");
    assert_eq!(on.event_kinds(&tenant, born_expired.id).await, [DeviceCreated]);
}

pub(crate) async fn each_expiry_is_announced_once(mut on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    assert_eq!(on.store.next_expiry().await.unwrap(), None);
    on.add(&tenant, named("never")).await;
    let device = on.add(&tenant, until("one", "2026-01-03")).await;
    let foreign = on.add(&other, until("two", "2026-01-02")).await;
    let near = on.store.announce_expiries().await.unwrap();
    assert_eq!(near.len(), 2, "both are near: {near:?}");
    assert_eq!(on.store.next_expiry().await.unwrap(), foreign.expires);
    on.clock().set(device.expires.unwrap());
    let mut come = on.store.announce_expiries().await.unwrap();
    come.sort_by_key(|announced| announced.device != device.id);
    let expired = |device: &perigee_core::devices::device::Device| ExpiryAnnouncement {
        account: device.account,
        device: device.id,
        expired: true,
    };
    assert_eq!(come, [expired(&device), expired(&foreign)]);
    on.restart().await;
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
    assert_eq!(on.store.next_expiry().await.unwrap(), None);
    on.clock().advance_seconds(-7_200);
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
    let event = on.events(&tenant).await.pop().unwrap();
    assert_eq!((event.kind, event.device), (DeviceExpired, Some(device.id)));
    assert_eq!(event.data["expires"], device.expires.unwrap().to_string());

    on.clock().advance_seconds(7_200);
    let back = on.set(&tenant, device.id, until("one", "2026-01-04")).await.unwrap();
    on.clock().set(back.expires.unwrap());
    assert_eq!(on.store.announce_expiries().await.unwrap(), [expired(&device)], "another expiry");
}

pub(crate) async fn an_expiry_is_announced_when_it_is_near(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-03-01")).await;
    let week_before = device.expires.unwrap().plus_seconds(-7 * 86_400);
    assert_eq!(on.store.next_expiry().await.unwrap(), Some(week_before));
    on.clock().set(week_before.plus_millis(-1));
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
    on.clock().set(week_before);
    let near = ExpiryAnnouncement { account: tenant.account.id, device: device.id, expired: false };
    assert_eq!(on.store.announce_expiries().await.unwrap(), [near]);
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
    assert_eq!(on.store.next_expiry().await.unwrap(), device.expires);
    on.set(&tenant, device.id, until("one", "2026-04-01")).await.unwrap();
    on.set(&tenant, device.id, until("one", "2026-03-01")).await.unwrap();
    assert_eq!(on.store.announce_expiries().await.unwrap(), [], "the same instant was announced");

    let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
    let silent = AccountSettings { expiry_notice_days: 0, ..account.settings };
    on.store.replace_account(&tenant.actor(), account.revision, silent).await.unwrap();
    let second = on.add(&tenant, until("two", "2026-02-23")).await;
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
    assert_eq!(on.store.next_expiry().await.unwrap(), second.expires);
}

pub(crate) async fn a_change_of_the_notice_holds_for_all_devices(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-03-01")).await;
    on.add(&tenant, named("for ever")).await;
    for days in [30, 0, 7] {
        let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
        let settings = AccountSettings { expiry_notice_days: days, ..account.settings };
        on.store.replace_account(&tenant.actor(), account.revision, settings).await.unwrap();
        let notice = device.expires.unwrap().plus_seconds(-86_400 * i64::from(days));
        assert_eq!(on.store.next_expiry().await.unwrap(), Some(notice), "{days} days before");
    }
}

pub(crate) async fn an_expiry_replaced_before_it_was_announced_is_announced(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-01-01")).await;
    on.clock().set(device.expires.unwrap());
    on.set(&tenant, device.id, named("one")).await.unwrap();
    let story = [DeviceCreated, DeviceExpired, DeviceUpdated, DeviceReactivated];
    assert_eq!(on.event_kinds(&tenant, device.id).await, story);
    assert_eq!(on.store.announce_expiries().await.unwrap(), []);
}
