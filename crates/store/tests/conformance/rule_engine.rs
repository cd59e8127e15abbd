//! Rounds of judging: kept once and whole, by the rules as they are, and never behind the log's back.

use perigee_core::alerts::alert::Alert;
use perigee_core::devices::device::DeviceStatus;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, Location, Milli, Readings, StoredLocation};
use perigee_core::rules::rule::{
    Condition, Crossing, Evaluation, Evaluator, Level, Quantity, Rule, RuleFences, RuleSettings, RuleTarget,
    Trail,
};
use perigee_core::store::{
    AccountLease, Alerts as _, CatchUp, DeviceRound, Devices as _, LocationMaintenance as _, Locations as _,
    Round, RoundStart, RuleEngineStore as _, Rules as _, StatusChange, TrailDepth,
};
use perigee_core::time::Timestamp;

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, alert, fix, named};

const NODE: AccountLease<'_> = AccountLease { owner: "node", duration_ms: 10_000 };
const OTHER: AccountLease<'_> = AccountLease { owner: "other", ..NODE };

async fn rule(on: &Fixture, tenant: &Tenant) -> Rule {
    let level = Level { crossing: Crossing::Above, limit: 90.0, clear: None };
    let settings = RuleSettings {
        name: "rule".into(),
        description: None,
        enabled: true,
        target: RuleTarget { all: true, ..RuleTarget::default() },
        conditions: vec![Condition::Measure { quantity: Quantity::Speed, level }],
        for_s: 0,
        cool_down_s: 0,
        max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
        schedule: None,
        alert_name: None,
        text: None,
        critical: false,
        routing: perigee_core::notifications::routing::AlertRouting::default(),
    };
    on.store.create_rule(&tenant.actor(), settings, None).await.unwrap().into_inner()
}

fn fast(time: Timestamp, kmh: f64) -> Location {
    let speed = Some(Milli::from_f64(kmh).unwrap());
    Location { readings: Readings { speed, ..Readings::default() }, ..fix(time, 1.0) }
}

async fn take(on: &Fixture, tenant: &Tenant) -> RoundStart {
    on.store.lease_account(tenant.account.id, NODE).await.unwrap().expect("nobody else has it")
}

/// The episodes of the rule over the device's locations so far, evaluated as if all were new.
async fn judged(on: &Fixture, tenant: &Tenant, device: DeviceId, rule: &Rule) -> Evaluation {
    let history = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    let times: Vec<Timestamp> = history.iter().map(|stored: &StoredLocation| stored.location.time).collect();
    let start = Trail::default().start(&[rule], &times, on.now());
    let fences = RuleFences::default();
    let mut judge = Evaluator::new(vec![rule], &fences, start);
    for stored in history {
        judge.push(stored);
    }
    judge.finish(on.now())
}

fn round(
    round_start: RoundStart,
    cursor: i64,
    rule: &Rule,
    device: DeviceId,
    evaluation: Evaluation,
) -> Round {
    let carried = vec![alert(round_start.now, "Vibration")];
    let device_round = DeviceRound {
        absent: Vec::new(),
        device,
        carried,
        evaluation: Some(evaluation),
        save: true,
        last_seen: None,
        silent: Vec::new(),
        heard: Vec::new(),
    };
    let due = round_start.now.plus_seconds(60);
    let statuses = vec![StatusChange { device, from: None, to: DeviceStatus::Online, due }];
    Round {
        round_start,
        cursor,
        catch_up: None,
        rules: vec![rule.clone()],
        devices: vec![device_round],
        statuses,
    }
}

async fn alerts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<Alert> {
    let listed = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
    listed.into_iter().map(|stored| stored.alert).collect()
}

/// An account with a rule, and a device that was too fast.
async fn begin(on: &Fixture) -> (Tenant, Rule, DeviceId) {
    let tenant = on.tenant("acme").await;
    let rule = rule(on, &tenant).await;
    let device = on.add(&tenant, named("one")).await.id;
    on.store.store_locations(&tenant.actor(), device, vec![fast(on.now(), 95.0)]).await.unwrap();
    (tenant, rule, device)
}

