//! Devices: kept, found, listed, replaced and deleted, and seen only by those who may.

pub(crate) mod commands;
pub(crate) mod conversations;
pub(crate) mod device_files;
pub(crate) mod new_devices;
pub(crate) mod reporting_interval;

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::accounts::license::DeviceState;
use perigee_core::accounts::limits::Limits;
use perigee_core::accounts::retention::RETENTION_DAYS_MAX;
use perigee_core::devices::device::{DeviceFilter, DeviceRef, DeviceSettings};
use perigee_core::error::{Kind, StoreError, Unique};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::decoding::DecodingValue;
use perigee_core::gateways::gateway::DeviceIdentifier;
use perigee_core::id::DeviceId;
use perigee_core::idempotency::Created;
use perigee_core::locations::location::CompactionBudget;
use perigee_core::notifications::notification::Channel;
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::shares::share::{NewShare, ShareTarget};
use perigee_core::store::{
    Alerts as _, Devices as _, Groups as _, LocationMaintenance as _, Locations as _, Shares as _, Users as _,
};
use perigee_store::params;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile};
use crate::sample::{EVERYTHING, alert, fix, group_of, named, until};

fn full() -> DeviceSettings {
    DeviceSettings {
        identifier: Some("356938035643809".into()),
        identifiers: vec![DeviceIdentifier {
            identifier: "300234010753370".into(),
            link: Some("iridium".into()),
            priority: DeviceIdentifier::PRIORITY_MAX,
        }],
        name: "Ñandú".into(),
        description: Some("a \"truck\"\nwith two lines".into()),
        min: Some("+5491155550000".into()),
        tags: [("fleet".to_owned(), "north".to_owned()), (String::new(), "\\".to_owned())].into(),
        icon: Some("truck".into()),
        model: Some("GL300".into()),
        decoding: [
            ("timeZoneMinutes".to_owned(), DecodingValue::Whole(-570)),
            ("ack".to_owned(), DecodingValue::Flag(true)),
            ("password".to_owned(), DecodingValue::Text("a \"b\" ñ".into())),
        ]
        .into(),
        groups: Vec::new(),
        limits: Limits {
            expiration_date: Some("2026-06-30".parse().expect("a date")),
            daily: [(Channel::EMAIL, 0), (Channel::SMS, Limits::DAILY_MAX)].into(),
            critical_reserve: 3,
        },
        expected_interval_s: Some(DeviceSettings::EXPECTED_INTERVAL_MAX_S),
        retention_days: Some(RETENTION_DAYS_MAX),
    }
}

async fn names(on: &Fixture, tenant: &Tenant, filter: DeviceFilter) -> Vec<String> {
    let page = on.store.list_devices(tenant.scope(), &filter, PageRequest::first(100)).await.unwrap();
    let mut names: Vec<String> = page.items.into_iter().map(|device| device.settings.name).collect();
    names.sort();
    names
}

pub(crate) async fn a_device_is_kept_as_given(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = on.add(&tenant, full()).await;
    assert_eq!(made.settings, full());
    assert_eq!(made.account, tenant.account.id);
    assert_eq!(made.revision, Revision::FIRST);
    assert_eq!(made.created_by, Some(tenant.owner.id));
    assert_eq!((made.creation, made.last_modified), (on.now(), on.now()));
    assert_eq!((made.last_seen, made.protocol.as_deref()), (None, None));
    assert_eq!(made.state(on.now()), DeviceState::Active);
    assert_eq!(on.look(&tenant, made.id).await, made);
    assert_eq!(on.event_kinds(&tenant, made.id).await, [EventKind::DeviceCreated]);
    assert_eq!(on.audits(&tenant).await[0].action, "device.create");
    let bare = on.add(&tenant, named("bare")).await;
    assert_eq!(on.look(&tenant, bare.id).await.settings, named("bare"));
}

