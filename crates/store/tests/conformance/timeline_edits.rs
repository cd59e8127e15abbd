//! Corrections of timelines by hand, and settings at each level: kept apart from segments, and an input of each
//! derivation.

use perigee_core::access::actor::Reach;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::DeviceId;
use perigee_core::idempotency::Created;
use perigee_core::locations::location::{Location, TimeRange};
use perigee_core::revision::Revision;
use perigee_core::store::{Devices as _, Timelines as _, TripFilter};
use perigee_core::timeline::{
    EditKind, Edits, Recomputing, Segment, SegmentKind, SettingsHolder, TimelineEdit, TimelineOverrides,
    TimelinePoint, TimelineSettings, derive_edited,
};

use crate::fixture::{Fixture, Tenant};
use crate::sample::{group_of, named};
use crate::timelines::{begin, event_kinds, follow, is_pending, segments, store, stored};

fn expected(locations: &[Location], settings: TimelineSettings, edits: &[TimelineEdit]) -> Vec<Segment> {
    let mut points: Vec<TimelinePoint> = locations.iter().map(TimelinePoint::of).collect();
    points.sort_by(TimelinePoint::order);
    derive_edited(points, settings, &Edits::new(edits.iter().map(|edit| (edit.kind, edit.range))))
}

async fn trips(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Segment> {
    let mut all = segments(on, tenant, device).await;
    all.retain(|one| one.kind == SegmentKind::Trip);
    all
}

async fn add(
    on: &Fixture,
    tenant: &Tenant,
    device: DeviceId,
    kind: EditKind,
    range: TimeRange,
) -> TimelineEdit {
    let made = on.store.add_timeline_edit(&tenant.actor(), device, (kind, range), None).await.unwrap();
    assert!(matches!(made, Created::Now(_)), "{made:?}");
    made.into_inner()
}

async fn edits(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<TimelineEdit> {
    on.store.list_timeline_edits(tenant.scope(), device).await.unwrap()
}

pub(crate) async fn edits_survive_late_locations_and_restarts(mut on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let usual = TimelineSettings::default();
    let late = 60..70;
    let early: Vec<Location> =
        whole.iter().enumerate().filter(|(at, _)| !late.contains(at)).map(|(_, one)| one.clone()).collect();
    store(&on, &tenant, device, &early[..180]).await;
    follow(&on, &tenant).await;
    let plain = trips(&on, &tenant, device).await;
    let middle = plain[0].from.plus_millis(plain[0].length_ms() / 2);
    add(&on, &tenant, device, EditKind::Split, TimeRange { from: middle, to: middle }).await;
    let between = TimeRange { from: plain[1].to, to: plain[3].from };
    let merge = add(&on, &tenant, device, EditKind::Merge, between).await;
    assert!(is_pending(&on, &tenant, device).await);
    on.crash().await;
    follow(&on, &tenant).await;
    let kept = edits(&on, &tenant, device).await;
    assert_eq!(kept.len(), 2);
    assert_eq!(segments(&on, &tenant, device).await, expected(&early[..180], usual, &kept));
    assert_eq!(trips(&on, &tenant, device).await.len(), plain.len() + 1 - 2);
    assert!(event_kinds(&on, &tenant).await.contains(&EventKind::TripRemoved));
    store(&on, &tenant, device, &early[180..]).await;
    follow(&on, &tenant).await;
    assert_eq!(segments(&on, &tenant, device).await, expected(&early, usual, &kept));
    store(&on, &tenant, device, &whole[late]).await;
    on.crash().await;
    follow(&on, &tenant).await;
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole, usual, &kept));
    on.store.delete_timeline_edit(&tenant.actor(), merge.id).await.unwrap();
    assert!(is_pending(&on, &tenant, device).await);
    follow(&on, &tenant).await;
    let kept = edits(&on, &tenant, device).await;
    assert_eq!(kept.len(), 1);
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole, usual, &kept));
    let actions: Vec<String> = on.audits(&tenant).await.into_iter().map(|one| one.action).collect();
    for action in ["segment.split", "segment.merge", "timelineEdit.delete"] {
        assert!(actions.iter().any(|one| one == action), "{action} in {actions:?}");
    }
}

