//! Locations: every form of a body, every field there and back, histories and the last one.

mod accuracy;
mod formats;
mod geofences;
mod many_locations;
mod places;

use std::io::Write as _;

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Answer, Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    every_form_stores,
    every_field_comes_back,
    numbers_are_written_as_they_are_kept,
    good_ones_are_stored_beside_bad_ones,
    nothing_valid_is_refused_whole,
    sending_again_changes_nothing,
    lines_and_packed_bodies_are_taken,
    bombs_and_large_bodies_are_refused,
    malformed_bodies_are_refused,
    a_body_asks_for_a_range,
    histories_are_complete_or_paged,
    long_histories_are_streamed_whole,
    the_last_location_is_the_newest_sane_one,
    late_and_suspect_are_returned,
    storing_needs_the_privilege,
);

fn at(minute: u32) -> Value {
    json!({"dateTime": format!("2026-01-01T00:{minute:02}:00Z"), "latitude": 40.0 + f64::from(minute) / 10.0, "longitude": -8.5})
}

struct Tracker {
    app: TestApp,
    owner: Person,
    path: String,
}

impl Tracker {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let owner = app.tenant("acme", 10).await.owner;
        let path = format!("/api/devices/{}", app.device(&owner, &json!({"name": "Boat"})).await);
        Self { app, owner, path }
    }

    async fn post(&self, body: &Value) -> Answer {
        self.app.send(&self.owner, &format!("POST {}/locations", self.path), body).await
    }

    async fn post_raw(&self, media: &str, encoding: &str, body: Vec<u8>) -> Answer {
        let call = self.app.call(&format!("POST {}/locations", self.path)).by(&self.owner);
        let call = if encoding.is_empty() { call } else { call.header("content-encoding", encoding) };
        call.body(media, body).send().await
    }

    async fn get(&self, rest: &str) -> Value {
        self.app.get(&self.owner, &format!("{}{rest}", self.path)).await
    }

    async fn refused(&self, query: &str, code: &str) -> Value {
        let answer =
            self.app.call(&format!("GET {}/locations{query}", self.path)).by(&self.owner).send().await;
        answer.expect_error(400, code)
    }
}

fn counts(body: &Value) -> (u64, u64, usize) {
    let rejected = body["rejected"].as_array().unwrap().len();
    (body["accepted"].as_u64().unwrap(), body["duplicates"].as_u64().unwrap(), rejected)
}

fn minutes(body: &Value) -> Vec<u64> {
    let minute = |location: &Value| location["dateTime"].as_str().unwrap()[14..16].parse().unwrap();
    body["locations"].as_array().unwrap().iter().map(minute).collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(body).unwrap();
    packer.finish().unwrap()
}