pub(crate) async fn a_device_is_found_by_id_and_identifier(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let made = on.add(&tenant, full()).await;
    let find = async |tenant: &Tenant, text: &str| {
        let found = on.store.find_device(tenant.scope(), &DeviceRef::read(text)).await.unwrap();
        found.map(|device| device.id)
    };
    assert_eq!(find(&tenant, "356938035643809").await, Some(made.id));
    assert_eq!(find(&tenant, &made.id.to_string()).await, Some(made.id));
    assert_eq!(find(&other, "356938035643809").await, None);
    assert_eq!(find(&other, &made.id.to_string()).await, None);
    assert_eq!(find(&tenant, "35693803564380").await, None);
    assert_eq!(find(&tenant, "").await, None);
    assert_eq!(find(&tenant, "\0").await, None);
}

pub(crate) async fn an_identifier_is_unique_in_the_account(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let with =
        |name: &str, identifier: &str| DeviceSettings { identifier: Some(identifier.into()), ..named(name) };
    on.add(&tenant, with("first", "a")).await;
    let second = on.add(&tenant, with("second", "A")).await;
    let third = on.store.create_device(&tenant.actor(), with("third", "a"), None).await;
    assert_fails!(third, StoreError::Taken(Unique::Identifier));
    let moved = on.set(&tenant, second.id, with("second", "a")).await;
    assert_fails!(moved, StoreError::Taken(Unique::Identifier));
    assert_eq!(on.set(&tenant, second.id, with("still", "A")).await.unwrap().settings.name, "still");
    on.add(&other, with("first", "a")).await;
    on.add(&tenant, named("none")).await;
    on.add(&tenant, named("none either")).await;
}

pub(crate) async fn a_request_sent_twice_makes_one_device(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let once = |body| Some(tenant.once("POST /api/devices", "key", body));
    let first = on.store.create_device(&tenant.actor(), full(), once(1)).await.unwrap();
    assert!(matches!(first, Created::Now(_)), "{first:?}");
    let first = first.into_inner();
    on.set(&tenant, first.id, named("changed since")).await.unwrap();
    let again = on.store.create_device(&tenant.actor(), full(), once(1)).await.unwrap();
    assert_eq!(again, Created::Before(first), "as it was then");
    let other = on.store.create_device(&tenant.actor(), full(), once(2)).await;
    assert_fails!(other, StoreError::IdempotencyMismatch);
    assert_eq!(names(&on, &tenant, DeviceFilter::default()).await, ["changed since"]);
}

pub(crate) async fn a_users_devices_are_bounded(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let bounded = UserProfile { admin_devices: Some(2), ..profile("bounded") };
    let new = NewUser { profile: bounded, password_hash: None };
    let user = on.store.create_user(&tenant.actor(), new, None).await.unwrap().into_inner();
    let mut actor = tenant.actor();
    actor.origin.user = Some(user.id);
    let add = async |actor: &Actor| on.store.create_device(actor, named("one"), None).await;
    let first = add(&actor).await.unwrap().into_inner();
    add(&actor).await.unwrap();
    assert_fails!(add(&actor).await, StoreError::AdminDevicesExhausted(2));
    add(&tenant.actor()).await.unwrap();
    on.store.delete_device(&actor, first.id, None).await.unwrap();
    add(&actor).await.unwrap();
    assert_fails!(add(&actor).await, StoreError::AdminDevicesExhausted(2));
}

