//! Locations of many devices at once: the feed, all last locations, and deleting a range.

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    Area, LastFilter, Latitude, Location, Longitude, StoredLocation, TimeRange,
};
use perigee_core::page::PageRequest;
use perigee_core::store::{Devices as _, Locations as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, group_of, named};

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: Vec<Location>) {
    on.store.store_locations(&tenant.actor(), device, locations).await.unwrap();
}

/// The whole feed after a number, read in parts of this size.
async fn follow(on: &Fixture, scope: Scope, after: i64, limit: u32) -> Vec<(DeviceId, StoredLocation)> {
    let mut seen = Vec::new();
    let mut cursor = after;
    loop {
        let part = on.store.list_location_feed(scope, cursor, limit).await.unwrap();
        assert!(part.items.len() <= usize::try_from(limit).unwrap());
        let stands = part.next == cursor;
        cursor = part.next;
        seen.extend(part.items);
        if stands {
            break seen;
        }
    }
}

fn locations_of(feed: &[(DeviceId, StoredLocation)]) -> Vec<(DeviceId, Location)> {
    feed.iter().map(|(device, stored)| (*device, stored.location.clone())).collect()
}

pub(crate) async fn the_feed_is_in_arrival_order(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let foreign = on.add(&stranger, named("foreign")).await.id;
    assert_eq!(on.store.list_location_feed(tenant.scope(), 0, 10).await.unwrap().items, []);
    let mut sent = Vec::new();
    for round in 0..20 {
        let late = fix(on.now().plus_seconds(-1_000 * round), 1.0);
        let device = if round % 3 == 0 { two } else { one };
        send(&on, &tenant, device, vec![late.clone()]).await;
        send(&on, &tenant, device, vec![late.clone()]).await;
        send(&on, &stranger, foreign, vec![late.clone()]).await;
        sent.push((device, late));
    }
    for limit in [1, 3, 20, 100] {
        assert_eq!(locations_of(&follow(&on, tenant.scope(), 0, limit).await), sent, "by {limit}");
    }
    let feed = follow(&on, tenant.scope(), 0, 100).await;
    assert!(feed.is_sorted_by_key(|(_, stored)| stored.number));
    let middle = feed[9].1.number;
    assert_eq!(locations_of(&follow(&on, tenant.scope(), middle, 4).await), sent[10..]);
    let listed = on.store.list_locations(tenant.scope(), two, EVERYTHING).await.unwrap().items;
    assert!(listed.iter().all(|stored| feed.contains(&(two, stored.clone()))), "the same as in the history");
}

pub(crate) async fn the_feed_goes_on_from_its_end(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    send(&on, &tenant, one, vec![fix(on.now(), 1.0)]).await;
    let end = on.store.feed_end(tenant.scope()).await.unwrap();
    assert_eq!(follow(&on, tenant.scope(), end, 10).await, []);
    let only_two = tenant.within(Reach::Device(two)).scope;
    let group = on.add_group(&tenant, group_of("one", &[one])).await.id;
    let only_one = tenant.within(Reach::Group(group)).scope;
    send(&on, &tenant, one, vec![fix(on.now(), 2.0), fix(on.now(), 3.0)]).await;
    let hidden = on.store.list_location_feed(only_two, end, 10).await.unwrap();
    assert_eq!(hidden.items, []);
    assert!(hidden.next > end, "it passes what is not visible");
    send(&on, &tenant, two, vec![fix(on.now(), 4.0)]).await;
    assert_eq!(locations_of(&follow(&on, only_two, hidden.next, 10).await), [(two, fix(on.now(), 4.0))]);
    let expected = [(one, fix(on.now(), 2.0)), (one, fix(on.now(), 3.0))];
    assert_eq!(locations_of(&follow(&on, only_one, end, 1).await), expected);
}

