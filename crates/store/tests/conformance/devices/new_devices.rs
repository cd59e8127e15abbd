//! Many devices created at once: as single ones would be, all or none, and once.

use std::sync::Arc;

use futures_util::future::join_all;
use perigee_core::access::actor::{Actor, Origin, Reach};
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter, DeviceSettings};
use perigee_core::devices::new_devices::{NewDevices, RowOutcome, RowRefusal};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::DeviceIdentifier;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::idempotency::Created;
use perigee_core::page::PageRequest;
use perigee_core::store::{Accounts as _, Devices as _, Groups as _, Reporters as _, Users as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile};
use crate::sample::{group_of, named, until};

fn with(name: &str, identifier: &str) -> DeviceSettings {
    DeviceSettings { identifier: Some(identifier.into()), ..named(name) }
}

/// Creates devices that are all new, and returns their ids.
async fn create(on: &Fixture, actor: &Actor, settings: &[DeviceSettings]) -> Vec<DeviceId> {
    let made = on.store.create_devices(actor, settings, None).await.unwrap().into_inner();
    made.rows
        .iter()
        .map(|row| match row {
            RowOutcome::New(Some(id)) => *id,
            other => panic!("not created: {other:?}"),
        })
        .collect()
}

async fn all(on: &Fixture, tenant: &Tenant) -> Vec<Device> {
    let page = PageRequest::first(1_000);
    on.store.list_devices(tenant.scope(), &DeviceFilter::default(), page).await.unwrap().items
}

pub(crate) async fn many_devices_are_created_as_single_ones(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, other) = (on.tenant("one").await, on.tenant("other").await);
    on.add(&other, with("theirs", "contested")).await;
    let settings = |group: GroupId| {
        let further =
            DeviceIdentifier { identifier: "contested".into(), link: Some("iridium".into()), priority: 3 };
        let before = DeviceIdentifier { identifier: "z".into(), link: None, priority: 1 };
        let rich = DeviceSettings {
            identifiers: vec![further, before],
            description: Some("two\nlines".into()),
            tags: [("fleet".to_owned(), "north".to_owned())].into(),
            groups: vec![group, group],
            expected_interval_s: Some(600),
            retention_days: Some(30),
            ..with("rich", "356938035643809")
        };
        let expired = DeviceSettings { groups: vec![group], ..until("expired", "2025-01-01") };
        vec![rich, named("bare"), expired, until("dated", "2026-06-30")]
    };
    let group = on.add_group(&tenant, group_of("fleet", &[])).await;
    let ids = create(&on, &tenant.actor(), &settings(group.id)).await;
    let twin_group = on.add_group(&one, group_of("fleet", &[])).await;
    let mut twins = Vec::new();
    for settings in settings(twin_group.id) {
        twins.push(on.add(&one, settings).await);
    }
    for (id, twin) in ids.iter().zip(&twins) {
        let made = on.look(&tenant, *id).await;
        let twin = on.look(&one, twin.id).await;
        let groups: Vec<GroupId> = twin.settings.groups.iter().map(|_| group.id).collect();
        let settings = DeviceSettings { groups, ..twin.settings.clone() };
        let expect = Device {
            id: *id,
            account: tenant.account.id,
            settings,
            created_by: Some(tenant.owner.id),
            creation: made.creation,
            last_modified: made.last_modified,
            counters: made.counters.clone(),
            ..twin.clone()
        };
        assert_eq!(made, expect);
        assert_eq!(on.event_kinds(&tenant, *id).await, on.event_kinds(&one, twin.id).await);
    }
    let found = on.store.find_group(tenant.scope(), group.id).await.unwrap().unwrap();
    assert_eq!(found.settings.devices, [ids[0], ids[2]]);
    assert_eq!(found.revision.0, 2, "one change of the group, however many devices join it");
    let kinds = on.events(&tenant).await.into_iter().map(|event| event.kind);
    assert_eq!(kinds.filter(|kind| *kind == EventKind::GroupUpdated).count(), 1);
    let audits = |entries: Vec<perigee_core::access::audit::AuditEntry>| {
        let made = entries.into_iter().filter(|entry| entry.action == "device.create");
        made.map(|entry| (entry.via, entry.target.is_some(), entry.outcome, entry.detail)).collect::<Vec<_>>()
    };
    assert_eq!(audits(on.audits(&tenant).await), audits(on.audits(&one).await));
    let used = |tenant: &Tenant| on.store.license_use(tenant.account.id);
    assert_eq!(used(&tenant).await.unwrap().used, used(&one).await.unwrap().used);
    assert_eq!(used(&tenant).await.unwrap().used, 3);
    let finds = async |name: &str| {
        let found = on.store.find_claimed_device(&[name.to_owned()], CountedClaims::All).await.unwrap();
        found.map(|reporter| reporter.device)
    };
    assert_eq!(finds("356938035643809").await, Some(ids[0]));
    assert_ne!(finds("contested").await, Some(ids[0]), "the first account keeps its claim");
}

