//! Visits of devices to geofences: of one device, of one geofence, and as a report.

use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    visits_to_a_geofence_that_was_drawn_later,
    visits_are_cut_to_the_period_and_add_up,
    late_locations_change_visits,
    visits_are_reported,
    many_visits_are_answered_in_pages,
    bad_questions_for_visits_are_refused,
);

struct World {
    app: TestApp,
    owner: Person,
    van: String,
}

/// The clock begins at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let van = app.device(&owner, &json!({"name": "Van 1"})).await;
    World { app, owner, van }
}

/// A location this many minutes after midnight of the day before, this many kilometres north of the yard.
fn at(minute: u32, km: f64) -> Value {
    json!({
        "dateTime": format!("2025-12-31T{:02}:{:02}:00Z", minute / 60, minute % 60),
        "latitude": 42.0 + km / 111.195, "longitude": -8.0,
    })
}

/// In the yard until 01:00, away until 02:00, in the yard until 03:00, and away again.
fn day() -> Vec<Value> {
    let km = |minute: u32| match minute / 60 {
        0 | 2 => 0.0,
        _ => f64::from(minute % 60).min(f64::from(59 - minute % 60)).mul_add(0.9, 1.0),
    };
    (0..240).step_by(2).map(|minute| at(minute, km(minute))).collect()
}

impl World {
    async fn send(&self, locations: &[Value]) {
        let path = format!("POST /api/devices/{}/locations", self.van);
        self.app.send(&self.owner, &path, &json!(locations)).await.expect(201);
    }

