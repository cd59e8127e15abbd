//! Timelines: the same rows for any order of arrival, saved once and whole, with ids, labels and events that follow.

use perigee_core::access::actor::Reach;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    CompactionBudget, HistoryRequest, Location, Order, StoredLocation, TimeRange,
};
use perigee_core::revision::Revision;
use perigee_core::store::{
    AccountLease, CatchUp, DerivedTimeline, DeviceTotals, Devices as _, LocationMaintenance as _,
    Locations as _, LogScanLimits, PendingTimeline, RuleEngineStore as _, TimelineMarks, TimelineRound,
    Timelines as _, TripFilter, TripOrder,
};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{
    Anchor, Edits, Segment, SegmentFigures, SegmentKind, SegmentLabels, StoredSegment, TimelinePoint,
    TimelineSettings, Totals, Walk, WalkEnd, WalkPlan, derive,
};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, named};

const NODE: AccountLease<'_> = AccountLease { owner: "node", duration_ms: 10_000 };
const LIMITS: LogScanLimits = LogScanLimits { locations: 1_000, devices: 100, carriers: 1_000 };
const ALWAYS: TimeRange = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };

/// A day of a van: six trips of a quarter of an hour, with stops of 20 minutes, reported each minute.
pub(crate) fn day(from: Timestamp) -> Vec<Location> {
    let mut degrees = 40.0;
    let minute = |minute: i64| {
        if minute % 35 >= 20 {
            degrees += 0.009;
        }
        fix(from.plus_seconds(60 * minute), degrees)
    };
    (0..230).map(minute).collect()
}

fn expected(locations: &[Location]) -> Vec<Segment> {
    let mut points: Vec<TimelinePoint> = locations.iter().map(TimelinePoint::of).collect();
    points.sort_by(TimelinePoint::order);
    derive(points, TimelineSettings::default())
}

async fn take(on: &Fixture, tenant: &Tenant) -> TimelineRound {
    on.store.lease_timelines(tenant.account.id, NODE).await.unwrap().expect("nobody else has it")
}

/// Marks all existing devices if the account was never followed, and then what is new in its log. `seen` makes the range
/// that is marked of the fix times of the new locations.
async fn mark(on: &Fixture, tenant: &Tenant, seen: fn(&[Timestamp]) -> TimeRange) -> TimelineRound {
    let mut round = take(on, tenant).await;
    if round.catch_up.is_some() {
        let ids = on.store.list_device_ids(round.account, None, 100).await.unwrap();
        let cursor = on.store.feed_end(tenant.scope()).await.unwrap();
        let devices = ids.into_iter().map(|device| (device, ALWAYS)).collect();
        let marks = TimelineMarks { round, cursor, catch_up: None, devices, quiet: true };
        assert!(on.store.mark_timelines(marks, NODE).await.unwrap());
        round = take(on, tenant).await;
    }
    let part = on.store.scan_log(round.account, round.cursor, LIMITS).await.unwrap();
    let new = on.store.read_log(round.account, (round.cursor, part.next), &part.devices).await.unwrap();
    let of = |device: DeviceId| {
        let times: Vec<Timestamp> =
            new.iter().filter(|(of, _)| *of == device).map(|(_, stored)| stored.location.time).collect();
        (!times.is_empty()).then(|| (device, seen(&times)))
    };
    let devices = part.devices.iter().filter_map(|device| of(*device)).collect();
    let marks = TimelineMarks { round, cursor: part.next, catch_up: None, devices, quiet: false };
    assert!(on.store.mark_timelines(marks, NODE).await.unwrap());
    take(on, tenant).await
}

fn all_times(times: &[Timestamp]) -> TimeRange {
    TimeRange { from: *times.iter().min().unwrap(), to: *times.iter().max().unwrap() }
}

/// Forgets that locations can be late: only the newest one counts.
fn newest_time(times: &[Timestamp]) -> TimeRange {
    let newest = *times.iter().max().unwrap();
    TimeRange { from: newest, to: newest }
}