pub(crate) async fn all_last_locations_are_listed(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut devices = Vec::new();
    for number in 0..6 {
        let device = on.add(&tenant, named("device")).await.id;
        let degrees = 170.0 + 4.0 * f64::from(number);
        let longitude = if degrees > 180.0 { degrees - 360.0 } else { degrees };
        let location = Location {
            longitude: Longitude::from_degrees(longitude).unwrap(),
            ..fix(on.now(), 10.0 + f64::from(number))
        };
        if number < 5 {
            send(
                &on,
                &tenant,
                device,
                vec![Location { time: on.now().plus_seconds(-60), ..location.clone() }, location],
            )
            .await;
        }
        on.clock().advance_seconds(60);
        devices.push(device);
    }
    let group = on.add_group(&tenant, group_of("some", &[devices[1], devices[3], devices[5]])).await.id;
    let list = async |scope: Scope, filter: LastFilter, limit: u32| {
        let mut page = PageRequest::first(limit);
        let mut seen = Vec::new();
        loop {
            let part = on.store.list_last_locations(scope, &filter, page).await.unwrap();
            for (device, stored) in part.items {
                let last = on.store.find_last_location(tenant.scope(), device).await.unwrap();
                assert_eq!(last, Some(stored));
                seen.push(devices.iter().position(|known| *known == device).unwrap());
            }
            match part.next {
                Some(next) => page.after = Some(next),
                None => break seen,
            }
        }
    };
    let some = vec![devices[1], devices[2], devices[3], DeviceId::from_i64(i64::MAX)];
    let of = async |scope| {
        let found = on.store.last_locations_of(scope, some.clone()).await.unwrap();
        let mut seen = Vec::new();
        for (device, stored) in found {
            assert_eq!(on.store.find_last_location(tenant.scope(), device).await.unwrap(), Some(stored));
            seen.push(devices.iter().position(|known| *known == device).unwrap());
        }
        seen.sort_unstable();
        seen
    };
    assert_eq!(of(tenant.scope()).await, [1, 2, 3]);
    assert_eq!(of(tenant.within(Reach::Group(group)).scope).await, [1, 3]);
    assert_eq!(of(tenant.within(Reach::Device(devices[2])).scope).await, [2]);
    assert_eq!(of(on.tenant("other").await.scope()).await, [] as [usize; 0]);
    let all = LastFilter::default();
    for limit in [1, 2, 5, 100] {
        assert_eq!(list(tenant.scope(), all, limit).await, [0, 1, 2, 3, 4], "by {limit}");
    }
    let of_group = LastFilter { group: Some(group), ..all };
    assert_eq!(list(tenant.scope(), of_group, 10).await, [1, 3]);
    let members = tenant.within(Reach::Group(group)).scope;
    assert_eq!(list(members, all, 1).await, [1, 3]);
    let alone = tenant.within(Reach::Device(devices[2])).scope;
    assert_eq!(list(alone, all, 10).await, [2]);
    assert_eq!(list(alone, of_group, 10).await, [] as [usize; 0], "a hidden group shows nothing");
    let pacific = Area {
        west: Longitude::from_degrees(173.0).unwrap(),
        south: Latitude::from_degrees(10.0).unwrap(),
        east: Longitude::from_degrees(-177.0).unwrap(),
        north: Latitude::from_degrees(13.0).unwrap(),
    };
    assert_eq!(list(tenant.scope(), LastFilter { area: Some(pacific), ..all }, 2).await, [1, 2, 3]);
    let since = on.now().plus_seconds(-200);
    assert_eq!(list(tenant.scope(), LastFilter { since: Some(since), ..all }, 2).await, [3, 4]);
}

pub(crate) async fn a_range_is_deleted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (one, two) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let batch: Vec<Location> = (0..10).map(|second| fix(on.now().plus_seconds(second - 9), 1.0)).collect();
    for device in [one, two] {
        send(&on, &tenant, device, batch.clone()).await;
    }
    let delete = async |from: usize, to: usize| {
        let range = TimeRange { from: batch[from].time, to: batch[to].time };
        on.store.delete_locations(&tenant.actor(), one, range).await
    };
    let left = async |device| {
        let listed = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
        listed.into_iter().map(|stored| stored.location).collect::<Vec<_>>()
    };
    assert_eq!(delete(2, 4).await.unwrap(), 3);
    assert_eq!(delete(2, 4).await.unwrap(), 0);
    let rest: Vec<Location> = [&batch[..2], &batch[5..]].concat();
    assert_eq!((left(one).await, left(two).await), (rest.clone(), batch.clone()));
    let feed = locations_of(&follow(&on, tenant.scope(), 0, 3).await);
    let of_one: Vec<Location> =
        feed.into_iter().filter(|(device, _)| *device == one).map(|(_, location)| location).collect();
    assert_eq!(of_one, rest, "what was deleted is not returned again");
    let last = async || {
        let last = on.store.find_last_location(tenant.scope(), one).await.unwrap();
        last.map(|stored| stored.location)
    };
    assert_eq!(delete(8, 9).await.unwrap(), 2);
    assert_eq!(last().await, Some(batch[7].clone()), "the last one is what is left");
    send(&on, &tenant, one, vec![batch[9].clone()]).await;
    assert_eq!(last().await, Some(batch[9].clone()), "it may come again");
    assert_eq!(delete(0, 9).await.unwrap(), 6);
    assert_eq!((last().await, left(one).await), (None, vec![]));
    let stranger = on.tenant("other").await;
    let deletion = on.store.delete_locations(&stranger.actor(), two, TimeRange::ALL).await;
    assert_fails!(deletion, StoreError::NotFound(Kind::Device));
    on.store.delete_device(&tenant.actor(), two, None).await.unwrap();
    assert_eq!(follow(&on, tenant.scope(), 0, 3).await, []);
}
