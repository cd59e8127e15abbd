//! Share links: open between two instants, counted, and deleted with what they show.

use perigee_core::access::actor::Reach;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{DeviceId, ShareId};
use perigee_core::idempotency::Created;
use perigee_core::page::PageRequest;
use perigee_core::shares::share::{NewShare, ShareTarget};
use perigee_core::store::{Devices as _, Groups as _, Locations as _, Shares as _, ViewReport};

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::{fix, group_of, named};

fn link(on: &Fixture, target: ShareTarget, secret: &str) -> NewShare {
    NewShare {
        target,
        name: Some("for a friend".into()),
        from: on.now().plus_seconds(10),
        until: on.now().plus_seconds(20),
        show_account: true,
        show_trips: false,
        conversation_delay_min: None,
        secret: secret.into(),
    }
}

/// A page that holds every device of these tests.
const ALL: PageRequest = PageRequest::first(100);

pub(crate) async fn a_link_shows_a_device_between_two_instants(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let new = link(&on, ShareTarget::Device(device), "secret");
    let made = on.store.create_share(&tenant.actor(), new.clone(), None).await.unwrap().into_inner();
    assert_eq!((&made.link, made.views, made.last_viewed), (&new, 0, None));
    assert_eq!((made.created_by, made.creation), (Some(tenant.owner.id), on.now()));
    assert_eq!(on.audits(&tenant).await[0].action, "share.create");
    let seen = fix(new.from, 1.0);
    on.store.store_locations(&tenant.actor(), device, vec![seen.clone()]).await.unwrap();
    on.clock().set(new.from.plus_millis(-1));
    assert!(on.store.open_share("secret", ALL).await.unwrap().is_none());
    for instant in [new.from, new.until.plus_millis(-1)] {
        on.clock().set(instant);
        let view = on.store.open_share("secret", ALL).await.unwrap().unwrap();
        assert_eq!(view.share, made);
        assert_eq!(view.account_name.as_deref(), Some("acme"));
        let shown: Vec<_> = view
            .devices
            .items
            .iter()
            .map(|(device, last)| (device.id, last.as_ref().map(|last| &last.location)))
            .collect();
        assert_eq!(shown, [(device, Some(&seen))]);
    }
    on.clock().set(new.until);
    assert!(on.store.open_share("secret", ALL).await.unwrap().is_none());
    for wrong in ["Secret", "", "secret ", "\0"] {
        assert!(on.store.open_share(wrong, ALL).await.unwrap().is_none());
    }
}

pub(crate) async fn a_link_hides_where_things_were_before_it_began(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let group = on.add_group(&tenant, group_of("one", &[device])).await.id;
    let new = link(&on, ShareTarget::Device(device), "device");
    on.store.create_share(&tenant.actor(), new.clone(), None).await.unwrap();
    let of_group = link(&on, ShareTarget::Group(group), "group");
    on.store.create_share(&tenant.actor(), of_group, None).await.unwrap();
    on.clock().set(new.from);
    for (millis, shown) in [(-1, false), (0, true)] {
        let seen = fix(new.from.plus_millis(millis), 1.0);
        on.store.store_locations(&tenant.actor(), device, vec![seen]).await.unwrap();
        for secret in ["device", "group"] {
            let view = on.store.open_share(secret, ALL).await.unwrap().unwrap();
            assert_eq!(view.devices.items[0].1.is_some(), shown, "{secret} {millis}");
        }
    }
}

pub(crate) async fn openings_are_counted_apart_from_opening(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let new = link(&on, ShareTarget::Device(device), "secret");
    let made = on.store.create_share(&tenant.actor(), new.clone(), None).await.unwrap().into_inner();
    on.clock().set(new.from);
    on.store.open_share("secret", ALL).await.unwrap().unwrap();
    let listed = async || {
        let all = on.store.list_shares(tenant.scope(), PageRequest::first(10)).await.unwrap().items;
        (all[0].views, all[0].last_viewed)
    };
    assert_eq!(listed().await, (0, None), "to look writes nothing");
    let report =
        |views, last_viewed| ViewReport { account: made.account, share: made.id, views, last_viewed };
    let deleted = ViewReport { share: ShareId::from_i64(1), ..report(1, on.now()) };
    on.store.add_share_views(&[report(2, on.now()), deleted]).await.unwrap();
    on.store.add_share_views(&[report(3, on.now().plus_seconds(-5))]).await.unwrap();
    assert_eq!(listed().await, (5, Some(on.now())));
}