async fn walk(
    on: &Fixture,
    tenant: &Tenant,
    marked: PendingTimeline,
    limit: Option<usize>,
) -> DerivedTimeline {
    let PendingTimeline { device, range, marks, resume, later, settings, edits } = marked;
    let (from, at) = (resume.as_ref().map(Anchor::stop_from), resume.as_ref().map(|anchor| anchor.at));
    let read = TimeRange { from: at.unwrap_or(Timestamp::MIN), to: Timestamp::MAX };
    let request = HistoryRequest { range: read, order: Order::Ascending, after: None, limit: 100_000 };
    let history: Vec<StoredLocation> =
        on.store.list_locations(tenant.scope(), device, request).await.unwrap().items;
    let plan = WalkPlan { resume, changed_to: Some(range.to), later, edits, limit };
    let mut walk = Walk::new(settings, plan);
    let end = walk.pass(history).unwrap_or(WalkEnd::Newest);
    let (segments, anchors) = walk.finish(end);
    DerivedTimeline { device, marks, settings, from, anchors_after: at, end, segments, anchors }
}

/// Derives every marked device; returns the ends of the walks.
async fn derive_marked(on: &Fixture, tenant: &Tenant, limit: Option<usize>) -> Vec<WalkEnd> {
    let mut ends = Vec::new();
    loop {
        let round = take(on, tenant).await;
        let marked = on.store.pending_timelines(round.account, None, 10).await.unwrap();
        if marked.is_empty() {
            return ends;
        }
        let mut derived = Vec::new();
        for one in marked {
            derived.push(walk(on, tenant, one, limit).await);
        }
        ends.extend(derived.iter().map(|one| one.end));
        assert!(on.store.save_timelines(round, derived, NODE).await.unwrap().saved);
    }
}

/// Considers everything that is stored.
pub(crate) async fn follow(on: &Fixture, tenant: &Tenant) -> Vec<WalkEnd> {
    mark(on, tenant, all_times).await;
    derive_marked(on, tenant, None).await
}

