//! The rule engine: each location is evaluated once, by whichever node and in whatever order it arrives.

use perigee_server::background::RuleEngine;
use serde_json::{Value, json};

use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    rules_raise_and_end_alerts,
    late_locations_are_judged_where_they_belong,
    alerts_that_locations_carry_are_raised_once,
    silence_is_reported_without_locations,
    silence_is_reported_when_the_hours_of_a_rule_begin,
    standing_still_is_reported_without_locations,
    changed_rules_start_over,
    a_location_of_the_second_in_which_a_rule_is_made_counts,
    several_nodes_raise_once,
    a_trimmed_log_is_made_up_for_from_history,
    nodes_share_a_long_catching_up,
    a_node_that_knows_nothing_goes_on_from_what_was_kept,
    shuffled_locations_give_the_episodes_of_the_history,
    an_interrupted_round_is_repeated_after_a_crash,
    the_state_of_a_new_rule_survives_a_crash,
    an_alert_that_a_late_location_undoes_is_withdrawn_after_a_crash,
    silence_is_reported_again_by_a_rule_that_was_removed_and_restored,
    a_slice_takes_a_part_of_a_long_log,
    a_node_judges_until_it_is_stopped,
);

struct World {
    app: TestApp,
    owner: Person,
    device: String,
    rule_engine: RuleEngine,
}

/// The clock begins at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    world_of(engine, 10).await
}

/// The same with licences for this many devices.
async fn world_of(engine: Engine, licenses: u32) -> World {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", licenses).await.owner;
    let device = app.device(&owner, &json!({"name": "A", "expectedIntervalSeconds": 60})).await;
    let rule_engine = rule_engine(&app);
    World { app, owner, device, rule_engine }
}

fn rule_engine(app: &TestApp) -> RuleEngine {
    RuleEngine::new(app.app.clone())
}

impl World {
    async fn rule(&self, condition: Value) -> String {
        self.rule_with(json!({"name": "R", "devices": [self.device], "conditions": [condition]})).await
    }

    async fn rule_with(&self, body: Value) -> String {
        let made = self.app.send(&self.owner, "POST /api/rules", &body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Stores locations at these seconds after the beginning, each with this speed.
    async fn send(&self, fixes: &[(i64, i64)]) {
        let fix = |(second, speed): &(i64, i64)| json!({"dateTime": at(*second), "latitude": 42, "longitude": -8, "speed": speed});
        self.submit(json!(fixes.iter().map(fix).collect::<Vec<_>>())).await;
    }

    async fn submit(&self, body: Value) {
        let path = format!("POST /api/devices/{}/locations", self.device);
        let answer = self.app.send(&self.owner, &path, &body).await;
        assert!(answer.status.is_success(), "{}", answer.json());
    }

    /// Runs the rule engine until the log is evaluated.
    async fn follow(&self) {
        for _ in 0..100 {
            if self.rule_engine.run_once().await == std::time::Duration::from_secs(1) {
                return;
            }
        }
        panic!("there is always more");
    }

    async fn alerts(&self) -> Vec<(String, String, Option<String>)> {
        let listed = self.app.get(&self.owner, &format!("/api/devices/{}/alerts", self.device)).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let alerts = listed["alerts"].as_array().unwrap().iter();
        alerts
            .map(|one| {
                (text(&one["alertName"]), text(&one["dateTime"]), one["endedAt"].as_str().map(str::to_owned))
            })
            .collect()
    }

    /// The kinds of events that are not of locations.
    async fn events(&self) -> Vec<&'static str> {
        use perigee_core::access::actor::Scope;
        use perigee_core::store::{Accounts as _, Events as _};
        let account = self.app.store.list_accounts().await.unwrap()[0].account.id;
        let events = self.app.store.list_events(Scope::for_operator(account), 0, 1_000).await.unwrap();
        let names = events.iter().map(|event| event.kind.name());
        names.filter(|name| !name.starts_with("location") && !name.ends_with("created")).collect()
    }
}

/// The instant this many seconds after the beginning.
fn at(second: i64) -> String {
    perigee_store::testing::START.plus_seconds(second).to_string()
}

fn raised(name: &str, second: i64, end: Option<i64>) -> (String, String, Option<String>) {
    (name.to_owned(), at(second), end.map(at))
}

async fn rules_raise_and_end_alerts(engine: Engine) {
    let on = world(engine).await;
    let rule = on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(1_000);
    on.send(&[(10, 50), (20, 95)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 20, None)]);
    on.send(&[(30, 97), (40, 60), (50, 99)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 20, Some(40)), raised("SpeedLimit", 50, None)]);
    on.follow().await;
    let listed = on.app.get(&on.owner, &format!("/api/devices/{}/alerts", on.device)).await;
    assert_eq!(listed["alerts"][0]["text"], "R");
    assert_eq!(listed["alerts"][0]["attributes"]["rule"], rule);
    on.app.call(&format!("DELETE /api/rules/{rule}")).by(&on.owner).send().await.expect(200);
    assert_eq!(
        on.alerts().await[1],
        raised("SpeedLimit", 50, Some(1_000)),
        "what is under way ends with its rule"
    );
    on.send(&[(60, 99)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await.len(), 2);
}