async fn every_form_stores(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    for (body, count) in [
        (at(1), 1),
        (json!([at(2), at(3)]), 2),
        (json!({"locations": [at(4)]}), 1),
        (json!({"location": at(5)}), 1),
        (json!({"locations": [at(6)], "from": "", "to": null}), 1),
        (json!({"location": at(7), "from": null}), 1),
    ] {
        let answer = tracker.post(&body).await.expect(201);
        assert_eq!((counts(&answer), &answer["success"]), ((count, 0, 0), &json!(true)), "{body}");
    }
    assert_eq!(minutes(&tracker.get("/locations").await), [1, 2, 3, 4, 5, 6, 7]);
    for (body, pointer) in [
        (json!([]), ""),
        (json!({"locations": []}), ""),
        (json!({"locations": {}}), "/locations"),
        (json!({"location": null}), "/location"),
        (json!({"location": []}), "/location"),
        (json!({"locations": [at(1)], "location": at(2)}), "/location"),
        (json!(null), ""),
        (json!("x"), ""),
    ] {
        let refused = tracker.post(&body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
}

async fn every_field_comes_back(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let location = json!({
        "dateTime": "2026-01-01T00:00:00.125Z", "latitude": 42.123_456_7, "longitude": -8.720_765_4,
        "altitude": -12.5, "speed": 18.52, "course": 271.125, "accuracy": 5, "valid": true, "satellites": 9, "hdop": 0.9,
        "battery": 87, "fuel": 64.5, "fuel2": 0, "temperature": -18.2, "temperature2": 4,
        "sensorTime1": 1, "sensorTime2": 2.5, "sensorTime3": 3, "sensorTime4": 4, "inactiveSeconds": 600, "rpm": 1500,
        "mileage": 120_345.678, "ignition": false, "inputs": [true, false], "outputs": [],
        "warnings": ["LowVoltage"], "warningTexts": ["Supply below 11 V"], "alerts": ["SpeedLimit", ""],
        "alertTexts": ["⛵"], "hasCriticalAlert": true, "source": "doppler",
        "attributes": {"a": "text", "b": 5, "c": 0.1, "d": false, "e": -9_007_199_254_740_993_i64},
        "accessoriesAttributes": [{"name": "Hook", "state": "open"}, {}],
    });
    tracker.post(&location).await.expect(201);
    let mut expect = location.clone();
    expect["receivedAt"] = json!("2026-01-01T00:00:00Z");
    expect["milleage"] = expect["mileage"].clone();
    assert_eq!(tracker.get("/locations").await["locations"], json!([expect]));
    let last = tracker.get("/lastLocation").await["lastLocation"].clone();
    assert_eq!(last, expect);
    // The answer can be sent back, and is a duplicate.
    let again = tracker.post(&last).await.expect(200);
    assert_eq!(counts(&again), (0, 1, 0));
    let bare = json!({"dateTime": "2026-01-01T00:00:01Z", "latitude": 1, "longitude": 2});
    tracker.post(&bare).await.expect(201);
    let mut expect = bare;
    expect["receivedAt"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(tracker.get("/lastLocation").await["lastLocation"], expect, "absent stays absent");
    let alias = json!({"dateTime": "2026-01-01T00:00:02Z", "latitude": 1, "longitude": 180, "source": "manual", "milleage": 3, "gear": 2, "x": null});
    tracker.post(&alias).await.expect(201);
    let last = tracker.get("/lastLocation").await["lastLocation"].clone();
    assert_eq!((&last["mileage"], &last["longitude"]), (&json!(3), &json!(-180)));
    assert_eq!((&last["attributes"], &last["milleage"]), (&json!({"gear": 2}), &json!(3)));
}

async fn numbers_are_written_as_they_are_kept(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let body = r#"{"dateTime":"2026-01-01T00:00:00Z","latitude":0.10000000004,"longitude":-179.9999999,"speed":0.30000000000000004,"mileage":123456789.0126}"#;
    tracker.post_raw("application/json", "", body.into()).await.expect(201);
    let answer =
        tracker.app.call(&format!("GET {}/lastLocation", tracker.path)).by(&tracker.owner).send().await;
    let text = String::from_utf8(answer.body).unwrap();
    let written = r#""latitude":0.1,"longitude":-179.9999999,"speed":0.3,"mileage":123456789.013,"milleage":123456789.013,"#;
    assert!(text.contains(written), "{text}");
}

async fn good_ones_are_stored_beside_bad_ones(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let mut north = at(2);
    north["latitude"] = json!(91);
    north["course"] = json!(400);
    let mut strange = at(3);
    strange["extra"] = json!({"a": 1});
    let body = json!([at(1), north, 5, strange, at(4)]);
    let answer = tracker.post(&body).await.expect(201);
    assert_eq!(
        answer["rejected"],
        json!([
            {"index": 1, "code": "invalid-location", "error": "\"latitude\" must be between -90 and 90, not 91. \"course\" must be between 0 and 360, not 400."},
            {"index": 2, "code": "invalid-location", "error": "A location must be a JSON object with \"dateTime\", \"latitude\" and \"longitude\"."},
            {"index": 3, "code": "unknown-member", "error": "\"extra\" is not a known member. As an attribute, it must be a string, a number or a boolean."},
        ])
    );
    assert_eq!(counts(&answer), (2, 0, 3));
    assert_eq!(minutes(&tracker.get("/locations").await), [1, 4]);
    let again = tracker.post(&body).await.expect(200);
    assert_eq!(counts(&again), (0, 2, 3));
}

async fn nothing_valid_is_refused_whole(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let bad = json!({"dateTime": "yesterday", "latitude": 1, "longitude": 200});
    for (body, expect) in [
        (bad.clone(), vec!["/dateTime", "/longitude"]),
        (json!([bad, 5]), vec!["/0/dateTime", "/0/longitude", "/1"]),
        (json!({"locations": [{"latitude": 1}]}), vec!["/locations/0/dateTime", "/locations/0/longitude"]),
        (json!({"location": bad}), vec!["/location/dateTime", "/location/longitude"]),
        (json!({}), vec!["/dateTime", "/latitude", "/longitude"]),
    ] {
        let refused = tracker.post(&body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), expect, "{body}");
    }
    let many = json!(vec![json!({}); 1_000]);
    let refused = tracker.post(&many).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused).len(), 100, "an answer stays small");
    assert_eq!(tracker.get("/locations").await["locations"], json!([]));
}

