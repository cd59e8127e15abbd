//! Licences: active devices never exceed them, whatever clients do at once, and the harness sees it when they do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::page::PageRequest;
use perigee_core::store::{Accounts as _, Devices as _};
use perigee_core::time::Timestamp;
use perigee_store::Database;
use perigee_store::testing::create_device_without_lock;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::{named, until};

const LICENSES: u32 = 10;
const CLIENTS: usize = 32;
const ROUNDS: usize = 200;

pub(crate) async fn the_last_licence_is_the_last(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut devices = Vec::new();
    for _ in 0..LICENSES {
        devices.push(on.add(&tenant, named("one")).await);
    }
    let create = async || on.store.create_device(&tenant.actor(), named("more"), None).await;
    assert_fails!(create().await, StoreError::LicenseExhausted(id) if *id == tenant.account.id);
    on.set(&tenant, devices[0].id, until("one", "2026-05-01")).await.unwrap();
    assert_fails!(create().await, StoreError::LicenseExhausted(_));
    on.clock().set("2026-05-01T22:00:00Z".parse().unwrap());
    create().await.unwrap();
    assert_fails!(create().await, StoreError::LicenseExhausted(_));
    let back = on.set(&tenant, devices[0].id, named("one")).await;
    assert_fails!(back, StoreError::LicenseExhausted(_));
    on.store.delete_device(&tenant.actor(), devices[1].id, None).await.unwrap();
    on.set(&tenant, devices[0].id, named("one")).await.unwrap();
    assert_fails!(create().await, StoreError::LicenseExhausted(_));
    assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, LICENSES);
}

pub(crate) async fn a_refused_change_changes_nothing(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let origin = Origin::command();
    on.store.set_licenses(&origin, tenant.account.id, 1).await.unwrap();
    on.add(&tenant, named("one")).await;
    let idle = on.add(&tenant, until("idle", "2025-01-01")).await;
    let (events, audits) = (on.events(&tenant).await, on.audits(&tenant).await);
    assert_fails!(on.set(&tenant, idle.id, named("back")).await, StoreError::LicenseExhausted(_));
    let once = || Some(tenant.once("POST /api/devices", "key", 1));
    let made = on.store.create_device(&tenant.actor(), named("two"), once()).await;
    assert_fails!(made, StoreError::LicenseExhausted(_));
    assert_eq!(on.look(&tenant, idle.id).await, idle);
    let mut after = on.events(&tenant).await;
    let told = after.pop().unwrap();
    assert_eq!((told.kind, told.subject), (EventKind::LicenseExhausted, tenant.account.id.to_string()));
    assert_eq!((after, on.audits(&tenant).await), (events, audits), "it is told once, and nothing else");
    on.store.set_licenses(&origin, tenant.account.id, 2).await.unwrap();
    let made = on.store.create_device(&tenant.actor(), named("two"), once()).await.unwrap();
    assert!(matches!(made, perigee_core::idempotency::Created::Now(_)), "the refusal was not kept");
}

pub(crate) async fn a_want_of_licences_is_told_once_a_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.store.set_licenses(&Origin::command(), tenant.account.id, 0).await.unwrap();
    for (hours, told) in [(0, 1), (1, 1), (24, 2), (24, 3)] {
        on.clock().advance_seconds(hours * 3_600);
        let made = on.store.create_device(&tenant.actor(), named("one"), None).await;
        assert_fails!(made, StoreError::LicenseExhausted(_));
        assert_eq!(on.story(&tenant, tenant.account.id).await, vec![EventKind::LicenseExhausted; told]);
    }
    assert_eq!(on.events(&tenant).await.pop().unwrap().data["licenses"], 0);
}