async fn late_locations_are_judged_where_they_belong(engine: Engine) {
    let on = world(engine).await;
    on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(1_000);
    on.send(&[(10, 50), (60, 50)]).await;
    on.follow().await;
    on.send(&[(30, 95)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 30, Some(60))], "what is late is not missed");
    on.send(&[(40, 96), (20, 94)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 30, Some(60))], "and it is not raised twice");
    on.send(&[(35, 50)]).await;
    on.follow().await;
    let expect = [raised("SpeedLimit", 30, Some(35)), raised("SpeedLimit", 40, Some(60))];
    assert_eq!(on.alerts().await, expect, "what turns out to be two is two");
}

async fn alerts_that_locations_carry_are_raised_once(engine: Engine) {
    let on = world(engine).await;
    on.app.clock().advance_seconds(1_000);
    let fix = json!({"dateTime": at(5), "latitude": 42, "longitude": -8, "alerts": ["SOSButton", "Vibration"],
        "alertTexts": ["help"], "hasCriticalAlert": true});
    on.submit(json!([fix, {"dateTime": at(6), "latitude": 42, "longitude": -8}])).await;
    on.follow().await;
    on.submit(json!([fix])).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SOSButton", 5, None), raised("Vibration", 5, None)]);
    let listed = on.app.get(&on.owner, &format!("/api/devices/{}/alerts", on.device)).await;
    assert_eq!(
        (&listed["alerts"][0]["text"], &listed["alerts"][0]["critical"]),
        (&json!("help"), &json!(true))
    );
}

async fn silence_is_reported_without_locations(engine: Engine) {
    let on = world(engine).await;
    on.rule(json!({"type": "offline"})).await;
    on.send(&[(0, 0)]).await;
    on.follow().await;
    assert_eq!(on.events().await, ["device.online"]);
    // It is late after three minutes and offline after eleven.
    on.app.clock().advance_seconds(180);
    on.follow().await;
    assert_eq!(on.events().await, ["device.online"]);
    on.app.clock().advance_seconds(1);
    on.follow().await;
    on.follow().await;
    assert_eq!(on.events().await, ["device.online", "device.late"]);
    on.app.clock().advance_seconds(600);
    on.follow().await;
    on.follow().await;
    assert_eq!(on.events().await, ["device.online", "device.late", "device.offline"]);
    let alerts = on.alerts().await;
    assert_eq!(alerts.len(), 1);
    assert_eq!((&alerts[0].0, &alerts[0].2), (&"Offline".to_owned(), &None));
    assert!(alerts[0].1.starts_with("2026-01-01T00:11:00.001"), "{alerts:?}");
    on.send(&[(780, 0)]).await;
    on.follow().await;
    let expect = ["device.online", "device.late", "device.offline", "alert.ended", "device.online"];
    assert_eq!(on.events().await, expect);
    assert_eq!(on.alerts().await[0].2, Some(at(781)));
    // An alert from a device also counts as a report.
    on.app.clock().advance_seconds(1_000);
    on.follow().await;
    let path = format!("POST /api/devices/{}/alerts", on.device);
    on.app
        .send(&on.owner, &path, &json!({"dateTime": at(1_000), "alertName": "Vibration"}))
        .await
        .expect(201);
    on.follow().await;
    assert_eq!(on.events().await.last(), Some(&"device.online"));
}