    /// A circle of 500 m around the yard.
    async fn yard(&self) -> String {
        let body = json!({
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [-8.0, 42.0]},
            "properties": {"name": "Yard", "radius": 500},
        });
        let made = self.app.send(&self.owner, "POST /api/geofences", &body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    async fn visits(&self, query: &str) -> Vec<Value> {
        let answer = self.app.get(&self.owner, &format!("/api/devices/{}/visits?{query}", self.van)).await;
        assert!(answer.get("nextFrom").is_none(), "{answer}");
        answer["visits"].as_array().unwrap().clone()
    }
}

/// Entries and exits.
fn spans(visits: &[Value]) -> Vec<(Option<&str>, Option<&str>)> {
    visits.iter().map(|visit| (visit["entry"].as_str(), visit["exit"].as_str())).collect()
}

const DAY: &str = "from=2025-12-31T00:00:00Z&to=2026-01-01T00:00:00Z";

async fn visits_to_a_geofence_that_was_drawn_later(engine: Engine) {
    let world = world(engine).await;
    world.send(&day()).await;
    TimelineEngine::new(world.app.app.clone()).run_to_end().await;
    assert_eq!(world.visits(DAY).await, Vec::<Value>::new());
    let yard = world.yard().await;
    let visits = world.visits(DAY).await;
    assert_eq!(
        spans(&visits),
        [
            (Some("2025-12-31T00:00:00Z"), Some("2025-12-31T01:00:00Z")),
            (Some("2025-12-31T02:00:00Z"), Some("2025-12-31T03:00:00Z"))
        ]
    );
    assert_eq!((&visits[0]["durationSeconds"], &visits[0]["geofenceId"]), (&json!(3_600), &json!(yard)));
    assert!(visits.iter().all(|visit| visit["distance"].as_f64().unwrap() < 2.0), "{visits:?}");
    let of_fence = world.app.get(&world.owner, &format!("/api/geofences/{yard}/visits?{DAY}")).await;
    assert_eq!(of_fence["visits"], json!(visits));
    assert!(of_fence.get("nextCursor").is_none());
    assert_eq!(world.visits(&format!("{DAY}&geofence={yard}")).await, visits);
}

async fn visits_are_cut_to_the_period_and_add_up(engine: Engine) {
    let world = world(engine).await;
    world.send(&day()).await;
    world.yard().await;
    let before = world.visits("from=2025-12-31T00:00:00Z&to=2025-12-31T02:30:00Z").await;
    let after = world.visits("from=2025-12-31T02:30:00Z&to=2026-01-01T00:00:00Z").await;
    assert_eq!(spans(&before)[1], (Some("2025-12-31T02:00:00Z"), None));
    assert_eq!(before[1]["to"], "2025-12-31T02:30:00Z");
    assert_eq!(spans(&after), [(None, Some("2025-12-31T03:00:00Z"))]);
    let sum =
        |visits: &[Value]| visits.iter().map(|one| one["durationSeconds"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(&before) + sum(&after), sum(&world.visits(DAY).await));
}

async fn late_locations_change_visits(engine: Engine) {
    let world = world(engine).await;
    world.yard().await;
    let whole = day();
    let late: Vec<Value> = whole[40..70].to_vec();
    let early: Vec<Value> = [&whole[..40], &whole[70..]].concat();
    world.send(&early).await;
    let first = world.visits(DAY).await;
    world.send(&late).await;
    let all = world.visits(DAY).await;
    assert_ne!(first, all);
    assert_eq!(all.len(), 2);
    // A silence in which nobody knows where the device was does not end a visit.
    world.send(&[at(1_000, 0.0), at(1_300, 0.0), at(1_310, 9.0)]).await;
    let with_silence = world.visits(DAY).await;
    assert_eq!(spans(&with_silence)[2], (Some("2025-12-31T16:40:00Z"), Some("2025-12-31T21:50:00Z")));
}

async fn visits_are_reported(engine: Engine) {
    let world = world(engine).await;
    world.send(&day()).await;
    let yard = world.yard().await;
    let body = json!({"kind": "visits", "from": "2025-12-31T00:00:00Z", "to": "2026-01-01T00:00:00Z", "timeZone": "UTC"});
    let report = world.app.send(&world.owner, "POST /api/reports/run", &body).await.expect(200);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!((&rows[0]["device"], &rows[0]["geofence"]), (&json!("Van 1"), &json!("Yard")));
    assert_eq!((&rows[0]["duration"], &rows[0]["entry"]), (&json!(3_600), &json!("2025-12-31T00:00:00Z")));
    let totals = &report["totals"];
    assert_eq!((&totals[0]["id"], &totals[0]["duration"]), (&json!(yard), &json!(7_200)));
    for format in ["csv", "xlsx", "pdf", "ndjson"] {
        let path = format!("POST /api/reports/run?format={format}");
        let answer = world.app.send(&world.owner, &path, &body).await;
        assert_eq!(answer.status, 200, "{format}");
    }
    let mut unknown = body.clone();
    unknown["geofences"] = json!(["geo_00000000000g1"]);
    let refused = world.app.send(&world.owner, "POST /api/reports/run", &unknown).await;
    refused.expect_error(400, "invalid-body");
    unknown["kind"] = json!("trips");
    unknown["geofences"] = json!([yard]);
    let refused = world.app.send(&world.owner, "POST /api/reports/run", &unknown).await;
    refused.expect_error(400, "invalid-body");
}

async fn many_visits_are_answered_in_pages(engine: Engine) {
    let world = world(engine).await;
    let yard = world.yard().await;
    // In and out each minute, for a week.
    let one = |minute: u32| {
        json!({
            "dateTime": format!("2025-12-{}T{:02}:{:02}:00Z", 20 + minute / 1_440, minute / 60 % 24, minute % 60),
            "latitude": if minute.is_multiple_of(2) { 42.0 } else { 42.05 }, "longitude": -8.0,
        })
    };
    let locations: Vec<Value> = (0..10_400).map(one).collect();
    for part in locations.chunks(5_200) {
        world.send(part).await;
    }
    let count = |visits: &[Value]| visits.iter().filter(|visit| visit["entry"].is_string()).count();
    let (mut from, mut entries, mut pages) = ("2025-12-20T00:00:00Z".to_owned(), 0, 0);
    loop {
        let path = format!("/api/devices/{}/visits?from={from}&to=2026-01-01T00:00:00Z", world.van);
        let page = world.app.get(&world.owner, &path).await;
        entries += count(page["visits"].as_array().unwrap());
        pages += 1;
        match page["nextFrom"].as_str() {
            Some(next) => next.clone_into(&mut from),
            None => break,
        }
    }
    assert_eq!((entries, pages), (5_200, 3));
    let (mut cursor, mut entries) = (String::new(), 0);
    loop {
        let path = format!("/api/geofences/{yard}/visits?from=2025-12-20&to=2026-01-01T00:00:00Z{cursor}");
        let page = world.app.get(&world.owner, &path).await;
        entries += count(page["visits"].as_array().unwrap());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(entries, 5_200);
}

async fn bad_questions_for_visits_are_refused(engine: Engine) {
    let world = world(engine).await;
    let yard = world.yard().await;
    for query in [
        "",
        "from=2025-12-31T00:00:00Z&to=2025-12-31T00:00:00Z",
        "from=x",
        "from=2025-12-31T00:00:00Z&geofence=x",
    ] {
        let path = format!("GET /api/devices/{}/visits?{query}", world.van);
        world.app.call(&path).by(&world.owner).send().await.expect_error(400, "invalid-parameter");
    }
    let unknown = format!("GET /api/devices/{}/visits?{DAY}&geofence=geo_00000000000g1", world.van);
    world.app.call(&unknown).by(&world.owner).send().await.expect_error(404, "not-found");
    let path = format!("GET /api/geofences/{yard}/visits?{DAY}&cursor=abc");
    world.app.call(&path).by(&world.owner).send().await.expect_error(400, "invalid-cursor");
}
