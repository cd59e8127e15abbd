//! Rules about trips: one alert for each trip, in the transaction that stores it, whatever the order of arrival.

use perigee_core::id::DeviceId;
use perigee_core::locations::location::Location;
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::rules::rule::{Condition, Rule, RuleSettings, RuleTarget, TripCondition};
use perigee_core::store::{Alerts as _, Drivers as _, Rules as _, Timelines as _};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, SegmentLabels, StoredSegment};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, named};
use crate::timelines::{day, follow, store, stored};

/// An account that is followed, two days after its rules were made, and a day of its devices from then on.
async fn begin(on: &Fixture, conditions: &[TripCondition]) -> (Tenant, Vec<Location>) {
    let tenant = on.tenant("acme").await;
    follow(on, &tenant).await;
    for condition in conditions {
        make(on, &tenant, condition.clone()).await;
    }
    on.clock().advance_seconds(2 * 86_400);
    (tenant, day(on.now().plus_seconds(-86_400)))
}

async fn make(on: &Fixture, tenant: &Tenant, condition: TripCondition) -> Rule {
    let settings = RuleSettings {
        name: "Trips".to_owned(),
        description: None,
        enabled: true,
        target: RuleTarget { all: true, ..RuleTarget::default() },
        conditions: vec![Condition::Trip(condition)],
        for_s: 0,
        cool_down_s: 0,
        max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
        schedule: None,
        alert_name: None,
        text: None,
        critical: false,
        routing: AlertRouting::default(),
    };
    on.store.create_rule(&tenant.actor(), settings, None).await.unwrap().into_inner()
}

async fn trips(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<StoredSegment> {
    let mut all = stored(on, tenant, device).await;
    all.retain(|one| one.segment.kind == SegmentKind::Trip);
    all
}

/// Name, time and end of each alert of a device.
async fn alerts(
    on: &Fixture,
    tenant: &Tenant,
    device: DeviceId,
) -> Vec<(String, Timestamp, Option<Timestamp>)> {
    let found = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap();
    found.items.into_iter().map(|one| (one.alert.name, one.alert.time, one.ended_at)).collect()
}

pub(crate) async fn each_trip_raises_one_alert_in_any_order(mut on: Fixture) {
    let long = TripCondition::Duration { seconds: 600 };
    let driving = TripCondition::Driving { seconds: 1_800, break_s: 3_600 };
    let (tenant, day) = begin(&on, &[long, TripCondition::NoDriver, driving]).await;
    let mut devices = Vec::new();
    for name in ["ordered", "reversed", "mixed"] {
        devices.push(on.add(&tenant, named(name)).await.id);
    }
    let parts: Vec<&[Location]> = day.chunks(46).collect();
    for (device, order) in devices.iter().zip([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 4, 0, 3, 2]]) {
        for part in order {
            store(&on, &tenant, *device, parts[part]).await;
            follow(&on, &tenant).await;
            if part == 3 {
                on.restart().await;
            }
        }
    }
    for device in &devices {
        let trips = trips(&on, &tenant, *device).await;
        assert!(trips.len() > 4 && trips.iter().all(|trip| !trip.is_open), "{trips:?}");
        let alerts = alerts(&on, &tenant, *device).await;
        let times = |name: &str| -> Vec<Timestamp> {
            alerts.iter().filter(|alert| alert.0 == name).map(|alert| alert.1).collect()
        };
        for name in ["TripTime", "TripNoDriver"] {
            let times = times(name);
            assert_eq!(times.len(), trips.len(), "{name}: {times:?}");
            for trip in &trips {
                let during = times.iter().filter(|at| (trip.segment.from..=trip.segment.to).contains(*at));
                assert_eq!(during.count(), 1, "{name} of {trip:?} among {times:?}");
            }
        }
        assert_eq!(times("DrivingTime").len(), 1);
    }
    // In order, each has the time at which its condition became true.
    let trips = trips(&on, &tenant, devices[0]).await;
    let alerts = alerts(&on, &tenant, devices[0]).await;
    for trip in trips {
        let (due, ended) = (trip.segment.from.plus_seconds(600), Some(trip.segment.to));
        assert!(alerts.contains(&("TripTime".to_owned(), due, ended)), "{due} among {alerts:?}");
    }
}

pub(crate) async fn labels_and_drivers_decide_later(on: Fixture) {
    let purpose = TripCondition::Purpose { purpose: "private".to_owned() };
    let (tenant, day) = begin(&on, &[purpose, TripCondition::NoDriver]).await;
    let device = on.add(&tenant, named("van")).await.id;
    store(&on, &tenant, device, &day).await;
    follow(&on, &tenant).await;
    let of = async |name: &str| {
        let mut all = alerts(&on, &tenant, device).await;
        all.retain(|alert| alert.0 == name);
        all
    };
    let found = trips(&on, &tenant, device).await;
    assert_eq!(of("TripPurpose").await, []);
    let trip = &found[1];
    let set = async |purpose: &str| {
        let present = on.store.find_segment(tenant.scope(), trip.id).await.unwrap().unwrap();
        let labels = SegmentLabels { purpose: Some(purpose.to_owned()), ..present.labels };
        on.store.label_segment(&tenant.actor(), trip.id, present.revision, labels).await.unwrap();
    };
    set("Private").await;
    let expect = [("TripPurpose".to_owned(), trip.segment.from, Some(trip.segment.to))];
    assert_eq!(of("TripPurpose").await, expect, "with the trip's time");
    set("private").await;
    assert_eq!(of("TripPurpose").await, expect, "once");

    let without = of("TripNoDriver").await;
    assert_eq!(without.len(), found.iter().filter(|trip| !trip.is_open).count());
    let ana = perigee_core::drivers::DriverSettings { name: "Ana".into(), ..Default::default() };
    let ana = on.store.create_driver(&tenant.actor(), ana, None).await.unwrap().into_inner();
    let present = on.store.find_segment(tenant.scope(), trip.id).await.unwrap().unwrap();
    let labels = SegmentLabels { driver: Some(ana.id.to_string()), ..present.labels };
    on.store.label_segment(&tenant.actor(), trip.id, present.revision, labels).await.unwrap();
    assert_eq!(of("TripNoDriver").await, without, "no alert is raised twice or deleted");
}

pub(crate) async fn trips_from_before_a_rule_raise_nothing(on: Fixture) {
    let (tenant, day) = begin(&on, &[]).await;
    let device = on.add(&tenant, named("van")).await.id;
    store(&on, &tenant, device, &day[..100]).await;
    follow(&on, &tenant).await;
    let rule = make(&on, &tenant, TripCondition::Duration { seconds: 60 }).await;
    store(&on, &tenant, device, &day[100..]).await;
    follow(&on, &tenant).await;
    assert_eq!(alerts(&on, &tenant, device).await, [], "the day was before the rule");
    on.store.delete_rule(&tenant.actor(), rule.id, None).await.unwrap();
}
