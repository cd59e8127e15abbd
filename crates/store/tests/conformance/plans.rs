//! Plans: check-ins derived from what devices sent, and each step after a missed check-in taken once, whatever the clock, the
//! nodes and late data do.

use futures_util::future::join_all;
use perigee_core::access::actor::{Origin, Reach};
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::conversation::{Carrier, NewOutgoing, NewText, TextKind};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::id::{DeviceId, GatewayId, PlanId};
use perigee_core::idempotency::Created;
use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};
use perigee_core::notifications::notification::NotificationFilter;
use perigee_core::notifications::routing::{AlertRouting, Destination, Language, Preferences, Recipient};
use perigee_core::page::PageRequest;
use perigee_core::plans::{
    CheckInBy, CheckInRules, CheckInSources, Grace, LadderStep, NewPlanLink, Plan, PlanAction, PlanEventKind,
    PlanFilter, PlanKind, PlanLink, PlanSettings, PlanState, PlanWords, RefusedAction, Traveller,
};
use perigee_core::store::{
    Alerts as _, Conversations as _, Devices as _, Locations as _, Maintenance as _, Notifications as _,
    PlanLinks as _, PlanWork as _, Plans as _, PlansEvaluated, RawMessages as _, Reporters as _,
};
use perigee_core::time::Timestamp;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, message, named};

const ALL: PageRequest = PageRequest::first(1_000);
const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3_600;

fn recipient(address: &str) -> Recipient {
    Recipient {
        destination: Destination::Email(address.parse().unwrap()),
        preferences: Preferences::default(),
        minimum_severity: Severity::Warning,
        schedule: None,
    }
}

/// A check-in each hour; 15 minutes of grace, a warning 15 and an alarm 45 minutes later.
fn hourly(devices: &[DeviceId]) -> PlanSettings {
    PlanSettings {
        name: "Vigo to Horta".to_owned(),
        kind: PlanKind::Voyage,
        description: None,
        is_template: false,
        devices: devices.to_vec(),
        travellers: vec![Traveller {
            name: "Ana".to_owned(),
            phone: None,
            email: Some("ana@example.com".parse().unwrap()),
            language: Language::default(),
            note: None,
        }],
        notify: Some(AlertRouting {
            recipients: vec![recipient("home@example.com")],
            ..AlertRouting::default()
        }),
        craft: None,
        waypoints: Vec::new(),
        start: None,
        starts_itself: false,
        expected_arrival: None,
        ends_at_destination: false,
        time_zone: None,
        check_ins: CheckInRules { every_minutes: Some(60), ..CheckInRules::default() },
        grace: Grace::default(),
        words: PlanWords::default(),
    }
}

async fn tenant_with_device(on: &Fixture) -> (Tenant, DeviceId) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    (tenant, device)
}

async fn create(on: &Fixture, tenant: &Tenant, settings: PlanSettings) -> Plan {
    on.store.create_plan(&tenant.actor(), settings, None).await.unwrap().into_inner()
}

async fn start(on: &Fixture, tenant: &Tenant, settings: PlanSettings) -> PlanId {
    let id = create(on, tenant, settings).await.id;
    act(on, tenant, id, PlanAction::Start).await.unwrap();
    id
}

async fn act(on: &Fixture, tenant: &Tenant, id: PlanId, action: PlanAction) -> Result<Plan, StoreError> {
    on.store.act_on_plan(&tenant.actor(), id, action, None, None).await.map(Created::into_inner)
}

async fn find(on: &Fixture, tenant: &Tenant, id: PlanId) -> Plan {
    on.store.find_plan(tenant.scope(), id).await.unwrap().unwrap()
}

async fn work(on: &Fixture, tenant: &Tenant) -> PlansEvaluated {
    on.store.evaluate_plans(tenant.account.id, 100).await.unwrap()
}

/// The names of the alerts so far, by when they were raised, and whether each has ended.
async fn alerts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<(String, bool)> {
    let range = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
    let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: 1_000 };
    let mut alerts = on.store.list_alerts(tenant.scope(), device, None, request).await.unwrap().items;
    alerts.sort_by_key(|stored| stored.id);
    alerts.into_iter().map(|stored| (stored.alert.name, stored.ended_at.is_some())).collect()
}

