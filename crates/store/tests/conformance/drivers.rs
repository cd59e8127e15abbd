//! Drivers, key tags and assignments; and who drove each trip, whatever came first.

use perigee_core::access::actor::Reach;
use perigee_core::drivers::{AssignmentSettings, Driver, DriverFilter, DriverSettings, DriverSource};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventFilter, EventKind, EventObject};
use perigee_core::id::{DeviceId, DriverId};
use perigee_core::idempotency::Created;
use perigee_core::locations::location::{Attribute, Location};
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::store::{
    Assignments as _, Devices as _, DriverKey, Drivers as _, Events as _, Timelines as _, TripFilter,
    TripOrder,
};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, SegmentLabels, StoredSegment};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::named;
use crate::timelines::{begin, event_kinds, follow, is_pending, store, stored};

fn person(name: &str, tags: &[&str]) -> DriverSettings {
    let tags = tags.iter().map(|tag| tag.parse().unwrap()).collect();
    DriverSettings { name: name.to_owned(), tags, ..DriverSettings::default() }
}

async fn add(on: &Fixture, tenant: &Tenant, name: &str, tags: &[&str]) -> Driver {
    on.store.create_driver(&tenant.actor(), person(name, tags), None).await.unwrap().into_inner()
}

async fn assign(
    on: &Fixture,
    tenant: &Tenant,
    driver: DriverId,
    device: DeviceId,
    (from, to): (Timestamp, Option<Timestamp>),
) -> Result<perigee_core::drivers::Assignment, StoreError> {
    let settings = AssignmentSettings { device, from, to };
    on.store.create_assignment(&tenant.actor(), driver, settings, None).await.map(Created::into_inner)
}

/// Resolves drivers in parts of two segments until nothing is marked.
async fn resolve(on: &Fixture, tenant: &Tenant) -> usize {
    let mut parts = 0;
    while on.store.resolve_drivers(tenant.account.id, 2).await.unwrap().is_some() {
        parts += 1;
    }
    parts
}

async fn trips(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<StoredSegment> {
    let mut all = stored(on, tenant, device).await;
    all.retain(|one| one.segment.kind == SegmentKind::Trip);
    all
}

/// Who drove each trip: the name and how that is known.
async fn drivers(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Option<(String, DriverSource)>> {
    let trips = trips(on, tenant, device).await;
    trips.into_iter().map(|trip| trip.driver.map(|driver| (driver.name, driver.source))).collect()
}

fn by(name: &str, source: DriverSource) -> (String, DriverSource) {
    (name.to_owned(), source)
}

/// The day of [`begin`], with this key tag in each location from this one on.
fn tagged(day: &[Location], from: usize, tag: &str) -> Vec<Location> {
    let mut day = day.to_vec();
    for location in &mut day[from..] {
        location.readings.attributes.insert("driverUniqueId".to_owned(), Attribute::Text(tag.to_owned()));
    }
    day
}

pub(crate) async fn drivers_are_kept_found_and_deleted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let other = on.tenant("other").await;
    let ana = add(&on, &tenant, "Ana", &["01-0a", "B2"]).await;
    assert_eq!(ana.settings.tags.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10A", "B2"]);
    assert_eq!(on.store.find_driver(tenant.scope(), ana.id).await.unwrap(), Some(ana.clone()));
    assert_eq!(on.store.find_driver(other.scope(), ana.id).await.unwrap(), None);
    let device = on.add(&tenant, named("van")).await.id;
    let part = tenant.scope().limited_to(Reach::Device(device));
    assert_eq!(on.store.find_driver(part, ana.id).await.unwrap(), None, "of the whole account");
    let bea = add(&on, &tenant, "Bea", &[]).await;
    let list = |text: Option<&str>, scope| {
        let (store, filter) = (on.store.clone(), DriverFilter { text: text.map(str::to_owned) });
        async move {
            let page = store.list_drivers(scope, &filter, PageRequest::first(10)).await.unwrap();
            page.items.into_iter().map(|driver| driver.settings.name).collect::<Vec<_>>()
        }
    };
    assert_eq!(list(None, tenant.scope()).await, ["Ana", "Bea"]);
    assert_eq!(list(Some("b2"), tenant.scope()).await, ["Ana"]);
    assert_eq!(list(Some("BEA"), tenant.scope()).await, ["Bea"]);
    assert!(list(None, part).await.is_empty() && list(None, other.scope()).await.is_empty());

    let taken = on.store.create_driver(&tenant.actor(), person("Cai", &["0B2"]), None).await;
    assert!(matches!(taken, Err(StoreError::TagTaken { driver_name, .. }) if driver_name == "Ana"));
    add(&on, &other, "Eva", &["B2"]).await;
    let stale = on.store.replace_driver(&tenant.actor(), bea.id, Revision(9), person("Bea", &[])).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Driver));
    let taken = on.store.replace_driver(&tenant.actor(), bea.id, bea.revision, person("Bea", &["10A"])).await;
    assert!(matches!(taken, Err(StoreError::TagTaken { .. })));
    // A tag that its owner gave up is free.
    let ana = on.store.replace_driver(&tenant.actor(), ana.id, ana.revision, person("Ana", &["B2"])).await;
    let ana = ana.unwrap();
    let bea = on.store.replace_driver(&tenant.actor(), bea.id, bea.revision, person("Bea", &["10A"])).await;
    assert_eq!(bea.unwrap().revision, Revision(2));
    let unknown = DriverSettings { user: Some(other.owner.id), ..person("Dan", &[]) };
    let refused = on.store.create_driver(&tenant.actor(), unknown, None).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::User, .. });

    let page = on.store.read_events(tenant.scope(), &EventFilter::default(), 0, 100).await.unwrap();
    let seen = |kind| page.events.iter().filter(|event| event.kind == kind).collect::<Vec<_>>();
    assert_eq!(seen(EventKind::DriverUpdated).len(), 2);
    assert!(
        matches!(&seen(EventKind::DriverCreated)[0].object, EventObject::Driver(driver) if **driver == ana)
    );
    on.store.delete_driver(&tenant.actor(), ana.id, Some(ana.revision)).await.unwrap();
    assert_eq!(on.store.find_driver(tenant.scope(), ana.id).await.unwrap(), None);
    let actions: Vec<String> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions[0], "driver.delete");
    add(&on, &tenant, "Cai", &["B2"]).await;
}

