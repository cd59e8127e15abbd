//! Timelines as clients see them: segments of a period, trips of all devices, labels and events.

use perigee_core::access::privilege::Privilege;
use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_day_becomes_trips_and_stops,
    parts_of_a_timeline_add_up,
    labels_are_set_by_hand_and_stay,
    trips_of_all_devices_are_listed_and_followed,
    bad_requests_for_timelines_are_refused,
    trips_are_sent_as_events,
    a_trip_is_split_and_the_split_undone,
    trips_are_merged_and_reported_as_removed,
    bad_edits_are_refused,
    settings_are_inherited_and_derive_again,
);

struct World {
    app: TestApp,
    owner: Person,
    device: String,
    engine: TimelineEngine,
}

/// The clock begins at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let engine = TimelineEngine::new(app.app.clone());
    engine.run_to_end().await;
    let device = app.device(&owner, &json!({"name": "A"})).await;
    World { app, owner, device, engine }
}

/// A time on the day before the clock begins.
fn at(minute: usize) -> String {
    format!("2025-12-31T{:02}:{:02}:00Z", minute / 60, minute % 60)
}

/// A location for each of these minutes. The device stands for 20 minutes and moves for 15, in turn.
fn track(minutes: std::ops::Range<usize>) -> Value {
    let moved = |minute: usize| minute / 35 * 15 + (minute % 35).saturating_sub(19);
    let one = |minute: usize| {
        let degrees = f64::from(u32::try_from(moved(minute)).unwrap()) * 0.009;
        json!({"dateTime": at(minute), "latitude": 40.0 + degrees, "longitude": -8.0})
    };
    minutes.map(one).collect()
}

impl World {
    async fn send(&self, device: &str, minutes: std::ops::Range<usize>) {
        let path = format!("POST /api/devices/{device}/locations");
        self.app.send(&self.owner, &path, &track(minutes)).await.expect(201);
    }

    async fn timeline(&self, query: &str) -> Value {
        self.app.get(&self.owner, &format!("/api/devices/{}/timeline{query}", self.device)).await
    }

    async fn trips(&self, query: &str) -> Value {
        self.app.get(&self.owner, &format!("/api/trips{query}")).await
    }
}

fn list(answer: &Value, name: &str) -> Vec<Value> {
    answer[name].as_array().unwrap().clone()
}

async fn a_day_becomes_trips_and_stops(engine: Engine) {
    let world = world(engine).await;
    let empty = world.timeline("").await;
    assert_eq!((&empty["segments"], &empty["pending"]), (&json!([]), &json!(false)));
    world.send(&world.device, 0..100).await;
    assert_eq!(world.timeline("").await["pending"], true);
    world.engine.run_to_end().await;
    let timeline = world.timeline("").await;
    assert_eq!(timeline["pending"], false);
    let segments = list(&timeline, "segments");
    let kinds: Vec<&str> = segments.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..5], ["stop", "trip", "stop", "trip", "stop"], "{kinds:?}");
    for pair in segments.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"]);
    }
    let trip = &segments[1];
    assert!((14.0..17.0).contains(&trip["distance"].as_f64().unwrap()), "{trip}");
    assert_eq!(
        (&trip["distanceSource"], &trip["open"], &trip["name"]),
        (&json!("legs"), &json!(false), &json!(null))
    );
    assert!(trip["maxSpeed"].as_f64().unwrap() > 30.0 && trip["averageSpeed"].as_f64().unwrap() > 30.0);
    assert!(segments.last().unwrap()["open"].as_bool().unwrap());
    let trips = list(&world.timeline("?kind=trip&place=true&language=en").await, "segments");
    assert!(trips.iter().all(|one| one["kind"] == "trip" && one["start"]["place"].is_string()), "{trips:?}");
    let page = world.timeline("?limit=2").await;
    assert_eq!(list(&page, "segments"), segments[..2]);
    let rest = world.timeline(&format!("?from={}", page["nextFrom"].as_str().unwrap())).await;
    assert_eq!(list(&rest, "segments"), segments[2..]);
    let id = trip["id"].as_str().unwrap();
    let alone = world.app.get(&world.owner, &format!("/api/segments/{id}")).await;
    assert_eq!(alone["distance"], trip["distance"]);
}

