//! Locations of many devices at once: where each was last, what has arrived, and what is deleted.

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, Tenant, TestApp, on_both_engines, pointers};

on_both_engines!(
    every_last_location_in_one_call,
    last_locations_are_filtered,
    last_locations_keep_to_what_is_visible,
    the_feed_gives_everything_once,
    the_feed_waits,
    the_feed_keeps_to_what_is_visible,
    locations_are_deleted,
);

struct Fleet {
    app: TestApp,
    tenant: Tenant,
    devices: Vec<String>,
}

impl Fleet {
    /// Devices at 1°, 2°, 3° ... north on the antimeridian, each with an older location elsewhere.
    async fn new(engine: Engine, count: u32) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 20).await;
        let mut devices = Vec::new();
        for _ in 0..count {
            devices.push(app.device(&tenant.owner, &json!({"name": "Boat"})).await);
        }
        let fleet = Self { app, tenant, devices };
        for (north, device) in (1..).zip(&fleet.devices) {
            fleet.post(device, &json!([at(10, north, 180), at(5, 50, 50)])).await;
        }
        fleet
    }

    fn owner(&self) -> &Person {
        &self.tenant.owner
    }

    async fn post(&self, device: &str, body: &Value) {
        let line = format!("POST /api/devices/{device}/locations");
        self.app.send(self.owner(), &line, body).await.expect(201);
    }

    async fn get(&self, path: &str) -> Value {
        self.app.get(self.owner(), path).await
    }

    async fn refused(&self, line: &str) -> Value {
        self.app.call(line).by(self.owner()).send().await.expect_error(400, "invalid-parameter")
    }

    async fn in_group(&self, device: &str) -> (String, Person) {
        let group = self.app.group(self.owner(), &json!({"name": "Few", "devices": [device]})).await;
        let traits = Traits { group: Some(group.parse().unwrap()), ..Traits::default() };
        let person = self.app.person(&self.tenant, "narrow", traits).await;
        (group, person)
    }
}

fn at(minute: u32, latitude: i32, longitude: i32) -> Value {
    // By hand, since no device gets around so fast.
    json!({
        "dateTime": format!("2026-01-01T00:{minute:02}:00Z"), "latitude": latitude, "longitude": longitude,
        "source": "manual",
    })
}

