//! Budgets: patches, compressed bodies and endless bodies are limited before they cost anything.

use std::convert::Infallible;
use std::io::Write as _;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use perigee_core::access::privilege::Privilege;
use perigee_core::id::AccountId;
use perigee_server::budget::{Payer, Queue, Slot};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_patch_costs_what_its_size_explains,
    every_patch_goes_the_same_way,
    who_may_not_store_is_refused_before_unpacking,
    the_rate_is_asked_before_unpacking,
    packed_bodies_wait_for_their_turn_and_are_bounded,
    bodies_without_end_are_bounded_by_address,
    bodies_with_credentials_are_small,
    answers_that_nobody_reads_are_bounded,
    a_page_of_large_items_ends_early,
    texts_of_a_location_are_bounded,
    histories_and_lists_are_read_in_turn,
);

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Takes every slot of a queue.
pub(crate) fn fill(queue: &std::sync::Arc<Queue>) -> Vec<Slot> {
    let payers = (1..).map(|id| Payer::account(AccountId::from_i64(id)));
    payers.map_while(|payer| queue.try_acquire(payer, 0)).collect()
}

/// Yields until this many wait in a queue.
pub(crate) async fn until_waiting(queue: &Queue, count: usize) {
    while queue.load().1 < count {
        tokio::task::yield_now().await;
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(body).unwrap();
    packer.finish().unwrap()
}

fn patch(first: &Value, rest: &Value, times: usize) -> Value {
    std::iter::once(first.clone()).chain(std::iter::repeat_n(rest.clone(), times)).collect()
}

async fn a_patch_costs_what_its_size_explains(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let cookie = app.sign_in(&reader).await;
    let zeros = |count: usize| json!({"op": "add", "path": "/a", "value": vec![0; count]});
    let to_end = json!({"op": "move", "from": "/a/0", "path": "/a/20000"});
    let at_front = json!({"op": "add", "path": "/a/0", "value": 0});
    let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
    for (patch, expected) in [
        (patch(&zeros(480_000), &to_end, 999), "more than 100000 values"),
        (patch(&zeros(30_000), &to_end, 999), "more work than a patch of this size may"),
        (patch(&zeros(30_000), &at_front, 999), "more work than a patch of this size may"),
        (patch(&zeros(0), &at_front, 20_000), "at most 1000 operations"),
        (patch(&zeros(1), &double, 30), "make the document larger than allowed"),
    ] {
        let answer = app.call("PATCH /api/session/preferences").cookie(&cookie).json(&patch).send().await;
        let error = answer.expect_error(422, "patch-too-costly");
        let message = error["error"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(app.app.budget.bodies.used(), 0);
}

async fn every_patch_goes_the_same_way(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let device = app.device(owner, &json!({"name": "Star"})).await;
    let group = app.group(owner, &json!({"name": "Few"})).await;
    let costly = patch(
        &json!({"op": "add", "path": "/tags", "value": vec![0; 30_000]}),
        &json!({"op": "add", "path": "/tags/0", "value": 0}),
        999,
    );
    for path in [
        format!("devices/{device}"),
        format!("groups/{group}"),
        format!("users/{}", owner.id),
        "account".to_owned(),
    ] {
        let line = format!("PATCH /api/{path}");
        app.send(owner, &line, &costly).await.expect_error(422, "patch-too-costly");
    }
    // An expensive patch is applied off the connection threads.
    let tags: Vec<Value> = (0..900)
        .map(|number| json!({"op": "add", "path": "/tags/name", "value": format!("{number}{}", "x".repeat(200))}))
        .collect();
    let waiting = app.app.budget.work.clone();
    let held = fill(&waiting);
    let line = format!("PATCH /api/devices/{device}");
    let first = json!({"op": "add", "path": "/tags", "value": {}});
    let patch: Value = std::iter::once(first).chain(tags).collect();
    let sent = app.send(owner, &line, &patch);
    let (answer, ()) = tokio::join!(sent, async {
        until_waiting(&waiting, 1).await;
        drop(held);
    });
    assert!(answer.expect(200)["device"]["tags"]["name"].as_str().unwrap().starts_with("899x"));
}

async fn who_may_not_store_is_refused_before_unpacking(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.requests_per_second = 1;
        config.limits.burst = 4;
    })
    .await;
    let tenant = app.tenant("acme", 10).await;
    let writer = Traits { privileges: vec![Privilege::DevicesWrite], ..Traits::default() };
    let maker = app.person(&tenant, "maker", writer).await;
    let device = app.device(&maker, &json!({"name": "Star"})).await;
    let line = format!("POST /api/devices/{device}/locations");
    let send = async |encoding: &str, body: Vec<u8>| {
        let call = app.call(&line).by(&maker).header("content-encoding", encoding);
        call.body("application/json", body).send().await
    };
    // Not even gzip: decompression would answer with another error.
    send("gzip", vec![b'x'; 17 * KIB]).await.expect_error(403, "forbidden");
    send("gzip", gzip(&vec![b' '; 8 * MIB])).await.expect_error(403, "forbidden");
    let range = json!({"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}).to_string();
    send("gzip", gzip(range.as_bytes())).await.expect(200);
    send("gzip", vec![b'x'; 17 * KIB]).await.expect_error(429, "rate-limited");
}

async fn the_rate_is_asked_before_unpacking(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.submissions_per_second = 1;
        config.limits.submissions_burst = 1;
    })
    .await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Star"})).await;
    let line = format!("POST /api/devices/{device}/locations");
    let send = async |body: Vec<u8>| {
        let call = app.call(&line).by(&tenant.owner).header("content-encoding", "gzip");
        call.body("application/json", body).send().await
    };
    send(gzip(location(1).to_string().as_bytes())).await.expect(201);
    send(b"not packed".to_vec()).await.expect_error(429, "rate-limited");
}

fn location(second: u32) -> Value {
    json!({"dateTime": format!("2026-05-01T12:00:{second:02}Z"), "latitude": 42.0, "longitude": -8.0})
}

async fn packed_bodies_wait_for_their_turn_and_are_bounded(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.waiting_per_client = 3).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Star"})).await;
    let line = format!("POST /api/devices/{device}/locations");
    let post = |encoding: &str, body: Vec<u8>| {
        let call = app.call(&line).by(&tenant.owner).header("content-encoding", encoding);
        call.body("application/json", body).send()
    };
    let work = app.app.budget.work.clone();
    let held = fill(&work);
    let packed = (0..10).map(|second| post("gzip", gzip(location(second).to_string().as_bytes())));
    let answers = futures_util::future::join_all(packed);
    let (answers, ()) = tokio::join!(answers, async {
        until_waiting(&work, 3).await;
        assert_eq!(work.load().1, 3, "the others were refused");
        // A small uncompressed body does not wait.
        post("identity", location(30).to_string().into_bytes()).await.expect(201);
        drop(held);
    });
    let stored = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(stored, 3);
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        refused.expect_error(429, "rate-limited");
        assert_eq!(refused.header("retry-after"), "1");
    }
    // A body that needs the general parser is also read off the connection threads, with the same refusal.
    let values = format!("[[{}0]]", "0,".repeat(300_000));
    post("gzip", gzip(values.as_bytes())).await.expect_error(400, "invalid-body");
    assert_eq!((work.load(), app.app.budget.bodies.used()), ((0, 0), 0));
}