async fn sending_again_changes_nothing(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let answer = tracker.post(&json!([at(1), at(2), at(1)])).await.expect(201);
    assert_eq!(counts(&answer), (2, 1, 0), "twice in one body is once");
    let answer = tracker.post(&json!([at(1), at(3)])).await.expect(201);
    assert_eq!(counts(&answer), (1, 1, 0));
    // Equal as normalised when submitted: another offset, digits beyond what is kept.
    let same =
        json!({"dateTime": "2026-01-01T02:01:00.0004+02:00", "latitude": 40.100_000_01, "longitude": -8.5});
    assert_eq!(counts(&tracker.post(&same).await.expect(200)), (0, 1, 0));
    let mut other = at(1);
    other["speed"] = json!(1);
    assert_eq!(
        counts(&tracker.post(&other).await.expect(201)),
        (1, 0, 0),
        "another record of one second and position"
    );
    assert_eq!(minutes(&tracker.get("/locations").await), [1, 1, 2, 3]);
}

async fn lines_and_packed_bodies_are_taken(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let lines = format!("{}\r\n\n{{\"dateTime\": \n{}\n", at(1), at(2));
    let answer = tracker.post_raw("application/x-ndjson; charset=utf-8", "", lines.into()).await.expect(201);
    assert_eq!(counts(&answer), (2, 0, 1));
    assert_eq!(
        (&answer["rejected"][0]["index"], &answer["rejected"][0]["code"]),
        (&json!(1), &json!("malformed-json"))
    );
    let refused = tracker.post_raw("application/x-ndjson", "", b"{\"a\":\n5".to_vec()).await;
    assert_eq!(pointers(&refused.expect_error(400, "invalid-body")), ["/0/a", "/1"]);

    let body = json!([at(3)]).to_string();
    tracker.post_raw("application/json", "gzip", gzip(body.as_bytes())).await.expect(201);
    let body = json!([at(4)]).to_string();
    let packed = zstd::encode_all(body.as_bytes(), 3).unwrap();
    tracker.post_raw("application/json", "zstd", packed).await.expect(201);
    let lines = format!("{}\n{}", at(5), at(6));
    tracker.post_raw("application/x-ndjson", "GZIP", gzip(lines.as_bytes())).await.expect(201);
    tracker.post_raw("application/json", "identity", at(7).to_string().into()).await.expect(201);
    assert_eq!(minutes(&tracker.get("/locations").await), [1, 2, 3, 4, 5, 6, 7]);
}

async fn bombs_and_large_bodies_are_refused(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let over = vec![b' '; 8 * 1024 * 1024 + 1];
    for (encoding, body) in
        [("gzip", gzip(&over)), ("zstd", zstd::encode_all(&over[..], 1).unwrap()), ("", over)]
    {
        tracker.post_raw("application/json", encoding, body).await.expect_error(413, "body-too-large");
    }
    for (encoding, body) in
        [("gzip", b"[]".to_vec()), ("zstd", gzip(b"[]")), ("gzip", gzip(b"[]")[..12].to_vec())]
    {
        tracker.post_raw("application/json", encoding, body).await.expect_error(400, "malformed-json");
    }
    for encoding in ["br", "gzip, gzip", "deflate"] {
        let answer = tracker.post_raw("application/json", encoding, b"[]".to_vec()).await;
        answer.expect_error(415, "unsupported-media-type");
    }
    tracker.post_raw("text/csv", "", b"[]".to_vec()).await.expect_error(415, "unsupported-media-type");
    let many = json!(vec![at(1); 10_001]);
    tracker.post(&many).await.expect_error(413, "body-too-large");
    let zeros = format!("[{}0]", "0,".repeat(1_500_000));
    tracker.post_raw("application/json", "", zeros.into()).await.expect_error(400, "malformed-json");
    assert_eq!(tracker.get("/locations").await["locations"], json!([]));
    let most: Vec<Value> = (0..10_000).map(|n| {
        json!({"dateTime": format!("2026-01-01T00:00:00.{:03}Z", n % 1000), "latitude": 1, "longitude": n / 1000})
    }).collect();
    assert_eq!(counts(&tracker.post(&json!(most)).await.expect(201)), (10_000, 0, 0));
}