pub(crate) async fn stored(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<StoredSegment> {
    on.store.list_segments(tenant.scope(), device, ALWAYS, None, 1_000).await.unwrap().segments
}

pub(crate) async fn segments(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Segment> {
    stored(on, tenant, device).await.into_iter().map(|stored| stored.segment).collect()
}

pub(crate) async fn is_pending(on: &Fixture, tenant: &Tenant, device: DeviceId) -> bool {
    on.store.list_segments(tenant.scope(), device, ALWAYS, None, 1).await.unwrap().pending
}

pub(crate) async fn store(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: &[Location]) {
    on.store.store_locations(&tenant.actor(), device, locations.to_vec()).await.unwrap();
}

/// The types of the trip events so far.
pub(crate) async fn event_kinds(on: &Fixture, tenant: &Tenant) -> Vec<EventKind> {
    let kinds = on.events(tenant).await.into_iter().map(|event| event.kind);
    kinds.filter(|kind| kind.name().starts_with("trip.")).collect()
}

/// An account that is followed, with a device.
pub(crate) async fn begin(on: &Fixture) -> (Tenant, DeviceId, Vec<Location>) {
    let tenant = on.tenant("acme").await;
    follow(on, &tenant).await;
    let device = on.add(&tenant, named("one")).await.id;
    (tenant, device, day(on.now().plus_seconds(-86_400)))
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

pub(crate) async fn any_order_of_arrival_gives_the_same_segments(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut wrong = 0;
    let seeds = std::env::var("PERIGEE_TIMELINE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let device = on.add(&tenant, named(&format!("device {seed}"))).await.id;
        let careless = on.add(&tenant, named(&format!("careless {seed}"))).await.id;
        let whole = day(on.now().plus_seconds(-86_400));
        let mut rest = whole.clone();
        // Blocks in any order, some of them twice.
        while !rest.is_empty() {
            let from = dice.below(rest.len());
            let to = (from + 1 + dice.below(80)).min(rest.len());
            let block: Vec<Location> = rest[from..to].to_vec();
            store(&on, &tenant, device, &block).await;
            if dice.below(3) > 0 {
                rest.drain(from..to);
            }
            match dice.below(4) {
                0 => on.crash().await,
                1 => {
                    mark(&on, &tenant, all_times).await;
                    on.crash().await;
                }
                _ => {}
            }
            follow(&on, &tenant).await;
            store(&on, &tenant, careless, &block).await;
            mark(&on, &tenant, newest_time).await;
            derive_marked(&on, &tenant, None).await;
        }
        assert!(!is_pending(&on, &tenant, device).await);
        assert_eq!(segments(&on, &tenant, device).await, expected(&whole), "{seed}");
        wrong += usize::from(segments(&on, &tenant, careless).await != expected(&whole));
    }
    assert!(wrong > 0, "a derivation that forgets late locations is noticed");
}

pub(crate) async fn segments_tile_and_are_selected_by_period(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    assert!(is_pending(&on, &tenant, device).await, "nothing is considered yet");
    mark(&on, &tenant, all_times).await;
    assert!(is_pending(&on, &tenant, device).await, "it is marked and not derived");
    derive_marked(&on, &tenant, None).await;
    assert!(!is_pending(&on, &tenant, device).await);
    let all = stored(&on, &tenant, device).await;
    assert!(all.windows(2).all(|pair| pair[0].segment.to == pair[1].segment.from));
    assert!(all.iter().rev().skip(1).all(|one| !one.is_open) && all.last().unwrap().is_open);
    let trip = all.iter().find(|one| one.segment.kind == SegmentKind::Trip).unwrap();
    let within =
        TimeRange { from: trip.segment.from.plus_seconds(60), to: trip.segment.from.plus_seconds(120) };
    let found = on.store.list_segments(tenant.scope(), device, within, None, 10).await.unwrap();
    assert_eq!((found.segments, found.more), (vec![trip.clone()], false));
    let stops = Some(SegmentKind::Stop);
    let found = on.store.list_segments(tenant.scope(), device, within, stops, 10).await.unwrap();
    assert_eq!(found.segments, []);
    let found = on.store.list_segments(tenant.scope(), device, ALWAYS, None, 2).await.unwrap();
    assert_eq!((found.segments, found.more), (all[..2].to_vec(), true));
}

/// The totals of each interval of a device that has segments in it. Without `cut`, segments that cross a limit are left
/// out, as a sum by the database alone would do.
fn sums(device: DeviceId, all: &[StoredSegment], limits: &[Timestamp], cut: bool) -> Vec<DeviceTotals> {
    let total = |(interval, pair): (usize, &[Timestamp])| {
        let mut totals = Totals::default();
        for one in all {
            let is_whole = one.segment.from >= pair[0] && one.segment.to <= pair[1];
            if cut || is_whole {
                totals.add(&SegmentFigures::of(&one.segment, one.is_open), pair[0], pair[1]);
            }
        }
        (!totals.is_empty()).then_some(DeviceTotals { device, interval, totals })
    };
    limits.windows(2).enumerate().filter_map(total).collect()
}

pub(crate) async fn totals_are_those_of_the_clipped_segments(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    store(&on, &tenant, device, &whole).await;
    // The other device is silent for a long while, and then elsewhere.
    store(&on, &tenant, other, &[&whole[..40], &whole[180..]].concat()).await;
    follow(&on, &tenant).await;
    let (of_device, of_other) = (stored(&on, &tenant, device).await, stored(&on, &tenant, other).await);
    assert!(of_other.iter().any(|one| one.segment.kind == SegmentKind::Gap));
    let mut wrong = 0;
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mut limits: Vec<Timestamp> = (0..2 + dice.below(8))
            .map(|_| whole[0].time.plus_seconds(i64::try_from(dice.below(5 * 3_600)).unwrap() - 3_600))
            .chain([of_device[1].segment.from, of_device[1].segment.to])
            .collect();
        limits.sort_unstable();
        limits.dedup();
        let ids = vec![other, device, other, DeviceId::from_i64(1)];
        let found = on.store.sum_segments(tenant.scope(), ids, limits.clone()).await.unwrap();
        let expect = |cut| {
            let mut all = sums(device, &of_device, &limits, cut);
            all.extend(sums(other, &of_other, &limits, cut));
            all.sort_by_key(|sum| (sum.device, sum.interval));
            all
        };
        assert_eq!(found, expect(true), "{seed}");
        wrong += usize::from(found != expect(false));
    }
    assert!(wrong > 10, "a sum without the segments that cross a limit is noticed");
    let blind = on.tenant("other").await.scope();
    let limits = vec![Timestamp::MIN, Timestamp::MAX];
    assert_eq!(on.store.sum_segments(blind, vec![device], limits).await.unwrap(), []);
}

pub(crate) async fn late_locations_change_a_trip_and_not_its_id(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    // Without the first minutes of the second trip.
    let late = 56..60;
    let early: Vec<Location> =
        whole.iter().enumerate().filter(|(at, _)| !late.contains(at)).map(|(_, one)| one.clone()).collect();
    store(&on, &tenant, device, &early).await;
    follow(&on, &tenant).await;
    let before = stored(&on, &tenant, device).await;
    store(&on, &tenant, device, &whole[late]).await;
    let ends = follow(&on, &tenant).await;
    assert!(matches!(ends[..], [WalkEnd::Joined(..)]), "the rest of the day is not derived again: {ends:?}");
    let after = stored(&on, &tenant, device).await;
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole));
    let ids = |all: &[StoredSegment]| all.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(ids(&before), ids(&after));
    let changed = before.iter().zip(&after).filter(|(before, after)| before.change != after.change);
    assert!(changed.count() <= 3, "only the neighbours change");
    assert!(event_kinds(&on, &tenant).await.contains(&EventKind::TripChanged));
}

