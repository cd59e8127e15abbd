//! Groups: one relation with devices, changed from either side.

pub(crate) mod large_groups;

use perigee_core::access::actor::Reach;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::groups::group::{GroupFilter, GroupSettings};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::idempotency::Created;
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::store::{Accounts as _, Devices as _, Groups as _};

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::{group_of, named};

pub(crate) async fn a_group_is_kept_as_given(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await;
    let settings = GroupSettings {
        name: "Flota Ñ".into(),
        description: Some("of the north".into()),
        devices: vec![device.id, device.id],
    };
    let made = on.add_group(&tenant, settings.clone()).await;
    assert_eq!(made.settings, GroupSettings { devices: vec![device.id], ..settings });
    assert_eq!((made.account, made.revision), (tenant.account.id, Revision::FIRST));
    assert_eq!((made.creation, made.last_modified), (on.now(), on.now()));
    assert_eq!(on.look_group(&tenant, made.id).await, made);
    assert_eq!(on.event_kinds(&tenant, made.id).await, [EventKind::GroupCreated]);
    assert_eq!(on.audits(&tenant).await[0].action, "group.create");
}

pub(crate) async fn membership_is_one_relation_seen_from_both_sides(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (first, second) = (on.add(&tenant, named("first")).await, on.add(&tenant, named("second")).await);
    let group = on.add_group(&tenant, group_of("both", &[first.id])).await;
    let device = on.look(&tenant, first.id).await;
    assert_eq!(device.settings.groups, [group.id]);
    assert_eq!(device.revision, first.revision.next());
    assert_eq!(on.event_kinds(&tenant, first.id).await, [EventKind::DeviceCreated, EventKind::DeviceUpdated]);

    on.clock().advance_seconds(1);
    let joined = DeviceSettings { groups: vec![group.id], ..named("second") };
    let joined = on.set(&tenant, second.id, joined).await.unwrap();
    assert_eq!((joined.settings.groups, joined.revision), (vec![group.id], second.revision.next()));
    let filled = on.look_group(&tenant, group.id).await;
    let mut both = vec![first.id, second.id];
    both.sort_unstable();
    assert_eq!(filled.settings.devices, both);
    assert_eq!((filled.revision, filled.last_modified), (group.revision.next(), on.now()));
    assert_eq!(on.event_kinds(&tenant, group.id).await, [EventKind::GroupCreated, EventKind::GroupUpdated]);

    let left = group_of("both", &[second.id]);
    let left = on.store.replace_group(&tenant.actor(), group.id, filled.revision, left).await.unwrap();
    assert_eq!(left.settings.devices, [second.id]);
    let device = on.look(&tenant, first.id).await;
    assert_eq!((device.settings.groups, device.last_modified), (vec![], on.now()));
    let untouched = on.look(&tenant, second.id).await;
    assert_eq!(untouched.revision, joined.revision, "it stayed in the group");
    let stale = on.store.replace_device(&tenant.actor(), first.id, first.revision, named("x")).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Device));
}

pub(crate) async fn a_request_sent_twice_makes_one_group(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let once = |body| Some(tenant.once("POST /api/groups", "key", body));
    let settings = group_of("one", &[]);
    let made = on.store.create_group(&tenant.actor(), settings.clone(), once(1)).await.unwrap();
    assert!(matches!(made, Created::Now(_)), "{made:?}");
    let made = made.into_inner();
    let again = on.store.create_group(&tenant.actor(), settings.clone(), once(1)).await.unwrap();
    assert_eq!(again, Created::Before(made));
    let other = on.store.create_group(&tenant.actor(), settings, once(2)).await;
    assert_fails!(other, StoreError::IdempotencyMismatch);
}

pub(crate) async fn unknown_devices_and_groups_are_refused(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let known = on.add(&tenant, named("known")).await;
    let foreign = on.add(&other, named("foreign")).await.id;
    let foreign_group = on.add_group(&other, group_of("foreign", &[])).await.id;
    let group = on.add_group(&tenant, group_of("one", &[])).await;
    for unknown in [foreign, DeviceId::from_i64(1)] {
        let settings = group_of("x", &[known.id, unknown]);
        let made = on.store.create_group(&tenant.actor(), settings.clone(), None).await;
        assert_fails!(made, StoreError::UnknownReference { kind: Kind::Device, id } if *id == unknown.to_string());
        let set = on.store.replace_group(&tenant.actor(), group.id, group.revision, settings).await;
        assert_fails!(set, StoreError::UnknownReference { kind: Kind::Device, .. });
    }
    for unknown in [foreign_group, GroupId::from_i64(1)] {
        let settings = DeviceSettings { groups: vec![group.id, unknown], ..named("x") };
        let made = on.store.create_device(&tenant.actor(), settings.clone(), None).await;
        assert_fails!(made, StoreError::UnknownReference { kind: Kind::Group, id } if *id == unknown.to_string());
        assert_fails!(
            on.set(&tenant, known.id, settings).await,
            StoreError::UnknownReference { kind: Kind::Group, .. }
        );
    }
    assert_eq!(on.look_group(&tenant, group.id).await, group);
}