async fn silence_is_reported_when_the_hours_of_a_rule_begin(engine: Engine) {
    let on = world(engine).await;
    let hours = json!({"weekdays": ["thursday"], "from": "00:20", "to": "00:40", "timeZone": "Etc/UTC"});
    let offline =
        json!({"name": "R", "devices": [on.device], "conditions": [{"type": "offline"}], "schedule": hours});
    let rule = on.rule_with(offline.clone()).await;
    on.send(&[(0, 0)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(700);
    on.follow().await;
    assert_eq!(on.events().await, ["device.online", "device.offline"]);
    assert_eq!(on.alerts().await, [], "it is offline before the hours begin");
    on.app.clock().advance_seconds(499);
    on.follow().await;
    assert_eq!(on.alerts().await, []);
    on.app.clock().advance_seconds(1);
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("Offline", 1_200, None)], "and still is when they do");
    let test = format!("POST /api/rules/{rule}/test?from={}&to={}", at(0), at(1_200));
    let tested = on.app.call(&test).by(&on.owner).send().await.expect(200);
    assert_eq!(tested["episodes"][0]["dateTime"], json!(at(1_200)));
    on.app.clock().advance_seconds(10);
    on.rule_with(offline).await;
    on.app.clock().advance_seconds(1_000);
    on.follow().await;
    rule_engine(&on.app).run_once().await;
    assert_eq!(on.alerts().await.len(), 1, "once, and not by a rule made in its hours while it was silent");
    on.send(&[(2_200, 0)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("Offline", 1_200, Some(2_210))]);
}

async fn standing_still_is_reported_without_locations(engine: Engine) {
    let on = world(engine).await;
    on.rule(json!({"type": "noMovement", "seconds": 600})).await;
    on.send(&[(0, 0)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(599);
    on.follow().await;
    assert_eq!(on.alerts().await, []);
    on.app.clock().advance_seconds(1);
    on.follow().await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("NoMovementTime", 600, None)]);
    on.submit(json!([{"dateTime": at(300), "latitude": 42.1, "longitude": -8}])).await;
    on.follow().await;
    let alerts = on.alerts().await;
    assert_eq!(alerts.len(), 1);
    assert!(alerts[0].2.is_some(), "it turned out to have moved, so what was reported is over");
}

async fn changed_rules_start_over(engine: Engine) {
    let on = world(engine).await;
    let rule = on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(100);
    on.send(&[(90, 95)]).await;
    on.follow().await;
    let patch = json!({"conditions": [{"type": "speed", "above": 94}]});
    on.app.send(&on.owner, &format!("PATCH /api/rules/{rule}"), &patch).await.expect(200);
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 90, Some(100))]);
    on.app.clock().advance_seconds(100);
    on.send(&[(99, 99), (110, 95), (120, 94)]).await;
    on.follow().await;
    assert_eq!(
        on.alerts().await,
        [raised("SpeedLimit", 90, Some(100)), raised("SpeedLimit", 110, Some(120))]
    );
    on.app.send(&on.owner, &format!("PATCH /api/rules/{rule}"), &json!({"enabled": false})).await.expect(200);
    on.send(&[(130, 99)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await.len(), 2);
}

async fn a_location_of_the_second_in_which_a_rule_is_made_counts(engine: Engine) {
    let on = world(engine).await;
    on.app.clock().set(perigee_store::testing::START.plus_millis(10_700));
    let fence = json!({"type": "Feature", "geometry": {"type": "Point", "coordinates": [10, 40]},
        "properties": {"name": "F", "radius": 1_000}});
    let fence = on.app.send(&on.owner, "POST /api/geofences", &fence).await.expect(201);
    on.rule(json!({"type": "geofence", "when": "enter", "geofences": [fence["id"]]})).await;
    on.app.clock().set(perigee_store::testing::START.plus_millis(10_800));
    let fix = |second: i64, east: f64| json!({"dateTime": at(second), "latitude": 40, "longitude": east});
    // Stored after the rule was created, though its time in whole seconds is before.
    on.submit(fix(10, 10.05)).await;
    on.follow().await;
    on.app.clock().advance_seconds(610);
    on.submit(fix(610, 10.0)).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("ForbiddenArea", 610, None)]);
}