pub(crate) async fn devices_are_listed_in_pages_and_filtered(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let truck = on.add(&tenant, full()).await;
    let boat = on.add(&tenant, until("Boat", "2025-01-01")).await;
    let plane = on.add(&tenant, named("Plane %_ 100")).await;
    let group = on.add_group(&tenant, group_of("fleet", &[truck.id, boat.id])).await;
    let with = |filter: DeviceFilter| names(&on, &tenant, filter);
    let text = |text: &str| DeviceFilter { text: Some(text.into()), ..DeviceFilter::default() };
    let state = |state| DeviceFilter { state: Some(state), ..DeviceFilter::default() };
    let tag = |key: &str, value: &str| DeviceFilter {
        tag: Some((key.into(), value.into())),
        ..DeviceFilter::default()
    };
    assert_eq!(with(DeviceFilter::default()).await, ["Boat", "Plane %_ 100", "Ñandú"]);
    assert_eq!(with(text("ÑAN")).await, ["Ñandú"]);
    assert_eq!(with(text("two LINES")).await, ["Ñandú"]);
    assert_eq!(with(text("643809")).await, ["Ñandú"]);
    assert_eq!(with(text("%_")).await, ["Plane %_ 100"]);
    assert_eq!(with(text("\0")).await, [""; 0]);
    assert_eq!(with(state(DeviceState::Active)).await, ["Plane %_ 100", "Ñandú"]);
    assert_eq!(with(state(DeviceState::Expired)).await, ["Boat"]);
    assert_eq!(with(tag("fleet", "north")).await, ["Ñandú"]);
    assert_eq!(with(tag("", "\\")).await, ["Ñandú"]);
    assert_eq!(with(tag("fleet", "nort")).await, [""; 0]);
    assert_eq!(with(tag("leet", "north")).await, [""; 0]);
    let grouped = DeviceFilter { group: Some(group.id), ..DeviceFilter::default() };
    assert_eq!(with(grouped.clone()).await, ["Boat", "Ñandú"]);
    let both = DeviceFilter { state: Some(DeviceState::Expired), ..grouped };
    assert_eq!(with(both).await, ["Boat"]);

    let mut expect = [truck.id, boat.id, plane.id];
    expect.sort_unstable();
    let (mut seen, mut page) = (Vec::new(), PageRequest::first(1));
    loop {
        let part = on.store.list_devices(tenant.scope(), &DeviceFilter::default(), page).await.unwrap();
        seen.extend(part.items.iter().map(|device| device.id));
        match part.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, expect);
}

pub(crate) async fn invisible_devices_are_not_found(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let inside = on.add(&tenant, named("inside")).await;
    let outside = on.add(&tenant, named("outside")).await;
    let group = on.add_group(&tenant, group_of("visible", &[inside.id])).await.id;
    let hidden = on.add_group(&tenant, group_of("hidden", &[inside.id, outside.id])).await.id;
    for actor in
        [tenant.within(Reach::Group(group)), tenant.within(Reach::Device(inside.id)), stranger.actor()]
    {
        let find = async |id: DeviceId| on.store.find_device(actor.scope, &DeviceRef::Id(id)).await.unwrap();
        assert_eq!(find(outside.id).await, None);
        let replaced = on.store.replace_device(&actor, outside.id, outside.revision, named("x")).await;
        assert_fails!(replaced, StoreError::NotFound(Kind::Device));
        let deleted = on.store.delete_device(&actor, outside.id, None).await;
        assert_fails!(deleted, StoreError::NotFound(Kind::Device));
        let all = PageRequest::first(10);
        let list = on.store.list_devices(actor.scope, &DeviceFilter::default(), all).await.unwrap();
        assert!(list.items.iter().all(|device| device.id == inside.id), "{list:?}");
        let behind = DeviceFilter { group: Some(hidden), ..DeviceFilter::default() };
        assert_eq!(on.store.list_devices(actor.scope, &behind, all).await.unwrap().items, []);
        if let Some(seen) = find(inside.id).await {
            assert!(!seen.settings.groups.contains(&hidden), "hidden groups do not show");
        }
    }
    let found = on.store.find_device(stranger.scope(), &DeviceRef::Id(inside.id)).await.unwrap();
    assert_eq!(found, None);
    let made = on.store.create_device(&tenant.within(Reach::Device(inside.id)), named("x"), None).await;
    assert_fails!(made, StoreError::NotFound(Kind::Device));
}