pub(crate) async fn edits_are_made_once_and_seen_in_scope(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    let range = TimeRange { from: whole[20].time, to: whole[60].time };
    let merge = add(&on, &tenant, device, EditKind::Merge, range).await;
    let again = on.store.add_timeline_edit(&tenant.actor(), device, (EditKind::Merge, range), None).await;
    assert_eq!(again.unwrap().into_inner(), merge);
    let inside = TimeRange { from: whole[40].time, to: whole[40].time };
    let refused = on.store.add_timeline_edit(&tenant.actor(), device, (EditKind::Split, inside), None).await;
    assert!(matches!(refused, Err(StoreError::InUse(Kind::TimelineEdit))), "{refused:?}");
    let once = tenant.once("POST /api/segments/x/split", "key", 1);
    let at = TimeRange { from: whole[80].time, to: whole[80].time };
    let actor = tenant.actor();
    let first =
        on.store.add_timeline_edit(&actor, device, (EditKind::Split, at), Some(once.clone())).await.unwrap();
    let second =
        on.store.add_timeline_edit(&actor, device, (EditKind::Split, at), Some(once.clone())).await.unwrap();
    assert_eq!(first.into_inner(), second.into_inner());
    assert_eq!(edits(&on, &tenant, device).await.len(), 2);
    let narrow = tenant.scope().limited_to(Reach::Device(other));
    assert!(on.store.find_timeline_edit(narrow, merge.id).await.unwrap().is_none());
    let hidden = on.store.list_timeline_edits(narrow, device).await;
    assert!(matches!(hidden, Err(StoreError::NotFound(Kind::Device))), "{hidden:?}");
    let stranger = on.tenant("stranger").await;
    let refused = on.store.delete_timeline_edit(&stranger.actor(), merge.id).await;
    assert!(matches!(refused, Err(StoreError::NotFound(Kind::TimelineEdit))), "{refused:?}");
    assert_eq!(on.store.find_timeline_edit(tenant.scope(), merge.id).await.unwrap(), Some(merge.clone()));
    on.store.delete_device(&tenant.actor(), device, None).await.unwrap();
    assert!(on.store.find_timeline_edit(tenant.scope(), merge.id).await.unwrap().is_none());
}

pub(crate) async fn removed_trips_are_listed_in_order(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    follow(&on, &tenant).await;
    let list = |scope, after| {
        let store = on.store.clone();
        async move { store.list_removed_trips(scope, &TripFilter::default(), after, 100).await.unwrap() }
    };
    assert_eq!(list(tenant.scope(), None).await, []);
    let before = stored(&on, &tenant, device).await;
    let of: Vec<_> = before.iter().filter(|one| one.segment.kind == SegmentKind::Trip).collect();
    let range = TimeRange { from: of[0].segment.to, to: of[2].segment.from };
    add(&on, &tenant, device, EditKind::Merge, range).await;
    follow(&on, &tenant).await;
    let removed = list(tenant.scope(), None).await;
    assert_eq!(removed.len(), 2);
    let kept = stored(&on, &tenant, device).await;
    assert!(removed.iter().all(|gone| of[..3].iter().any(|trip| trip.id == gone.id)));
    assert!(removed.iter().all(|gone| kept.iter().all(|one| one.id != gone.id)));
    let newest = before.iter().map(|one| one.change).max().unwrap();
    assert!(removed[0].change > newest && removed[1].change > removed[0].change);
    assert_eq!(list(tenant.scope(), Some(removed[0].change)).await, removed[1..]);
    let other = on.add(&tenant, named("other")).await.id;
    assert_eq!(list(tenant.scope().limited_to(Reach::Device(other)), None).await, []);
    // They are forgotten after 90 days, when the next one is removed.
    on.clock().advance_seconds(91 * 86_400);
    let merge = edits(&on, &tenant, device).await.remove(0);
    on.store.delete_timeline_edit(&tenant.actor(), merge.id).await.unwrap();
    follow(&on, &tenant).await;
    add(&on, &tenant, device, EditKind::Merge, range).await;
    follow(&on, &tenant).await;
    assert!(list(tenant.scope(), None).await.iter().all(|gone| gone.change > removed[1].change));
}

fn stops_of(seconds: u32) -> TimelineOverrides {
    TimelineOverrides { least_stop_s: Some(seconds), ..TimelineOverrides::default() }
}

async fn set(on: &Fixture, tenant: &Tenant, holder: SettingsHolder, overrides: TimelineOverrides) {
    let seen = on.store.get_timeline_settings(tenant.scope(), holder).await.unwrap().stored.revision;
    on.store.replace_timeline_settings(&tenant.actor(), holder, seen, overrides).await.unwrap();
}

