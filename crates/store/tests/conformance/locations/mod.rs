//! Locations: stored once, listed by time, and the last location of each device.

pub(crate) mod compaction;
pub(crate) mod feed;
pub(crate) mod sinks;
pub(crate) mod skimming;
pub(crate) mod trails;

use std::collections::BTreeMap;

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventKind, EventObject};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    Attribute, FixSource, HistoryRequest, Location, Milli, Order, Outcome, Readings, TimeRange,
};
use perigee_core::store::{Devices as _, Events as _, Locations as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, group_of, named, until};

use Outcome::{Accepted, Duplicate};

fn milli(number: f64) -> Milli {
    Milli::from_f64(number).expect("a number")
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: Vec<Location>) -> Vec<Outcome> {
    on.store.store_locations(&tenant.actor(), device, locations).await.unwrap()
}

async fn history(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Location> {
    let history = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap();
    assert_eq!(history.next, None);
    history.items.into_iter().map(|item| item.location).collect()
}

async fn last(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Option<Location> {
    let last = on.store.find_last_location(tenant.scope(), device).await.unwrap();
    last.map(|stored| stored.location)
}

pub(crate) async fn a_device_may_be_named_by_its_identifier(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let mut settings = until("one", "2026-05-01");
    settings.identifier = Some("356938035643809".into());
    let device = on.add(&tenant, settings).await.id;
    let imei = DeviceRef::Identifier("356938035643809".into());
    let submit = async |actor: &Actor, named: &DeviceRef| {
        on.store.submit_locations(actor, named, vec![fix(on.now(), 1.0)]).await
    };
    assert_eq!(submit(&tenant.actor(), &imei).await.unwrap(), [Accepted]);
    for named in [&imei, &DeviceRef::Id(device)] {
        assert_eq!(submit(&tenant.actor(), named).await.unwrap(), [Duplicate]);
    }
    let group = on.add_group(&tenant, group_of("without it", &[])).await.id;
    for (actor, named) in [
        (stranger.actor(), imei.clone()),
        (tenant.within(Reach::Group(group)), imei.clone()),
        (tenant.actor(), DeviceRef::Identifier("unknown".into())),
        (tenant.actor(), DeviceRef::Identifier("nul\0".into())),
        (tenant.actor(), DeviceRef::Identifier("x".repeat(10_000))),
    ] {
        assert_fails!(submit(&actor, &named).await, StoreError::NotFound(Kind::Device));
    }
    on.add_group(&tenant, group_of("with it", &[device])).await;
    assert_eq!(submit(&tenant.within(Reach::Device(device)), &imei).await.unwrap(), [Duplicate]);
    on.clock().set("2026-05-03T00:00:00Z".parse().unwrap());
    assert_fails!(submit(&tenant.actor(), &imei).await, StoreError::DeviceExpired(_));
    on.store.delete_device(&tenant.actor(), device, None).await.unwrap();
    assert_fails!(submit(&tenant.actor(), &imei).await, StoreError::NotFound(Kind::Device));
}

pub(crate) async fn a_location_is_kept_as_given(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    assert_eq!(last(&on, &tenant, device).await, None);
    let full = Location {
        readings: Readings {
            altitude: Some(milli(-431.5)),
            speed: Some(milli(88.123)),
            valid: Some(true),
            satellites: Some(12),
            sensor_time1_s: Some(milli(1.0)),
            sensor_time2_s: None,
            sensor_time3_s: None,
            sensor_time4_s: Some(milli(4.0)),
            inputs: Some(vec![true, false]),
            alerts: Some(vec!["SOSButton".into()]),
            source: Some(FixSource::Gnss),
            attributes: BTreeMap::from([
                ("text".to_owned(), Attribute::Text("ñ\0".into())),
                ("real".to_owned(), Attribute::Real(0.1)),
            ]),
            ..Readings::default()
        },
        ..fix(on.now().plus_seconds(-601), -45.123_456_7)
    };
    assert_eq!(send(&on, &tenant, device, vec![full.clone()]).await, [Accepted]);
    let stored = on.store.find_last_location(tenant.scope(), device).await.unwrap().unwrap();
    assert_eq!((&stored.location, stored.received_at), (&full, on.now()));
    assert!(stored.trust.late && !stored.trust.suspect);
    let listed = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    assert_eq!(listed, [stored]);
    assert_eq!(on.look(&tenant, device).await.last_seen, Some(on.now()));
}

pub(crate) async fn the_same_location_is_stored_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let first = fix(on.now(), 1.0);
    let faster =
        Location { readings: Readings { speed: Some(milli(1.0)), ..Readings::default() }, ..first.clone() };
    let slower =
        Location { readings: Readings { speed: Some(milli(0.0)), ..Readings::default() }, ..first.clone() };
    let batch = vec![first.clone(), faster.clone(), first.clone()];
    assert_eq!(send(&on, &tenant, one, batch.clone()).await, [Accepted, Accepted, Duplicate]);
    on.clock().advance_seconds(5);
    assert_eq!(send(&on, &tenant, one, batch).await, [Duplicate; 3]);
    let mixed = vec![faster.clone(), slower.clone(), first.clone()];
    assert_eq!(send(&on, &tenant, one, mixed).await, [Duplicate, Accepted, Duplicate]);
    assert_eq!(history(&on, &tenant, one).await, [first.clone(), faster, slower]);
    assert_eq!(send(&on, &tenant, two, vec![first]).await, [Accepted], "another device's is another");
    assert_eq!(on.look(&tenant, one).await.last_seen, Some(on.now()), "also heard by what it repeats");
}

pub(crate) async fn history_is_listed_both_ways_in_pages(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let start = on.now();
    // Three of each second, sent out of order.
    let mut all: Vec<Location> = (0..30)
        .map(|number| fix(start.plus_seconds(number / 3), 1.0 + f64::from(i32::try_from(number).unwrap())))
        .collect();
    let late = all.split_off(15);
    send(&on, &tenant, device, late.clone()).await;
    send(&on, &tenant, device, all.clone()).await;
    all.extend(late);
    let walk = async |order, range: TimeRange, limit| {
        let mut request = HistoryRequest { range, order, after: None, limit };
        let mut seen = Vec::new();
        loop {
            let part = on.store.list_locations(tenant.scope(), device, request).await.unwrap();
            assert!(part.items.len() <= usize::try_from(limit).unwrap());
            seen.extend(part.items.into_iter().map(|item| item.location));
            match part.next {
                Some(next) => request.after = Some(next),
                None => break seen,
            }
        }
    };
    let backwards: Vec<Location> = all.iter().rev().cloned().collect();
    for limit in [1, 2, 7, 30, 100] {
        assert_eq!(walk(Order::Ascending, TimeRange::ALL, limit).await, all, "by {limit}");
        assert_eq!(walk(Order::Descending, TimeRange::ALL, limit).await, backwards, "by {limit}");
    }
    let range = TimeRange { from: start.plus_seconds(2), to: start.plus_seconds(4) };
    assert_eq!(walk(Order::Ascending, range, 4).await, all[6..15], "both ends are included");
    let empty = TimeRange { from: start.plus_seconds(4), to: start.plus_seconds(2) };
    assert_eq!(walk(Order::Descending, empty, 4).await, []);
}

pub(crate) async fn the_last_location_is_the_newest_to_be_trusted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let now = on.now();
    let newest = fix(now.plus_seconds(-10), 2.0);
    send(&on, &tenant, device, vec![newest.clone(), fix(now.plus_seconds(-60), 1.999)]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(newest.clone()));
    send(&on, &tenant, device, vec![fix(now.plus_seconds(-11), 2.001)]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(newest.clone()), "an older one moves nothing");
    let future = fix(now.plus_seconds(601), 4.0);
    let nowhere = fix(now, 0.0);
    let coarse = Location {
        readings: Readings {
            source: Some(FixSource::Doppler),
            accuracy: Some(milli(5_000.0)),
            ..Readings::default()
        },
        ..fix(now, 5.0)
    };
    let doubtful = vec![future.clone(), nowhere.clone(), coarse.clone()];
    assert_eq!(send(&on, &tenant, device, doubtful).await, [Accepted; 3]);
    assert_eq!(last(&on, &tenant, device).await, Some(newest.clone()));
    let listed = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    let suspect: Vec<&Location> =
        listed.iter().filter(|item| item.trust.suspect).map(|item| &item.location).collect();
    assert_eq!(suspect, [&nowhere, &future]);
    let same_time = fix(newest.time, 2.005);
    send(&on, &tenant, device, vec![same_time.clone()]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(same_time), "of one time the later to arrive");
    on.clock().advance_seconds(86_400);
    let next_day = Location { time: on.now(), ..coarse };
    send(&on, &tenant, device, vec![next_day.clone()]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(next_day));
}