fn open(name: &str) -> (String, bool) {
    (name.to_owned(), false)
}

fn ended(name: &str) -> (String, bool) {
    (name.to_owned(), true)
}

async fn timeline(on: &Fixture, tenant: &Tenant, id: PlanId) -> Vec<PlanEventKind> {
    let page = on.store.list_plan_events(tenant.scope(), id, ALL).await.unwrap();
    page.items.into_iter().map(|event| event.kind).collect()
}

async fn mailed(on: &Fixture, tenant: &Tenant) -> Vec<(String, String)> {
    let filter = NotificationFilter::default();
    let page = on.store.list_notifications(tenant.scope(), &filter, ALL).await.unwrap();
    let mut mailed: Vec<_> = page.items.into_iter().map(|one| (one.name, one.address)).collect();
    mailed.reverse();
    mailed
}

pub(crate) async fn a_device_runs_so_many_plans(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let mut plans = Vec::new();
    for _ in 0..PlanSettings::RUNNING_PER_DEVICE_MAX {
        plans.push(start(&on, &tenant, hourly(&[device])).await);
    }
    let full = |result: Result<Plan, StoreError>| {
        let refused = RefusedAction::TooManyOfDevice(PlanSettings::RUNNING_PER_DEVICE_MAX);
        assert!(matches!(&result, Err(StoreError::PlanRefused(why)) if *why == refused), "{result:?}");
    };
    let one_more = create(&on, &tenant, hourly(&[device])).await;
    full(act(&on, &tenant, one_more.id, PlanAction::Start).await);
    assert_eq!(find(&on, &tenant, one_more.id).await, one_more, "nothing of it happened");
    let by_itself =
        PlanSettings { starts_itself: true, start: Some(on.now().plus_seconds(60)), ..hourly(&[device]) };
    full(on.store.create_plan(&tenant.actor(), by_itself.clone(), None).await.map(Created::into_inner));
    full(on.store.replace_plan(&tenant.actor(), one_more.id, one_more.revision, by_itself.clone()).await);
    act(&on, &tenant, plans[0], PlanAction::End).await.unwrap();
    create(&on, &tenant, by_itself).await;
    full(act(&on, &tenant, one_more.id, PlanAction::Start).await);
}

