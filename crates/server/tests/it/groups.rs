//! Groups: the exemplar of a resource, so the rules all resources share are tested here too.

use perigee_core::access::privilege::Privilege;
use perigee_server::budget::Payer;
use serde_json::json;

use crate::api::budget::fill;
use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_group_lives_and_dies,
    lists_are_complete_or_paged,
    changes_need_the_right_revision,
    sending_twice_makes_one,
    bad_bodies_say_what_to_change,
    paths_match_in_any_case_and_under_the_prefix,
    another_accounts_group_looks_like_none,
    every_answer_has_its_headers,
    large_changes_wait_for_their_turn,
);

/// While a large change of another account runs, one of this account may wait. Further ones are refused before anything
/// is written, and small changes are made at once.
async fn large_changes_wait_for_their_turn(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.waiting_per_client = 1).await;
    let tenant = app.tenant("acme", 300).await;
    let owner = &tenant.owner;
    let mut devices = Vec::new();
    for number in 0..251 {
        devices.push(app.device(owner, &json!({"name": format!("Device {number}")})).await);
    }
    let full = json!({"name": "Full", "devices": devices});
    let made = app.send(owner, "POST /api/groups", &full).await.expect(201);
    let path = format!("/api/groups/{}", made["id"].as_str().unwrap());
    let large_groups = app.app.budget.large_groups.clone();
    let running = fill(&large_groups);
    assert_eq!(running.len(), 1);
    let mut waiting = Box::pin(large_groups.acquire(Payer::account(tenant.account.id), 0));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    app.send(owner, "POST /api/groups", &full).await.expect_error(429, "rate-limited");
    let empty = json!({"name": "Empty", "devices": []});
    app.send(owner, &format!("PUT {path}"), &empty).await.expect_error(429, "rate-limited");
    app.call(&format!("DELETE {path}")).by(owner).send().await.expect_error(429, "rate-limited");
    let renamed = app.send(owner, &format!("PATCH {path}"), &json!({"name": "Renamed"})).await.expect(200);
    assert_eq!(renamed["devices"].as_array().unwrap().len(), 251);
    drop((waiting, running));
    app.send(owner, &format!("PUT {path}"), &empty).await.expect(200);
    assert_eq!(large_groups.load(), (0, 0), "a change gives its slot back before it is answered");
}

async fn a_group_lives_and_dies(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let made = app.call("POST /api/groups").by(&tenant.owner).json(&json!({"name": "Boats"})).send().await;
    let body = made.expect(201);
    let id = body["id"].as_str().unwrap();
    assert_eq!(made.header("location"), format!("http://perigee.test/api/groups/{id}"));
    assert_eq!(made.header("etag"), "\"r1\"");
    assert_eq!(
        (&body["success"], &body["apiUsage"], &body["apiDailyUsage"]),
        (&json!(true), &json!(1), &json!(1))
    );
    assert_eq!(
        (&body["name"], &body["description"], &body["devices"]),
        (&json!("Boats"), &json!(null), &json!([]))
    );

    let steps = json!([{"op": "test", "path": "/name", "value": "Boats"}, {"op": "add", "path": "/description", "value": "Blue"}]);
    let path = format!("/api/groups/{id}");
    let patched = app.call(&format!("PATCH {path}")).by(&tenant.owner).json(&steps).send().await.expect(200);
    assert_eq!(patched["description"], "Blue");
    let merged =
        app.call(&format!("PATCH {path}")).by(&tenant.owner).json(&json!({"description": null})).send().await;
    assert_eq!((&merged.expect(200)["description"], merged.header("etag")), (&json!(null), "\"r3\""));
    let same = app.call(&format!("PUT {path}")).by(&tenant.owner).json(&merged.json()).send().await;
    assert_eq!((same.expect(200)["name"].clone(), same.header("etag")), (json!("Boats"), "\"r3\""));
    let failed = json!([{"op": "test", "path": "/name", "value": "Cars"}]);
    app.call(&format!("PATCH {path}"))
        .by(&tenant.owner)
        .json(&failed)
        .send()
        .await
        .expect_error(409, "patch-test-failed");

    app.call(&format!("DELETE {path}")).by(&tenant.owner).send().await.expect(200);
    app.call(&format!("GET {path}")).by(&tenant.owner).send().await.expect_error(404, "not-found");
}