pub(crate) async fn a_round_is_kept_once(on: Fixture) {
    let (tenant, rule, device) = begin(&on).await;
    assert_eq!(on.store.accounts_with_work().await.unwrap(), [tenant.account.id]);
    let round_start = take(&on, &tenant).await;
    let feed = on.store.list_location_feed(tenant.scope(), round_start.cursor, 10).await.unwrap();
    let evaluation = judged(&on, &tenant, device, &rule).await;
    let round = round(round_start, feed.next, &rule, device, evaluation);
    assert!(on.store.finish_round(round.clone(), NODE).await.unwrap());
    assert!(!on.store.finish_round(round, NODE).await.unwrap(), "the same round is not kept again");
    let names: Vec<String> = alerts(&on, &tenant, device).await.into_iter().map(|alert| alert.name).collect();
    assert_eq!(names, ["Vibration", "SpeedLimit"]);
    assert_eq!(on.store.accounts_with_work().await.unwrap(), []);
    let next = take(&on, &tenant).await;
    assert_eq!((next.cursor, next.round), (feed.next, round_start.round + 1));
    let known = on.store.load_trails(tenant.account.id, &[device], TrailDepth::Checkpoints).await.unwrap();
    assert!(known[0].trail.current.as_ref().unwrap().progresses[0].met.is_some());
    assert!(on.store.lease_account(tenant.account.id, OTHER).await.unwrap().is_none());
    on.clock().advance_seconds(11);
    assert!(on.store.lease_account(tenant.account.id, OTHER).await.unwrap().is_some());
}

pub(crate) async fn a_round_is_kept_whole_or_not_at_all(on: Fixture) {
    let (tenant, rule, device) = begin(&on).await;
    let round_start = take(&on, &tenant).await;
    let feed = on.store.list_location_feed(tenant.scope(), round_start.cursor, 10).await.unwrap();
    let evaluation = judged(&on, &tenant, device, &rule).await;
    let good = round(round_start, feed.next, &rule, device, evaluation);
    let mut broken = good.clone();
    // A value that no store accepts aborts the transaction after some of its statements.
    broken.devices[0].carried.push(alert(on.now(), "\0"));
    assert!(on.store.finish_round(broken, NODE).await.is_err());
    assert_eq!(alerts(&on, &tenant, device).await, []);
    assert_eq!(take(&on, &tenant).await, RoundStart { now: on.now(), ..round_start });
    assert!(on.store.finish_round(good, NODE).await.unwrap());
    assert_eq!(alerts(&on, &tenant, device).await.len(), 2);
}

pub(crate) async fn a_round_by_old_rules_is_refused(on: Fixture) {
    let (tenant, old, device) = begin(&on).await;
    let round_start = take(&on, &tenant).await;
    let evaluation = judged(&on, &tenant, device, &old).await;
    let round = round(round_start, 1, &old, device, evaluation);
    rule(&on, &tenant).await;
    assert!(!on.store.finish_round(round, NODE).await.unwrap());
    assert_eq!(alerts(&on, &tenant, device).await, []);
}

pub(crate) async fn the_log_waits_for_the_rule_engine(on: Fixture) {
    const HOUR_MS: i64 = 3_600_000;
    let (tenant, rule, device) = begin(&on).await;
    let round_start = take(&on, &tenant).await;
    on.store.compact(CompactionBudget { devices: 10, everything: true }).await.unwrap();
    on.clock().advance_seconds(3_700);
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 0, "it was not judged yet");
    let feed = on.store.list_location_feed(tenant.scope(), round_start.cursor, 10).await.unwrap();
    let evaluation = judged(&on, &tenant, device, &rule).await;
    assert!(
        on.store.finish_round(round(round_start, feed.next, &rule, device, evaluation), NODE).await.unwrap()
    );
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 1);
    on.store.store_locations(&tenant.actor(), device, vec![fast(on.now(), 95.0)]).await.unwrap();
    on.store.compact(CompactionBudget { devices: 10, everything: true }).await.unwrap();
    on.clock().advance_seconds(7_300);
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 1, "it does not wait for ever");
}

pub(crate) async fn a_deleted_device_leaves_nothing_to_evaluate(on: Fixture) {
    let (tenant, rule, device) = begin(&on).await;
    let round_start = take(&on, &tenant).await;
    let evaluation = judged(&on, &tenant, device, &rule).await;
    let round = round(round_start, 1, &rule, device, evaluation);
    on.store.delete_device(&tenant.actor(), device, None).await.unwrap();
    assert!(on.store.finish_round(round, NODE).await.unwrap(), "the rest of the round is kept");
    let known = on.store.load_trails(tenant.account.id, &[device], TrailDepth::Checkpoints).await.unwrap();
    assert_eq!(known, []);
    assert_eq!(on.store.list_device_ids(tenant.account.id, None, 10).await.unwrap(), []);
}