/// A body that sends this many bytes in pieces and never ends.
fn endless(bytes: usize) -> Body {
    let piece = Bytes::from(vec![b' '; 16 * KIB]);
    let frames = (0..bytes / piece.len()).map(move |_| Ok::<_, Infallible>(Frame::data(piece.clone())));
    Body::new(StreamBody::new(stream::iter(frames).chain(stream::pending())))
}

async fn bodies_without_end_are_bounded_by_address(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.body_mib_per_address = 8).await;
    let tenant = app.tenant("acme", 10).await;
    let other = app.tenant("other", 10).await;
    let post = |person: &crate::support::Person, address: &str, body: Body| {
        app.call("POST /api/devices").by(person).from(address).body("application/json", body).send()
    };
    let bodies = app.app.budget.bodies.clone();
    let mut endless_ones = tokio::task::JoinSet::new();
    for _ in 0..20 {
        endless_ones.spawn(post(&tenant.owner, "192.0.2.1", endless(1000 * KIB)));
    }
    for _ in 0..12 {
        let refused = endless_ones.join_next().await.unwrap().unwrap();
        refused.expect_error(429, "rate-limited");
        assert_eq!(refused.header("retry-after"), "1");
    }
    assert!(bodies.used() <= 8 * MIB, "{}", bodies.used());
    let device = Body::from(json!({"name": "Star"}).to_string());
    post(&other.owner, "192.0.2.2", device).await.expect(201);
    let small = Body::from(json!({"name": "Moon"}).to_string());
    post(&tenant.owner, "192.0.2.1", small).await.expect(201);
    endless_ones.shutdown().await;
    assert_eq!(bodies.used(), 0);
}

async fn bodies_with_credentials_are_small(engine: Engine) {
    let app = TestApp::new(engine).await;
    for line in ["POST /api/session", "POST /api/Auth/Token", "POST /api/session/passwordReset"] {
        let declared = app.call(line).json(&json!({"email": "x".repeat(9 * KIB)})).send().await;
        assert_eq!(declared.status, 413, "{line}");
        let undeclared = app.call(line).body("application/json", endless(MIB)).send().await;
        assert_eq!(undeclared.status, 413, "{line}");
    }
}

