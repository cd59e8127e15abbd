//! Maintenance plans: due by the same sums as totals, announced once in a cycle, and begun anew when the work was done.

use perigee_core::access::actor::Reach;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{DeviceId, MaintenancePlanId};
use perigee_core::idempotency::Created;
use perigee_core::locations::location::{HistoryRequest, Location, Order, TimeRange};
use perigee_core::maintenance::{
    Cost, CycleStart, DueState, MaintenanceDone, MaintenanceFilter, MaintenanceLimits, MaintenancePlan,
    MaintenanceSettings, MaintenanceStatus, MaintenanceWarning, Period, Usage,
};
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Alerts as _, Devices as _, LocationMaintenance as _, Locations as _, MaintenancePlans as _,
    PlansEvaluated, Timelines as _,
};
use perigee_core::time::Timestamp;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::named;
use crate::timelines::{day, follow, store};

const ALL: PageRequest = PageRequest::first(100);
/// More than the time after which a plan is examined once its timeline changed.
const SOON_S: i64 = 60;

fn oil(start: Timestamp, distance_m: u64) -> MaintenanceSettings {
    MaintenanceSettings {
        name: "Oil change".to_owned(),
        limits: MaintenanceLimits { distance_m: Some(distance_m), ..MaintenanceLimits::default() },
        warning: MaintenanceWarning { distance_m: Some(20_000), ..MaintenanceWarning::default() },
        start: CycleStart { at: start, odometer_m: Some(1_000_000), hour_meter_s: None },
        notes: None,
    }
}

async fn create(
    on: &Fixture,
    tenant: &Tenant,
    device: DeviceId,
    settings: MaintenanceSettings,
) -> MaintenancePlan {
    let made = on.store.create_maintenance_plan(&tenant.actor(), device, settings, None).await.unwrap();
    made.into_inner().plan
}

async fn find(on: &Fixture, tenant: &Tenant, id: MaintenancePlanId) -> MaintenanceStatus {
    on.store.find_maintenance_plan(tenant.scope(), id).await.unwrap().unwrap()
}

async fn evaluate(on: &Fixture, tenant: &Tenant) -> PlansEvaluated {
    on.store.evaluate_maintenance(tenant.account.id, 10).await.unwrap()
}

/// The names of the alerts of maintenance so far, oldest first, and whether each has ended.
async fn alerts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<(String, bool)> {
    let range = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
    let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: 100 };
    let alerts = on.store.list_alerts(tenant.scope(), device, None, request).await.unwrap().items;
    alerts.into_iter().map(|stored| (stored.alert.name, stored.ended_at.is_some())).collect()
}

async fn events(on: &Fixture, tenant: &Tenant) -> Vec<EventKind> {
    let kinds = on.events(tenant).await.into_iter().map(|event| event.kind);
    kinds.filter(|kind| kind.name().starts_with("maintenance.")).collect()
}

/// What totals say about the time since an instant.
async fn total(on: &Fixture, tenant: &Tenant, device: DeviceId, since: Timestamp) -> Usage {
    let limits = vec![since, Timestamp::MAX];
    let sums = on.store.sum_segments(tenant.scope(), vec![device], limits).await.unwrap();
    let totals = sums.into_iter().next().map(|sum| sum.totals).unwrap_or_default();
    let engine_s = totals.engine_s.unwrap_or(0);
    Usage { distance_m: totals.distance_m, engine_s, is_partial: false }
}

async fn tenant_with_device(on: &Fixture) -> (Tenant, DeviceId) {
    let tenant = on.tenant("acme").await;
    follow(on, &tenant).await;
    let device = on.add(&tenant, named("one")).await.id;
    (tenant, device)
}

/// Stores locations, derives the timeline, and lets the time pass after which plans are examined.
async fn drive(on: &Fixture, tenant: &Tenant, device: DeviceId, locations: &[Location]) {
    store(on, tenant, device, locations).await;
    follow(on, tenant).await;
    on.clock().advance_seconds(SOON_S);
}

fn done(at: Timestamp) -> MaintenanceDone {
    MaintenanceDone {
        at,
        odometer_m: None,
        hour_meter_s: None,
        note: Some("with filter".to_owned()),
        cost: Some(Cost { thousandths: 120_500, currency: "EUR".to_owned() }),
        next_date: None,
    }
}