pub(crate) async fn plans_are_made_once_changed_and_deleted(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let other = on.add(&tenant, named("other")).await.id;
    let group = on.group(&tenant, &[other]).await;
    let actor = tenant.actor();
    let settings = hourly(&[device, other]);
    let once = Some(tenant.once("POST /api/plans", "k", 1));
    let send = || on.store.create_plan(&actor, settings.clone(), once.clone());
    let made = send().await.unwrap();
    let plan = made.clone().into_inner();
    assert_eq!(made, Created::Now(find(&on, &tenant, plan.id).await));
    assert_eq!(send().await.unwrap(), Created::Before(plan.clone()));
    assert_eq!((&plan.settings, plan.progress.state), (&settings, PlanState::Draft));
    let alone = create(&on, &tenant, hourly(&[other])).await;
    let template = create(&on, &tenant, PlanSettings { is_template: true, ..hourly(&[other]) }).await;
    let list = async |scope, filter: PlanFilter| {
        let page = on.store.list_plans(scope, &filter, ALL).await.unwrap();
        page.items.into_iter().map(|plan| plan.id).collect::<Vec<_>>()
    };
    let all = PlanFilter::default();
    assert_eq!(list(tenant.scope(), all).await, [plan.id, alone.id]);
    assert_eq!(list(tenant.scope(), PlanFilter { templates: true, ..all }).await, [template.id]);
    assert_eq!(list(tenant.scope(), PlanFilter { device: Some(device), ..all }).await, [plan.id]);
    assert_eq!(list(tenant.scope(), PlanFilter { state: Some(PlanState::Active), ..all }).await, []);
    // Whoever does not see all devices does not see the plan.
    let inside = tenant.within(Reach::Group(group));
    assert_eq!(list(inside.scope, all).await, [alone.id]);
    assert_eq!(list(tenant.within(Reach::Device(device)).scope, all).await, []);
    let refused = on.store.create_plan(&inside, settings.clone(), None).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::Device, .. });
    let refused = on.store.act_on_plan(&inside, plan.id, PlanAction::Start, None, None).await;
    assert_fails!(refused, StoreError::NotFound(Kind::Plan));
    let named = PlanSettings { name: "Again".to_owned(), devices: vec![other], ..settings };
    let replace = |seen| on.store.replace_plan(&actor, plan.id, seen, named.clone());
    let changed = replace(plan.revision).await.unwrap();
    assert_eq!((&changed.settings, changed.revision), (&named, plan.revision.next()));
    assert_fails!(replace(plan.revision).await, StoreError::RevisionMismatch(Kind::Plan));
    assert_eq!(list(inside.scope, all).await, [plan.id, alone.id]);
    assert_fails!(
        act(&on, &tenant, template.id, PlanAction::Start).await,
        StoreError::PlanRefused(RefusedAction::Template)
    );
    on.store.delete_device(&actor, other, None).await.unwrap();
    assert!(find(&on, &tenant, plan.id).await.settings.devices.is_empty());
    on.store.delete_plan(&actor, plan.id, None).await.unwrap();
    assert_fails!(act(&on, &tenant, plan.id, PlanAction::End).await, StoreError::NotFound(Kind::Plan));
    assert_eq!(on.audits(&tenant).await[0].action, "plan.delete");
    let kinds = on.event_kinds(&tenant, plan.id).await;
    assert_eq!(kinds, [EventKind::PlanCreated, EventKind::PlanChanged, EventKind::PlanDeleted]);
}

pub(crate) async fn a_missed_check_in_is_announced_in_steps(on: Fixture) {
    use PlanEventKind as It;
    let (tenant, device) = tenant_with_device(&on).await;
    let id = start(&on, &tenant, hourly(&[device])).await;
    on.clock().advance_seconds(74 * MINUTE_S);
    assert_eq!(on.store.accounts_with_due_plans(10).await.unwrap(), []);
    on.clock().advance_seconds(MINUTE_S);
    assert_eq!(on.store.accounts_with_due_plans(10).await.unwrap(), [tenant.account.id]);
    assert_eq!(work(&on, &tenant).await, PlansEvaluated { plans: 1, alerts: 1, more: false });
    assert_eq!(work(&on, &tenant).await.alerts, 0);
    assert_eq!(alerts(&on, &tenant, device).await, [open("CheckInDue")]);
    assert_eq!(mailed(&on, &tenant).await, [("CheckInDue".to_owned(), "ana@example.com".to_owned())]);
    on.clock().advance_seconds(15 * MINUTE_S);
    work(&on, &tenant).await;
    on.clock().advance_seconds(30 * MINUTE_S);
    work(&on, &tenant).await;
    assert_eq!(
        alerts(&on, &tenant, device).await,
        [open("CheckInDue"), open("CheckInMissed"), open("PlanOverdue")]
    );
    let home = |name: &str| (name.to_owned(), "home@example.com".to_owned());
    assert_eq!(mailed(&on, &tenant).await[1..], [home("CheckInMissed"), home("PlanOverdue")]);
    let missed = find(&on, &tenant, id).await.progress.missed.unwrap();
    assert_eq!((missed.step, missed.alerts.len()), (LadderStep::Alarm, 3));
    act(&on, &tenant, id, PlanAction::CheckIn).await.unwrap();
    let all = ["CheckInDue", "CheckInMissed", "PlanOverdue", "CheckInReceived"];
    assert_eq!(alerts(&on, &tenant, device).await, all.map(ended));
    assert_eq!(mailed(&on, &tenant).await[3..], [home("CheckInReceived")]);
    assert_eq!(
        timeline(&on, &tenant, id).await,
        [It::Started, It::Missed, It::Nudged, It::Warned, It::Alarmed, It::CheckedIn, It::Resolved]
    );
    let kinds = on.event_kinds(&tenant, id).await;
    let last =
        [EventKind::PlanMissed, EventKind::PlanOverdue, EventKind::PlanCheckedIn, EventKind::PlanChanged];
    assert_eq!(kinds[2..], last);
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Active);
}