pub(crate) async fn all_devices_are_created_or_none(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let present = on
        .add(
            &tenant,
            DeviceSettings {
                identifiers: vec![DeviceIdentifier { identifier: "further".into(), link: None, priority: 0 }],
                ..with("present", "a")
            },
        )
        .await;
    let (events, audits) = (on.events(&tenant).await, on.audits(&tenant).await);
    let unknown = GroupId::from_i64(77);
    let rows = [
        with("new", "b"),
        with("present", "a"),
        with("taken", "further"),
        with("again", "b"),
        DeviceSettings { groups: vec![unknown], ..named("grouped") },
    ];
    let expect = [
        RowOutcome::New(None),
        RowOutcome::Existing(present.id),
        RowOutcome::Refused(RowRefusal::Taken("further".into())),
        RowOutcome::Refused(RowRefusal::Repeated { identifier: "b".into(), first: 0 }),
        RowOutcome::Refused(RowRefusal::UnknownGroup(unknown)),
    ];
    let preview = on.store.preview_devices(&tenant.actor(), &rows).await.unwrap();
    assert_eq!(preview.rows, expect);
    let made = on.store.create_devices(&tenant.actor(), &rows, None).await.unwrap();
    assert_eq!(made, Created::Now(preview));
    assert_eq!(all(&on, &tenant).await.len(), 1);
    assert_eq!((on.events(&tenant).await, on.audits(&tenant).await), (events, audits));

    on.store.set_licenses(&Origin::command(), tenant.account.id, 3).await.unwrap();
    let three = [named("one"), until("two", "2026-06-30"), named("three")];
    let preview = on.store.preview_devices(&tenant.actor(), &three).await.unwrap();
    assert_eq!((preview.licenses_needed, preview.licenses_free), (3, 2));
    let once = || Some(tenant.once("POST /api/bulk/devices", "key", 1));
    let made = on.store.create_devices(&tenant.actor(), &three, once()).await;
    assert_fails!(made, StoreError::LicenseExhausted(id) if *id == tenant.account.id);
    assert_eq!(all(&on, &tenant).await.len(), 1);
    assert_eq!(on.event_kinds(&tenant, tenant.account.id).await, [EventKind::LicenseExhausted]);
    create(&on, &tenant.actor(), &[named("one"), until("expired", "2025-01-01"), named("two")]).await;
    assert_eq!(on.store.license_use(tenant.account.id).await.unwrap().used, 3);
}

pub(crate) async fn a_call_sent_twice_creates_devices_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let rows = [with("one", "a"), named("without identifier")];
    let once = |body| Some(tenant.once("POST /api/bulk/devices", "key", body));
    let first = on.store.create_devices(&tenant.actor(), &rows, once(1)).await.unwrap();
    assert!(matches!(first, Created::Now(_)), "{first:?}");
    let first = first.into_inner();
    let again = on.store.create_devices(&tenant.actor(), &rows, once(1)).await.unwrap();
    assert_eq!(again, Created::Before(first));
    let other = on.store.create_devices(&tenant.actor(), &rows, once(2)).await;
    assert_fails!(other, StoreError::IdempotencyMismatch);
    assert_eq!(all(&on, &tenant).await.len(), 2);
    // Without a key the identifier decides, and a device without one is created again.
    let (events, audits) = (on.events(&tenant).await.len(), on.audits(&tenant).await.len());
    let known = on.store.create_devices(&tenant.actor(), &rows[..1], None).await.unwrap().into_inner();
    assert!(matches!(known.rows[..], [RowOutcome::Existing(_)]), "{known:?}");
    assert_eq!((on.events(&tenant).await.len(), on.audits(&tenant).await.len()), (events, audits));
    on.store.create_devices(&tenant.actor(), &rows, None).await.unwrap();
    assert_eq!(all(&on, &tenant).await.len(), 3);
}