pub(crate) async fn plans_are_made_once_changed_and_deleted(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    let group = on.group(&tenant, &[other]).await;
    let settings = oil(on.now(), 50_000);
    let once = Some(tenant.once("POST /api/maintenance", "k", 1));
    let actor = tenant.actor();
    let create = || on.store.create_maintenance_plan(&actor, device, settings.clone(), once.clone());
    let made = create().await.unwrap();
    let status = find(&on, &tenant, made.clone().into_inner().plan.id).await;
    assert_eq!(made, Created::Now(status.clone()));
    assert_eq!(create().await.unwrap(), Created::Before(status.clone()));
    let plan = status.plan;
    assert_eq!((&plan.settings, plan.device, plan.cycle), (&settings, device, 0));
    let second = self::create(&on, &tenant, other, settings.clone()).await;
    let list = async |scope, filter| {
        let found = on.store.list_maintenance_plans(scope, &filter, ALL).await.unwrap().items;
        found.into_iter().map(|status| status.plan.id).collect::<Vec<_>>()
    };
    let all = MaintenanceFilter::default();
    assert_eq!(list(tenant.scope(), all).await, [plan.id, second.id]);
    assert_eq!(list(tenant.scope(), MaintenanceFilter { device: Some(device), ..all }).await, [plan.id]);
    assert_eq!(list(tenant.scope(), MaintenanceFilter { group: Some(group), ..all }).await, [second.id]);
    let inside = tenant.within(Reach::Group(group));
    assert_eq!(list(inside.scope, all).await, [second.id]);
    let hidden = on.store.find_maintenance_plan(inside.scope, plan.id).await.unwrap();
    assert!(hidden.is_none());
    let refused = on.store.create_maintenance_plan(&inside, device, settings.clone(), None).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::Device, .. });
    let named = MaintenanceSettings { name: "Oil and filter".to_owned(), ..settings.clone() };
    let replace = |revision| on.store.replace_maintenance_plan(&actor, plan.id, revision, named.clone());
    let changed = replace(plan.revision).await.unwrap().plan;
    assert_eq!((&changed.settings, changed.revision), (&named, plan.revision.next()));
    assert_fails!(replace(plan.revision).await, StoreError::RevisionMismatch(Kind::MaintenancePlan));
    assert_eq!(on.audits(&tenant).await[0].action, "maintenance.update");
    let delete = |seen| on.store.delete_maintenance_plan(&actor, plan.id, seen);
    assert_fails!(delete(Some(plan.revision)).await, StoreError::RevisionMismatch(Kind::MaintenancePlan));
    delete(Some(changed.revision)).await.unwrap();
    assert_fails!(delete(None).await, StoreError::NotFound(Kind::MaintenancePlan));
    on.store.delete_device(&tenant.actor(), other, None).await.unwrap();
    assert_eq!(list(tenant.scope(), all).await, []);
    assert_eq!(
        events(&on, &tenant).await,
        [
            EventKind::MaintenanceCreated,
            EventKind::MaintenanceCreated,
            EventKind::MaintenanceUpdated,
            EventKind::MaintenanceDeleted
        ]
    );
}

pub(crate) async fn a_device_has_a_bounded_number_of_plans(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    for _ in 0..MaintenancePlan::PER_DEVICE_MAX {
        create(&on, &tenant, device, oil(on.now(), 1_000)).await;
    }
    let more = on.store.create_maintenance_plan(&tenant.actor(), device, oil(on.now(), 1_000), None).await;
    assert_fails!(more, StoreError::TooMany { kind: Kind::MaintenancePlan, most: 50 });
}