pub(crate) async fn a_groups_user_keeps_devices_in_the_group(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let own = on.add_group(&tenant, group_of("own", &[])).await.id;
    let hidden = on.add_group(&tenant, group_of("hidden", &[])).await.id;
    let actor = tenant.within(Reach::Group(own));
    let made = on.store.create_device(&actor, named("made"), None).await.unwrap().into_inner();
    assert_eq!(made.settings.groups, [own]);
    assert_eq!(on.look_group(&tenant, own).await.settings.devices, [made.id]);
    let both = DeviceSettings { groups: vec![own, hidden], ..named("made") };
    let reached = on.store.replace_device(&actor, made.id, made.revision, both.clone()).await;
    assert_fails!(reached, StoreError::UnknownReference { kind: Kind::Group, .. });

    let shared = on.set(&tenant, made.id, both).await.unwrap();
    let renamed = on.store.replace_device(&actor, made.id, shared.revision, named("renamed")).await.unwrap();
    assert_eq!(renamed.settings.groups, [own]);
    let mut groups = vec![own, hidden];
    groups.sort_unstable();
    assert_eq!(on.look(&tenant, made.id).await.settings.groups, groups, "what is hidden stays");
}

pub(crate) async fn replacing_counts_revisions(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let made = on.add(&tenant, full()).await;
    on.clock().advance_seconds(60);
    let same = on.store.replace_device(&tenant.actor(), made.id, made.revision, full()).await.unwrap();
    assert_eq!(same, made, "nothing changed");
    let changed = DeviceSettings { name: "changed".into(), ..full() };
    let after =
        on.store.replace_device(&tenant.actor(), made.id, made.revision, changed.clone()).await.unwrap();
    assert_eq!(after.settings, changed);
    assert_eq!(after.revision, made.revision.next());
    assert_eq!((after.creation, after.last_modified), (made.creation, on.now()));
    let stale = on.store.replace_device(&tenant.actor(), made.id, made.revision, full()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Device));
    let stale = on.store.delete_device(&tenant.actor(), made.id, Some(made.revision)).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Device));
    assert_eq!(on.event_kinds(&tenant, made.id).await, [EventKind::DeviceCreated, EventKind::DeviceUpdated]);
    assert_eq!(
        names(&on, &tenant, DeviceFilter { text: Some("changed".into()), ..DeviceFilter::default() })
            .await
            .len(),
        1
    );
    on.store.delete_device(&tenant.actor(), made.id, Some(after.revision)).await.unwrap();
}

pub(crate) async fn counters_are_of_the_accounts_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await;
    assert_eq!(device.counters.date.to_string(), "2026-01-01");
    assert!(device.counters.sent.is_empty());
    assert_eq!(device.counters.resets_at.to_string(), "2026-01-01T23:00:00Z", "midnight in Madrid");
    on.sql(
        "INSERT INTO device_message_counter (account_id, device_id, date, channel, messages, segments)
         VALUES (?1, ?2, '2026-01-01', 'email', 3, 0), (?1, ?2, '2026-01-01', 'sms', 2, 5)",
        params![tenant.account.id, device.id],
    )
    .await;
    let counters = on.look(&tenant, device.id).await.counters;
    assert_eq!(
        (
            counters.by(Channel::EMAIL).messages,
            counters.by(Channel::SMS).messages,
            counters.by(Channel::SMS).segments
        ),
        (3, 2, 5)
    );
    on.clock().set(counters.resets_at);
    let counters = on.look(&tenant, device.id).await.counters;
    assert_eq!(counters.date.to_string(), "2026-01-02");
    assert_eq!(
        (
            counters.by(Channel::EMAIL).messages,
            counters.by(Channel::SMS).messages,
            counters.by(Channel::SMS).segments
        ),
        (0, 0, 0)
    );
}