pub(crate) async fn groups_are_listed_in_pages_and_only_visible_ones(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("one")).await.id;
    let north = on.add_group(&tenant, group_of("North", &[device])).await.id;
    let south = on.add_group(&tenant, group_of("South", &[])).await.id;
    let list = async |scope, text: Option<&str>, page| {
        let filter = GroupFilter { text: text.map(str::to_owned) };
        let page = on.store.list_groups(scope, &filter, page).await.unwrap();
        (page.items.iter().map(|group| group.id).collect::<Vec<_>>(), page.next)
    };
    let all = PageRequest::first(10);
    let mut both = vec![north, south];
    both.sort_unstable();
    assert_eq!(list(tenant.scope(), None, all).await, (both.clone(), None));
    assert_eq!(list(tenant.scope(), Some("SOUTH"), all).await.0, [south]);
    let (first, next) = list(tenant.scope(), None, PageRequest::first(1)).await;
    assert_eq!(first, both[..1]);
    assert_eq!(
        list(tenant.scope(), None, PageRequest { after: next, limit: 1 }).await,
        (both[1..].to_vec(), None)
    );
    let scope = |reach| tenant.within(reach).scope;
    assert_eq!(list(scope(Reach::Group(north)), None, all).await.0, [north]);
    assert_eq!(list(scope(Reach::Device(device)), None, all).await.0, []);
    assert_eq!(list(other.scope(), None, all).await.0, []);
    for (actor, group) in [
        (tenant.within(Reach::Group(north)), south),
        (tenant.within(Reach::Device(device)), north),
        (other.actor(), north),
    ] {
        assert_eq!(on.store.find_group(actor.scope, group).await.unwrap(), None);
        let set = on.store.replace_group(&actor, group, Revision::FIRST, group_of("x", &[])).await;
        assert_fails!(set, StoreError::NotFound(Kind::Group));
        assert_fails!(on.store.delete_group(&actor, group, None).await, StoreError::NotFound(Kind::Group));
    }
    let made = on.store.create_group(&tenant.within(Reach::Group(north)), group_of("x", &[]), None).await;
    assert_fails!(made, StoreError::NotFound(Kind::Group));
}

pub(crate) async fn replacing_counts_revisions(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = on.add_group(&tenant, group_of("one", &[])).await;
    on.clock().advance_seconds(60);
    let set = async |seen, name: &str| {
        on.store.replace_group(&tenant.actor(), made.id, seen, group_of(name, &[])).await
    };
    assert_eq!(set(made.revision, "one").await.unwrap(), made, "nothing changed");
    let after = set(made.revision, "two").await.unwrap();
    assert_eq!((after.revision, after.last_modified), (made.revision.next(), on.now()));
    assert_fails!(set(made.revision, "three").await, StoreError::RevisionMismatch(Kind::Group));
    let stale = on.store.delete_group(&tenant.actor(), made.id, Some(made.revision)).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Group));
    assert_eq!(on.event_kinds(&tenant, made.id).await, [EventKind::GroupCreated, EventKind::GroupUpdated]);
}

pub(crate) async fn a_deleted_group_leaves_its_devices(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await;
    let group = on.add_group(&tenant, group_of("one", &[device.id])).await;
    on.store.delete_group(&tenant.actor(), group.id, Some(group.revision)).await.unwrap();
    assert_eq!(on.store.find_group(tenant.scope(), group.id).await.unwrap(), None);
    let after = on.look(&tenant, device.id).await;
    assert_eq!(after.settings.groups, []);
    assert_eq!(after.revision, Revision(3));
    assert_eq!(on.event_kinds(&tenant, group.id).await, [EventKind::GroupCreated, EventKind::GroupDeleted]);
    assert_eq!(on.audits(&tenant).await[0].action, "group.delete");
}

pub(crate) async fn many_devices_come_and_go_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let origin = perigee_core::access::actor::Origin::command();
    on.store.set_licenses(&origin, tenant.account.id, 300).await.unwrap();
    let mut devices = Vec::new();
    for number in 0..273 {
        devices.push(on.add(&tenant, named(&format!("device {number}"))).await.id);
    }
    devices.sort_unstable();
    let group = on.add_group(&tenant, group_of("many", &devices)).await;
    assert_eq!(group.settings.devices, devices);
    let half = group_of("many", &devices[..100]);
    let after =
        on.store.replace_group(&tenant.actor(), group.id, group.revision, half.clone()).await.unwrap();
    assert_eq!(after.settings, half);
    assert_eq!(on.look(&tenant, devices[0]).await.revision, Revision(2));
    assert_eq!(on.look(&tenant, devices[272]).await.revision, Revision(3));
}