pub(crate) async fn late_locations_withdraw_alerts(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let id = start(&on, &tenant, hourly(&[device])).await;
    let began = on.now();
    on.clock().advance_seconds(92 * MINUTE_S);
    work(&on, &tenant).await;
    on.clock().advance_seconds(15 * MINUTE_S);
    work(&on, &tenant).await;
    assert_eq!(alerts(&on, &tenant, device).await, [open("CheckInDue"), open("CheckInMissed")]);
    let late = [fix(began.plus_seconds(20 * MINUTE_S), 42.0), fix(began.plus_seconds(70 * MINUTE_S), 42.1)];
    on.store.store_locations(&tenant.actor(), device, late.to_vec()).await.unwrap();
    on.clock().advance_seconds(MINUTE_S);
    work(&on, &tenant).await;
    let all = ["CheckInDue", "CheckInMissed", "CheckInReceived"];
    assert_eq!(alerts(&on, &tenant, device).await, all.map(ended));
    assert_eq!(timeline(&on, &tenant, id).await.last(), Some(&PlanEventKind::Withdrawn));
    let progress = find(&on, &tenant, id).await.progress;
    assert_eq!((progress.base, progress.state), (Some(began.plus_seconds(70 * MINUTE_S)), PlanState::Active));
    let alert = on.store.list_plan_events(tenant.scope(), id, ALL).await.unwrap().items;
    let alert = alert.iter().find_map(|event| event.alert).unwrap();
    let notes = on.store.list_alert_notes(tenant.scope(), alert).await.unwrap();
    assert!(notes[0].text.as_deref().unwrap().starts_with("Withdrawn"), "{notes:?}");
    // They took long: the next one gets more time.
    on.clock().advance_seconds(39 * MINUTE_S);
    assert_eq!(work(&on, &tenant).await.alerts, 0);
    assert!(find(&on, &tenant, id).await.progress.usual_delay_s > 0);
}

async fn tracker(on: &Fixture, tenant: &Tenant) -> Reporter {
    let settings = DeviceSettings { identifier: Some("300434030012340".into()), ..named("boat") };
    on.add(tenant, settings).await;
    let names = ["300434030012340".to_owned()];
    on.store.find_claimed_device(&names, CountedClaims::All).await.unwrap().unwrap()
}

async fn say(on: &Fixture, from: &Reporter, text: &str) {
    let text = NewText {
        time: on.now(),
        is_dated: true,
        key: None,
        text: text.to_owned(),
        position: None,
        source: "garmin",
    };
    let contents = MessageContents { texts: vec![text], ..MessageContents::default() };
    on.store.store_message(from, message(b"text"), contents).await.unwrap();
}

pub(crate) async fn words_of_a_device_steer_its_plan(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = tracker(&on, &tenant).await;
    say(&on, &boat, "end").await;
    let sources = CheckInSources { message: false, location: false, ..CheckInSources::default() };
    let check_ins = CheckInRules { every_minutes: Some(60), times: Vec::new(), by: sources };
    let id = start(&on, &tenant, PlanSettings { check_ins, ..hourly(&[boat.device]) }).await;
    // What was said before the start belongs to another voyage.
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Active);
    on.clock().advance_seconds(30 * MINUTE_S);
    say(&on, &boat, "nice weather").await;
    work(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, id).await.progress.last.unwrap().by, CheckInBy::Start);
    say(&on, &boat, "OK all is well").await;
    // A text wakes the plan at once.
    assert_eq!(on.store.accounts_with_due_plans(10).await.unwrap(), [tenant.account.id]);
    work(&on, &tenant).await;
    let last = find(&on, &tenant, id).await.progress.last.unwrap();
    assert_eq!((last.by, last.at, last.device), (CheckInBy::Word, on.now(), Some(boat.device)));
    on.clock().advance_seconds(75 * MINUTE_S);
    work(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Overdue);
    say(&on, &boat, "Extend 2h").await;
    work(&on, &tenant).await;
    let progress = find(&on, &tenant, id).await.progress;
    assert_eq!(
        (progress.state, progress.not_before),
        (PlanState::Active, Some(on.now().plus_seconds(2 * HOUR_S)))
    );
    on.clock().advance_seconds(MINUTE_S);
    say(&on, &boat, "pause 30m").await;
    work(&on, &tenant).await;
    assert_eq!(
        find(&on, &tenant, id).await.progress.paused_until,
        Some(on.now().plus_seconds(30 * MINUTE_S))
    );
    on.clock().advance_seconds(30 * MINUTE_S);
    work(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Active);
    on.clock().advance_seconds(MINUTE_S);
    say(&on, &boat, "END").await;
    work(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Ended);
    assert_eq!(on.store.accounts_with_due_plans(10).await.unwrap(), []);
}