async fn lists_are_complete_or_paged(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for number in 0..5 {
        let name = json!({"name": format!("Group {number}")});
        app.call("POST /api/groups").by(&owner).json(&name).send().await.expect(201);
    }
    let all = app.call("GET /api/groups").by(&owner).send().await.expect(200);
    assert_eq!(all["groups"].as_array().unwrap().len(), 5);
    assert_eq!(all.get("nextCursor"), None);

    let mut path = "/api/groups?limit=2".to_owned();
    let mut names = Vec::new();
    loop {
        let page = app.call(&format!("GET {path}")).by(&owner).send().await;
        let body = page.expect(200);
        names.extend(body["groups"].as_array().unwrap().iter().map(|group| group["name"].clone()));
        let Some(cursor) = body["nextCursor"].as_str() else { break };
        path = format!("/api/groups?limit=2&cursor={cursor}");
        assert_eq!(page.header("link"), format!("<http://perigee.test{path}>; rel=\"next\""));
    }
    assert_eq!(json!(names), json!(["Group 0", "Group 1", "Group 2", "Group 3", "Group 4"]));

    let found = app.call("GET /api/groups?q=GROUP%203").by(&owner).send().await.expect(200);
    assert_eq!(found["groups"].as_array().unwrap().len(), 1);
    for (query, code) in [
        ("limit=0", "invalid-parameter"),
        ("limit=1001", "invalid-parameter"),
        ("limit=x", "invalid-parameter"),
        ("colour=red", "invalid-parameter"),
        ("limit=1&limit=2", "invalid-parameter"),
        ("q=%00", "invalid-parameter"),
        ("cursor=nonsense", "invalid-cursor"),
    ] {
        app.call(&format!("GET /api/groups?{query}")).by(&owner).send().await.expect_error(400, code);
    }
}

async fn changes_need_the_right_revision(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let id =
        app.call("POST /api/groups").by(&owner).json(&json!({"name": "A"})).send().await.expect(201)["id"]
            .clone();
    let path = format!("/api/groups/{}", id.as_str().unwrap());
    let put = |tag: &str, name: &str| {
        app.call(&format!("PUT {path}"))
            .by(&owner)
            .header("if-match", tag)
            .json(&json!({"name": name}))
            .send()
    };
    put("\"r1\"", "B").await.expect(200);
    put("\"r1\"", "C").await.expect_error(412, "precondition-failed");
    put("W/\"r2\"", "C").await.expect_error(412, "precondition-failed");
    put("r2", "C").await.expect_error(400, "invalid-header");
    put("*", "C").await.expect(200);
    let known = app.call(&format!("GET {path}")).by(&owner).header("if-none-match", "\"r3\"").send().await;
    assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
    let stale = app.call(&format!("DELETE {path}")).by(&owner).header("if-match", "\"r1\"").send().await;
    stale.expect_error(412, "precondition-failed");
}