pub(crate) async fn events_of_trips_are_stored_once(on: Fixture) {
    use EventKind::{TripEnded, TripRemoved, TripStarted};
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole[..30]).await;
    follow(&on, &tenant).await;
    assert_eq!(event_kinds(&on, &tenant).await, [TripStarted], "it goes on");
    store(&on, &tenant, device, &whole[30..33]).await;
    follow(&on, &tenant).await;
    assert_eq!(event_kinds(&on, &tenant).await, [TripStarted], "only its end moved");
    store(&on, &tenant, device, &whole[33..54]).await;
    follow(&on, &tenant).await;
    assert_eq!(event_kinds(&on, &tenant).await, [TripStarted, TripEnded]);
    let trip = TimeRange { from: whole[20].time, to: whole[54].time };
    on.store.delete_locations(&tenant.actor(), device, trip).await.unwrap();
    assert!(is_pending(&on, &tenant, device).await, "deleted locations are considered too");
    follow(&on, &tenant).await;
    assert_eq!(event_kinds(&on, &tenant).await, [TripStarted, TripEnded, TripRemoved]);
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole[..20]));
}

pub(crate) async fn a_round_of_timelines_is_saved_once(mut on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    let round = mark(&on, &tenant, all_times).await;
    let marked = on.store.pending_timelines(round.account, None, 10).await.unwrap();
    let derived = walk(&on, &tenant, marked[0].clone(), None).await;
    on.crash().await;
    assert_eq!(segments(&on, &tenant, device).await, []);
    let mut broken = derived.clone();
    // A value that no store accepts aborts the transaction after some of its statements.
    broken.segments.last_mut().unwrap().driver_tag = Some("\0".into());
    assert!(on.store.save_timelines(round, vec![broken], NODE).await.is_err());
    assert_eq!((segments(&on, &tenant, device).await, event_kinds(&on, &tenant).await), (vec![], vec![]));
    assert!(on.store.save_timelines(round, vec![derived.clone()], NODE).await.unwrap().saved);
    let events = event_kinds(&on, &tenant).await;
    assert!(!on.store.save_timelines(round, vec![derived], NODE).await.unwrap().saved, "not again");
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole));
    assert_eq!(event_kinds(&on, &tenant).await, events);
}