async fn malformed_bodies_are_refused(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let point =
        |extra: &str| format!(r#"{{"dateTime":"2026-01-01T00:00:00Z","latitude":1,"longitude":1,{extra}}}"#);
    for body in [
        String::new(),
        "{".to_owned(),
        deep,
        point(r#""latitude":2"#),
        point(r#""a":"\u0000""#),
        point(r#""a":"\ud800""#),
        point(r#""speed":NaN"#),
        point(r#""speed":1e999"#),
        point(r#""speed":Infinity"#),
        point(r#""\u0000":1"#),
    ] {
        tracker.post_raw("application/json", "", body.into_bytes()).await.expect_error(400, "malformed-json");
    }
    tracker.post_raw("application/json", "", b"\"\xff\"".to_vec()).await.expect_error(400, "malformed-json");
    assert_eq!(tracker.get("/locations").await["locations"], json!([]));
}

async fn a_body_asks_for_a_range(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(3), at(1), at(4), at(2), at(5)])).await.expect(201);
    let range = json!({"from": "2026-01-01T00:02:00Z", "to": "2026-01-01T01:04:00+01:00"});
    let answer = tracker.post(&range).await.expect(200);
    assert_eq!((minutes(&answer), answer.get("nextCursor")), (vec![2, 3, 4], None));
    let mut page = range.clone();
    page["limit"] = json!(2);
    let answer = tracker.post(&page).await.expect(200);
    assert_eq!(minutes(&answer), [2, 3]);
    page["cursor"] = answer["nextCursor"].clone();
    let answer = tracker.post(&page).await.expect(200);
    assert_eq!((minutes(&answer), answer.get("nextCursor")), (vec![4], None));
    let open_end = json!({"from": "2026-01-01T00:04:00Z"});
    assert_eq!(minutes(&tracker.post(&open_end).await.expect(200)), [4, 5]);
    for (body, pointer) in [
        (json!({"from": "2026-01-01T00:00:01Z", "to": "2026-01-01T00:00:00Z"}), "/to"),
        (json!({"from": "2026-01", "to": "2026-01-01T00:00:00Z"}), "/from"),
        (json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z", "limit": 10_001}), "/limit"),
        (json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z", "order": "asc"}), "/order"),
    ] {
        let refused = tracker.post(&body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
    let mut bad = range;
    bad["cursor"] = json!("nonsense");
    tracker.post(&bad).await.expect_error(400, "invalid-cursor");
    assert_eq!(minutes(&tracker.get("/locations").await).len(), 5, "asking stores nothing");
}

async fn histories_are_complete_or_paged(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(3), at(1), at(5), at(2), at(4)])).await.expect(201);
    assert_eq!(minutes(&tracker.get("/locations?order=desc").await), [5, 4, 3, 2, 1]);
    let some = "/locations?from=2026-01-01T00:02:00Z&to=2026-01-01T00:04:00Z";
    assert_eq!(minutes(&tracker.get(some).await), [2, 3, 4]);
    assert_eq!(minutes(&tracker.get("/locations?from=2026-01-01T01:05:00%2B01:00").await), [5]);
    for (order, expect) in [("asc", [1, 2, 3, 4, 5]), ("desc", [5, 4, 3, 2, 1])] {
        let mut found = Vec::new();
        let mut rest = format!("/locations?limit=2&order={order}");
        loop {
            let page =
                tracker.app.call(&format!("GET {}{rest}", tracker.path)).by(&tracker.owner).send().await;
            let body = page.expect(200);
            found.extend(minutes(&body));
            let Some(cursor) = body["nextCursor"].as_str() else { break };
            rest = format!("/locations?limit=2&order={order}&cursor={cursor}");
            assert_eq!(
                page.header("link"),
                format!("<http://perigee.test{}{rest}>; rel=\"next\"", tracker.path)
            );
        }
        assert_eq!(found, expect);
    }
    let cursor = tracker.get("/locations?limit=2").await["nextCursor"].as_str().unwrap().to_owned();
    tracker.refused(&format!("?order=desc&cursor={cursor}"), "invalid-cursor").await;
    let other = tracker.app.device(&tracker.owner, &json!({"name": "Other"})).await;
    let foreign = format!("GET /api/devices/{other}/locations?cursor={cursor}");
    tracker.app.call(&foreign).by(&tracker.owner).send().await.expect_error(400, "invalid-cursor");
    for query in [
        "?limit=0",
        "?limit=10001",
        "?from=yesterday",
        "?from=2026-01",
        "?to=2026-02-30T00:00:00Z",
        "?order=up",
        "?from=2026-01-01T00:00:01Z&to=2026-01-01T00:00:00Z",
        "?colour=red",
        "?limit=1&limit=2",
        "?alertName=x",
    ] {
        tracker.refused(query, "invalid-parameter").await;
    }
    tracker.refused("?cursor=nonsense", "invalid-cursor").await;
}

async fn long_histories_are_streamed_whole(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    // Several at each instant, so that parts begin in the middle of one.
    let many: Vec<Value> = (0..9_000).map(|n| {
        json!({"dateTime": format!("2026-01-01T00:00:00.{:03}Z", n % 7 + 1), "latitude": 1, "longitude": 1, "n": n})
    }).collect();
    tracker.post(&json!(many)).await.expect(201);
    for order in ["asc", "desc"] {
        let all = tracker.get(&format!("/locations?order={order}")).await;
        let all = all["locations"].as_array().unwrap();
        let mut numbers: Vec<i64> = all.iter().map(|l| l["attributes"]["n"].as_i64().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..9_000).collect::<Vec<_>>());
        let times: Vec<&str> = all.iter().map(|l| l["dateTime"].as_str().unwrap()).collect();
        assert!(if order == "asc" { times.is_sorted() } else { times.iter().rev().is_sorted() });
    }
}

async fn the_last_location_is_the_newest_sane_one(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let path = format!("GET {}/lastLocation", tracker.path);
    tracker.app.call(&path).by(&tracker.owner).send().await.expect_error(404, "no-location");
    tracker.post(&at(5)).await.expect(201);
    let first = tracker.app.call(&path).by(&tracker.owner).send().await;
    assert_eq!(first.expect(200)["lastLocation"]["dateTime"], "2026-01-01T00:05:00Z");
    let tag = first.header("etag").to_owned();
    let known = tracker.app.call(&path).by(&tracker.owner).header("if-none-match", &tag).send().await;
    assert_eq!((known.status.as_u16(), known.body.len(), known.header("etag")), (304, 0, tag.as_str()));

    let future = json!({"dateTime": "2026-01-01T00:30:00Z", "latitude": 1, "longitude": 1});
    let null_island = json!({"dateTime": "2026-01-01T00:06:00Z", "latitude": 0, "longitude": 0});
    for other in [at(4), future, null_island] {
        tracker.post(&other).await.expect(201);
        let still = tracker.app.call(&path).by(&tracker.owner).header("if-none-match", &tag).send().await;
        assert_eq!(still.status.as_u16(), 304, "{other}");
    }
    tracker.post(&at(7)).await.expect(201);
    let moved = tracker.app.call(&path).by(&tracker.owner).header("if-none-match", &tag).send().await;
    assert_eq!(moved.expect(200)["lastLocation"]["dateTime"], "2026-01-01T00:07:00Z");
    tracker
        .app
        .call(&format!("{path}?x=1"))
        .by(&tracker.owner)
        .send()
        .await
        .expect_error(400, "invalid-parameter");
}

async fn late_and_suspect_are_returned(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.app.clock().advance_seconds(3_000);
    let body = json!([
        {"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 1},
        {"dateTime": "2026-01-01T00:45:00Z", "latitude": 0, "longitude": 0},
        {"dateTime": "2026-01-01T00:46:00Z", "latitude": 0, "longitude": 0, "valid": true},
        {"dateTime": "2026-01-01T02:00:00Z", "latitude": 1, "longitude": 1},
    ]);
    tracker.post(&body).await.expect(201);
    let found = tracker.get("/locations").await;
    let flags: Vec<_> =
        found["locations"].as_array().unwrap().iter().map(|l| (l.get("late"), l.get("suspect"))).collect();
    let yes = json!(true);
    assert_eq!(flags, [(Some(&yes), None), (None, Some(&yes)), (None, None), (None, Some(&yes))]);
}

async fn storing_needs_the_privilege(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let path = format!(
        "/api/devices/{}",
        app.device(&tenant.owner, &json!({"name": "Boat", "identifier": "imei"})).await
    );
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let writer = Traits { privileges: vec![Privilege::LocationsWrite], ..Traits::default() };
    let writer = app.person(&tenant, "writer", writer).await;
    app.send(&reader, &format!("POST {path}/locations"), &at(1)).await.expect_error(403, "forbidden");
    app.send(&writer, "POST /api/devices/imei/locations", &at(1)).await.expect(201);
    let range = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"});
    let seen = app.send(&reader, &format!("POST {path}/locations"), &range).await.expect(200);
    assert_eq!(minutes(&seen), [1], "asking needs visibility alone");
    let alert = json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": "X"});
    app.send(&writer, &format!("POST {path}/alerts"), &alert).await.expect_error(403, "forbidden");
}