async fn several_nodes_raise_once(engine: Engine) {
    let on = world(engine).await;
    on.rule_with(json!({"name": "R", "allDevices": true, "conditions": [{"type": "speed", "above": 90}]}))
        .await;
    on.app.clock().advance_seconds(2_000);
    let nodes = [rule_engine(&on.app), rule_engine(&on.app), rule_engine(&on.app)];
    for part in 0..10_i64 {
        let fixes: Vec<(i64, i64)> =
            (0..20).map(|step| (part * 100 + step * 5, if step % 2 == 0 { 95 } else { 50 })).collect();
        on.send(&fixes).await;
        // Leases expire at once: only the commit keeps nodes from raising an alert twice.
        on.app.clock().advance_seconds(20);
        tokio::join!(nodes[0].run_once(), nodes[1].run_once(), nodes[2].run_once());
    }
    on.app.clock().advance_seconds(20);
    on.follow().await;
    let alerts = on.alerts().await;
    let expect: Vec<_> = (0..100).map(|step| raised("SpeedLimit", step * 10, Some(step * 10 + 5))).collect();
    assert_eq!(alerts, expect);
}

async fn a_trimmed_log_is_made_up_for_from_history(engine: Engine) {
    use perigee_core::locations::location::CompactionBudget;
    use perigee_core::store::LocationMaintenance as _;
    let on = world(engine).await;
    on.rule(json!({"type": "speed", "above": 90})).await;
    on.send(&[(0, 50)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(100);
    on.send(&[(10, 95), (20, 50)]).await;
    on.submit(json!([{"dateTime": at(30), "latitude": 42, "longitude": -8, "alerts": ["Vibration"]}])).await;
    on.app.store.compact(CompactionBudget { devices: 10, everything: true }).await.unwrap();
    on.app.clock().advance_seconds(60);
    on.app.store.trim_location_log(50_000).await.unwrap();
    let events = on.events().await;
    on.app.clock().advance_seconds(50);
    on.app.store.trim_location_log(50_000).await.unwrap();
    on.follow().await;
    assert_eq!(events, ["device.online"]);
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 10, Some(20)), raised("Vibration", 30, None)]);
    on.send(&[(160, 95)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await.len(), 3);
}

async fn nodes_share_a_long_catching_up(engine: Engine) {
    use perigee_core::locations::location::CompactionBudget;
    use perigee_core::store::LocationMaintenance as _;
    // A round evaluates at most a hundred devices.
    let mut on = world_of(engine, 103).await;
    on.rule_with(json!({"name": "R", "allDevices": true, "conditions": [{"type": "speed", "above": 90}]}))
        .await;
    on.send(&[(0, 50)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(100);
    on.send(&[(10, 95)]).await;
    for _ in 0..102 {
        on.device = on.app.device(&on.owner, &json!({"name": "B"})).await;
        on.send(&[(10, 95)]).await;
    }
    on.app.store.compact(CompactionBudget { devices: 200, everything: true }).await.unwrap();
    for seconds in [60, 60] {
        on.app.clock().advance_seconds(seconds);
        on.app.store.trim_location_log(50_000).await.unwrap();
    }
    on.rule_engine.run_once().await;
    assert_eq!(occurrences(&on).await.len(), 100);
    on.app.clock().advance_seconds(20);
    let other = rule_engine(&on.app);
    other.run_once().await;
    assert_eq!(occurrences(&on).await.len(), 103, "it goes on where the first one stopped");
    on.app.clock().advance_seconds(20);
    on.follow().await;
    assert_eq!(occurrences(&on).await.len(), 103);
}

/// Begin, alert and end of the rule's occurrences that were not withdrawn, in milliseconds.
async fn occurrences(on: &World) -> Vec<(i64, i64, Option<i64>)> {
    let job = on.app.store.read(|tx| {
        Box::pin(async move {
            let sql = "SELECT begins, met, ends FROM rule_occurrence WHERE withdrawn = FALSE ORDER BY begins";
            let mut found = Vec::new();
            for row in tx.query(sql, &[]).await? {
                found.push((row.i64("begins")?, row.i64("met")?, row.opt_i64("ends")?));
            }
            Ok(found)
        })
    });
    job.await.unwrap()
}

/// The episodes the same rule finds in the history, in the same form.
async fn replayed(on: &World, rule: &str) -> Vec<(i64, i64, Option<i64>)> {
    let line = format!("POST /api/rules/{rule}/test?from={}&to={}", at(0), at(100_000));
    let found = on.app.call(&line).by(&on.owner).send().await.expect(200);
    let millis = |value: &Value| -> Option<i64> {
        value.as_str().map(|text| text.parse::<perigee_core::time::Timestamp>().unwrap().as_millis())
    };
    let episodes = found["episodes"].as_array().unwrap().iter();
    episodes
        .map(|one| (millis(&one["begin"]).unwrap(), millis(&one["dateTime"]).unwrap(), millis(&one["end"])))
        .collect()
}

async fn shuffled_locations_give_the_episodes_of_the_history(engine: Engine) {
    for (seed, for_seconds, condition) in [
        (1_u64, 5, json!({"type": "speed", "above": 60, "clear": 40})),
        (2, 0, json!({"type": "idle", "seconds": 8, "belowSpeed": 70})),
        (3, 0, json!({"type": "harshBraking", "perSecond": 4})),
    ] {
        let on = world(engine).await;
        let body = json!({"name": "R", "allDevices": true, "forSeconds": for_seconds, "coolDownSeconds": 20, "conditions": [condition]});
        let rule = on.rule_with(body).await;
        on.app.clock().advance_seconds(2_000);
        let mut chance = seed;
        let mut next = |below: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((chance >> 33) % below).unwrap()
        };
        let mut fixes: Vec<(i64, i64)> = (0..150).map(|step| (step * 4 + next(4), next(10) * 10)).collect();
        for index in (1..fixes.len()).rev() {
            let other = usize::try_from(next(u64::try_from(index).unwrap() + 1)).unwrap();
            fixes.swap(index, other);
        }
        let mut rest = fixes.as_slice();
        while !rest.is_empty() {
            let size = usize::try_from(1 + next(30)).unwrap().min(rest.len());
            let (now, later) = rest.split_at(size);
            on.send(now).await;
            on.follow().await;
            rest = later;
        }
        let expect = replayed(&on, &rule).await;
        assert!(expect.len() > 3, "{expect:?}");
        assert_eq!(occurrences(&on).await, expect, "{seed}");
    }
}

async fn an_interrupted_round_is_repeated_after_a_crash(engine: Engine) {
    use perigee_core::store::{AccountLease, Accounts as _, RuleEngineStore as _};
    const STOPPED: AccountLease<'_> = AccountLease { owner: "stopped", duration_ms: 10_000 };
    let on = world(engine).await;
    on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(1_000);
    on.send(&[(10, 95), (20, 50)]).await;
    // A node leases the account and crashes before it has stored anything.
    let account = on.app.store.list_accounts().await.unwrap()[0].account.id;
    assert!(on.app.store.lease_account(account, STOPPED).await.unwrap().is_some());
    on.follow().await;
    assert_eq!(on.alerts().await, [], "its lease is not over");
    on.app.clock().advance_seconds(10);
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 10, Some(20))]);
    // Its late result is refused.
    assert!(on.app.store.lease_account(account, STOPPED).await.unwrap().is_none());
}