async fn parts_of_a_timeline_add_up(engine: Engine) {
    let world = world(engine).await;
    world.send(&world.device, 0..100).await;
    world.engine.run_to_end().await;
    let sum = |answer: &Value| -> f64 {
        list(answer, "segments").iter().map(|one| one["distance"].as_f64().unwrap()).sum()
    };
    let whole = sum(&world.timeline("").await);
    let first = sum(&world.timeline("?to=2025-12-31T00:27:13Z").await);
    let second = sum(&world.timeline("?from=2025-12-31T00:27:13Z").await);
    assert!(
        first > 0.0 && second > 0.0 && (first + second - whole).abs() < 0.002,
        "{first} {second} {whole}"
    );
}

async fn labels_are_set_by_hand_and_stay(engine: Engine) {
    let world = world(engine).await;
    world.send(&world.device, 0..60).await;
    world.engine.run_to_end().await;
    let trip = list(&world.trips("").await, "trips").remove(0);
    let path = format!("/api/segments/{}", trip["id"].as_str().unwrap());
    let change = format!("PATCH {path}");
    let labels = json!({"name": "Porto", "purpose": "business", "driver": "Ana"});
    let set = world.app.send(&world.owner, &change, &labels).await;
    let view = set.expect(200);
    assert_eq!(
        (&view["name"], &view["purpose"], &view["driver"], &view["note"]),
        (&json!("Porto"), &json!("business"), &json!("Ana"), &json!(null))
    );
    let outdated =
        world.app.call(&change).by(&world.owner).header("if-match", "\"r1\"").json(&json!({"note": "x"}));
    outdated.send().await.expect_error(412, "precondition-failed");
    let tag = set.header("etag").to_owned();
    let current = world
        .app
        .call(&change)
        .by(&world.owner)
        .header("if-match", &tag)
        .json(&json!({"note": "two\npallets"}));
    assert_eq!(current.send().await.expect(200)["name"], "Porto");
    for (body, pointer) in [
        (json!({"name": "x".repeat(101)}), "/name"),
        (json!({"purpose": 5}), "/purpose"),
        (json!({"colour": "red"}), "/colour"),
    ] {
        let refused = world.app.send(&world.owner, &change, &body).await.expect_error(400, "invalid-body");
        assert_eq!(crate::support::pointers(&refused), [pointer]);
    }
    let audit = world.app.get(&world.owner, "/api/audit?action=segment.update").await;
    assert_eq!(
        (&audit["audit"][1]["detail"], &audit["audit"][0]["detail"]),
        (&json!("name, purpose, driver"), &json!("note"))
    );
    world.send(&world.device, 60..120).await;
    world.engine.run_to_end().await;
    let found = list(&world.trips("?purpose=business").await, "trips");
    assert_eq!((found.len(), &found[0]["id"], &found[0]["name"]), (1, &trip["id"], &json!("Porto")));
}

async fn trips_of_all_devices_are_listed_and_followed(engine: Engine) {
    let world = world(engine).await;
    let other = world.app.device(&world.owner, &json!({"name": "B"})).await;
    world.send(&world.device, 0..60).await;
    world.send(&other, 0..120).await;
    world.engine.run_to_end().await;
    let all = list(&world.trips("").await, "trips");
    assert!(
        all.iter().any(|trip| trip["deviceId"] == *other)
            && all.iter().any(|trip| trip["deviceId"] == *world.device)
    );
    let mut paged = Vec::new();
    let mut page = world.trips("?limit=1").await;
    loop {
        paged.extend(list(&page, "trips"));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        page = world.trips(&format!("?limit=1&cursor={cursor}")).await;
    }
    assert_eq!(paged, all);
    let own = list(&world.trips("?device=B&minDistance=1").await, "trips");
    assert!(!own.is_empty() && own.iter().all(|trip| trip["deviceId"] == *other));
    assert_eq!(list(&world.trips("?to=2025-12-31T00:10:00Z").await, "trips"), Vec::<Value>::new());
    let since = "?updatedSince=2025-12-31T00:00:00Z";
    let feed = world.trips(since).await;
    assert_eq!(list(&feed, "trips").len(), all.len());
    let next = format!("{since}&cursor={}", feed["nextCursor"].as_str().unwrap());
    let quiet = world.trips(&next).await;
    assert_eq!((list(&quiet, "trips").len(), &quiet["nextCursor"]), (0, &feed["nextCursor"]));
    world.send(&world.device, 60..120).await;
    world.engine.run_to_end().await;
    let news = list(&world.trips(&next).await, "trips");
    assert!(!news.is_empty() && news.iter().all(|trip| trip["deviceId"] == *world.device));
}