fn devices(body: &Value) -> Vec<&str> {
    body["locations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|location| location["deviceId"].as_str().unwrap())
        .collect()
}

fn latitudes(body: &Value) -> Vec<i64> {
    body["locations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|location| location["latitude"].as_i64().unwrap())
        .collect()
}

async fn every_last_location_in_one_call(engine: Engine) {
    let fleet = Fleet::new(engine, 5).await;
    let silent = fleet.app.device(fleet.owner(), &json!({"name": "Silent"})).await;
    let all = fleet.get("/api/locations/last").await;
    assert_eq!(devices(&all), fleet.devices, "{silent} has been nowhere");
    let last = fleet.get(&format!("/api/devices/{}/lastLocation", fleet.devices[0])).await;
    let mut expect = last["lastLocation"].clone();
    expect["deviceId"] = json!(fleet.devices[0]);
    assert_eq!(all["locations"][0], expect);
    assert_eq!((&all["success"], all.get("nextCursor")), (&json!(true), None));

    let mut found = Vec::new();
    let mut path = "/api/locations/last?limit=2".to_owned();
    loop {
        let page = fleet.get(&path).await;
        found.extend(latitudes(&page));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/api/locations/last?limit=2&cursor={cursor}");
    }
    assert_eq!(found, [1, 2, 3, 4, 5]);
}

async fn last_locations_are_filtered(engine: Engine) {
    let fleet = Fleet::new(engine, 4).await;
    let found = async |query: &str| latitudes(&fleet.get(&format!("/api/locations/last?{query}")).await);
    assert_eq!(found("bbox=-180,-90,180,90").await, [1, 2, 3, 4]);
    assert_eq!(found("bbox=179,2,-179,3").await, [2, 3]);
    assert_eq!(found("bbox=-179,-90,179,90").await, Vec::<i64>::new());
    assert_eq!(found("bbox=49,49,51,51").await, Vec::<i64>::new(), "where they were before does not count");
    let (group, _) = fleet.in_group(&fleet.devices[2]).await;
    assert_eq!(found(&format!("group={group}")).await, [3]);
    assert_eq!(found(&format!("group={group}&bbox=179,1,-179,2")).await, Vec::<i64>::new());
    assert_eq!(found("group=grp_0000000000001").await, Vec::<i64>::new());

    fleet.app.clock().advance_seconds(60);
    fleet.post(&fleet.devices[1], &at(11, 7, 7)).await;
    assert_eq!(found("since=2026-01-01T00:01:00Z").await, [7]);
    assert_eq!(found("since=2026-01-01T00:01:01Z").await, Vec::<i64>::new());
    for (query, pointer) in [
        ("bbox=1,2,3", "/bbox"),
        ("bbox=0,10,1,5", "/bbox"),
        ("bbox=0,0,181,5", "/bbox"),
        ("group=fleet", "/group"),
        ("since=yesterday", "/since"),
        ("limit=1001", "/limit"),
        ("colour=red", "/colour"),
    ] {
        let refused = fleet.refused(&format!("GET /api/locations/last?{query}")).await;
        assert_eq!(pointers(&refused), [pointer], "{query}");
    }
}

async fn last_locations_keep_to_what_is_visible(engine: Engine) {
    let fleet = Fleet::new(engine, 3).await;
    let (_, narrow) = fleet.in_group(&fleet.devices[1]).await;
    assert_eq!(latitudes(&fleet.app.get(&narrow, "/api/locations/last").await), [2]);
    let other = fleet.app.tenant("other", 5).await.owner;
    assert_eq!(latitudes(&fleet.app.get(&other, "/api/locations/last").await), Vec::<i64>::new());
}

async fn the_feed_gives_everything_once(engine: Engine) {
    let fleet = Fleet::new(engine, 3).await;
    let from_now = fleet.get("/api/locations/feed").await;
    assert_eq!(from_now["locations"], json!([]), "it begins now");
    let now = from_now["nextCursor"].as_str().unwrap().to_owned();
    for start in ["start", "0"] {
        let mut found = Vec::new();
        let mut cursor = start.to_owned();
        loop {
            let part = fleet.get(&format!("/api/locations/feed?limit=4&cursor={cursor}")).await;
            part["nextCursor"].as_str().unwrap().clone_into(&mut cursor);
            if latitudes(&part).is_empty() {
                break;
            }
            found.extend(latitudes(&part));
        }
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 50, 50, 50]);
        assert_eq!(cursor, now, "at the end one is where the others are");
    }
    // Late locations appear in the order of arrival.
    fleet.post(&fleet.devices[2], &at(1, 33, 0)).await;
    let part = fleet.get(&format!("/api/locations/feed?cursor={now}")).await;
    assert_eq!((latitudes(&part), devices(&part)), (vec![33], vec![fleet.devices[2].as_str()]));
    let next = part["nextCursor"].as_str().unwrap();
    assert_eq!(fleet.get(&format!("/api/locations/feed?cursor={next}")).await["locations"], json!([]));
    for (query, pointer) in
        [("wait=31", "/wait"), ("limit=0", "/limit"), ("limit=10001", "/limit"), ("since=1", "/since")]
    {
        assert_eq!(
            pointers(&fleet.refused(&format!("GET /api/locations/feed?{query}")).await),
            [pointer],
            "{query}"
        );
    }
    for cursor in ["nonsense", "1", "START"] {
        let answer = fleet.app.call(&format!("GET /api/locations/feed?cursor={cursor}")).by(fleet.owner());
        answer.send().await.expect_error(400, "invalid-cursor");
    }
}

