//! Alerts: stored once, listed by time and name.

use std::collections::BTreeMap;

use perigee_core::access::actor::Reach;
use perigee_core::alerts::alert::Alert;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::locations::location::{
    Attribute, HistoryRequest, Latitude, Longitude, Order, Outcome, TimeRange,
};
use perigee_core::store::Alerts as _;

use crate::assert_fails;
use crate::fixture::Fixture;
use crate::sample::{EVERYTHING, alert, named, until};

use Outcome::{Accepted, Duplicate};

pub(crate) async fn an_alert_is_kept_as_given(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let full = Alert {
        text: Some("help\n".into()),
        position: Some((Latitude::from_e7(-900_000_000), Longitude::from_e7(1_799_999_999))),
        critical: true,
        attributes: BTreeMap::from([
            ("text".to_owned(), Attribute::Text("ñ".into())),
            ("integer".to_owned(), Attribute::Integer(i64::MIN)),
            ("real".to_owned(), Attribute::Real(0.1 + 0.2)),
            ("flag".to_owned(), Attribute::Flag(true)),
        ]),
        ..alert(on.now().plus_seconds(-5), "SOSButton")
    };
    let sent = on.store.store_alerts(&tenant.actor(), device, vec![full.clone()]).await.unwrap();
    let id = sent[0].1;
    assert_eq!(sent, [(Accepted, id)]);
    let listed = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
    assert_eq!(listed.len(), 1);
    let stored = &listed[0];
    assert_eq!((stored.id, stored.device, &stored.alert), (id, device, &full));
    assert_eq!((stored.received_at, stored.acknowledged, stored.ended_at), (on.now(), None, None));
    let event = on.events(&tenant).await.pop().unwrap();
    assert_eq!((event.kind, event.device), (EventKind::AlertCreated, Some(device)));
    assert_eq!(event.subject, id.to_string());
    assert_eq!(on.look(&tenant, device).await.last_seen, Some(on.now()));
}

pub(crate) async fn the_same_alert_is_stored_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let plain = alert(on.now(), "Vibration");
    let empty = Alert { text: Some(String::new()), ..plain.clone() };
    let worded = Alert { text: Some("strong".into()), ..plain.clone() };
    let critical = Alert { critical: true, ..plain.clone() };
    let later = Alert { time: on.now().plus_millis(1), ..plain.clone() };
    let batch = vec![plain.clone(), worded.clone(), critical, empty, later];
    let first = on.store.store_alerts(&tenant.actor(), device, batch.clone()).await.unwrap();
    let outcomes: Vec<Outcome> = first.iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [Accepted, Accepted, Duplicate, Accepted, Accepted]);
    assert_eq!(first[2].1, first[0].1, "the same but for what does not distinguish alerts");
    let again = on.store.store_alerts(&tenant.actor(), device, batch).await.unwrap();
    let expect: Vec<_> = first.iter().map(|(_, id)| (Duplicate, *id)).collect();
    assert_eq!(again, expect);
    let kinds = on.events(&tenant).await;
    assert_eq!(kinds.iter().filter(|event| event.kind == EventKind::AlertCreated).count(), 4);
    let many: Vec<Alert> = (0..321).map(|index| alert(on.now().plus_seconds(index), "IdleTime")).collect();
    let made = on.store.store_alerts(&tenant.actor(), device, many.clone()).await.unwrap();
    assert!(made.iter().all(|(outcome, _)| *outcome == Accepted));
    let again = on.store.store_alerts(&tenant.actor(), device, many).await.unwrap();
    assert!(again.iter().zip(&made).all(|(again, made)| *again == (Duplicate, made.1)));
}

pub(crate) async fn alerts_are_listed_by_name_both_ways(on: Fixture) {
    let (tenant, stranger) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("one")).await.id;
    let outside = on.add(&tenant, named("two")).await.id;
    let name = |index: i64| if index % 2 == 0 { "Route" } else { "RPM" };
    let all: Vec<Alert> = (0..12)
        .map(|index| Alert {
            text: Some(index.to_string()),
            ..alert(on.now().plus_seconds(index / 4), name(index))
        })
        .collect();
    on.store.store_alerts(&tenant.actor(), device, all.clone()).await.unwrap();
    let walk = async |name: Option<&str>, order, limit| {
        let mut request = HistoryRequest { range: TimeRange::ALL, order, after: None, limit };
        let mut seen = Vec::new();
        loop {
            let part = on.store.list_alerts(tenant.scope(), device, name, request).await.unwrap();
            seen.extend(part.items.into_iter().map(|item| item.alert));
            match part.next {
                Some(next) => request.after = Some(next),
                None => break seen,
            }
        }
    };
    let backwards: Vec<Alert> = all.iter().rev().cloned().collect();
    for limit in [1, 5, 12] {
        assert_eq!(walk(None, Order::Ascending, limit).await, all);
        assert_eq!(walk(None, Order::Descending, limit).await, backwards);
    }
    let routes: Vec<Alert> = all.iter().filter(|alert| alert.name == "Route").cloned().collect();
    assert_eq!(walk(Some("Route"), Order::Ascending, 4).await, routes);
    assert_eq!(walk(Some("rouTE"), Order::Ascending, 4).await, routes, "in any letter case");
    assert_eq!(walk(Some("Rout"), Order::Ascending, 4).await, []);
    assert_eq!(walk(Some("\0"), Order::Ascending, 4).await, []);
    for actor in [stranger.actor(), tenant.within(Reach::Device(outside))] {
        let listed = on.store.list_alerts(actor.scope, device, None, EVERYTHING).await;
        assert_fails!(listed, StoreError::NotFound(Kind::Device));
        let sent = on.store.store_alerts(&actor, device, vec![alert(on.now(), "RPM")]).await;
        assert_fails!(sent, StoreError::NotFound(Kind::Device));
    }
}

pub(crate) async fn an_expired_device_raises_nothing(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, until("one", "2025-12-01")).await.id;
    on.clock().advance_seconds(7);
    let sent = on.store.store_alerts(&tenant.actor(), device, vec![alert(on.now(), "SOSButton")]).await;
    assert_fails!(sent, StoreError::DeviceExpired(id) if *id == device);
    assert_eq!(on.look(&tenant, device).await.last_seen, Some(on.now()));
    let listed = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap();
    assert_eq!(listed.items, []);
}