/// A device with this many locations, each with this much text.
async fn device_with_long_texts(app: &TestApp, owner: &crate::support::Person, count: usize) -> String {
    let device = app.device(owner, &json!({"name": "Star"})).await;
    let texts: serde_json::Map<String, Value> =
        (0..10).map(|number| (format!("note{number}"), json!("x".repeat(1_000)))).collect();
    let locations: Vec<Value> = (0..count)
        .map(|second| {
            let time = format!("2026-05-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
            json!({"dateTime": time, "latitude": 42, "longitude": -8, "attributes": texts})
        })
        .collect();
    for some in locations.chunks(500) {
        let path = format!("POST /api/devices/{device}/locations");
        app.call(&path).by(owner).json(&json!(some)).send().await.expect(201);
    }
    device
}

async fn answers_that_nobody_reads_are_bounded(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.answer_mib = 16).await;
    let tenant = app.tenant("acme", 10).await;
    let other = app.tenant("other", 10).await;
    let device = device_with_long_texts(&app, &tenant.owner, 400).await;
    let small = app.device(&other.owner, &json!({"name": "Moon"})).await;
    let page = format!("GET /api/devices/{device}/locations?limit=10000");
    let mut unread = Vec::new();
    let refused = loop {
        let answer = app.call(&page).by(&tenant.owner).from("192.0.2.1").begin().await;
        if answer.status() != 200 {
            break answer.status();
        }
        unread.push(answer);
    };
    assert_eq!(refused, 429);
    assert!(
        !unread.is_empty() && app.app.budget.answers.used() <= 8 * MIB,
        "{}",
        app.app.budget.answers.used()
    );
    let read = format!("GET /api/devices/{small}/locations?limit=10000");
    app.call(&read).by(&other.owner).from("192.0.2.2").send().await.expect(200);
    drop(unread);
    assert_eq!(app.app.budget.answers.used(), 0);
    app.call(&page).by(&tenant.owner).from("192.0.2.1").send().await.expect(200);
}

async fn a_page_of_large_items_ends_early(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = device_with_long_texts(&app, &tenant.owner, 400).await;
    let path = format!("GET /api/devices/{device}/locations?limit=10000");
    let (mut cursor, mut count, mut pages) = (String::new(), 0, 0);
    loop {
        let answer = app.call(&format!("{path}{cursor}")).by(&tenant.owner).send().await;
        assert!(answer.body.len() < 3 * MIB, "{}", answer.body.len());
        let page = answer.expect(200);
        count += page["locations"].as_array().unwrap().len();
        pages += 1;
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(count, 400);
    assert!(pages > 1, "{pages}");
}

async fn texts_of_a_location_are_bounded(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Star"})).await;
    let with = |texts: usize| {
        let texts: serde_json::Map<String, Value> =
            (0..texts).map(|number| (format!("n{number:03}"), json!("x".repeat(1_000)))).collect();
        json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42, "longitude": -8, "attributes": texts})
    };
    let path = format!("POST /api/devices/{device}/locations");
    let post = |body: Value| app.call(&path).by(&tenant.owner).json(&body).send();
    post(with(16)).await.expect(201);
    let error = post(with(17)).await.expect_error(400, "invalid-body");
    assert!(error["error"].as_str().unwrap().contains("at most 16384 are accepted"), "{error}");
    let alert = |texts: usize| {
        let mut alert = with(texts);
        alert["alertName"] = json!("Note");
        alert
    };
    let path = format!("POST /api/devices/{device}/alerts");
    let post = |body: Value| app.call(&path).by(&tenant.owner).json(&body).send();
    post(alert(16)).await.expect(201);
    post(alert(17)).await.expect_error(400, "invalid-body");
}

async fn histories_and_lists_are_read_in_turn(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.waiting = 4).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Star"})).await;
    let line = format!("POST /api/devices/{device}/locations");
    app.send(&tenant.owner, &line, &json!([location(1), location(2)])).await.expect(201);
    let history = format!("/api/devices/{device}/locations");
    let paths = [&history, "/api/devices", "/api/locations/feed?cursor=start", "/api/events?cursor=start"];
    let reads = app.app.budget.reads.clone();
    let held = fill(&reads);
    let call = |path: &str| app.call(&format!("GET {path}")).by(&tenant.owner).send();
    let waiting = futures_util::future::join_all(paths.map(call));
    let (answers, ()) = tokio::join!(waiting, async {
        until_waiting(&reads, paths.len()).await;
        call(&history).await.expect_error(429, "rate-limited");
        // A single resource is read without waiting.
        call(&format!("/api/devices/{device}")).await.expect(200);
        drop(held);
    });
    for answer in answers {
        answer.expect(200);
    }
    assert_eq!(reads.load(), (0, 0));
}