pub(crate) async fn a_jump_is_doubted_until_it_is_confirmed(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let at = |second: i64, degrees: f64| fix(on.now().plus_seconds(second - 600), degrees);
    let (home, glitch, back) = (at(0, 1.0), at(10, 40.0), at(20, 1.001));
    let (moved, there, later) = (at(30, 50.0), at(40, 50.0), at(50, 50.001));
    send(&on, &tenant, device, vec![home.clone()]).await;
    send(&on, &tenant, device, vec![glitch.clone()]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(home));
    send(&on, &tenant, device, vec![glitch.clone(), back.clone()]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(back.clone()), "the same one again confirms nothing");
    send(&on, &tenant, device, vec![moved.clone()]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(back));
    on.restart().await;
    send(&on, &tenant, device, vec![later.clone(), there]).await;
    assert_eq!(
        last(&on, &tenant, device).await,
        Some(later),
        "in the order of time, whatever the order sent"
    );
    let suspect = [glitch, moved];
    let listed = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    let flagged: Vec<Location> =
        listed.into_iter().filter(|item| item.trust.suspect).map(|item| item.location).collect();
    assert_eq!(flagged, suspect);
    let feed = on.store.list_location_feed(tenant.scope(), 0, 100).await.unwrap().items;
    let flagged: Vec<Location> =
        feed.into_iter().filter(|(_, item)| item.trust.suspect).map(|(_, item)| item.location).collect();
    assert_eq!(flagged, suspect);
}

