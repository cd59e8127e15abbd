//! Licences: active devices never exceed them, whatever clients do in parallel, and the test detects a violation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::page::PageRequest;
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::Timestamp;
use perigee_store::testing::create_device_without_lock;
use perigee_store::{Database, params};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, named, until};

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
    let announced = after.pop().unwrap();
    assert_eq!(
        (announced.kind, announced.subject),
        (EventKind::LicenseExhausted, tenant.account.id.to_string())
    );
    assert_eq!((after, on.audits(&tenant).await), (events, audits), "it is announced once, and nothing else");
    on.store.set_licenses(&origin, tenant.account.id, 2).await.unwrap();
    let made = on.store.create_device(&tenant.actor(), named("two"), once()).await.unwrap();
    assert!(matches!(made, perigee_core::idempotency::Created::Now(_)), "the refusal was not kept");
}

pub(crate) async fn a_want_of_licences_is_announced_once_a_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.store.set_licenses(&Origin::command(), tenant.account.id, 0).await.unwrap();
    for (hours, announced) in [(0, 1), (1, 1), (24, 2), (24, 3)] {
        on.clock().advance_seconds(hours * 3_600);
        let made = on.store.create_device(&tenant.actor(), named("one"), None).await;
        assert_fails!(made, StoreError::LicenseExhausted(_));
        assert_eq!(
            on.event_kinds(&tenant, tenant.account.id).await,
            vec![EventKind::LicenseExhausted; announced]
        );
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

/// One change a client makes to the device it picked, chosen by its turn. It may be refused, but only for these reasons.
async fn act(store: Database, actor: Actor, device: Option<Device>, turn: usize) {
    let outcome = match (device, turn % 8) {
        (Some(device), 0) => store.delete_device(&actor, device.id, None).await,
        (Some(device), 1) => {
            let expired = until("expired", "2025-01-01");
            store.replace_device(&actor, device.id, device.revision, expired).await.map(drop)
        }
        (Some(device), 2) => {
            let longer = until("extended", ["2026-06-01", "2026-07-01"][turn / 8 % 2]);
            store.replace_device(&actor, device.id, device.revision, longer).await.map(drop)
        }
        (Some(device), 3 | 4) => {
            store.replace_device(&actor, device.id, device.revision, named("for ever")).await.map(drop)
        }
        (_, 6) => {
            let several = [named("made"), until("made", "2026-06-01"), named("made")];
            store.create_devices(&actor, &several, None).await.map(drop)
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
            // All clients change the same devices, so that they conflict.
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
        require_exact(&on, &tenant).await;
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
    // The number depends on timing; zero would mean that no two clients conflicted.
    assert!(full > ROUNDS / 16, "the licences were fought for: all were taken after {full} rounds");
}

/// Requires that the number of held licences, which is kept, is what a count of the rows gives, and that the licences
/// in use are the active devices.
async fn require_exact(on: &Fixture, tenant: &Tenant) {
    let account = tenant.account.id;
    let read = on.store.read(move |tx| {
        Box::pin(async move {
            let sql = "SELECT a.held_licenses, (SELECT COUNT(*) FROM device d WHERE d.account_id = a.id \
                           AND (d.licensed = TRUE OR d.lapsed = TRUE)) AS counted FROM account a WHERE a.id = ?1";
            let row = tx.query_one(sql, params![account]).await?;
            Ok((row.i64("held_licenses")?, row.i64("counted")?))
        })
    });
    let (held, counted) = read.await.unwrap();
    assert_eq!(held, counted, "held licences");
    let page = PageRequest::first(1_000);
    let devices = on.store.list_devices(tenant.scope(), &DeviceFilter::default(), page).await.unwrap().items;
    let now = on.now();
    let active = devices.iter().filter(|device| device.state(now) == DeviceState::Active).count();
    let used = on.store.license_use(account).await.unwrap().used;
    assert_eq!(usize::try_from(used).unwrap(), active, "licences in use");
}

/// Devices expire while submissions notice it, others are created, deleted and brought back, on two nodes where the
/// engine has them.
pub(crate) async fn licences_that_lapse_in_a_race_are_counted_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let other = on.other_node().await;
    let actor = tenant.actor();
    for round in 0..20_i64 {
        let day = (on.now().to_string()[..10]).to_owned();
        while on.store.license_use(tenant.account.id).await.unwrap().used < LICENSES {
            on.add(&tenant, until("short", &day)).await;
        }
        require_exact(&on, &tenant).await;
        let filter = DeviceFilter::default();
        let page = on.store.list_devices(tenant.scope(), &filter, PageRequest::first(1_000)).await.unwrap();
        on.clock().advance_seconds(2 * 86_400);
        let now = on.now();
        let mut clients = JoinSet::new();
        for (index, device) in page.items.into_iter().enumerate() {
            let (store, actor) = ([&on.store, &other][index % 2].clone(), actor.clone());
            clients.spawn(async move {
                let location = vec![fix(now.plus_seconds(-round), 1.0)];
                let refused = store.store_locations(&actor, device.id, location).await;
                assert!(
                    matches!(refused, Err(StoreError::DeviceExpired(_) | StoreError::NotFound(_))),
                    "{refused:?}"
                );
                let changed = match index % 3 {
                    0 => store.delete_device(&actor, device.id, None).await,
                    1 => store
                        .replace_device(&actor, device.id, device.revision, named("back"))
                        .await
                        .map(drop),
                    _ => store.create_device(&actor, until("new", "2099-01-01"), None).await.map(drop),
                };
                let expected = matches!(changed, Ok(()) | Err(StoreError::LicenseExhausted(_)));
                assert!(expected, "{changed:?}");
            });
        }
        let announcing = other.clone();
        clients.spawn(async move { announcing.announce_expiries().await.map(drop).unwrap() });
        while let Some(done) = clients.join_next().await {
            done.expect("the client does not panic");
        }
        require_exact(&on, &tenant).await;
        for device in
            on.store.list_devices(tenant.scope(), &filter, PageRequest::first(1_000)).await.unwrap().items
        {
            on.store.delete_device(&actor, device.id, None).await.unwrap();
        }
        require_exact(&on, &tenant).await;
    }
}

pub(crate) async fn a_lapse_that_a_submission_saw_frees_the_licence_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let day = on.now().to_string()[..10].to_owned();
    let mut devices = Vec::new();
    for _ in 0..LICENSES {
        devices.push(on.add(&tenant, until("short", &day)).await.id);
    }
    let active = on.now();
    on.clock().advance_seconds(2 * 86_400);
    assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, 0, "before anything noticed");
    for device in &devices[..4] {
        let refused = on.store.store_locations(&tenant.actor(), *device, vec![fix(on.now(), 1.0)]).await;
        assert_fails!(refused, StoreError::DeviceExpired(_));
        require_exact(&on, &tenant).await;
    }
    // A lapsed licence stays lapsed when the clock goes back, the others return.
    on.clock().set(active);
    assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, LICENSES - 4);
    on.store.delete_device(&tenant.actor(), devices[0], None).await.unwrap();
    require_exact(&on, &tenant).await;
    for _ in 0..4 {
        on.add(&tenant, named("new")).await;
    }
    let more = on.store.create_device(&tenant.actor(), named("more"), None).await;
    assert_fails!(more, StoreError::LicenseExhausted(_));
    require_exact(&on, &tenant).await;
}

/// The count is no more trusted than the disk that it is on.
pub(crate) async fn a_wrong_count_is_corrected_when_licences_are_set(on: Fixture) {
    let tenant = on.tenant("acme").await;
    for _ in 0..4 {
        on.add(&tenant, named("one")).await;
    }
    on.sql("UPDATE account SET held_licenses = 7 WHERE id = ?1", params![tenant.account.id]).await;
    let set = on.store.set_licenses(&Origin::command(), tenant.account.id, 3).await;
    assert_fails!(set, StoreError::LicensesInUse { used: 4 });
    on.store.set_licenses(&Origin::command(), tenant.account.id, LICENSES).await.unwrap();
    require_exact(&on, &tenant).await;
}

pub(crate) async fn the_race_is_seen_without_the_lock(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (actor, scope) = (tenant.actor(), tenant.scope());
    // All have counted before the first inserts: the race is forced instead of left to chance.
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