async fn bad_requests_for_timelines_are_refused(engine: Engine) {
    let world = world(engine).await;
    for query in [
        "?from=yesterday",
        "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "?kind=walk",
        "?limit=0",
        "?colour=red",
    ] {
        let path = format!("GET /api/devices/{}/timeline{query}", world.device);
        world.app.call(&path).by(&world.owner).send().await.expect_error(400, "invalid-parameter");
    }
    for query in [
        "?device=nobody",
        "?minDistance=-1",
        "?limit=1001",
        "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    ] {
        let path = format!("GET /api/trips{query}");
        world.app.call(&path).by(&world.owner).send().await.expect_error(400, "invalid-parameter");
    }
    let path = "GET /api/trips?cursor=xyz";
    world.app.call(path).by(&world.owner).send().await.expect_error(400, "invalid-cursor");
}

async fn trips_are_sent_as_events(engine: Engine) {
    let world = world(engine).await;
    let tenant = world.app.tenant("other", 1).await;
    let cursor = world.app.get(&world.owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
    world.send(&world.device, 0..60).await;
    world.engine.run_to_end().await;
    let path = format!("/api/events?cursor={cursor}&types=trip.started,trip.ended,trip.changed,trip.removed");
    let events = list(&world.app.get(&world.owner, &path).await, "events");
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types[..2], ["trip.started", "trip.ended"]);
    assert_eq!(events[0]["data"]["kind"], "trip");
    assert_eq!(events[0]["device"], world.device);
    let reader = world
        .app
        .person(&tenant, "reader", Traits { privileges: vec![Privilege::DevicesWrite], ..Traits::default() })
        .await;
    let change = format!("PATCH /api/segments/{}", events[0]["data"]["id"].as_str().unwrap());
    world.app.send(&reader, &change, &json!({"name": "x"})).await.expect_error(404, "not-found");
}

async fn a_trip_is_split_and_the_split_undone(engine: Engine) {
    let world = world(engine).await;
    world.send(&world.device, 0..100).await;
    world.engine.run_to_end().await;
    let before = list(&world.trips("").await, "trips");
    let path = format!("/api/segments/{}", before[0]["id"].as_str().unwrap());
    world.app.send(&world.owner, &format!("PATCH {path}"), &json!({"name": "Tour"})).await.expect(200);
    let made = world.app.send(&world.owner, &format!("POST {path}/split"), &json!({"at": at(24)})).await;
    let edit = made.expect(201);
    assert_eq!(
        (&edit["kind"], &edit["from"], &edit["deviceId"]),
        (&json!("split"), &json!(at(24)), &json!(world.device))
    );
    assert_eq!(world.timeline("").await["pending"], true);
    world.engine.run_to_end().await;
    let trips = list(&world.trips("").await, "trips");
    assert_eq!(
        (trips.len(), &trips[0]["to"], &trips[1]["from"]),
        (before.len() + 1, &json!(at(24)), &json!(at(24)))
    );
    let km = |trip: &Value| trip["distance"].as_f64().unwrap();
    assert!((km(&trips[0]) + km(&trips[1]) - km(&before[0])).abs() < 0.01, "{trips:?}");
    assert_eq!(
        (&trips[1]["id"], &trips[1]["name"]),
        (&before[0]["id"], &json!("Tour")),
        "the longer part stays"
    );
    // Late locations do not undo it.
    world.send(&world.device, 100..140).await;
    world.engine.run_to_end().await;
    assert_eq!(list(&world.trips("").await, "trips")[..2], trips[..2]);
    let edits = format!("/api/devices/{}/timelineEdits", world.device);
    assert_eq!(
        list(&world.app.get(&world.owner, &edits).await, "edits"),
        [json!({
            "id": edit["id"], "deviceId": world.device, "kind": "split", "from": at(24), "to": at(24),
            "userId": edit["userId"], "creation": edit["creation"],
        })]
    );
    let delete = format!("DELETE /api/timelineEdits/{}", edit["id"].as_str().unwrap());
    world.app.call(&delete).by(&world.owner).send().await.expect(200);
    world.app.call(&delete).by(&world.owner).send().await.expect_error(404, "not-found");
    world.engine.run_to_end().await;
    let after = list(&world.trips("").await, "trips");
    assert_eq!((&after[0]["id"], &after[0]["to"]), (&before[0]["id"], &before[0]["to"]));
    let audit = world.app.get(&world.owner, "/api/audit?action=segment.split").await;
    assert_eq!(audit["audit"][0]["detail"], at(24));
}

