//! The token endpoint: its own form on every status, one refusal for every cause, and tokens that become invalid with
//! their key.

use std::time::{Duration, Instant};

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::access::privilege::Privilege;
use perigee_core::access::user::UserProfile;
use perigee_core::store::{Credentials, Users};
use perigee_core::time::Timestamp;
use serde_json::{Value, json};

use crate::support::call::call;
use crate::support::people::Traits;
use crate::support::{Answer, Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_token_is_issued_and_checked_by_anybody,
    every_refusal_is_the_same,
    every_status_has_the_same_form,
    failures_are_limited_by_address,
    malformed_requests_are_not_failures,
    a_token_dies_with_its_key,
    a_key_issued_elsewhere_works_at_once,
    a_change_behind_the_back_acts_within_two_seconds,
    disabling_acts_at_once,
    the_use_of_a_key_is_noted_once_a_minute,
    refusals_of_known_users_are_audited,
);

async fn ask(app: &TestApp, name: &str, key: &str, address: &str) -> Answer {
    let body = json!({"userName": name, "apiKey": key});
    app.call("POST /api/Auth/Token").from(address).json(&body).send().await
}

async fn change(app: &TestApp, tenant: &Tenant, person: &Person, change: impl FnOnce(&mut UserProfile)) {
    let user = app.store.find_user(Scope::for_operator(tenant.account.id), person.id).await.unwrap().unwrap();
    let mut profile = user.profile;
    change(&mut profile);
    let actor = Actor::operator(tenant.account.id);
    app.store.replace_user(&actor, person.id, user.revision, profile, None).await.unwrap();
}

#[track_caller]
fn names(body: &Value) -> Vec<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

async fn a_token_is_issued_and_checked_by_anybody(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let body = json!({"userName": owner.email.to_uppercase(), "apiKey": owner.api_key});
    let answer =
        app.call("POST /api/auth/token").header("authorization", "Bearer nonsense").json(&body).send().await;
    let issued = answer.expect(200);
    assert_eq!(names(&issued), ["success", "token", "expires"]);
    assert_eq!((&issued["success"], answer.header("content-type")), (&json!(true), "application/json"));
    assert_eq!(issued["expires"], "2026-01-01T01:00:00Z");
    assert_eq!(answer.header("cache-control"), "no-store");

    let keys = app.call("GET /.well-known/jwks.json").send().await;
    let body = keys.expect(200);
    assert_eq!((names(&body), keys.header("content-type")), (vec!["keys"], "application/json"));
    assert!(keys.header("cache-control").contains("max-age"), "{:?}", keys.headers);
    let keys: JwkSet = serde_json::from_value(body).unwrap();

    let token = issued["token"].as_str().unwrap();
    let header = jsonwebtoken::decode_header(token).unwrap();
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::EdDSA, Some("at+jwt")));
    let key = DecodingKey::from_jwk(keys.find(&header.kid.unwrap()).unwrap()).unwrap();
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.set_audience(&["perigee-api"]);
    validation.set_issuer(&["perigee"]);
    let claims = jsonwebtoken::decode::<Value>(token, &key, &validation).unwrap().claims;
    let ends = Timestamp::from_millis(claims["exp"].as_i64().unwrap() * 1000);
    assert_eq!(
        (claims["sub"].as_str(), ends.to_string()),
        (Some(&*owner.id.to_string()), issued["expires"].as_str().unwrap().to_owned())
    );
    assert!(claims["jti"].is_string() && claims["iat"].is_i64() && claims["key"].is_string(), "{claims}");

    let bearer = format!("Bearer {token}");
    app.call("GET /api/users").header("authorization", &bearer).send().await.expect(200);
    app.clock().advance_seconds(3_600);
    app.call("GET /api/users")
        .header("authorization", &bearer)
        .send()
        .await
        .expect_error(401, "token-expired");
}

async fn every_refusal_is_the_same(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let disabled = app.person(&tenant, "disabled", Traits { disabled: true, ..Traits::default() }).await;
    let expired = app.person(&tenant, "expired", Traits::default()).await;
    change(&app, &tenant, &expired, |profile| profile.expires = Some(app.app.clock.now())).await;
    let early = app.person(&tenant, "early", Traits::default()).await;
    change(&app, &tenant, &early, |profile| profile.from = Some(app.app.clock.now().plus_seconds(1))).await;
    let inactive = app.person(&tenant, "inactive", Traits::default()).await;
    app.store.delete_api_key(&Origin::command(), inactive.id).await.unwrap();
    let powerless = app.person(&tenant, "powerless", Traits::default()).await;
    change(&app, &tenant, &powerless, |profile| {
        profile.privileges = [Privilege::DevicesWrite].into_iter().collect();
    })
    .await;
    let wrong = "pgk_000000000000000000000000000000000000";
    let causes = [
        ("nobody@acme.test", owner.api_key.as_str()),
        ("no address at all", &owner.api_key),
        ("nobody@invalid", &owner.api_key),
        (&owner.email, wrong),
        (&owner.email, "short"),
        (&owner.email, &disabled.api_key),
        (&disabled.email, &disabled.api_key),
        (&expired.email, &expired.api_key),
        (&early.email, &early.api_key),
        (&inactive.email, &inactive.api_key),
        (&powerless.email, &powerless.api_key),
    ];
    for (number, (name, key)) in causes.into_iter().enumerate() {
        let started = Instant::now();
        let answer = ask(&app, name, key, &format!("192.0.2.{number}")).await;
        assert!(started.elapsed() >= Duration::from_millis(25), "answered too soon: {name}");
        assert_eq!(answer.status.as_u16(), 401, "{name}");
        assert_eq!(
            String::from_utf8(answer.body.clone()).unwrap(),
            r#"{"success":false,"error":"Invalid API key or user name."}"#,
            "{name}"
        );
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"perigee\"");
    }
    ask(&app, &owner.email, &owner.api_key, "192.0.2.99").await.expect(200);
}