pub(crate) async fn a_traveller_steers_by_link(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let id = create(&on, &tenant, hourly(&[device])).await.id;
    let actor = tenant.actor();
    let link =
        |secret: &str, until| NewPlanLink { name: Some("Ana".to_owned()), until, secret: secret.to_owned() };
    let made = on.store.create_plan_link(&actor, id, link("one", None), None).await.unwrap().into_inner();
    let until = Some(on.now().plus_seconds(HOUR_S));
    on.store.create_plan_link(&actor, id, link("short", until), None).await.unwrap();
    for number in 2..PlanLink::PER_PLAN_MAX {
        on.store.create_plan_link(&actor, id, link(&number.to_string(), None), None).await.unwrap();
    }
    let refused = on.store.create_plan_link(&actor, id, link("more", None), None).await;
    assert_fails!(refused, StoreError::TooMany { kind: Kind::PlanLink, .. });
    assert_eq!(on.store.list_plan_links(tenant.scope(), id).await.unwrap().len(), 20);
    let origin = Origin::command();
    let press = |secret: &'static str, action| on.store.act_by_plan_link(&origin, secret, action);
    let open = press("one", PlanAction::Start).await.unwrap().unwrap();
    assert_eq!((open.plan.progress.state, open.link.last_used), (PlanState::Active, Some(on.now())));
    assert_fails!(press("one", PlanAction::Start).await, StoreError::PlanRefused(RefusedAction::State(_)));
    assert!(on.store.open_plan_link("short").await.unwrap().is_some());
    on.clock().advance_seconds(HOUR_S + 30 * MINUTE_S);
    assert!(on.store.open_plan_link("short").await.unwrap().is_none());
    assert!(press("short", PlanAction::End).await.unwrap().is_none());
    work(&on, &tenant).await;
    assert_eq!(find(&on, &tenant, id).await.progress.state, PlanState::Overdue);
    let open = press("one", PlanAction::CheckIn).await.unwrap().unwrap();
    assert_eq!(open.plan.progress.last.unwrap().by, CheckInBy::Link);
    on.store.delete_plan_link(&actor, id, made.id).await.unwrap();
    assert!(press("one", PlanAction::End).await.unwrap().is_none());
    assert_fails!(on.store.delete_plan_link(&actor, id, made.id).await, StoreError::NotFound(Kind::PlanLink));
    on.store.delete_plan(&actor, id, None).await.unwrap();
    assert!(on.store.open_plan_link("5").await.unwrap().is_none());
}