pub(crate) async fn usage_is_what_totals_say(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let whole = day(on.now().plus_seconds(-3 * 86_400));
    let next = day(on.now().plus_seconds(-86_400));
    // In the middle of a trip.
    let start = whole[60].time.plus_seconds(17);
    let plan = create(&on, &tenant, device, oil(start, 1_000_000_000)).await;
    assert_eq!(find(&on, &tenant, plan.id).await.usage, Usage::default());
    let late = 100..112;
    let early: Vec<Location> =
        whole.iter().enumerate().filter(|(at, _)| !late.contains(at)).map(|(_, one)| one.clone()).collect();
    let check = async |what: &str| {
        let expect = total(&on, &tenant, device, start).await;
        assert_eq!(find(&on, &tenant, plan.id).await.usage, expect, "{what}");
        evaluate(&on, &tenant).await;
        assert_eq!(find(&on, &tenant, plan.id).await.usage, expect, "{what}, after it was examined");
        expect.distance_m
    };
    drive(&on, &tenant, device, &early).await;
    let first = check("one day").await;
    assert!(first > 50_000, "{first}");
    drive(&on, &tenant, device, &next).await;
    let second = check("two days").await;
    assert!(second > first, "{second}");
    drive(&on, &tenant, device, &whole[late]).await;
    let late = check("late locations of the first day").await;
    assert_ne!(late, second);
    // What is deleted by age was driven nevertheless.
    on.store.apply_retention(tenant.account.id, Some(device), whole[150].time).await.unwrap();
    let kept = find(&on, &tenant, plan.id).await.usage.distance_m;
    assert_eq!(kept, late);
    on.clock().advance_seconds(SOON_S);
    evaluate(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, plan.id).await.usage.distance_m, late);
    assert!(total(&on, &tenant, device, start).await.distance_m < late);
}

pub(crate) async fn alerts_are_raised_once_in_a_cycle(mut on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let whole = day(on.now().plus_seconds(-86_400));
    let plan = create(&on, &tenant, device, oil(whole[0].time, 60_000)).await;
    let twin = create(&on, &tenant, device, oil(whole[0].time, 60_000)).await;
    let (soon, due) = (("MaintenanceSoon".to_owned(), false), ("MaintenanceDue".to_owned(), false));
    drive(&on, &tenant, device, &whole[..60]).await;
    assert_eq!(evaluate(&on, &tenant).await, PlansEvaluated { plans: 2, alerts: 0, more: false });
    drive(&on, &tenant, device, &whole[..105]).await;
    assert_eq!(on.store.accounts_with_due_maintenance(10).await.unwrap(), [tenant.account.id]);
    let other = on.other_node().await;
    // Two nodes at once.
    let (one, two) = tokio::join!(
        on.store.evaluate_maintenance(tenant.account.id, 10),
        other.evaluate_maintenance(tenant.account.id, 10),
    );
    assert_eq!(one.unwrap().alerts + two.unwrap().alerts, 2);
    assert_eq!(on.store.accounts_with_due_maintenance(10).await.unwrap(), []);
    assert_eq!(alerts(&on, &tenant, device).await, [soon.clone(), soon.clone()]);
    on.crash().await;
    drive(&on, &tenant, device, &whole).await;
    assert_eq!(evaluate(&on, &tenant).await.alerts, 2);
    let all = [soon.clone(), soon, due.clone(), due];
    assert_eq!(alerts(&on, &tenant, device).await, all);
    // Less distance than before, and then again as much.
    let erased = TimeRange { from: whole[90].time, to: whole[200].time };
    on.store.delete_locations(&tenant.actor(), device, erased).await.unwrap();
    follow(&on, &tenant).await;
    on.clock().advance_seconds(SOON_S);
    evaluate(&on, &tenant).await;
    drive(&on, &tenant, device, &whole).await;
    on.clock().advance_seconds(-7_200);
    evaluate(&on, &tenant).await;
    on.clock().advance_seconds(7_200);
    evaluate(&on, &tenant).await;
    assert_eq!(alerts(&on, &tenant, device).await, all);
    assert_eq!(find(&on, &tenant, plan.id).await.plan.announced, DueState::Due);
    // A longer interval ends the alerts, and they are raised again when it is due again.
    let status = find(&on, &tenant, twin.id).await;
    let longer = oil(whole[0].time, status.usage.distance_m + 10_000);
    let revision = status.plan.revision;
    let changed =
        on.store.replace_maintenance_plan(&tenant.actor(), twin.id, revision, longer).await.unwrap();
    assert_eq!(changed.plan.announced, DueState::Soon);
    let ended = alerts(&on, &tenant, device).await.into_iter().filter(|(_, ended)| *ended).count();
    assert_eq!(ended, 1);
    let again = oil(whole[0].time, 70_000);
    let revision = changed.plan.revision;
    on.store.replace_maintenance_plan(&tenant.actor(), twin.id, revision, again).await.unwrap();
    assert_eq!(evaluate(&on, &tenant).await.alerts, 1);
    let kinds = events(&on, &tenant).await;
    let count = |kind| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!((count(EventKind::MaintenanceSoon), count(EventKind::MaintenanceDue)), (2, 3));
}