pub(crate) async fn assignments_of_a_device_do_not_overlap(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (van, truck) = (on.add(&tenant, named("van")).await.id, on.add(&tenant, named("truck")).await.id);
    let people = [add(&on, &tenant, "Ana", &[]).await.id, add(&on, &tenant, "Bea", &[]).await.id];
    let at = |hour: i64| Timestamp::from_millis(hour * 3_600_000);
    // A model: a list of all that were accepted. Each step tries a range that a fixed sequence of numbers chooses.
    let (mut model, mut random): (Vec<AssignmentSettings>, u64) = (Vec::new(), 7);
    let (mut refused, mut open) = (0, 0);
    for step in 0..60_u32 {
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((random >> 33) % below).unwrap()
        };
        let device = if next(2) == 0 { van } else { truck };
        let from = at(next(100));
        let to = (next(8) > 0).then(|| from.plus_millis((1 + next(6)) * 3_600_000));
        let settings = AssignmentSettings { device, from, to };
        let made = assign(&on, &tenant, people[usize::try_from(step % 2).unwrap()], device, (from, to)).await;
        if model.iter().any(|one| one.overlaps(&settings)) {
            let Err(StoreError::Assigned(other)) = made else { panic!("{settings:?} was accepted") };
            assert!(model.iter().any(|one| (one.from, one.to) == (other.from, other.to)), "{other:?}");
            refused += 1;
        } else {
            assert_eq!(made.unwrap().settings, settings);
            open += usize::from(to.is_none());
            model.push(settings);
        }
    }
    assert!(refused > 10 && model.len() > 10 && open > 0, "{refused} refused, {} made", model.len());
    let listed =
        on.store.list_device_assignments(tenant.scope(), van, PageRequest::first(100)).await.unwrap();
    assert_eq!(listed.items.len(), model.iter().filter(|one| one.device == van).count());
    let of_ana = on.store.list_driver_assignments(tenant.scope(), people[0], PageRequest::first(100)).await;
    assert!(of_ana.unwrap().items.iter().all(|one| one.driver == people[0]));
    let part = tenant.scope().limited_to(Reach::Device(van));
    assert_eq!(
        on.store.find_assignment(part, listed.items[0].id).await.unwrap(),
        None,
        "of the whole account"
    );

    // One may be changed within its own time, but not into that of a neighbour.
    let mut sorted = listed.items.clone();
    sorted.sort_by_key(|one| one.settings.from);
    let (first, second) = (&sorted[0], &sorted[1]);
    let shorter = AssignmentSettings { to: Some(first.settings.from.plus_seconds(60)), ..first.settings };
    let actor = tenant.actor();
    let changed = on.store.replace_assignment(&actor, first.id, first.revision, shorter).await.unwrap();
    assert_eq!(changed.settings, shorter);
    let into = AssignmentSettings { to: Some(second.settings.from.plus_seconds(1)), ..shorter };
    let refused = on.store.replace_assignment(&actor, first.id, changed.revision, into).await;
    assert!(matches!(refused, Err(StoreError::Assigned(other)) if other.assignment == second.id));
    let touching = AssignmentSettings { to: Some(second.settings.from), ..shorter };
    on.store.replace_assignment(&actor, first.id, changed.revision, touching).await.unwrap();
    on.store.delete_assignment(&actor, second.id, Some(second.revision)).await.unwrap();
    on.store.delete_device(&actor, truck, None).await.unwrap();
    let rest =
        on.store.list_device_assignments(tenant.scope(), truck, PageRequest::first(100)).await.unwrap();
    assert!(rest.items.is_empty(), "they end with the device");
}