async fn a_node_that_knows_nothing_goes_on_from_what_was_kept(engine: Engine) {
    let on = world(engine).await;
    let rule = on.rule_with(json!({"name": "R", "allDevices": true, "forSeconds": 30, "conditions": [{"type": "speed", "above": 90}]})).await;
    on.app.clock().advance_seconds(1_000);
    // The last state of the first node was not stored; the next node computes it from the history.
    on.send(&[(10, 50)]).await;
    on.follow().await;
    on.send(&[(20, 95)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(20);
    let next = rule_engine(&on.app);
    on.send(&[(55, 95), (60, 50)]).await;
    while next.run_once().await != std::time::Duration::from_secs(1) {}
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 55, Some(60))]);
    // The first node discards its cache when it continues.
    on.app.clock().advance_seconds(20);
    on.send(&[(70, 95), (101, 95)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 55, Some(60)), raised("SpeedLimit", 101, None)]);
    assert_eq!(occurrences(&on).await, replayed(&on, &rule).await);
}

impl World {
    /// Evaluates on a node with an empty cache, after every lease has expired.
    async fn follow_anew(&self) {
        self.app.clock().advance_seconds(20);
        let next = rule_engine(&self.app);
        while next.run_once().await != std::time::Duration::from_secs(1) {}
    }
}

async fn the_state_of_a_new_rule_survives_a_crash(engine: Engine) {
    let on = world(engine).await;
    on.rule(json!({"type": "speed", "above": 200})).await;
    on.app.clock().advance_seconds(100);
    on.send(&[(100, 50)]).await;
    on.follow().await;
    // State of the device is stored, but none of this rule.
    let above = json!([{"type": "speed", "above": 90}]);
    on.rule_with(json!({"name": "R", "allDevices": true, "forSeconds": 30, "conditions": above})).await;
    on.app.clock().advance_seconds(10);
    on.send(&[(110, 95)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(40);
    on.send(&[(145, 95), (150, 50)]).await;
    on.follow_anew().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 145, Some(150))]);
}