pub(crate) async fn settings_of_each_level_derive_again(mut on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    store(&on, &tenant, device, &whole).await;
    follow(&on, &tenant).await;
    let usual = segments(&on, &tenant, device).await;
    let events = event_kinds(&on, &tenant).await;
    let group = on.group(&tenant, &[device]).await;
    // Stops of 20 minutes are none any more with half an hour.
    let long = TimelineSettings { least_stop_s: 1_800, ..TimelineSettings::default() };
    for holder in [SettingsHolder::Account, SettingsHolder::Group(group), SettingsHolder::Device(device)] {
        set(&on, &tenant, holder, stops_of(1_800)).await;
        let state = on.store.get_timeline_settings(tenant.scope(), holder).await.unwrap();
        assert_eq!(state.recomputing, Recomputing { devices: 1, pending: 1 }, "{holder:?}");
        assert_eq!((state.in_force.settings, state.in_force.levels[0]), (long, Some(holder)));
        assert!(is_pending(&on, &tenant, device).await, "{holder:?}");
        on.crash().await;
        follow(&on, &tenant).await;
        assert_eq!(segments(&on, &tenant, device).await, expected(&whole, long, &[]), "{holder:?}");
        assert_ne!(segments(&on, &tenant, device).await, usual);
        let state = on.store.get_timeline_settings(tenant.scope(), holder).await.unwrap();
        assert_eq!(state.recomputing.pending, 0);
        set(&on, &tenant, holder, TimelineOverrides::default()).await;
        follow(&on, &tenant).await;
        assert_eq!(segments(&on, &tenant, device).await, usual, "{holder:?}");
    }
    assert_eq!(event_kinds(&on, &tenant).await, events, "a change of settings is no event");
    let audit = on.audits(&tenant).await.remove(0);
    assert_eq!((audit.action.as_str(), audit.target), ("timelineSettings.update", Some(device.to_string())));
}

pub(crate) async fn the_most_specific_settings_apply(on: Fixture) {
    let (tenant, device, _) = begin(&on).await;
    let group = on.group(&tenant, &[device]).await;
    let later = on.group(&tenant, &[device]).await;
    set(&on, &tenant, SettingsHolder::Account, stops_of(400)).await;
    set(&on, &tenant, SettingsHolder::Group(later), stops_of(500)).await;
    let of_device = SettingsHolder::Device(device);
    let state = || on.store.get_timeline_settings(tenant.scope(), of_device);
    let found = state().await.unwrap().in_force;
    assert_eq!((found.settings.least_stop_s, found.levels[0]), (500, Some(SettingsHolder::Group(later))));
    set(&on, &tenant, SettingsHolder::Group(group), stops_of(600)).await;
    let found = state().await.unwrap().in_force;
    assert_eq!((found.settings.least_stop_s, found.levels[0]), (600, Some(SettingsHolder::Group(group))));
    assert_eq!(found.levels[1], None);
    set(&on, &tenant, of_device, stops_of(700)).await;
    assert_eq!(state().await.unwrap().in_force.settings.least_stop_s, 700);
    let refused =
        on.store.replace_timeline_settings(&tenant.actor(), of_device, Revision::FIRST, stops_of(800)).await;
    assert!(matches!(refused, Err(StoreError::RevisionMismatch(Kind::TimelineSettings))), "{refused:?}");
    let narrow = tenant.scope().limited_to(Reach::Group(group));
    let hidden = on.store.get_timeline_settings(narrow, SettingsHolder::Group(later)).await;
    assert!(matches!(hidden, Err(StoreError::NotFound(Kind::Group))), "{hidden:?}");
    let hidden = on.store.get_timeline_settings(narrow, SettingsHolder::Account).await;
    assert!(matches!(hidden, Err(StoreError::NotFound(Kind::Account))), "{hidden:?}");
}

pub(crate) async fn a_device_that_joins_a_group_is_derived_again(on: Fixture) {
    let (tenant, device, whole) = begin(&on).await;
    let group = on.add_group(&tenant, group_of("boats", &[])).await.id;
    set(&on, &tenant, SettingsHolder::Group(group), stops_of(1_800)).await;
    store(&on, &tenant, device, &whole).await;
    follow(&on, &tenant).await;
    let usual = segments(&on, &tenant, device).await;
    let mut settings = on.look(&tenant, device).await.settings;
    settings.groups = vec![group];
    on.set(&tenant, device, settings.clone()).await.unwrap();
    assert!(is_pending(&on, &tenant, device).await);
    follow(&on, &tenant).await;
    let long = TimelineSettings { least_stop_s: 1_800, ..TimelineSettings::default() };
    assert_eq!(segments(&on, &tenant, device).await, expected(&whole, long, &[]));
    settings.groups = vec![];
    on.set(&tenant, device, settings).await.unwrap();
    follow(&on, &tenant).await;
    assert_eq!(segments(&on, &tenant, device).await, usual);
}
