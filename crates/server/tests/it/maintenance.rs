//! Maintenance plans as clients see them: what is left, the alerts, and what was done.

use perigee_core::access::privilege::Privilege;
use perigee_server::background::{TimelineEngine, examine_maintenance};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_plan_goes_in_and_comes_out,
    what_is_left_agrees_with_totals_and_reports,
    a_due_plan_raises_an_alert_and_is_done,
    bad_plans_are_refused,
    plans_are_seen_with_their_device,
);

struct World {
    app: TestApp,
    owner: Person,
    van: String,
    engine: TimelineEngine,
}

/// A van that stands for 20 minutes and drives 15 km in 15 minutes, in turn, from midnight to six on the day before the clock
/// begins, at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let engine = TimelineEngine::new(app.app.clone());
    engine.run_to_end().await;
    let van = app.device(&owner, &json!({"name": "Van 1"})).await;
    let one = |minute: u32| {
        let moved = minute / 35 * 15 + (minute % 35).saturating_sub(19);
        json!({
            "dateTime": format!("2025-12-31T{:02}:{:02}:00Z", minute / 60, minute % 60),
            "latitude": 40.0 + f64::from(moved) * 0.009, "longitude": -8.0, "ignition": minute % 35 > 15,
        })
    };
    let track: Value = (0..360).map(one).collect();
    app.send(&owner, &format!("POST /api/devices/{van}/locations"), &track).await.expect(201);
    engine.run_to_end().await;
    World { app, owner, van, engine }
}

impl World {
    fn oil(&self) -> Value {
        json!({
            "deviceId": self.van, "name": "Oil change", "distance": 100, "soonDistance": 20,
            "engineHours": 250, "months": 12, "soonDays": 14, "notes": "5W-30",
            "lastDone": "2025-12-31T00:10:00Z", "odometer": 120_500.5, "hourMeter": 3_100.25,
        })
    }

    async fn create(&self, body: &Value) -> Value {
        self.app.send(&self.owner, "POST /api/maintenance", body).await.expect(201)
    }

    async fn find(&self, plan: &Value) -> Value {
        self.app.get(&self.owner, &format!("/api/maintenance/{}", plan["id"].as_str().unwrap())).await
    }

    /// Lets the time pass after which a changed plan is examined, and examines it.
    async fn examine(&self) {
        self.app.clock().advance_seconds(60);
        examine_maintenance(&self.app.app).await;
    }

    async fn alerts(&self) -> Vec<(String, bool)> {
        let alerts = self.app.get(&self.owner, &format!("/api/devices/{}/alerts", self.van)).await;
        let alerts = alerts["alerts"].as_array().unwrap();
        let one =
            |alert: &Value| (alert["alertName"].as_str().unwrap().to_owned(), alert["endedAt"].is_string());
        alerts.iter().map(one).collect()
    }
}