async fn sending_twice_makes_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let post = |name: &str| {
        let call = app.call("POST /api/groups").by(&owner).header("idempotency-key", "once");
        call.json(&json!({"name": name})).send()
    };
    let (first, again) = (post("A").await.expect(201), post("A").await.expect(201));
    assert_eq!(first["id"], again["id"]);
    post("B").await.expect_error(422, "idempotency-mismatch");
    let all = app.call("GET /api/groups").by(&owner).send().await.expect(200);
    assert_eq!(all["groups"].as_array().unwrap().len(), 1);
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let long = json!({"name": "x".repeat(201)}).to_string();
    let cases: Vec<(&str, u16, &str)> = vec![
        ("", 400, "malformed-json"),
        ("{", 400, "malformed-json"),
        (r#"{"name": "a", "name": "b"}"#, 400, "malformed-json"),
        (r#"{"name": "a\u0000"}"#, 400, "malformed-json"),
        (r#"{"name": "\ud800"}"#, 400, "malformed-json"),
        (&deep, 400, "malformed-json"),
        ("[]", 400, "invalid-body"),
        (r#"{"name": ""}"#, 400, "invalid-body"),
        (r#"{"name": 5}"#, 400, "invalid-body"),
        (r#"{"name": null}"#, 400, "invalid-body"),
        (r#"{"nmae": "a"}"#, 400, "invalid-body"),
        (r#"{"name": "a", "devices": ["dev_0000000000000"]}"#, 400, "invalid-body"),
        (r#"{"name": "a", "devices": ["x"]}"#, 400, "invalid-body"),
        (&long, 400, "invalid-body"),
    ];
    for (body, status, code) in cases {
        let answer =
            app.call("POST /api/groups").by(&owner).body("application/json", body.to_owned()).send().await;
        let problem = answer.expect_error(status, code);
        assert!(problem["errors"][0]["detail"].is_string(), "{problem}");
    }
    let huge = json!({"name": "a", "description": "x".repeat(1 << 20)}).to_string();
    let answer = app.call("POST /api/groups").by(&owner).body("application/json", huge).send().await;
    answer.expect_error(413, "body-too-large");
    let answer = app.call("POST /api/groups").by(&owner).body("text/plain", "{}").send().await;
    answer.expect_error(415, "unsupported-media-type");
    let all = app.call("GET /api/groups").by(&owner).send().await.expect(200);
    assert_eq!(all["groups"], json!([]), "nothing was stored");
}

async fn paths_match_in_any_case_and_under_the_prefix(engine: Engine) {
    let app =
        TestApp::with(engine, |config| config.server.base_url = "https://example.test/track".into()).await;
    let owner = app.tenant("acme", 10).await.owner;
    for path in ["/api/groups", "/API/Groups", "/track/api/groups"] {
        let list = app.call(&format!("GET {path}?limit=1")).by(&owner).send().await;
        assert_eq!(list.expect(200)["groups"], json!([]), "{path}");
    }
    let made = app.call("POST /track/api/groups").by(&owner).json(&json!({"name": "A"})).send().await;
    assert!(made.header("location").starts_with("https://example.test/track/api/groups/grp_"));
    let wrong = app.call("POST /api/nothing").by(&owner).send().await;
    wrong.expect_error(404, "not-found");
    let method = app.call("DELETE /api/groups").by(&owner).send().await;
    method.expect_error(405, "method-not-allowed");
    assert_eq!(method.header("allow"), "GET,HEAD,POST");
    let accept = app.call("GET /api/groups").by(&owner).header("accept", "text/csv").send().await;
    accept.expect_error(406, "not-acceptable");
}

async fn another_accounts_group_looks_like_none(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let made =
        app.call("POST /api/groups").by(&theirs.owner).json(&json!({"name": "A"})).send().await.expect(201);
    let their_id = made["id"].as_str().unwrap();
    let mut bodies = Vec::new();
    for id in [their_id, "grp_0000000000000", "nonsense", "%00"] {
        let mut body = app
            .call(&format!("GET /api/groups/{id}"))
            .by(&mine.owner)
            .send()
            .await
            .expect_error(404, "not-found");
        for live in ["instance", "apiUsage", "apiDailyUsage"] {
            body[live] = json!(null);
        }
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| body == &bodies[0]), "{bodies:?}");
    let reader = app.person(&mine, "reader", Traits::default()).await;
    app.call("POST /api/groups")
        .by(&reader)
        .json(&json!({"name": "A"}))
        .send()
        .await
        .expect_error(403, "forbidden");
    let writer = app
        .person(&mine, "writer", Traits { privileges: vec![Privilege::GroupsWrite], ..Traits::default() })
        .await;
    app.call("POST /api/groups").by(&writer).json(&json!({"name": "A"})).send().await.expect(201);
}

async fn every_answer_has_its_headers(engine: Engine) {
    let app = TestApp::with(engine, |config| config.limits.burst = 2).await;
    let owner = app.tenant("acme", 10).await.owner;
    let first = app.call("GET /api/groups").by(&owner).send().await;
    first.expect(200);
    assert_eq!(first.header("api-version"), "1");
    assert_eq!(first.header("ratelimit-policy"), "\"account\";q=2;w=1");
    assert_eq!(first.header("ratelimit"), "\"account\";r=1;t=1");
    assert_eq!(first.header("x-content-type-options"), "nosniff");
    assert!(first.header("x-request-id").starts_with("req_"));
    app.call("GET /api/groups").by(&owner).send().await.expect(200);
    let limited = app.call("GET /api/groups").by(&owner).send().await;
    limited.expect_error(429, "rate-limited");
    assert_eq!(limited.header("retry-after"), "1");
    let nobody = app.call("GET /api/groups").send().await;
    nobody.expect_error(401, "unauthenticated");
    assert_eq!(nobody.header("www-authenticate"), "Bearer realm=\"perigee\"");
    let bad = app.call("GET /api/groups").header("authorization", "Bearer x.y.z").send().await;
    bad.expect_error(401, "invalid-token");
    assert!(bad.header("www-authenticate").contains("error=\"invalid_token\""));
}