pub(crate) async fn a_deleted_device_leaves_nothing_behind(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (deleted, stays) = (on.add(&tenant, named("deleted")).await, on.add(&tenant, named("stays")).await);
    let group = on.add_group(&tenant, group_of("both", &[deleted.id, stays.id])).await;
    for device in [deleted.id, stays.id] {
        let actor = tenant.actor();
        on.store.store_locations(&actor, device, vec![fix(on.now(), 1.0)]).await.unwrap();
        on.store.store_alerts(&actor, device, vec![alert(on.now(), "SOSButton")]).await.unwrap();
        let new = NewShare {
            target: ShareTarget::Device(device),
            name: None,
            from: on.now(),
            until: on.now().plus_seconds(60),
            show_account: true,
            show_trips: true,
            conversation_delay_min: Some(30),
            secret: device.to_string(),
        };
        on.store.create_share(&actor, new, None).await.unwrap();
    }
    on.clock().advance_seconds(1);
    on.store.compact(CompactionBudget { devices: 2, everything: true }).await.unwrap();
    on.store.delete_device(&tenant.actor(), deleted.id, None).await.unwrap();
    assert_eq!(on.store.find_device(tenant.scope(), &DeviceRef::Id(deleted.id)).await.unwrap(), None);
    let history = on.store.list_locations(tenant.scope(), deleted.id, EVERYTHING).await;
    assert_fails!(history, StoreError::NotFound(Kind::Device));
    let feed = on.store.list_location_feed(tenant.scope(), 0, 10).await.unwrap();
    assert_eq!(feed.items.iter().map(|(device, _)| *device).collect::<Vec<_>>(), [stays.id]);
    // State that was newer in memory is in the tables after the store was closed.
    on.restart().await;
    for table in ["location_chunk", "last_location", "alert", "share", "device_live", "group_membership"] {
        assert_eq!(rows_of(&on, table, deleted.id).await, 0, "{table}");
        assert_eq!(rows_of(&on, table, stays.id).await, 1, "{table}");
    }
    let after = on.look_group(&tenant, group.id).await;
    assert_eq!(after.settings.devices, [stays.id]);
    assert_eq!((after.revision, after.last_modified), (group.revision.next(), on.now()));
    assert_eq!(on.event_kinds(&tenant, deleted.id).await.last(), Some(&EventKind::DeviceDeleted));
    assert_eq!(on.event_kinds(&tenant, group.id).await, [EventKind::GroupCreated, EventKind::GroupUpdated]);
    let again = on.store.delete_device(&tenant.actor(), deleted.id, None).await;
    assert_fails!(again, StoreError::NotFound(Kind::Device));
}

async fn rows_of(on: &Fixture, table: &str, device: DeviceId) -> i64 {
    let sql = format!("SELECT COUNT(*) AS count FROM {table} WHERE device_id = ?1");
    let count = on.store.read(move |tx| {
        Box::pin(async move { Ok(tx.query_one(&sql, params![device]).await?.i64("count")?) })
    });
    count.await.unwrap()
}

pub(crate) async fn a_users_scope_cannot_be_deleted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("bound")).await;
    let group = on.add_group(&tenant, group_of("bound", &[device.id])).await;
    let bound = [
        UserProfile { device: Some(device.id), ..profile("of-device") },
        UserProfile { group: Some(group.id), ..profile("of-group") },
    ];
    let mut users = Vec::new();
    for profile in bound {
        let new = NewUser { profile, password_hash: None };
        users.push(on.store.create_user(&tenant.actor(), new, None).await.unwrap().into_inner());
    }
    let deleted = on.store.delete_device(&tenant.actor(), device.id, None).await;
    assert_fails!(deleted, StoreError::InUse(Kind::Device));
    let deleted = on.store.delete_group(&tenant.actor(), group.id, None).await;
    assert_fails!(deleted, StoreError::InUse(Kind::Group));
    for user in users {
        on.store.delete_user(&tenant.actor(), user.id, None).await.unwrap();
    }
    on.store.delete_group(&tenant.actor(), group.id, None).await.unwrap();
    on.store.delete_device(&tenant.actor(), device.id, None).await.unwrap();
}