pub(crate) async fn checkpoints_are_kept_and_thinned(on: Fixture) {
    let (tenant, rule, device) = begin(&on).await;
    let begun = on.now();
    for day in 1..=12 {
        let fixes = (0..24).map(|hour| fast(begun.plus_seconds(day * 86_400 + hour * 3_600), 50.0)).collect();
        on.clock().set(begun.plus_seconds((day + 1) * 86_400));
        on.store.store_locations(&tenant.actor(), device, fixes).await.unwrap();
        let round_start = take(&on, &tenant).await;
        let known = on
            .store
            .load_trails(tenant.account.id, &[device], TrailDepth::Checkpoints)
            .await
            .unwrap()
            .remove(0);
        let feed = on.store.list_location_feed(tenant.scope(), round_start.cursor, 100).await.unwrap();
        let times: Vec<Timestamp> = feed.items.iter().map(|(_, stored)| stored.location.time).collect();
        let fences = RuleFences::default();
        let mut judge = Evaluator::new(vec![&rule], &fences, known.trail.start(&[&rule], &times, on.now()));
        for (_, stored) in feed.items {
            judge.push(stored);
        }
        let evaluation = judge.finish(on.now());
        assert!(
            on.store
                .finish_round(round(round_start, feed.next, &rule, device, evaluation), NODE)
                .await
                .unwrap()
        );
    }
    let known =
        on.store.load_trails(tenant.account.id, &[device], TrailDepth::Checkpoints).await.unwrap().remove(0);
    let oldest = known.trail.checkpoints.first().unwrap().at;
    let newest = known.trail.current.unwrap().at;
    let back_s = (newest.as_millis() - oldest.as_millis()) / 1_000;
    assert!((7 * 86_400..11 * 86_400).contains(&back_s), "{back_s} s back");
    assert!(known.trail.checkpoints.len() < 30);
}

pub(crate) async fn a_round_prolongs_the_lease_of_its_node_alone(on: Fixture) {
    let (tenant, rule, device) = begin(&on).await;
    let id = tenant.account.id;
    let round_start = take(&on, &tenant).await;
    on.clock().advance_seconds(9);
    let evaluation = judged(&on, &tenant, device, &rule).await;
    let slow = round(round_start, 1, &rule, device, evaluation.clone());
    assert!(on.store.finish_round(slow, NODE).await.unwrap());
    on.clock().advance_seconds(9);
    assert!(on.store.lease_account(id, OTHER).await.unwrap().is_none(), "it has just made a round");
    // One that is so slow that another continues: whoever is first has made the round, and neither undoes the other's.
    let mine = take(&on, &tenant).await;
    on.clock().advance_seconds(11);
    let others = on.store.lease_account(id, OTHER).await.unwrap().expect("the lease is over");
    assert_eq!(others.round, mine.round);
    assert!(on.store.finish_round(round(mine, 2, &rule, device, evaluation.clone()), NODE).await.unwrap());
    assert!(!on.store.finish_round(round(others, 2, &rule, device, evaluation), OTHER).await.unwrap());
    on.clock().advance_seconds(1);
    assert!(on.store.lease_account(id, NODE).await.unwrap().is_none(), "the lease is still the other's");
    assert_eq!(alerts(&on, &tenant, device).await.len(), 3, "of each round its own, and the rule's once");
}

pub(crate) async fn how_far_histories_were_evaluated_is_kept(on: Fixture) {
    let (tenant, rule, first) = begin(&on).await;
    let second = on.add(&tenant, named("two")).await.id;
    let evaluation = judged(&on, &tenant, first, &rule).await;
    let round_start = take(&on, &tenant).await;
    assert_eq!(round_start.catch_up, None);
    let mut both = [first, second];
    both.sort_unstable();
    assert_eq!(on.store.list_device_ids(tenant.account.id, None, 1).await.unwrap(), both[..1]);
    assert_eq!(on.store.list_device_ids(tenant.account.id, Some(both[0]), 10).await.unwrap(), both[1..]);
    let catch_up = Some(CatchUp { after: both[0], end: 7 });
    let half = Round { catch_up, ..round(round_start, 0, &rule, first, evaluation.clone()) };
    assert!(on.store.finish_round(half, NODE).await.unwrap());
    on.clock().advance_seconds(11);
    let next = on.store.lease_account(tenant.account.id, OTHER).await.unwrap().expect("the lease is over");
    assert_eq!((next.catch_up, next.cursor), (catch_up, 0), "another node goes on from there");
    assert!(on.store.finish_round(round(next, 7, &rule, first, evaluation), OTHER).await.unwrap());
    let done = on.store.lease_account(tenant.account.id, OTHER).await.unwrap().expect("its own");
    assert_eq!((done.catch_up, done.cursor), (None, 7));
}