pub(crate) async fn a_link_shows_a_groups_devices(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut members: Vec<DeviceId> = Vec::new();
    for name in ["one", "two"] {
        members.push(on.add(&tenant, named(name)).await.id);
    }
    members.sort_unstable();
    on.add(&tenant, named("not in it")).await;
    let group = on.add_group(&tenant, group_of("both", &members)).await.id;
    let new = link(&on, ShareTarget::Group(group), "secret");
    on.store.store_locations(&tenant.actor(), members[1], vec![fix(new.from, 1.0)]).await.unwrap();
    on.store.create_share(&tenant.actor(), new.clone(), None).await.unwrap();
    on.clock().set(new.from);
    let view = on.store.open_share("secret", ALL).await.unwrap().unwrap();
    let shown: Vec<_> = view.devices.items.iter().map(|(device, last)| (device.id, last.is_some())).collect();
    assert_eq!(shown, [(members[0], false), (members[1], true)]);
    let first = on.store.open_share("secret", PageRequest::first(1)).await.unwrap().unwrap();
    assert_eq!((first.device_count, first.devices.items[0].0.id), (2, members[0]));
    let after = PageRequest { after: first.devices.next, limit: 1 };
    let second = on.store.open_share("secret", after).await.unwrap().unwrap();
    assert_eq!((second.devices.items[0].0.id, second.devices.items[0].1.is_some()), (members[1], true));
    assert_eq!((second.devices.items.len(), second.devices.next), (1, None));
}

pub(crate) async fn only_visible_links_are_listed_and_revoked(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let inside = on.add(&tenant, named("inside")).await.id;
    let outside = on.add(&tenant, named("outside")).await.id;
    let group = on.add_group(&tenant, group_of("one", &[inside])).await.id;
    let mut ids = Vec::new();
    for (target, secret) in [
        (ShareTarget::Device(inside), "a"),
        (ShareTarget::Device(outside), "b"),
        (ShareTarget::Group(group), "c"),
    ] {
        let made = on.store.create_share(&tenant.actor(), link(&on, target, secret), None).await.unwrap();
        ids.push(made.into_inner().id);
    }
    let list = async |scope| {
        let all = on.store.list_shares(scope, PageRequest::first(10)).await.unwrap().items;
        let mut secrets: Vec<String> = all.into_iter().map(|share| share.link.secret).collect();
        secrets.sort();
        secrets
    };
    assert_eq!(list(tenant.scope()).await, ["a", "b", "c"]);
    let of_group = tenant.within(Reach::Group(group));
    let of_device = tenant.within(Reach::Device(inside));
    assert_eq!(list(of_group.scope).await, ["a", "c"]);
    assert_eq!(list(of_device.scope).await, ["a"]);
    assert_eq!(list(stranger.scope()).await, [""; 0]);
    for actor in [&of_group, &of_device, &stranger.actor()] {
        assert_fails!(on.store.delete_share(actor, ids[1]).await, StoreError::NotFound(Kind::Share));
        let made = on.store.create_share(actor, link(&on, ShareTarget::Device(outside), "x"), None).await;
        assert_fails!(made, StoreError::UnknownReference { kind: Kind::Device, .. });
    }
    let made = on.store.create_share(&of_device, link(&on, ShareTarget::Group(group), "x"), None).await;
    assert_fails!(made, StoreError::UnknownReference { kind: Kind::Group, .. });
    let part = on.store.list_shares(tenant.scope(), PageRequest::first(2)).await.unwrap();
    let rest = PageRequest { after: part.next, limit: 2 };
    assert_eq!(on.store.list_shares(tenant.scope(), rest).await.unwrap().items.len(), 1);

    on.store.delete_share(&of_group, ids[0]).await.unwrap();
    assert_fails!(on.store.delete_share(&of_group, ids[0]).await, StoreError::NotFound(Kind::Share));
    on.clock().advance_seconds(10);
    assert!(on.store.open_share("a", ALL).await.unwrap().is_none());
    assert!(on.store.open_share("b", ALL).await.unwrap().is_some());
}

pub(crate) async fn a_request_sent_twice_makes_one_link(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let once = || Some(tenant.once("POST /api/shares", "key", 1));
    let new = |secret| link(&on, ShareTarget::Device(device), secret);
    let made = on.store.create_share(&tenant.actor(), new("first"), once()).await.unwrap();
    assert!(matches!(made, Created::Now(_)), "{made:?}");
    let made = made.into_inner();
    let again = on.store.create_share(&tenant.actor(), new("second"), once()).await.unwrap();
    assert_eq!(again, Created::Before(made.clone()));
    let key = once().unwrap();
    assert_eq!(on.store.find_created_share(tenant.scope(), &key).await.unwrap(), Some(made));
    let other = tenant.once("POST /api/shares", "other", 1);
    assert_eq!(on.store.find_created_share(tenant.scope(), &other).await.unwrap(), None);
    on.clock().advance_seconds(10);
    assert!(on.store.open_share("second", ALL).await.unwrap().is_none());
}

pub(crate) async fn a_link_goes_with_what_it_shows(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let group = on.add_group(&tenant, group_of("one", &[device])).await.id;
    for (target, secret) in [(ShareTarget::Device(device), "a"), (ShareTarget::Group(group), "b")] {
        on.store.create_share(&tenant.actor(), link(&on, target, secret), None).await.unwrap();
    }
    on.clock().advance_seconds(10);
    on.store.delete_device(&tenant.actor(), device, None).await.unwrap();
    assert!(on.store.open_share("a", ALL).await.unwrap().is_none());
    assert_eq!(on.store.open_share("b", ALL).await.unwrap().unwrap().devices.items.len(), 0);
    on.store.delete_group(&tenant.actor(), group, None).await.unwrap();
    assert!(on.store.open_share("b", ALL).await.unwrap().is_none());
}