async fn an_alert_that_a_late_location_undoes_is_withdrawn_after_a_crash(engine: Engine) {
    let on = world(engine).await;
    let above = json!([{"type": "speed", "above": 90}]);
    on.rule_with(json!({"name": "R", "allDevices": true, "forSeconds": 60, "conditions": above})).await;
    on.app.clock().advance_seconds(1_000);
    on.send(&[(10, 50)]).await;
    on.follow().await;
    on.send(&[(20, 95), (80, 95)]).await;
    on.follow().await;
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 80, None)]);
    on.send(&[(50, 50), (90, 50)]).await;
    on.follow_anew().await;
    assert!(on.alerts().await[0].2.is_some(), "it is over");
    assert_eq!(occurrences(&on).await, []);
    on.send(&[(200, 95), (300, 95)]).await;
    on.follow_anew().await;
    assert_eq!(on.alerts().await[1], raised("SpeedLimit", 300, None), "and hides no other");
}

async fn silence_is_reported_again_by_a_rule_that_was_removed_and_restored(engine: Engine) {
    let on = world(engine).await;
    let other = on.app.device(&on.owner, &json!({"name": "B"})).await;
    let rule = format!("PATCH /api/rules/{}", on.rule(json!({"type": "offline"})).await);
    let judge = async |device: &str| {
        on.app.send(&on.owner, &rule, &json!({"devices": [device]})).await.expect(200);
    };
    on.send(&[(0, 0)]).await;
    on.follow().await;
    on.app.clock().advance_seconds(700);
    on.follow().await;
    assert_eq!(on.alerts().await.len(), 1);
    judge(&other).await;
    on.send(&[(700, 0)]).await;
    on.follow().await;
    assert!(on.alerts().await[0].2.is_some(), "the device is back, whoever judges it now");
    judge(&on.device).await;
    on.app.clock().advance_seconds(700);
    on.follow().await;
    let alerts = on.alerts().await;
    assert_eq!((alerts.len(), &alerts[1].2), (2, &None), "{alerts:?}");
}

async fn a_slice_takes_a_part_of_a_long_log(engine: Engine) {
    let on = world(engine).await;
    on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(3_000);
    for part in 0..5 {
        let fixes: Vec<_> =
            (0..500).map(|second| (part * 500 + second, if second == 499 { 95 } else { 50 })).collect();
        on.send(&fixes).await;
    }
    let rest = on.rule_engine.run_once().await;
    assert_eq!(rest, std::time::Duration::ZERO, "there is more, and other accounts have their turn first");
    let raised_before = on.alerts().await.len();
    assert!(raised_before < 5, "{raised_before}");
    on.follow().await;
    let times: Vec<String> = on.alerts().await.into_iter().map(|(_, time, _)| time).collect();
    assert_eq!(times, [499, 999, 1_499, 1_999, 2_499].map(at));
}

async fn a_node_judges_until_it_is_stopped(engine: Engine) {
    let on = world(engine).await;
    let other = on.app.tenant("other", 10).await.owner;
    let there = on.app.device(&other, &json!({"name": "B"})).await;
    let rule = json!({"name": "R", "devices": [there], "conditions": [{"type": "speed", "above": 90}]});
    on.app.send(&other, "POST /api/rules", &rule).await.expect(201);
    on.rule(json!({"type": "speed", "above": 90})).await;
    on.app.clock().advance_seconds(1_000);
    let mut commits = on.app.app.store.commit_signals().of_any_account();
    let stop = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(std::sync::Arc::new(rule_engine(&on.app)).run(stop.clone()));
    on.send(&[(10, 50), (20, 95)]).await;
    let fix = json!([{"dateTime": at(30), "latitude": 42, "longitude": -8, "speed": 99}]);
    on.app.send(&other, &format!("POST /api/devices/{there}/locations"), &fix).await;
    let listed = format!("/api/devices/{there}/alerts");
    while on.alerts().await.is_empty()
        || on.app.get(&other, &listed).await["alerts"].as_array().unwrap().is_empty()
    {
        commits.changed().await.unwrap();
    }
    stop.cancel();
    running.await.unwrap();
    assert_eq!(on.alerts().await, [raised("SpeedLimit", 20, None)]);
}
