//! Which limit a request counts against, and what its answer says of it.

use serde_json::{Value, json};

use crate::support::{Answer, Engine, TestApp, on_both_engines};

on_both_engines!(
    only_what_is_submitted_counts_as_a_submission,
    submissions_have_their_own_bucket,
    a_good_token_is_not_held_to_its_neighbours,
);

fn location(second: u32) -> Value {
    json!({"dateTime": format!("2026-01-01T00:00:{second:02}Z"), "latitude": 42.2, "longitude": -8.7})
}

fn policy(answer: &Answer) -> &str {
    answer.header("ratelimit-policy").split(';').next().unwrap_or_default()
}

async fn only_what_is_submitted_counts_as_a_submission(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.requests_per_second = 1;
        config.limits.burst = 5;
    })
    .await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let post = async |kind: &str, body: &Value| {
        app.send(&owner, &format!("POST /api/devices/{device}/{kind}"), body).await
    };
    for second in 0..10 {
        let stored = post("locations", &location(second)).await;
        stored.expect(201);
        assert_eq!(policy(&stored), "\"account\"", "there is no bucket of submissions to report");
        assert_eq!(stored.header("ratelimit"), "\"account\";r=4;t=1", "and nothing was taken");
    }
    let range = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"});
    let read = post("locations", &range).await;
    assert_eq!(read.expect(200)["locations"].as_array().unwrap().len(), 10);
    assert_eq!(read.header("ratelimit"), "\"account\";r=3;t=2");
    post("alerts", &range).await.expect(200);
    let missing = "POST /api/devices/nowhere/locations";
    app.send(&owner, missing, &location(0)).await.expect_error(404, "not-found");
    let malformed = app.call(&format!("POST /api/devices/{device}/locations")).by(&owner);
    malformed.body("application/json", "{").send().await.expect_error(400, "malformed-json");

    post("locations", &range).await.expect_error(429, "rate-limited");
    post("alerts", &range).await.expect_error(429, "rate-limited");
    app.send(&owner, missing, &location(0)).await.expect_error(429, "rate-limited");
    post("locations", &location(11)).await.expect(201);
}

async fn submissions_have_their_own_bucket(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.submissions_per_second = 1;
        config.limits.submissions_burst = 2;
    })
    .await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let line = format!("POST /api/devices/{device}/locations");
    for second in 0..2 {
        let stored = app.send(&owner, &line, &location(second)).await;
        stored.expect(201);
        assert_eq!(policy(&stored), "\"submissions\"");
    }
    let limited = app.send(&owner, &line, &location(3)).await;
    limited.expect_error(429, "rate-limited");
    assert_eq!((policy(&limited), limited.header("retry-after")), ("\"submissions\"", "1"));
    app.get(&owner, "/api/devices").await;
}

async fn a_good_token_is_not_held_to_its_neighbours(engine: Engine) {
    let app = TestApp::with(engine, |config| config.limits.bad_tokens_per_second = 2).await;
    let tenant = app.tenant("acme", 10).await;
    let newcomer = app.person(&tenant, "new", crate::support::people::Traits::default()).await;
    let ask = async |token: &str| {
        let call = app.call("GET /api/groups").header("authorization", &format!("Bearer {token}"));
        call.from("192.0.2.1").send().await
    };
    ask(&tenant.owner.token).await.expect(200);
    for _ in 0..2 {
        ask("nonsense").await.expect_error(401, "invalid-token");
    }
    ask("nonsense").await.expect_error(429, "rate-limited");
    ask(&tenant.owner.token).await.expect(200);
    ask(&newcomer.token).await.expect_error(429, "rate-limited");
    app.clock().advance_seconds(1);
    ask(&newcomer.token).await.expect(200);
}

#[tokio::test]
async fn answers_state_how_many_attempts_may_fail() {
    let app = TestApp::new(Engine::Sqlite).await;
    let owner = app.tenant("acme", 10).await.owner;
    let good = json!({"userName": owner.email, "apiKey": owner.api_key});
    let bad = json!({"userName": owner.email, "apiKey": "wrong"});
    let check = async |line: &str, body: &Value, status: u16, left: &str| {
        let answer = app.call(line).json(body).send().await;
        assert_eq!(answer.status.as_u16(), status);
        assert_eq!(answer.header("ratelimit-policy"), "\"failures\";q=10;w=60");
        assert_eq!(answer.header("ratelimit"), format!("\"failures\";{left}"));
    };
    check("POST /api/Auth/Token", &good, 200, "r=10;t=0").await;
    check("POST /api/Auth/Token", &bad, 401, "r=9;t=6").await;
    check("POST /api/Auth/Token", &json!({}), 400, "r=9;t=6").await;
    check("POST /api/Auth/Token", &good, 200, "r=9;t=6").await;
    let sign_in = json!({"email": "nobody@acme.test", "password": "wrong"});
    check("POST /api/session", &sign_in, 401, "r=8;t=12").await;
    check("POST /api/session", &json!({}), 400, "r=8;t=12").await;
}