pub(crate) async fn a_nudge_is_queued_once(on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let id = start(&on, &tenant, hourly(&[device])).await;
    on.clock().advance_seconds(75 * MINUTE_S);
    work(&on, &tenant).await;
    let nudges = on.store.list_plan_nudges(10).await.unwrap();
    assert_eq!((nudges.len(), nudges[0].device, nudges[0].plan.id), (1, device, id));
    let carrier = Carrier::Gateway {
        gateway: GatewayId::from_i64(7),
        feed: "garmin".to_owned(),
        address: "300".to_owned(),
    };
    let deadline = on.now().plus_seconds(HOUR_S);
    let message = NewOutgoing {
        kind: TextKind::Text,
        text: "are you well?".to_owned(),
        interval_s: None,
        carrier,
        deadline,
    };
    let other = on.other_node().await;
    let sent = [&on.store, &other].map(|node| node.send_plan_nudge(&nudges[0], Some(message.clone())));
    let sent: Vec<bool> = join_all(sent).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(sent.iter().filter(|sent| **sent).count(), 1, "{sent:?}");
    let conversation = on.store.list_conversation(tenant.scope(), device, ALL).await.unwrap().items;
    assert_eq!(conversation.len(), 1);
    assert_eq!(on.store.list_plan_nudges(10).await.unwrap(), []);
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Says what is wrong with the alerts of a plan: each missed check-in has each step once and in order.
fn fault(kinds: &[PlanEventKind]) -> Option<String> {
    use PlanEventKind as It;
    let mut steps = 0;
    for kind in kinds {
        let expected = match kind {
            It::Missed => 0,
            It::Warned => 1,
            It::Alarmed => 2,
            It::Resolved | It::Withdrawn if steps == 0 => return Some("ended twice".to_owned()),
            It::Resolved | It::Withdrawn => {
                steps = 0;
                continue;
            }
            _ => continue,
        };
        if steps != expected {
            return Some(format!("{kind:?} after {steps} steps"));
        }
        steps += 1;
    }
    None
}

/// Two workers at once, clocks that jump by an hour, crashes between any two steps, and locations that come late.
pub(crate) async fn each_step_is_taken_once_whatever_happens(mut on: Fixture) {
    let (tenant, device) = tenant_with_device(&on).await;
    let id = start(&on, &tenant, hourly(&[device])).await;
    let mut dice = Dice(42);
    let mut held = Vec::new();
    let mut alarms = 0;
    for _ in 0..120 {
        match dice.below(10) {
            0 => {
                on.clock().step_seconds(HOUR_S);
                on.store.watch_clock().await.unwrap();
            }
            1 => {
                on.clock().step_seconds(-HOUR_S);
                on.store.watch_clock().await.unwrap();
            }
            2 => on.crash().await,
            3 => held.push(fix(on.now(), 42.0)),
            4 if !held.is_empty() => {
                let late = std::mem::take(&mut held);
                on.store.store_locations(&tenant.actor(), device, late).await.unwrap();
            }
            _ => on.clock().advance_seconds(i64::try_from(dice.below(30)).unwrap() * MINUTE_S),
        }
        let other = on.other_node().await;
        let account = tenant.account.id;
        let done = join_all([on.store.evaluate_plans(account, 10), other.evaluate_plans(account, 10)]).await;
        alarms += done.into_iter().map(|done| done.unwrap().alerts).sum::<usize>();
    }
    let kinds = timeline(&on, &tenant, id).await;
    assert_eq!(fault(&kinds), None, "{kinds:?}");
    let raised = alerts(&on, &tenant, device).await;
    assert_eq!(raised.len(), alarms, "{raised:?}");
    let count = |kind| kinds.iter().filter(|one| **one == kind).count();
    assert!(count(PlanEventKind::Alarmed) > 0 && count(PlanEventKind::Missed) > 2, "{kinds:?}");
    let named = |name: &str| raised.iter().filter(|(alert, _)| alert == name).count();
    assert_eq!(named("PlanOverdue"), count(PlanEventKind::Alarmed));
    assert_eq!(named("CheckInMissed"), count(PlanEventKind::Warned));

    // A worker whose result is lost after its alerts were committed would take the steps again: it is noticed.
    while find(&on, &tenant, id).await.progress.state != PlanState::Overdue {
        on.clock().advance_seconds(30 * MINUTE_S);
        work(&on, &tenant).await;
    }
    let sql = "UPDATE float_plan SET state = 'active', evaluate_at = 0, \
                   progress = replace(progress, '\"state\":\"overdue\"', '\"state\":\"active\"')";
    on.sql(sql, &[]).await;
    work(&on, &tenant).await;
    assert!(fault(&timeline(&on, &tenant, id).await).is_some());
}
