//! Rules about the time without a trip: they raise one alert by time alone, which ends with the next trip.

use perigee_core::time::{Clock as _, Timestamp};
use perigee_server::background::{RuleEngine, TimelineEngine};
use perigee_store::testing::START;
use serde_json::{Value, json};

use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_device_without_trips_raises_one_alert,
    a_late_trip_ends_an_alert_and_counts_anew,
    only_the_time_since_the_rule_counts,
);

const DAY_S: i64 = 86_400;
/// Length of a drive with its stops, in seconds.
const DRIVE_S: i64 = 55 * 60;

struct World {
    app: TestApp,
    owner: Person,
    device: String,
    rules: RuleEngine,
    timelines: TimelineEngine,
}

/// The clock begins at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    // The tests last for days, which tokens do not.
    let app = TestApp::with(engine, |config| config.auth.token_seconds = 30 * 86_400).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "A", "expectedIntervalSeconds": 60})).await;
    let (rules, timelines) = (RuleEngine::new(app.app.clone()), TimelineEngine::new(app.app.clone()));
    let world = World { app, owner, device, rules, timelines };
    world.follow().await;
    world
}

impl World {
    async fn rule(&self) -> String {
        let body =
            json!({"name": "R", "allDevices": true, "conditions": [{"type": "noTrip", "seconds": DAY_S}]});
        let made = self.app.send(&self.owner, "POST /api/rules", &body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Stores a drive: 20 minutes of standing, 15 of driving north from this kilometre, and 20 of standing. Returns when the
    /// trip began and ended.
    async fn drive(&self, first_s: i64, km: u32) -> (Timestamp, Timestamp) {
        let one = |minute: u32| {
            let moved = km + minute.saturating_sub(19).min(15);
            let time = START.plus_seconds(first_s + i64::from(minute) * 60).to_string();
            json!({"dateTime": time, "latitude": 40.0 + f64::from(moved) * 0.009, "longitude": -8.0})
        };
        let path = format!("POST /api/devices/{}/locations", self.device);
        let body: Value = (0..=55).map(one).collect();
        self.app.send(&self.owner, &path, &body).await.expect(201);
        self.follow().await;
        let from = START.plus_seconds(first_s);
        let list = self.app.get(&self.owner, &format!("/api/trips?from={from}&limit=1000")).await;
        let instant = |value: &Value| value.as_str().unwrap().parse::<Timestamp>().unwrap();
        let trips = list["trips"].as_array().unwrap();
        let spans = trips.iter().map(|trip| (instant(&trip["from"]), instant(&trip["to"])));
        spans.filter(|(begin, _)| *begin >= from).min().expect("no trip")
    }

    /// Runs both engines until nothing is left to do.
    async fn follow(&self) {
        self.timelines.run_to_end().await;
        for _ in 0..100 {
            if self.rules.run_once().await == std::time::Duration::from_secs(1) {
                return;
            }
        }
        panic!("there is always more");
    }

    /// Sets the clock, and lets the engines look.
    async fn at(&self, instant: Timestamp) {
        let by_ms = instant.as_millis() - self.app.clock().now().as_millis();
        assert_eq!(by_ms % 1_000, 0, "the test uses whole seconds");
        self.app.clock().advance_seconds(by_ms / 1_000);
        self.follow().await;
        self.follow().await;
    }

    /// The time and the end of each alert, oldest first.
    async fn alerts(&self) -> Vec<(Timestamp, Option<Timestamp>)> {
        let listed = self.app.get(&self.owner, &format!("/api/devices/{}/alerts", self.device)).await;
        let instant = |value: &Value| value.as_str().map(|text| text.parse::<Timestamp>().unwrap());
        let mut found = Vec::new();
        for alert in listed["alerts"].as_array().unwrap() {
            assert_eq!(alert["alertName"], "NoTrip");
            found.push((instant(&alert["dateTime"]).unwrap(), instant(&alert["endedAt"])));
        }
        found.sort_unstable();
        found
    }
}

/// A whole second at or after an instant.
fn up(instant: Timestamp) -> Timestamp {
    Timestamp::from_millis((instant.as_millis() + 999).div_euclid(1_000) * 1_000)
}

async fn a_device_without_trips_raises_one_alert(engine: Engine) {
    let on = world(engine).await;
    on.rule().await;
    on.app.clock().advance_seconds(3_600);
    let (_, to) = on.drive(0, 0).await;
    let due = to.plus_seconds(DAY_S);
    on.at(up(due).plus_seconds(-1)).await;
    assert_eq!(on.alerts().await, []);
    on.at(up(due)).await;
    assert_eq!(on.alerts().await, [(due, None)], "without a location");
    // Another node, and a clock that is set back and forward by an hour.
    RuleEngine::new(on.app.app.clone()).run_once().await;
    on.at(up(due).plus_seconds(-3_600)).await;
    on.at(up(due).plus_seconds(7_200)).await;
    on.at(up(due).plus_seconds(3 * DAY_S)).await;
    assert_eq!(on.alerts().await, [(due, None)], "once");
    let first_s = (on.app.clock().now().as_millis() - START.as_millis()) / 1_000 - DRIVE_S;
    let (from, _) = on.drive(first_s, 15).await;
    assert_eq!(on.alerts().await, [(due, Some(from))], "until the next trip");
}

async fn a_late_trip_ends_an_alert_and_counts_anew(engine: Engine) {
    let on = world(engine).await;
    let rule = on.rule().await;
    on.app.clock().advance_seconds(3_600);
    let (_, to) = on.drive(0, 0).await;
    let due = to.plus_seconds(DAY_S);
    on.at(up(due).plus_seconds(60)).await;
    assert_eq!(on.alerts().await, [(due, None)]);
    // It was recorded in the middle of that day.
    let (_, late) = on.drive(DAY_S / 2, 15).await;
    let alerts = on.alerts().await;
    assert!(alerts.len() == 1 && alerts[0].1.is_some(), "{alerts:?}");
    let next = late.plus_seconds(DAY_S);
    on.at(up(next)).await;
    let alerts = on.alerts().await;
    assert_eq!((alerts.len(), alerts[1]), (2, (next, None)), "{alerts:?}");
    let test = format!("POST /api/rules/{rule}/test?from={START}&to={}", up(next));
    let tested = on.app.call(&test).by(&on.owner).send().await.expect(200);
    let episodes = tested["episodes"].as_array().unwrap();
    assert_eq!((episodes.len(), &episodes[0]["dateTime"]), (1, &json!(next.to_string())), "{tested}");
}

async fn only_the_time_since_the_rule_counts(engine: Engine) {
    let on = world(engine).await;
    on.app.clock().advance_seconds(3_600);
    on.drive(0, 0).await;
    on.at(START.plus_seconds(5 * DAY_S)).await;
    let rule = on.rule().await;
    on.at(START.plus_seconds(6 * DAY_S - 1)).await;
    assert_eq!(on.alerts().await, []);
    on.at(START.plus_seconds(6 * DAY_S)).await;
    assert_eq!(on.alerts().await, [(START.plus_seconds(6 * DAY_S), None)]);
    let off = json!({"enabled": false});
    on.app.send(&on.owner, &format!("PATCH /api/rules/{rule}"), &off).await.expect(200);
    let alerts = on.alerts().await;
    assert!(alerts.len() == 1 && alerts[0].1.is_some(), "{alerts:?}");
    on.at(START.plus_seconds(9 * DAY_S)).await;
    assert_eq!(on.alerts().await.len(), 1, "a rule that is off raises nothing");
}
