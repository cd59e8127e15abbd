//! Operations for operators of the server, and links that set passwords.

use perigee_core::store::Users as _;
use serde_json::json;

use crate::support::people::Traits;
use crate::support::{Engine, Tenant, TestApp, on_both_engines, pointers};

on_both_engines!(
    operators_see_and_set_accounts,
    an_account_is_made_with_an_invitation,
    health_reports_what_waits,
    links_are_made_by_who_may,
);

/// Somebody flagged as an operator, and their cookie.
async fn operator(app: &TestApp) -> (Tenant, String) {
    let house = app.tenant("house", 0).await;
    app.store.set_operator(house.owner.id, true).await.unwrap();
    let cookie = app.sign_in(&house.owner).await;
    (house, cookie)
}

async fn operators_see_and_set_accounts(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (house, cookie) = operator(&app).await;
    let acme = app.tenant("acme", 2).await;
    app.device(&acme.owner, &json!({"name": "Star"})).await;
    let list = app.call("GET /api/operator/accounts?q=ACME").cookie(&cookie).send().await.expect(200);
    let [found] = list["accounts"].as_array().unwrap().as_slice() else { panic!("one account in {list}") };
    assert_eq!(found["licenses"], json!({"total": 2, "used": 1, "free": 1}));
    assert_eq!((&found["devices"], &found["users"]), (&json!(1), &json!(1)));
    let paged = app.call("GET /api/operator/accounts?limit=1").cookie(&cookie).send().await.expect(200);
    assert!(paged["nextCursor"].is_string(), "{paged}");

    let address = format!("/api/operator/accounts/{}", acme.account.id);
    let read = app.call(&format!("GET {address}")).cookie(&cookie).send().await;
    let patch = async |body: &serde_json::Value, tag: &str| {
        app.call(&format!("PATCH {address}")).cookie(&cookie).header("if-match", tag).json(body).send().await
    };
    let tag = read.header("etag").to_owned();
    let body = json!({"name": "Acme & Sons", "licenses": {"total": 5}});
    let changed = patch(&body, &tag).await.expect(200);
    assert_eq!(
        (&changed["account"]["name"], &changed["account"]["licenses"]["total"]),
        (&json!("Acme & Sons"), &json!(5))
    );
    patch(&body, &tag).await.expect_error(412, "precondition-failed");
    patch(&json!({"licenses": {"total": 0}}), "*").await.expect_error(409, "licenses-in-use");
    assert_eq!(
        pointers(&patch(&json!({"timeZone": "Mars"}), "*").await.expect_error(400, "invalid-body")),
        ["/timeZone"]
    );
    // The answer of GET can be sent back.
    patch(&read.json(), "*").await.expect(200);
    let missing = app.call("GET /api/operator/accounts/acc_0000000000000").cookie(&cookie).send().await;
    missing.expect_error(404, "not-found");
    let audit = app.get(&acme.owner, "/api/audit?action=account.update").await;
    let entry = &audit["audit"][0];
    assert_eq!(entry["user"], json!(house.owner.id), "the account's own log names the operator: {audit}");

    // A token is not sufficient, and a user who is no longer an operator is refused.
    let by_key = app.call("GET /api/operator/accounts").by(&house.owner).send().await;
    by_key.expect_error(403, "session-required");
    app.store.set_operator(house.owner.id, false).await.unwrap();
    app.clock().advance_seconds(5);
    app.call(&format!("GET {address}")).cookie(&cookie).send().await.expect_error(403, "forbidden");
}

async fn an_account_is_made_with_an_invitation(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    let create = async |body: &serde_json::Value| {
        app.call("POST /api/operator/accounts").cookie(&cookie).json(body).send().await
    };
    let body = json!({"name": "New", "timeZone": "Europe/Madrid", "licenses": {"total": 3}, "ownerEmail": "ana@new.test",
        "ownerLanguage": "es"});
    let made = create(&body).await;
    let answer = made.expect(201);
    assert_eq!((&answer["account"]["name"], &answer["account"]["users"]), (&json!("New"), &json!(1)));
    assert!(made.header("location").ends_with(answer["account"]["id"].as_str().unwrap()));
    let url = answer["invitation"]["url"].as_str().unwrap();
    let token = url.strip_prefix("http://perigee.test/password?language=es#token=").unwrap();
    let set = json!({"token": token, "newPassword": "nine lives of a cat"});
    app.call("POST /api/session/passwordReset").json(&set).send().await.expect(200);
    let sign_in = json!({"email": "ana@new.test", "password": "nine lives of a cat"});
    let session = app.call("POST /api/session").json(&sign_in).send().await.expect(200);
    assert_eq!((&session["account"]["id"], &session["operator"]), (&answer["account"]["id"], &json!(false)));
    assert_eq!(session["preferences"]["language"], "es");

    assert_eq!(pointers(&create(&body).await.expect_error(400, "invalid-body")), ["/ownerEmail"]);
    let wrong = create(&json!({"name": "", "ownerEmail": "nobody"})).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&wrong).len(), 4, "{wrong}");
}

async fn health_reports_what_waits(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    app.clock().advance_seconds(90);
    let answer = app.call("GET /api/operator/health").cookie(&cookie).send().await.expect(200);
    let health = &answer["health"];
    assert_eq!(
        (&health["uptimeSeconds"], &health["version"]),
        (&json!(90), &json!(env!("CARGO_PKG_VERSION")))
    );
    let name = if engine == Engine::Sqlite { "sqlite" } else { "postgresql" };
    assert_eq!((&health["store"]["engine"], &health["store"]["accounts"]), (&json!(name), &json!(1)));
    assert!(health["store"]["bytes"].as_u64().unwrap() > 10_000);
    assert_eq!(health["messages"]["email"], json!({"waiting": 0, "oldest": null}));
    assert_eq!((&health["webhooks"]["waiting"], &health["rulesLagSeconds"]), (&json!(0), &json!(0)));
    assert_eq!(health["store"]["rawMessagesStored"], true);
    assert_eq!(health["connections"], json!({"open": 0, "limit": 10_000}));
}

async fn links_are_made_by_who_may(engine: Engine) {
    let app = TestApp::new(engine).await;
    let acme = app.tenant("acme", 2).await;
    let body = json!({"name": "Ana", "email": "ana@acme.test", "country": "ES", "timeZone": "UTC"});
    let ana = app.send(&acme.owner, "POST /api/users", &body).await.expect(201);
    let path = format!("POST /api/users/{}/passwordLink", ana["id"].as_str().unwrap());
    let (owner, reader) =
        (app.sign_in(&acme.owner).await, app.person(&acme, "reader", Traits::default()).await);
    let link = app.call(&path).cookie(&owner).send().await.expect(201);
    assert_eq!(link["email"], "ana@acme.test");
    let token = link["url"].as_str().unwrap().split("#token=").nth(1).unwrap();
    let again = app.call(&path).cookie(&owner).send().await.expect(201);
    let set = |token: &str| json!({"token": token, "newPassword": "nine lives of a cat"});
    let void = app.call("POST /api/session/passwordReset").json(&set(token)).send().await;
    void.expect_error(401, "invalid-credentials");
    let token = again["url"].as_str().unwrap().split("#token=").nth(1).unwrap();
    app.call("POST /api/session/passwordReset").json(&set(token)).send().await.expect(200);
    let reader = app.sign_in(&reader).await;
    app.call(&path).cookie(&reader).send().await.expect_error(403, "forbidden");
    app.call(&path).by(&acme.owner).send().await.expect_error(403, "session-required");
}