async fn trips_are_merged_and_reported_as_removed(engine: Engine) {
    let world = world(engine).await;
    world.send(&world.device, 0..150).await;
    world.engine.run_to_end().await;
    let before = list(&world.trips("").await, "trips");
    let since = "?updatedSince=2025-12-31T00:00:00Z";
    let feed = world.trips(since).await;
    assert_eq!(feed["removed"], json!([]));
    let next = format!("{since}&cursor={}", feed["nextCursor"].as_str().unwrap());
    let ids = json!({"segments": [before[2]["id"], before[0]["id"]]});
    world.app.send(&world.owner, "POST /api/segments/merge", &ids).await.expect(201);
    world.engine.run_to_end().await;
    let trips = list(&world.trips("").await, "trips");
    assert_eq!(
        (trips.len(), &trips[0]["from"], &trips[0]["to"]),
        (before.len() - 2, &before[0]["from"], &before[2]["to"])
    );
    let km = |trip: &Value| trip["distance"].as_f64().unwrap();
    let sum: f64 = before[..3].iter().map(km).sum();
    assert!((km(&trips[0]) - sum).abs() < 0.01, "{trips:?}");
    let news = world.trips(&next).await;
    assert_eq!((list(&news, "trips").len(), list(&news, "removed").len()), (1, 2));
    let gone = &list(&news, "removed")[0];
    assert!(gone["removedAt"].is_string() && gone["deviceId"] == *world.device, "{gone}");
    // The same in pages of one change.
    let (mut changes, mut page) = (0, world.trips(&format!("{next}&limit=1")).await);
    while !list(&page, "trips").is_empty() || !list(&page, "removed").is_empty() {
        changes += list(&page, "trips").len() + list(&page, "removed").len();
        let cursor = page["nextCursor"].as_str().unwrap().to_owned();
        page = world.trips(&format!("{since}&limit=1&cursor={cursor}")).await;
    }
    assert_eq!(changes, 3);
    assert!(world.trips("").await.get("removed").is_none());
}

