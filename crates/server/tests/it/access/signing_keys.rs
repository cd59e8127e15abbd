//! Keys that sign tokens, rotated while several nodes run.

use perigee_core::store::Credentials as _;
use perigee_core::time::Timestamp;
use perigee_server::auth::signing::SigningKey;
use perigee_server::background::{delete_expired, load_signing_keys};
use serde_json::{Value, json};

use crate::support::call::call;
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_rotated_key_signs_and_the_old_one_verifies,
    another_nodes_new_key_is_known_at_once,
    keys_dropped_at_once_verify_no_more,
);

/// Rotates as the command does; returns the id of the new key.
async fn rotate(app: &TestApp, old_until: Timestamp) -> String {
    let key = SigningKey::generate().unwrap();
    app.store.rotate_signing_key(key.to_stored(app.app.clock.now()), old_until).await.unwrap();
    key.id().to_owned()
}

async fn fresh_token(app: &TestApp, person: &Person) -> String {
    let body = json!({"userName": person.email, "apiKey": person.api_key});
    let answer = app.call("POST /api/Auth/Token").json(&body).send().await.expect(200);
    answer["token"].as_str().unwrap().to_owned()
}

fn kid(token: &str) -> String {
    jsonwebtoken::decode_header(token).unwrap().kid.unwrap()
}

async fn published(app: &TestApp) -> Vec<String> {
    let keys = app.call("GET /.well-known/jwks.json").send().await.expect(200)["keys"].clone();
    let id = |key: &Value| key["kid"].as_str().unwrap().to_owned();
    keys.as_array().unwrap().iter().map(id).collect()
}

fn with(token: &str, person: &Person) -> Person {
    Person { token: token.to_owned(), ..person.clone() }
}

async fn a_rotated_key_signs_and_the_old_one_verifies(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let old = fresh_token(&app, &owner).await;
    let until = app.app.clock.now().plus_seconds(3_660);
    let new = rotate(&app, until).await;
    load_signing_keys(&app.app).await;
    let token = fresh_token(&app, &owner).await;
    assert_eq!(kid(&token), new);
    assert_eq!(published(&app).await, [new.clone(), kid(&old)]);
    for token in [&old, &token] {
        app.get(&with(token, &owner), "/api/groups").await;
    }
    app.clock().advance_seconds(3_599);
    app.get(&with(&old, &owner), "/api/groups").await;
    app.clock().advance_seconds(61);
    assert_eq!(published(&app).await, std::slice::from_ref(&new), "the old key is over");
    delete_expired(&app.app).await;
    let kept: Vec<String> =
        app.store.list_signing_keys().await.unwrap().into_iter().map(|key| key.kid).collect();
    assert_eq!(kept, [new]);
}

async fn another_nodes_new_key_is_known_at_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let second = app.second_node().await;
    rotate(&app, app.app.clock.now().plus_seconds(3_660)).await;
    load_signing_keys(&app.app).await;
    let token = fresh_token(&app, &owner).await;
    // The second node has not looked for keys since it started.
    call(&second, "GET /api/groups").by(&with(&token, &owner)).send().await.expect(200);
    call(&second, "GET /api/groups").by(&owner).send().await.expect(200);
    let mut forged = token.clone();
    forged.replace_range(token.rfind('.').unwrap() + 1.., &"A".repeat(86));
    call(&second, "GET /api/groups")
        .by(&with(&forged, &owner))
        .send()
        .await
        .expect_error(401, "invalid-token");
}

async fn keys_dropped_at_once_verify_no_more(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    app.get(&owner, "/api/groups").await;
    let new = rotate(&app, app.app.clock.now()).await;
    load_signing_keys(&app.app).await;
    app.call("GET /api/groups").by(&owner).send().await.expect_error(401, "invalid-token");
    assert_eq!(published(&app).await, [new]);
    app.get(&with(&fresh_token(&app, &owner).await, &owner), "/api/groups").await;
}