pub(crate) async fn a_doubt_that_was_settled_stays_so_when_what_settled_it_is_erased(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let at = |second: i64, degrees: f64| fix(on.now().plus_seconds(second - 600), degrees);
    let (home, glitch, back, again) = (at(0, 1.0), at(10, 40.0), at(20, 1.001), at(30, 40.001));
    send(&on, &tenant, device, vec![home.clone(), glitch]).await;
    on.restart().await;
    send(&on, &tenant, device, vec![back.clone()]).await;
    let range = TimeRange { from: back.time, to: back.time };
    assert_eq!(on.store.delete_locations(&tenant.actor(), device, range).await.unwrap(), 1);
    on.crash().await;
    send(&on, &tenant, device, vec![again]).await;
    assert_eq!(last(&on, &tenant, device).await, Some(home), "a jump that nothing confirms any more");
}

pub(crate) async fn an_expired_device_is_heard_but_not_stored(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2026-01-01")).await;
    let before = fix(on.now(), 1.0);
    send(&on, &tenant, device.id, vec![before.clone()]).await;
    on.clock().set(device.expires.unwrap().plus_seconds(9));
    let events = on.events(&tenant).await.len();
    let refused = on.store.store_locations(&tenant.actor(), device.id, vec![fix(on.now(), 2.0)]).await;
    assert_fails!(refused, StoreError::DeviceExpired(id) if *id == device.id);
    let after = on.look(&tenant, device.id).await;
    assert_eq!(after.last_seen, Some(on.now()));
    assert_eq!(after.revision, device.revision);
    assert_eq!(history(&on, &tenant, device.id).await, [before], "what was stays");
    assert_eq!(on.events(&tenant).await.len(), events);
}

pub(crate) async fn every_location_has_an_event(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let seen = on.events(&tenant).await.last().unwrap().number;
    let batch: Vec<Location> = (0..7).map(|second| fix(on.now().plus_seconds(-second), 1.0)).collect();
    send(&on, &tenant, device, batch.clone()).await;
    send(&on, &tenant, device, batch).await;
    let events = on.store.list_events(tenant.scope(), seen, 100).await.unwrap();
    assert_eq!(events.len(), 7);
    let mut stored = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    stored.sort_by_key(|item| item.number);
    for (event, item) in events.iter().zip(&stored) {
        assert_eq!((event.kind, event.device), (EventKind::LocationCreated, Some(device)));
        assert_eq!(event.subject, device.to_string());
        assert_eq!(event.number, item.number);
        assert_eq!(
            event.object,
            EventObject::Location(Box::new(item.clone())),
            "whole, as it is in the history"
        );
    }
}

pub(crate) async fn invisible_devices_accept_no_locations(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let inside = on.add(&tenant, named("inside")).await.id;
    let outside = on.add(&tenant, named("outside")).await.id;
    let group = on.add_group(&tenant, group_of("one", &[inside])).await.id;
    for actor in [tenant.within(Reach::Group(group)), tenant.within(Reach::Device(inside)), stranger.actor()]
    {
        let sent = on.store.store_locations(&actor, outside, vec![fix(on.now(), 1.0)]).await;
        assert_fails!(sent, StoreError::NotFound(Kind::Device));
        let listed = on.store.list_locations(actor.scope, outside, EVERYTHING).await;
        assert_fails!(listed, StoreError::NotFound(Kind::Device));
        let found = on.store.find_last_location(actor.scope, outside).await;
        assert_fails!(found, StoreError::NotFound(Kind::Device));
    }
    assert_eq!(history(&on, &tenant, outside).await, []);
    assert_eq!(on.look(&tenant, outside).await.last_seen, None);
    let actor = tenant.within(Reach::Group(group));
    on.store.store_locations(&actor, inside, vec![fix(on.now(), 1.0)]).await.unwrap();
}

pub(crate) async fn a_large_batch_is_stored_whole(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let count = 1_234;
    let batch: Vec<Location> =
        (1..=count).map(|second| fix(on.now().plus_seconds(second - count), 1.0)).collect();
    let outcomes = send(&on, &tenant, device, batch.clone()).await;
    assert_eq!(outcomes, vec![Accepted; batch.len()]);
    let stored = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    assert!(stored.is_sorted_by_key(|item| item.number), "numbered in the order they were sent");
    assert!(stored.iter().map(|item| &item.location).eq(&batch));
    assert_eq!(last(&on, &tenant, device).await.as_ref(), batch.last());
    assert_eq!(send(&on, &tenant, device, batch.clone()).await, vec![Duplicate; batch.len()]);
}