pub(crate) async fn a_device_that_is_marked_meanwhile_stays_pending(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    let round = mark(&on, &tenant, all_times).await;
    let marked = on.store.pending_timelines(round.account, None, 10).await.unwrap();
    let derived = walk(&on, &tenant, marked[0].clone(), None).await;
    let erased = TimeRange { from: whole[100].time, to: whole[229].time };
    on.store.delete_locations(&tenant.actor(), device, erased).await.unwrap();
    assert!(on.store.save_timelines(round, vec![derived], NODE).await.unwrap().saved);
    assert!(is_pending(&on, &tenant, device).await);
    follow(&on, &tenant).await;
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole[..100]));
}

pub(crate) async fn a_long_history_is_derived_in_parts(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let whole = day(on.now().plus_seconds(-86_400));
    store(&on, &tenant, device, &whole).await;
    mark(&on, &tenant, all_times).await;
    let ends = derive_marked(&on, &tenant, Some(50)).await;
    assert!(ends.len() > 2, "{ends:?}");
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole));
    assert_eq!(event_kinds(&on, &tenant).await, [], "locations stored before cause no events");
}

pub(crate) async fn labels_survive_a_new_derivation(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole[..200]).await;
    follow(&on, &tenant).await;
    let trips = on.store.list_trips(tenant.scope(), &TripFilter::default(), TripOrder::Time(None), 10).await;
    let trip = trips.unwrap().remove(1);
    let labels = SegmentLabels {
        name: Some("Porto".into()),
        purpose: Some("business".into()),
        ..SegmentLabels::default()
    };
    let actor = tenant.actor();
    let set = |seen| on.store.label_segment(&actor, trip.id, seen, labels.clone());
    let named = set(Revision::FIRST).await.unwrap();
    assert_eq!((named.revision, &named.labels), (Revision(2), &labels));
    assert!(matches!(set(Revision::FIRST).await, Err(StoreError::RevisionMismatch(_))));
    let audit = on.audits(&tenant).await.remove(0);
    assert_eq!((audit.action.as_str(), audit.target), ("segment.update", Some(trip.id.to_string())));
    // A stop in the middle of the trip never was: the trip is joined with its neighbour.
    let before = stored(&on, &tenant, device).await;
    let stop = before.iter().position(|one| one.id == trip.id).unwrap() + 1;
    let erased = TimeRange {
        from: before[stop].segment.from.plus_seconds(-120),
        to: before[stop].segment.to.plus_seconds(120),
    };
    on.store.delete_locations(&tenant.actor(), device, erased).await.unwrap();
    follow(&on, &tenant).await;
    let found = on.store.find_segment(tenant.scope(), trip.id).await.unwrap().unwrap();
    assert_eq!(found.labels, labels);
    let wanted = TripFilter { purpose: Some("business".into()), ..TripFilter::default() };
    let trips = on.store.list_trips(tenant.scope(), &wanted, TripOrder::Time(None), 10).await.unwrap();
    assert_eq!(trips.iter().map(|one| one.id).collect::<Vec<_>>(), [trip.id]);
}

pub(crate) async fn trips_are_listed_in_scope_and_followed_by_change(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    store(&on, &tenant, device, &whole[..54]).await;
    store(&on, &tenant, other, &whole).await;
    follow(&on, &tenant).await;
    let list = |scope, filter: TripFilter, order| {
        let store = on.store.clone();
        async move { store.list_trips(scope, &filter, order, 100).await.unwrap() }
    };
    let all = list(tenant.scope(), TripFilter::default(), TripOrder::Time(None)).await;
    assert!(all.len() > 3 && all.windows(2).all(|pair| pair[0].segment.from <= pair[1].segment.from));
    let (first, rest) = all.split_first().unwrap();
    let after = TripOrder::Time(Some((first.segment.from, first.id)));
    assert_eq!(list(tenant.scope(), TripFilter::default(), after).await, rest);
    let one = tenant.scope().limited_to(Reach::Device(device));
    let found = list(one, TripFilter::default(), TripOrder::Time(None)).await;
    assert!(!found.is_empty() && found.iter().all(|trip| trip.device == device));
    assert!(
        on.store
            .find_segment(one, all.iter().find(|trip| trip.device == other).unwrap().id)
            .await
            .unwrap()
            .is_none()
    );
    assert!(matches!(
        on.store.list_segments(one, other, ALWAYS, None, 1).await,
        Err(StoreError::NotFound(_))
    ));
    let seen =
        list(tenant.scope(), TripFilter::default(), TripOrder::Change(None)).await.pop().unwrap().change;
    let changed = || list(tenant.scope(), TripFilter::default(), TripOrder::Change(Some(seen)));
    assert_eq!(changed().await, []);
    store(&on, &tenant, device, &whole[54..70]).await;
    follow(&on, &tenant).await;
    assert!(changed().await.iter().all(|trip| trip.device == device && trip.change > seen));
    assert_eq!(changed().await.len(), 1);
}