pub(crate) async fn who_drove_does_not_depend_on_what_came_first(on: Fixture) {
    let (tenant, device, day) = begin(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    let day = tagged(&day, 150, "00-b2");
    // One device is derived before there are drivers, the other afterwards.
    store(&on, &tenant, device, &day).await;
    follow(&on, &tenant).await;
    assert!(drivers(&on, &tenant, device).await.iter().all(Option::is_none));
    let ana = add(&on, &tenant, "Ana", &["B2"]).await;
    let bea = add(&on, &tenant, "Bea", &[]).await;
    let begins: Vec<Timestamp> =
        trips(&on, &tenant, device).await.iter().map(|one| one.segment.from).collect();
    for device in [device, other] {
        assign(&on, &tenant, bea.id, device, (begins[1], Some(begins[3]))).await.unwrap();
    }
    assert!(is_pending(&on, &tenant, device).await);
    store(&on, &tenant, other, &day).await;
    follow(&on, &tenant).await;
    assert!(resolve(&on, &tenant).await > 2, "in parts");
    assert!(!is_pending(&on, &tenant, device).await);
    let found = drivers(&on, &tenant, device).await;
    assert_eq!(found, drivers(&on, &tenant, other).await);
    assert_eq!(found[0], None);
    let assigned = Some(by("Bea", DriverSource::Assignment));
    assert_eq!(found[1..3], [assigned.clone(), assigned]);
    assert_eq!(found[3], None, "the end does not belong to the assignment");
    assert_eq!(found.last().unwrap(), &Some(by("Ana", DriverSource::Tag)));
    let stops = stored(&on, &tenant, device).await;
    assert!(stops.iter().all(|one| one.segment.kind == SegmentKind::Trip || one.driver.is_none()));

    // A hand comes before a tag; a text that is nobody's name stays a text.
    let last = trips(&on, &tenant, device).await.pop().unwrap();
    let label = |text: &str| SegmentLabels { driver: Some(text.to_owned()), ..SegmentLabels::default() };
    let actor = tenant.actor();
    let set = on.store.label_segment(&actor, last.id, last.revision, label("Bea")).await.unwrap();
    assert_eq!((set.labels.driver_id, set.driver.unwrap().id), (Some(bea.id), Some(bea.id)));
    let set = on.store.label_segment(&actor, last.id, set.revision, label("Dan")).await.unwrap();
    assert_eq!((set.labels.driver_id, set.driver.unwrap().name), (None, "Dan".to_owned()));
    let set =
        on.store.label_segment(&actor, last.id, set.revision, label(&bea.id.to_string())).await.unwrap();
    assert_eq!(set.labels, SegmentLabels { driver_id: Some(bea.id), ..label("Bea") });
    let unknown = DriverId::from_i64(7).to_string();
    let refused = on.store.label_segment(&actor, last.id, set.revision, label(&unknown)).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::Driver, .. });
    assert_eq!(found.len(), begins.len());
    let filter = |key| TripFilter { driver: Some(key), device: Some(device), ..TripFilter::default() };
    let listed = async |key| {
        let found = on.store.list_trips(tenant.scope(), &filter(key), TripOrder::Time(None), 10).await;
        found.unwrap().len()
    };
    assert_eq!(listed(DriverKey::Known(bea.id)).await, 3);
    assert_eq!(listed(DriverKey::Named("Bea".into())).await, 3);
    assert_eq!(listed(DriverKey::Unknown).await + listed(DriverKey::Known(ana.id)).await, begins.len() - 3);
}