pub(crate) async fn a_date_comes_without_locations(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let limits = MaintenanceLimits { period: Some(Period::Days(30)), ..MaintenanceLimits::default() };
    let warning = MaintenanceWarning { days: Some(7), ..MaintenanceWarning::default() };
    create(&on, &tenant, device, MaintenanceSettings { limits, warning, ..oil(on.now(), 1) }).await;
    let mut raised = Vec::new();
    for date in 0..40 {
        evaluate(&on, &tenant).await;
        let names = alerts(&on, &tenant, device).await.len();
        if names > raised.len() {
            raised.push(date);
        }
        on.clock().advance_seconds(86_400);
    }
    assert_eq!(raised, [23, 30]);
    // An expired device is left alone.
    let expired = on.device(&tenant, Some(on.now())).await;
    let passed = on.now().plus_seconds(-100 * 86_400);
    create(&on, &tenant, expired, MaintenanceSettings { limits, warning, ..oil(passed, 1) }).await;
    assert_eq!(evaluate(&on, &tenant).await.alerts, 0);
    assert_eq!(alerts(&on, &tenant, expired).await, []);
}

pub(crate) async fn what_is_done_begins_the_next_cycle(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let whole = day(on.now().plus_seconds(-86_400));
    let plan = create(&on, &tenant, device, oil(whole[0].time, 30_000)).await;
    drive(&on, &tenant, device, &whole).await;
    assert_eq!(evaluate(&on, &tenant).await.alerts, 1);
    assert_eq!(alerts(&on, &tenant, device).await, [("MaintenanceDue".to_owned(), false)]);
    let at = whole[100].time.plus_seconds(30);
    let once = Some(tenant.once("POST done", "k", 1));
    let actor = tenant.actor();
    let finish = |seen| on.store.finish_maintenance(&actor, plan.id, seen, done(at), once.clone());
    let stale = finish(plan.revision.next()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::MaintenancePlan));
    let made = finish(plan.revision).await.unwrap();
    let record = made.clone().into_inner();
    assert_eq!(made, Created::Now(record.clone()));
    assert_eq!(finish(plan.revision).await.unwrap(), Created::Before(record.clone()));
    let sums = on.store.sum_segments(tenant.scope(), vec![device], vec![whole[0].time, at]).await.unwrap();
    assert_eq!(record.distance_m, sums[0].totals.distance_m);
    assert_eq!(record.odometer_m, Some(1_000_000 + record.distance_m));
    assert_eq!((record.cycle, record.began, record.at), (1, whole[0].time, at));
    assert_eq!(record.cost.as_ref().map(|cost| cost.thousandths), Some(120_500));
    assert_eq!(alerts(&on, &tenant, device).await, [("MaintenanceDue".to_owned(), true)]);
    let next = find(&on, &tenant, plan.id).await;
    let start = CycleStart { at, odometer_m: record.odometer_m, hour_meter_s: None };
    assert_eq!((next.plan.settings.start, next.plan.cycle, next.plan.announced), (start, 1, DueState::Ok));
    assert_eq!(next.usage, total(&on, &tenant, device, at).await);
    // The rest of the day is more than the interval.
    on.clock().advance_seconds(1);
    assert_eq!(evaluate(&on, &tenant).await.alerts, 1);
    assert_eq!(alerts(&on, &tenant, device).await.len(), 2);
    let list = async |scope| on.store.list_maintenance_records(scope, plan.id, ALL).await;
    assert_eq!(list(tenant.scope()).await.unwrap().items, [record]);
    let group = on.group(&tenant, &[]).await;
    let outside = tenant.within(Reach::Group(group)).scope;
    assert_fails!(list(outside).await, StoreError::NotFound(Kind::MaintenancePlan));
    assert_eq!(on.audits(&tenant).await[0].action, "maintenance.done");
}