pub(crate) async fn many_devices_obey_who_creates_them(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let outside = on.add(&tenant, with("outside", "hidden")).await;
    let group = on.add_group(&tenant, group_of("own", &[])).await.id;
    let within = tenant.within(Reach::Group(group));
    let preview = on.store.preview_devices(&within, &[with("mine", "hidden")]).await.unwrap();
    assert_eq!(preview.rows, [RowOutcome::Refused(RowRefusal::Taken("hidden".into()))]);
    let ids = create(&on, &within, &[with("mine", "x"), named("mine too")]).await;
    for id in &ids {
        assert_eq!(on.look(&tenant, *id).await.settings.groups, [group]);
    }
    let again = on.store.create_devices(&within, &[with("mine", "x")], None).await.unwrap().into_inner();
    assert_eq!(again.rows, [RowOutcome::Existing(ids[0])]);
    let alone = tenant.within(Reach::Device(outside.id));
    assert_fails!(on.store.create_devices(&alone, &[named("x")], None).await, StoreError::NotFound(_));
    assert_fails!(on.store.preview_devices(&alone, &[named("x")]).await, StoreError::NotFound(_));

    let bounded = UserProfile { admin_devices: Some(2), ..profile("bounded") };
    let new = NewUser { profile: bounded, password_hash: None };
    let user = on.store.create_user(&tenant.actor(), new, None).await.unwrap().into_inner();
    let mut actor = tenant.actor();
    actor.origin.user = Some(user.id);
    let three = [named("a"), named("b"), named("c")];
    let made = on.store.create_devices(&actor, &three, None).await;
    assert_fails!(made, StoreError::AdminDevicesExhausted(2));
    create(&on, &actor, &three[..2]).await;
    assert_fails!(
        on.store.create_devices(&actor, &three[..1], None).await,
        StoreError::AdminDevicesExhausted(2)
    );
}

/// Calls at once, on two nodes where the engine has them, whose rows overlap: each identifier is created once, and the
/// licences are all used and never exceeded.
pub(crate) async fn calls_at_once_create_each_device_once(on: Fixture) {
    const CALLS: usize = 12;
    let tenant = on.tenant("acme").await;
    on.store.set_licenses(&Origin::command(), tenant.account.id, 60).await.unwrap();
    let nodes = [on.store.clone(), on.other_node().await];
    let actor = Arc::new(tenant.actor());
    let calls = (0..CALLS).map(|call| {
        let (store, actor) = (nodes[call % 2].clone(), Arc::clone(&actor));
        tokio::spawn(async move {
            // The second half of each call is also in the next one.
            let rows: Vec<_> = (0..20).map(|row| with("made", &format!("{}", call * 10 + row))).collect();
            store.create_devices(&actor, &rows, None).await
        })
    });
    let made: Vec<_> =
        join_all(calls).await.into_iter().map(|made| made.expect("it does not panic")).collect();
    let created: usize = made.iter().flatten().map(|made| count_created(made.clone())).sum();
    for refused in made.iter().filter_map(|made| made.as_ref().err()) {
        assert!(matches!(refused, StoreError::LicenseExhausted(_)), "{refused:?}");
    }
    let devices = all(&on, &tenant).await;
    let mut identifiers: Vec<_> = devices.iter().map(|device| device.settings.identifier.clone()).collect();
    identifiers.sort();
    identifiers.dedup();
    assert_eq!((identifiers.len(), devices.len()), (created, created));
    let active = devices.iter().filter(|device| device.state(on.now()) == DeviceState::Active).count();
    let used = on.store.license_use(tenant.account.id).await.unwrap().used;
    assert_eq!(usize::try_from(used).unwrap(), active);
    assert!((41..=60).contains(&active), "another call had fitted, or too many did: {active}");
}

fn count_created(made: Created<NewDevices>) -> usize {
    made.into_inner().rows.iter().filter(|row| matches!(row, RowOutcome::New(Some(_)))).count()
}