async fn a_plan_goes_in_and_comes_out(engine: Engine) {
    let world = world(engine).await;
    let made = world.create(&world.oil()).await;
    for (member, value) in world.oil().as_object().unwrap() {
        assert_eq!(made[member], *value, "{member}");
    }
    assert_eq!((&made["days"], &made["date"], &made["timesDone"]), (&json!(null), &json!(null), &json!(0)));
    assert_eq!(made["due"]["date"], "2026-12-31");
    let path = format!("/api/maintenance/{}", made["id"].as_str().unwrap());
    let change = json!({"name": "Oil and filter", "distance": 200});
    let changed = world.app.send(&world.owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!((&changed["name"], &changed["distance"]), (&json!("Oil and filter"), &json!(200)));
    assert_eq!(changed["hourMeter"], 3_100.25);
    // What was read can be sent back.
    let read = world.app.get(&world.owner, &path).await;
    let same = world.app.send(&world.owner, &format!("PUT {path}"), &read).await.expect(200);
    assert_eq!(same["lastModified"], read["lastModified"]);
    let stale = world.app.call(&format!("PATCH {path}")).by(&world.owner).header("if-match", "\"1\"");
    stale.json(&change).send().await.expect_error(412, "precondition-failed");
    let list = world.app.get(&world.owner, "/api/maintenance?device=Van%201&state=ok").await;
    assert_eq!(list["plans"].as_array().unwrap().len(), 1);
    let due = world.app.get(&world.owner, "/api/maintenance?state=due").await;
    assert_eq!(due["plans"], json!([]));
    world.app.call(&format!("DELETE {path}")).by(&world.owner).send().await.expect(200);
    world.app.call(&format!("GET {path}")).by(&world.owner).send().await.expect_error(404, "not-found");
}

async fn what_is_left_agrees_with_totals_and_reports(engine: Engine) {
    let world = world(engine).await;
    let plan = world.create(&world.oil()).await;
    let period = "from=2025-12-31T00:10:00Z&to=2026-01-01T00:00:00Z&interval=period";
    let totals = world.app.get(&world.owner, &format!("/api/totals?{period}")).await;
    let total = &totals["totals"][0];
    let due = &plan["due"];
    assert_eq!(due["distance"], total["distance"]);
    let hours = total["engineSeconds"].as_f64().unwrap() / 3_600.0;
    assert!((due["engineHours"].as_f64().unwrap() - hours).abs() < 0.001, "{due} {total}");
    let distance = total["distance"].as_f64().unwrap();
    assert!(distance > 100.0, "{distance}");
    assert!((due["distanceLeft"].as_f64().unwrap() - (100.0 - distance)).abs() < 0.001, "{due}");
    assert!((due["odometer"].as_f64().unwrap() - (120_500.5 + distance)).abs() < 0.001, "{due}");
    assert_eq!((&due["state"], &due["by"]), (&json!("due"), &json!("distance")));
    let report = json!({"kind": "maintenance", "language": "en", "columns": ["device", "maintenance", "status", "distanceSince", "distanceLeft"]});
    let report = world.app.send(&world.owner, "POST /api/reports/run", &report).await.expect(200);
    let row = &report["rows"][0];
    assert_eq!((&row["device"], &row["maintenance"]), (&json!("Van 1"), &json!("Oil change")));
    assert_eq!((&row["status"], &row["distanceLeft"]), (&json!("Due"), &json!(0.0)));
    assert_eq!(row["distanceSince"], total["distance"]);
}

async fn a_due_plan_raises_an_alert_and_is_done(engine: Engine) {
    let world = world(engine).await;
    let mut body = world.oil();
    body["distance"] = json!(200);
    body["soonDistance"] = json!(100);
    let plan = world.create(&body).await;
    assert_eq!(plan["due"]["state"], "soon");
    world.examine().await;
    world.examine().await;
    assert_eq!(world.alerts().await, [("MaintenanceSoon".to_owned(), false)]);
    let id = plan["id"].as_str().unwrap();
    let path = format!("/api/maintenance/{id}");
    world.app.send(&world.owner, &format!("PATCH {path}"), &json!({"distance": 120})).await.expect(200);
    world.examine().await;
    let due = ("MaintenanceDue".to_owned(), false);
    assert_eq!(world.alerts().await, [("MaintenanceSoon".to_owned(), false), due]);
    let done = json!({"note": "with filter", "cost": 120.5, "currency": "EUR", "odometer": 120_700});
    let call = || {
        world
            .app
            .call(&format!("POST {path}/done"))
            .by(&world.owner)
            .header("idempotency-key", "one")
            .json(&done)
    };
    let record = call().send().await.expect(201);
    assert_eq!(call().send().await.expect(201)["id"], record["id"]);
    assert_eq!((&record["cost"], &record["currency"]), (&json!(120.5), &json!("EUR")));
    assert_eq!((&record["distance"], &record["previous"]), (&plan["due"]["distance"], &plan["lastDone"]));
    assert!(world.alerts().await.iter().all(|(_, ended)| *ended));
    let next = world.find(&plan).await;
    assert_eq!((&next["due"]["state"], &next["timesDone"]), (&json!("ok"), &json!(1)));
    assert_eq!((&next["odometer"], &next["due"]["distance"]), (&json!(120_700.0), &json!(0.0)));
    let history = world.app.get(&world.owner, &format!("{path}/history")).await;
    assert_eq!(history["records"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&history["records"][0]["id"], &history["records"][0]["note"]),
        (&record["id"], &done["note"])
    );
    world.engine.run_to_end().await;
    world.examine().await;
    assert_eq!(world.alerts().await.len(), 2);
    let events = world.app.get(&world.owner, "/api/events?cursor=start&limit=1000").await;
    let types: Vec<&str> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"].as_str().unwrap().starts_with("maintenance."))
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let expected = ["created", "soon", "updated", "due", "done"].map(|name| format!("maintenance.{name}"));
    assert_eq!(types, expected);
}

async fn bad_plans_are_refused(engine: Engine) {
    let world = world(engine).await;
    let refused = async |change: Value, needle: &str| {
        let mut body = world.oil();
        for (member, value) in change.as_object().unwrap() {
            body[member] = value.clone();
        }
        let answer = world.app.send(&world.owner, "POST /api/maintenance", &body).await;
        let error = answer.expect_error(400, "invalid-body");
        assert!(error["error"].as_str().unwrap().contains(needle), "{change}: {}", error["error"]);
    };
    refused(json!({"days": 10}), "must not be given together").await;
    refused(json!({"distance": null, "engineHours": null, "months": null, "soonDistance": null, "soonDays": null}), "is required").await;
    refused(json!({"soonDistance": 100}), "must be less than").await;
    refused(json!({"distance": null}), "is accepted only with").await;
    refused(json!({"months": null}), "is accepted only with").await;
    refused(json!({"lastDone": "2026-02-01T00:00:00Z"}), "must not be in the future").await;
    refused(json!({"odometer": 1.2345}), "three decimals").await;
    refused(json!({"deviceId": "dev_00000000000g1"}), "no device").await;
    let plan = world.create(&world.oil()).await;
    let path = format!("/api/maintenance/{}", plan["id"].as_str().unwrap());
    let other = world.app.device(&world.owner, &json!({"name": "Van 2"})).await;
    let moved = world.app.send(&world.owner, &format!("PATCH {path}"), &json!({"deviceId": other})).await;
    moved.expect_error(400, "invalid-body");
    for body in [
        json!({"dateTime": "2025-12-30T00:00:00Z"}),
        json!({"dateTime": "2027-01-01T00:00:00Z"}),
        json!({"cost": 5}),
        json!({"cost": 5, "currency": "eur"}),
        json!({"currency": "EUR"}),
    ] {
        let answer = world.app.send(&world.owner, &format!("POST {path}/done"), &body).await;
        answer.expect_error(400, "invalid-body");
    }
}

async fn plans_are_seen_with_their_device(engine: Engine) {
    let world = world(engine).await;
    let tenant = world.app.tenant("other", 10).await;
    let plan = world.create(&world.oil()).await;
    let path = format!("GET /api/maintenance/{}", plan["id"].as_str().unwrap());
    let stranger = Traits { privileges: vec![Privilege::DevicesWrite], ..Traits::default() };
    let stranger = world.app.person(&tenant, "stranger", stranger).await;
    world.app.call(&path).by(&stranger).send().await.expect_error(404, "not-found");
    let listed = world.app.get(&stranger, "/api/maintenance").await;
    assert_eq!(listed["plans"], json!([]));
}