/// Every device, and how many of them are active: as listed, and as counted.
async fn look(store: &Database, scope: Scope, now: Timestamp) -> (Vec<Device>, u32) {
    let every = DeviceFilter::default();
    let page = store.list_devices(scope, &every, PageRequest::first(1_000)).await;
    let devices = page.expect("devices are listed").items;
    let active = devices.iter().filter(|device| device.state(now) == DeviceState::Active).count();
    let counted = store.license_use(scope.account).await.expect("licences are counted").used;
    (devices, counted.max(u32::try_from(active).expect("a small number")))
}

/// One thing a client does to the device it picked, chosen by its turn. It may be refused, but only for these reasons.
async fn act(store: Database, actor: Actor, device: Option<Device>, turn: usize) {
    let outcome = match (device, turn % 8) {
        (Some(device), 0) => store.delete_device(&actor, device.id, None).await,
        (Some(device), 1) => {
            let gone = until("expired", "2025-01-01");
            store.replace_device(&actor, device.id, device.revision, gone).await.map(drop)
        }
        (Some(device), 2) => {
            let longer = until("extended", ["2026-06-01", "2026-07-01"][turn / 8 % 2]);
            store.replace_device(&actor, device.id, device.revision, longer).await.map(drop)
        }
        (Some(device), 3 | 4) => {
            store.replace_device(&actor, device.id, device.revision, named("for ever")).await.map(drop)
        }
        (_, 5) => store.create_device(&actor, until("made", "2026-06-01"), None).await.map(drop),
        _ => store.create_device(&actor, named("made"), None).await.map(drop),
    };
    let expected = matches!(
        outcome,
        Ok(())
            | Err(StoreError::LicenseExhausted(_)
                | StoreError::RevisionMismatch(_)
                | StoreError::NotFound(_))
    );
    assert!(expected, "{outcome:?}");
}

pub(crate) async fn clients_at_once_never_exceed_the_licences(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (actor, scope, now) = (tenant.actor(), tenant.scope(), on.now());
    let most = Arc::new(AtomicU32::new(0));
    let (mut devices, mut full) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            // Every client is at the same devices, so that they are in each other's way.
            let device = devices.get((client * 7 + round) % (devices.len() + 1)).cloned();
            clients.spawn(act(on.store.clone(), actor.clone(), device, client + round * 5));
            if client % 16 == 8 {
                let (store, most) = (on.store.clone(), Arc::clone(&most));
                clients.spawn(async move {
                    most.fetch_max(look(&store, scope, now).await.1, Ordering::Relaxed);
                });
            }
        }
        while let Some(done) = clients.join_next().await {
            done.expect("the client does not panic");
        }
        let active;
        (devices, active) = look(&on.store, scope, now).await;
        most.fetch_max(active, Ordering::Relaxed);
        let most = most.load(Ordering::Relaxed);
        assert!(most <= LICENSES, "{most} were active in round {round}");
        full += usize::from(active == LICENSES);
        // Expired devices pile up; too many of them would only make the lists long.
        let idle = devices.iter().filter(|device| device.state(now) == DeviceState::Expired);
        for device in idle.skip(12) {
            on.store.delete_device(&actor, device.id, None).await.expect("it is there");
        }
    }
    // How often depends on who comes first; never would mean that nobody was in anybody's way.
    assert!(full > ROUNDS / 16, "the licences were fought for: all were taken after {full} rounds");
}

pub(crate) async fn the_race_is_seen_without_the_lock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (actor, scope) = (tenant.actor(), tenant.scope());
    // All have counted before the first inserts: what luck would bring about one day, now for certain.
    let counted = Arc::new(Barrier::new(CLIENTS));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (store, actor, counted) = (on.store.clone(), actor.clone(), Arc::clone(&counted));
        clients.spawn(async move {
            let between = async move {
                counted.wait().await;
            };
            create_device_without_lock(&store, &actor, named("made"), between).await.map(drop)
        });
    }
    while let Some(done) = clients.join_next().await {
        done.expect("the client does not panic").expect("nothing stops it");
    }
    let (_, active) = look(&on.store, scope, on.now()).await;
    assert!(active > LICENSES, "the harness is blind: it saw {active}");
}