pub(crate) async fn the_log_waits_for_timelines(on: Fixture) {
    const HOUR_MS: i64 = 3_600_000;
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    on.store.compact(CompactionBudget { devices: 10, everything: true }).await.unwrap();
    on.clock().advance_seconds(3_700);
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 0, "it was not considered yet");
    assert_eq!(on.store.accounts_with_timeline_work().await.unwrap(), [tenant.account.id]);
    follow(&on, &tenant).await;
    assert_eq!(on.store.accounts_with_timeline_work().await.unwrap(), []);
    assert!(on.store.trim_location_log(HOUR_MS).await.unwrap() > 0);
}

pub(crate) async fn timelines_end_with_their_locations(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    store(&on, &tenant, device, &whole).await;
    store(&on, &tenant, other, &whole).await;
    follow(&on, &tenant).await;
    let before = stored(&on, &tenant, device).await;
    let events = event_kinds(&on, &tenant).await;
    let ends = before[2].segment.from.plus_seconds(30);
    on.store.apply_retention(tenant.account.id, Some(device), ends).await.unwrap();
    assert_eq!(stored(&on, &tenant, device).await, before[2..], "the one that goes on stays whole");
    follow(&on, &tenant).await;
    assert_eq!(stored(&on, &tenant, device).await, before[2..]);
    assert_eq!(event_kinds(&on, &tenant).await, events);
    let round = take(&on, &tenant).await;
    on.store.delete_device(&tenant.actor(), other, None).await.unwrap();
    let trips = on.store.list_trips(tenant.scope(), &TripFilter::default(), TripOrder::Time(None), 100).await;
    assert!(trips.unwrap().iter().all(|trip| trip.device == device));
    let (range, marks) = (ALWAYS, 1);
    let gone = PendingTimeline {
        device: other,
        range,
        marks,
        resume: None,
        later: Vec::new(),
        settings: TimelineSettings::default(),
        edits: Edits::default(),
    };
    let derived = DerivedTimeline {
        device: gone.device,
        marks,
        settings: TimelineSettings::default(),
        from: None,
        anchors_after: None,
        end: WalkEnd::Newest,
        segments: expected(&whole),
        anchors: Vec::new(),
    };
    assert!(on.store.save_timelines(round, vec![derived], NODE).await.unwrap().saved, "it is left out");
    let history = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    assert!(!history.is_empty());
}

pub(crate) async fn queueing_histories_goes_on_where_it_ended(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    store(&on, &tenant, device, &day(on.now().plus_seconds(-86_400))).await;
    let round = take(&on, &tenant).await;
    assert!(round.catch_up.is_some(), "an account is followed from the beginning of its histories");
    let progress = CatchUp { after: device, end: 7 };
    let marks = TimelineMarks {
        round,
        cursor: 0,
        catch_up: Some(progress),
        devices: vec![(device, ALWAYS)],
        quiet: true,
    };
    assert!(on.store.mark_timelines(marks.clone(), NODE).await.unwrap());
    assert!(!on.store.mark_timelines(marks, NODE).await.unwrap(), "not twice");
    on.restart().await;
    assert_eq!(take(&on, &tenant).await.catch_up, Some(progress));
    assert!(is_pending(&on, &tenant, device).await);
}