async fn the_feed_waits(engine: Engine) {
    let fleet = Fleet::new(engine, 1).await;
    let now = fleet.get("/api/locations/feed").await["nextCursor"].as_str().unwrap().to_owned();
    let path = format!("/api/locations/feed?cursor={now}&wait=30");
    let waiting = fleet.get(&path);
    let arriving = at(11, 44, 0);
    let sending = fleet.post(&fleet.devices[0], &arriving);
    let (part, ()) = tokio::join!(waiting, sending);
    assert_eq!(latitudes(&part), [44]);
    // When the service stops, waiting polls end.
    fleet.app.app.tasks.stopping.cancel();
    let next = part["nextCursor"].as_str().unwrap();
    let part = fleet.get(&format!("/api/locations/feed?cursor={next}&wait=30")).await;
    assert_eq!(part["locations"], json!([]));
}

async fn the_feed_keeps_to_what_is_visible(engine: Engine) {
    let fleet = Fleet::new(engine, 3).await;
    let (_, narrow) = fleet.in_group(&fleet.devices[1]).await;
    let part = fleet.app.get(&narrow, "/api/locations/feed?cursor=start").await;
    assert_eq!(devices(&part), [fleet.devices[1].as_str(); 2]);
    let other = fleet.app.tenant("other", 5).await.owner;
    let part = fleet.app.get(&other, "/api/locations/feed?cursor=start").await;
    assert_eq!(part["locations"], json!([]));
}

async fn locations_are_deleted(engine: Engine) {
    let fleet = Fleet::new(engine, 2).await;
    let path = format!("/api/devices/{}/locations", fleet.devices[0]);
    let range = "from=2026-01-01T00:05:00Z&to=2026-01-01T00:09:59Z";
    let traits = Traits { privileges: vec![Privilege::LocationsWrite], ..Traits::default() };
    let reader = fleet.app.person(&fleet.tenant, "reader", traits).await;
    let delete = |query: &str| fleet.app.call(&format!("DELETE {path}{query}"));
    delete(&format!("?{range}")).by(&reader).send().await.expect_error(403, "forbidden");
    for (query, expect) in [
        ("", vec!["/from", "/to"]),
        ("?from=2026-01-01T00:00:00Z", vec!["/to"]),
        ("?from=2026-01-01T00:00:00Z&to=2025-01-01T00:00:00Z", vec!["/to"]),
        ("?from=x&to=2026-01-01T00:00:00Z", vec!["/from"]),
        (&format!("?{range}&limit=1"), vec!["/limit"]),
    ] {
        assert_eq!(pointers(&fleet.refused(&format!("DELETE {path}{query}")).await), expect, "{query}");
    }
    let deleted = delete(&format!("?{range}")).by(fleet.owner()).send().await.expect(200);
    assert_eq!((&deleted["deleted"], &deleted["success"]), (&json!(1), &json!(true)));
    assert_eq!(latitudes_of(&fleet, &path).await, [1]);
    let again = delete(&format!("?{range}")).by(fleet.owner()).send().await.expect(200);
    assert_eq!(again["deleted"], 0);
    let other = format!("/api/devices/{}/locations", fleet.devices[1]);
    assert_eq!(latitudes_of(&fleet, &other).await, [50, 2], "another device keeps its own");
    let all = "?from=0001-01-01T00:00:00Z&to=9999-12-30T00:00:00Z";
    assert_eq!(delete(all).by(fleet.owner()).send().await.expect(200)["deleted"], 1);
    let last = format!("GET /api/devices/{}/lastLocation", fleet.devices[0]);
    fleet.app.call(&last).by(fleet.owner()).send().await.expect_error(404, "no-location");
}

async fn latitudes_of(fleet: &Fleet, path: &str) -> Vec<i64> {
    latitudes(&fleet.get(path).await)
}