async fn every_status_has_the_same_form(engine: Engine) {
    let app = TestApp::new(engine).await;
    let post = |kind: &str, body: String| app.call("POST /api/Auth/Token").body(kind, body).send();
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let long = json!({"userName": "x".repeat(255), "apiKey": "k"}).to_string();
    let mut answers = Vec::new();
    for body in [
        "",
        "{",
        "null",
        "[]",
        r#""text""#,
        r#"{"userName": "a"}"#,
        r#"{"userName": "a", "apiKey": 5}"#,
        r#"{"userName": null, "apiKey": "k"}"#,
        r#"{"userName": "", "apiKey": "k"}"#,
        r#"{"userName": "a", "apiKey": "k", "more": 1}"#,
        r#"{"userName": "a", "userName": "b", "apiKey": "k"}"#,
        r#"{"userName": "a\u0000", "apiKey": "k"}"#,
        r#"{"userName": "\ud800", "apiKey": "k"}"#,
        &deep,
        &long,
    ] {
        answers.push((400, post("application/json", body.to_owned()).await));
    }
    answers.push((413, post("application/json", format!("\"{}\"", "x".repeat(1 << 20))).await));
    answers.push((415, post("text/plain", "{}".to_owned()).await));
    answers.push((405, app.call("GET /api/Auth/Token").send().await));
    answers.push((405, app.call("DELETE /api/AUTH/token").send().await));
    let html = app.call("POST /api/Auth/Token").header("accept", "text/html").json(&json!({})).send().await;
    answers.push((406, html));
    for (status, answer) in answers {
        let body = answer.expect(status);
        assert_eq!(names(&body), ["success", "error"], "{body}");
        assert_eq!((&body["success"], answer.header("content-type")), (&json!(false), "application/json"));
        let sentence = body["error"].as_str().unwrap();
        assert!(sentence.ends_with(['.', '?']), "{sentence}");
        assert!(!sentence.contains("see \"errors\""), "{sentence}");
        assert_eq!((answer.header("api-version"), answer.header("x-request-id").is_empty()), ("1", false));
    }
    assert_eq!(app.call("GET /api/Auth/Token").send().await.header("allow"), "POST");
}

async fn failures_are_limited_by_address(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (owner, other) = (&tenant.owner, app.person(&tenant, "other", Traits::default()).await);
    for _ in 0..10 {
        ask(&app, &owner.email, "wrong", "192.0.2.1").await.expect(401);
    }
    for (name, key) in
        [(&owner.email, "wrong"), (&owner.email, &*owner.api_key), (&other.email, &*other.api_key)]
    {
        let limited = ask(&app, name, key, "192.0.2.1").await;
        assert_eq!(names(&limited.expect(429)), ["success", "error"]);
        assert_eq!(limited.header("retry-after"), "6");
        assert_eq!(limited.header("ratelimit-policy"), "\"failures\";q=10;w=60");
    }
    ask(&app, &owner.email, &owner.api_key, "192.0.2.2").await.expect(200);
    app.clock().advance_seconds(6);
    ask(&app, &owner.email, &owner.api_key, "192.0.2.1").await.expect(200);
    ask(&app, &owner.email, "wrong", "192.0.2.1").await.expect(401);
    ask(&app, &owner.email, "wrong", "192.0.2.1").await.expect(429);
}

async fn malformed_requests_are_not_failures(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for _ in 0..30 {
        app.call("POST /api/Auth/Token").json(&json!({"userName": owner.email})).send().await.expect(400);
    }
    for _ in 0..30 {
        let body = json!({"userName": owner.email, "apiKey": owner.api_key});
        app.call("POST /api/Auth/Token").json(&body).send().await.expect(200);
    }
}