pub(crate) async fn changes_of_drivers_are_followed(on: Fixture) {
    let (tenant, device, day) = begin(&on).await;
    store(&on, &tenant, device, &tagged(&day, 0, "A1")).await;
    follow(&on, &tenant).await;
    let events = event_kinds(&on, &tenant).await;
    let followed = async |after: i64| {
        let order = TripOrder::Change(Some(after));
        let found = on.store.list_trips(tenant.scope(), &TripFilter::default(), order, 100).await.unwrap();
        let last = found.last().map_or(after, |trip| trip.change);
        (
            found
                .into_iter()
                .map(|trip| trip.driver.map(|driver| (driver.id, driver.name)))
                .collect::<Vec<_>>(),
            last,
        )
    };
    let (all, mark) = followed(0).await;
    let ana = add(&on, &tenant, "Ana", &["A1"]).await;
    resolve(&on, &tenant).await;
    let (changed, mark) = followed(mark).await;
    assert_eq!(changed, vec![Some((Some(ana.id), "Ana".to_owned())); all.len()]);
    let actor = tenant.actor();
    let ana = on.store.replace_driver(&actor, ana.id, ana.revision, person("Anna", &["A1"])).await.unwrap();
    resolve(&on, &tenant).await;
    let (changed, mark) = followed(mark).await;
    assert_eq!(changed, vec![Some((Some(ana.id), "Anna".to_owned())); all.len()], "renamed");
    let ana = on.store.replace_driver(&actor, ana.id, ana.revision, person("Anna", &[])).await.unwrap();
    resolve(&on, &tenant).await;
    let (changed, mark) = followed(mark).await;
    assert_eq!(changed, vec![None; all.len()], "without the tag");
    let whole = (Timestamp::MIN, None);
    let assignment = assign(&on, &tenant, ana.id, device, whole).await.unwrap();
    resolve(&on, &tenant).await;
    let (changed, mark) = followed(mark).await;
    assert_eq!(changed.len(), all.len(), "assigned");
    on.store.delete_driver(&actor, ana.id, None).await.unwrap();
    assert_eq!(on.store.find_assignment(tenant.scope(), assignment.id).await.unwrap(), None);
    resolve(&on, &tenant).await;
    let (changed, mark) = followed(mark).await;
    assert_eq!(changed, vec![Some((None, "Anna".to_owned())); all.len()], "deleted, and the name stays");
    // Whoever gets the tag afterwards does not take over the trips.
    add(&on, &tenant, "Bea", &["A1"]).await;
    resolve(&on, &tenant).await;
    assert_eq!(followed(mark).await.0, vec![]);
    assert_eq!(resolve(&on, &tenant).await, 0);
    let later: Vec<_> = event_kinds(&on, &tenant).await.split_off(events.len());
    assert!(later.iter().all(|kind| *kind != EventKind::TripChanged), "{later:?}");
}

pub(crate) async fn trips_are_added_up_by_driver(on: Fixture) {
    let (tenant, device, day) = begin(&on).await;
    let ana = add(&on, &tenant, "Ana", &["A1"]).await;
    store(&on, &tenant, device, &tagged(&day, 100, "A1")).await;
    follow(&on, &tenant).await;
    let found = trips(&on, &tenant, device).await;
    let first = &found[0];
    let label = SegmentLabels { driver: Some("Dan".into()), ..SegmentLabels::default() };
    on.store.label_segment(&tenant.actor(), first.id, first.revision, label).await.unwrap();
    let limits = vec![found[0].segment.from, found[2].segment.from, found.last().unwrap().segment.to];
    let sums = on.store.sum_driver_trips(tenant.scope(), vec![device], limits.clone()).await.unwrap();
    let whole: u64 = sums.iter().map(|sum| sum.totals.distance_m).sum();
    assert_eq!(whole, found.iter().map(|trip| trip.segment.distance_m).sum::<u64>());
    let trips_of = |key: DriverKey| -> u64 {
        sums.iter().filter(|sum| sum.driver == key).map(|sum| sum.totals.trips).sum()
    };
    let counts = [DriverKey::Known(ana.id), DriverKey::Named("Dan".into()), DriverKey::Unknown].map(trips_of);
    assert_eq!(counts.iter().sum::<u64>(), u64::try_from(found.len()).unwrap());
    assert!(counts[0] > 1 && counts[1] == 1 && counts[2] >= 1, "{counts:?}");
    let names = on.store.driver_names(tenant.account.id, vec![ana.id]).await.unwrap();
    assert_eq!(names.get(&ana.id).map(String::as_str), Some("Ana"));
    let hidden = tenant.scope().limited_to(Reach::Device(DeviceId::from_i64(1)));
    assert_eq!(on.store.sum_driver_trips(hidden, vec![device], limits).await.unwrap(), []);
}