async fn bad_edits_are_refused(engine: Engine) {
    let world = world(engine).await;
    let other = world.app.device(&world.owner, &json!({"name": "B"})).await;
    world.send(&world.device, 0..100).await;
    world.send(&other, 0..100).await;
    world.engine.run_to_end().await;
    let segments = list(&world.timeline("").await, "segments");
    let [stop, trip] = [&segments[0], &segments[1]].map(|one| one["id"].as_str().unwrap().to_owned());
    let foreign = list(&world.trips("?device=B").await, "trips").remove(0)["id"].clone();
    for (id, body) in [
        (&trip, json!({"at": at(0)})),
        (&trip, json!({"at": segments[1]["to"]})),
        (&trip, json!({})),
        (&stop, json!({"at": at(10)})),
    ] {
        let path = format!("POST /api/segments/{id}/split");
        let refused = world.app.send(&world.owner, &path, &body).await.expect_error(400, "invalid-body");
        assert_eq!(crate::support::pointers(&refused), ["/at"], "{body}");
    }
    for ids in [json!([trip]), json!([trip, trip]), json!([trip, stop]), json!([trip, foreign]), json!("x")] {
        let body = json!({"segments": ids});
        let refused = world.app.send(&world.owner, "POST /api/segments/merge", &body).await;
        let refused = refused.expect_error(400, "invalid-body");
        assert!(crate::support::pointers(&refused)[0].starts_with("/segments"), "{ids}");
    }
    let both = json!({"segments": [trip, segments[3]["id"]]});
    world.app.send(&world.owner, "POST /api/segments/merge", &both).await.expect(201);
    world.engine.run_to_end().await;
    let path = format!(
        "POST /api/segments/{}/split",
        list(&world.trips("?device=A").await, "trips")[0]["id"].as_str().unwrap()
    );
    let inside = json!({"at": segments[2]["from"].as_str().unwrap().replace(":00Z", ":30Z")});
    world.app.send(&world.owner, &path, &inside).await.expect_error(409, "in-use");
}

async fn settings_are_inherited_and_derive_again(engine: Engine) {
    let world = world(engine).await;
    let group = world
        .app
        .send(&world.owner, "POST /api/groups", &json!({"name": "G", "devices": [world.device]}))
        .await;
    let group = group.expect(201)["id"].as_str().unwrap().to_owned();
    world.send(&world.device, 0..100).await;
    world.engine.run_to_end().await;
    let before = list(&world.trips("").await, "trips");
    let of_device = format!("/api/devices/{}/timelineSettings", world.device);
    let of_group = format!("/api/groups/{group}/timelineSettings");
    let plain = world.app.get(&world.owner, &of_device).await;
    assert_eq!(plain["inForce"]["stopRadius"], json!({"value": 150, "level": "default"}));
    assert_eq!((&plain["recomputing"], &plain["lastModified"]), (&json!(null), &json!(null)));
    world
        .app
        .send(&world.owner, "PATCH /api/account/timelineSettings", &json!({"idlingSpeed": 5}))
        .await
        .expect(200);
    world
        .app
        .send(&world.owner, &format!("PUT {of_group}"), &json!({"leastStopSeconds": 1800}))
        .await
        .expect(200);
    let set = world.app.get(&world.owner, &of_device).await;
    assert_eq!(set["inForce"]["idlingSpeed"], json!({"value": 5, "level": "account"}));
    assert_eq!(
        set["inForce"]["leastStopSeconds"],
        json!({"value": 1800, "level": "group", "groupId": group})
    );
    assert_eq!(set["recomputing"], json!({"devices": 1, "done": 0, "share": 0.0}));
    assert_eq!(world.timeline("").await["pending"], true);
    world.engine.run_to_end().await;
    assert_eq!(world.app.get(&world.owner, &of_device).await["recomputing"], json!(null));
    assert!(
        list(&world.trips("").await, "trips").len() < before.len(),
        "stops of 20 minutes are too short now"
    );
    let own =
        world.app.send(&world.owner, &format!("PATCH {of_device}"), &json!({"leastStopSeconds": 300})).await;
    assert_eq!(own.expect(200)["inForce"]["leastStopSeconds"], json!({"value": 300, "level": "device"}));
    world.engine.run_to_end().await;
    assert_eq!(list(&world.trips("").await, "trips").len(), before.len());
    for (body, pointer) in [
        (json!({"leastStopSeconds": 59}), "/leastStopSeconds"),
        (json!({"idlingSpeed": 1.5}), "/idlingSpeed"),
        (json!({"leastGapSeconds": "long"}), "/leastGapSeconds"),
    ] {
        let refused = world.app.send(&world.owner, &format!("PATCH {of_device}"), &body).await;
        let refused = refused.expect_error(400, "invalid-body");
        assert_eq!(crate::support::pointers(&refused), [pointer]);
    }
}