async fn a_token_dies_with_its_key(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    app.call("GET /api/users").by(&owner).send().await.expect(200);
    let made = app.call("POST /api/account/apiKey").cookie(&cookie).send().await.expect(201);
    let dead = app.call("GET /api/users").by(&owner).send().await;
    dead.expect_error(401, "invalid-token");
    assert!(dead.header("www-authenticate").contains("error=\"invalid_token\""));
    ask(&app, &owner.email, &owner.api_key, "192.0.2.1").await.expect(401);

    let key = made["apiKey"].as_str().unwrap();
    let issued = ask(&app, &owner.email, key, "192.0.2.1").await.expect(200);
    let bearer = format!("Bearer {}", issued["token"].as_str().unwrap());
    app.call("GET /api/users").header("authorization", &bearer).send().await.expect(200);
    app.call("DELETE /api/account/apiKey").cookie(&cookie).send().await.expect(200);
    app.call("GET /api/users")
        .header("authorization", &bearer)
        .send()
        .await
        .expect_error(401, "invalid-token");
    ask(&app, &owner.email, key, "192.0.2.1").await.expect(401);
}

async fn a_key_issued_elsewhere_works_at_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let ask = async |person: &Person| app.call("GET /api/groups").by(person).send().await;
    let mut old = tenant.owner.clone();
    ask(&old).await.expect(200);
    for _ in 0..3 {
        let new = app.equip(&tenant.account, old.id, old.email.clone()).await;
        ask(&new).await.expect(200);
        ask(&old).await.expect_error(401, "invalid-token");
        old = new;
    }
}

async fn a_change_behind_the_back_acts_within_two_seconds(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (one, two) = (
        app.person(&tenant, "one", Traits::default()).await,
        app.person(&tenant, "two", Traits::default()).await,
    );
    let other_node = app.second_node().await;
    let see = |person: &Person| app.call("GET /api/users").by(person).send();
    for person in [&one, &two] {
        see(person).await.expect(200);
        call(&other_node, "GET /api/users").by(person).send().await.expect(200);
    }
    app.store.delete_api_key(&Origin::command(), one.id).await.unwrap();
    change(&app, &tenant, &two, |profile| profile.disabled = true).await;
    app.clock().advance_seconds(2);
    see(&one).await.expect_error(401, "invalid-token");
    see(&two).await.expect_error(403, "user-disabled");
    call(&other_node, "GET /api/users").by(&one).send().await.expect_error(401, "invalid-token");
    call(&other_node, "GET /api/users").by(&two).send().await.expect_error(403, "user-disabled");
}

async fn disabling_acts_at_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let person = app.person(&tenant, "one", Traits::default()).await;
    let cookie = app.sign_in(&person).await;
    let whom = format!("/api/users/{}", person.id);
    let patch = |body: Value| app.call(&format!("PATCH {whom}")).by(&tenant.owner).json(&body).send();
    let see = || app.call("GET /api/users").by(&person).send();
    see().await.expect(200);
    patch(json!({"disabled": true, "disabledMessage": "Call the office."})).await.expect(200);
    assert_eq!(see().await.expect_error(403, "user-disabled")["error"], "Call the office.");
    app.call("GET /api/session").cookie(&cookie).send().await.expect_error(403, "user-disabled");
    ask(&app, &person.email, &person.api_key, "192.0.2.1").await.expect(401);
    patch(json!({"disabled": false})).await.expect(200);
    see().await.expect(200);
    patch(json!({"expires": "2025-12-31T00:00:00Z"})).await.expect(200);
    see().await.expect_error(403, "user-expired");
    patch(json!({"expires": null, "privileges": []})).await.expect(200);
    see().await.expect_error(401, "invalid-token");
    patch(json!({"privileges": ["api"]})).await.expect(200);
    see().await.expect(200);
    app.call(&format!("DELETE {whom}")).by(&tenant.owner).send().await.expect(200);
    see().await.expect_error(401, "invalid-token");
}

async fn the_use_of_a_key_is_noted_once_a_minute(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let mut seen = Vec::new();
    for _ in 0..3 {
        ask(&app, &owner.email, &owner.api_key, "192.0.2.1").await.expect(200);
        app.settle().await;
        let key = app.store.find_login_by_id(owner.id).await.unwrap().unwrap().api_key.unwrap();
        seen.push(key.last_used.unwrap().to_string());
        app.clock().advance_seconds(30);
    }
    assert_eq!(seen, ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"]);
}

async fn refusals_of_known_users_are_audited(engine: Engine) {
    use perigee_core::access::audit::AuditFilter;
    use perigee_core::page::PageRequest;
    use perigee_core::store::Audits;

    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    ask(&app, &tenant.owner.email, "a guess", "192.0.2.7").await.expect(401);
    ask(&app, "nobody@acme.test", "wrong", "192.0.2.7").await.expect(401);
    app.settle().await;
    let filter = AuditFilter { action: Some("token.create".to_owned()), ..AuditFilter::default() };
    let entries = app
        .store
        .list_audits(Scope::for_operator(tenant.account.id), &filter, PageRequest::first(10))
        .await
        .unwrap();
    let [entry] = entries.items.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.outcome.name(), entry.target.clone()), ("denied", Some(tenant.owner.id.to_string())));
    assert_eq!(entry.address, "192.0.2.7".parse().ok());
    assert_eq!((entry.detail.as_deref(), entry.user), (Some("the API key is wrong"), None));
}
