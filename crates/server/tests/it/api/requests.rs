//! Tests of every request: headers, ids, errors and the log.

use axum::Router;
use axum::body::Body;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use http::Request;
use http_body_util::BodyExt;
use perigee_server::http::middleware::{Framing, KnownOperations, frame};
use perigee_server::http::router::api_document;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::call::call;
use crate::support::logs::Logs;
use crate::support::{Engine, TestApp, on_both_engines, pointers};

on_both_engines!(unknown_parameters_change_nothing, patches_are_of_the_kind_they_say);

async fn panic_now() -> &'static str {
    panic!("the rudder is gone")
}

#[tokio::test]
async fn a_panic_fails_one_request() {
    let app = TestApp::new(Engine::Sqlite).await;
    let framing = Framing { app: app.app.clone(), known: KnownOperations::of(&Value::Null) };
    let router = Router::new().route("/api/boom", get(panic_now)).layer(from_fn_with_state(framing, frame));
    let logs = Logs::capture();
    let failed = call(&router, "GET /api/boom").send().await;
    let body = failed.expect_error(500, "internal");
    assert_eq!(failed.header("retry-after"), "1");
    assert!(!body.to_string().contains("rudder"), "{body}");
    let text = logs.text();
    let is_logged = text
        .lines()
        .any(|line| line.contains("the rudder is gone") && line.contains(failed.header("x-request-id")));
    assert!(is_logged, "{text}");
}

#[tokio::test]
async fn no_spelling_of_a_share_link_is_logged() {
    let app = TestApp::new(Engine::Sqlite).await;
    let logs = Logs::capture();
    let secret = "q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e";
    for before in ["/api/shared/", "/API/SHARED/", "//api/shared/", "/api/share%64/", "/api/%2Fshared/"] {
        app.call(&format!("GET {before}{secret}")).send().await.expect_error(404, "not-found");
    }
    app.call(&format!("DELETE /api/shared/{secret}")).send().await.expect_error(405, "method-not-allowed");
    let text = logs.text();
    assert!(text.contains("shared/") && !text.contains(secret), "{text}");
}

#[tokio::test]
async fn a_list_that_breaks_off_says_why() {
    let app = TestApp::new(Engine::Sqlite).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let alerts: Vec<Value> = (0..2_500)
        .map(|number| json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": format!("a{number}")}))
        .collect();
    let path = format!("/api/devices/{device}/alerts");
    app.send(&owner, &format!("POST {path}"), &json!(alerts)).await.expect(201);

    let logs = Logs::capture();
    let request = Request::get(&path).header("authorization", format!("Bearer {}", owner.token));
    let response = app.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    app.store.close().await;
    assert!(response.into_body().collect().await.is_err(), "half a list is not taken for a whole one");
    let text = logs.text();
    let is_logged =
        text.lines().any(|line| line.contains("the answer with a list was cut off") && line.contains(&id));
    assert!(is_logged, "{text}");
}

async fn unknown_parameters_change_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let document = api_document("http://perigee.test");
    let mut refused = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|method| *method != "get") {
            let path = path.replace("{deviceId}", &device);
            let line = format!("{} {path}?colour=true", method.to_uppercase());
            let answer = app.send(&owner, &line, &json!({"name": "Gone"})).await;
            let body = answer.expect(400);
            assert_eq!(body["error"], "Unknown parameter \"colour\". Leave it out.", "{line}");
            if path != "/api/Auth/Token" {
                assert_eq!((&body["code"], pointers(&body)), (&json!("invalid-parameter"), vec!["/colour"]));
            }
            refused += 1;
        }
    }
    assert!(refused > 20, "only {refused} operations write");
    assert_eq!(app.get(&owner, &format!("/api/devices/{device}")).await["device"]["name"], "Star");
}

async fn patches_are_of_the_kind_they_say(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let line = format!("PATCH /api/devices/{device}");
    let (merge, operations) =
        (json!({"name": "Moon"}), json!([{"op": "replace", "path": "/name", "value": "Sun"}]));
    let send = async |media: &str, body: &Value| {
        app.call(&line).by(&owner).body(media, body.to_string()).send().await
    };
    let (merge_type, patch_type) = ("application/merge-patch+json", "application/json-patch+json");
    send(patch_type, &merge).await.expect_error(400, "invalid-patch");
    send(merge_type, &operations).await.expect_error(400, "invalid-patch");
    for media in [merge_type, "application/json"] {
        assert_eq!(send(media, &merge).await.expect(200)["device"]["name"], "Moon");
    }
    for media in [patch_type, "application/json"] {
        assert_eq!(send(media, &operations).await.expect(200)["device"]["name"], "Sun");
    }
    for line in [line.clone(), format!("PUT /api/devices/{device}")] {
        let packed = app.call(&line).by(&owner).header("content-encoding", "gzip").json(&merge).send().await;
        packed.expect_error(415, "unsupported-media-type");
    }
}

#[tokio::test]
async fn a_slash_at_the_end_does_not_matter() {
    let app = TestApp::new(Engine::Sqlite).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Star"})).await;
    let body = json!({"userName": owner.email, "apiKey": owner.api_key});
    app.call("POST /api/auth/token/").json(&body).send().await.expect(200);
    for path in
        ["/api/devices/".to_owned(), format!("/api/Devices/{device}/"), "/api/devices/?limit=1".to_owned()]
    {
        app.get(&owner, &path).await;
    }
    app.call("GET /api/devices//").by(&owner).send().await.expect_error(404, "not-found");
}
