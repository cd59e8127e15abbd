//! Suspending, deleting and branding accounts.

use std::collections::BTreeMap;

use perigee_core::access::actor::Actor;
use perigee_core::alerts::alert::Alert;
use perigee_core::store::{Alerts as _, Users as _};
use perigee_core::time::Clock as _;
use perigee_server::background::{purge_accounts, save_usage};
use serde_json::{Value, json};

use crate::support::people::PASSWORD;
use crate::support::{Engine, PNG, Person, Tenant, TestApp, on_both_engines, pointers};

on_both_engines!(
    nobody_can_use_a_suspended_account_and_its_devices_report,
    a_deletion_is_undone_or_carried_out,
    operators_are_not_locked_out,
    branding_is_seen_by_users,
    the_usage_of_an_account_is_shown_beside_its_limits,
);

async fn operator(app: &TestApp) -> (Tenant, String) {
    let house = app.tenant("house", 0).await;
    app.store.set_operator(house.owner.id, true).await.unwrap();
    let cookie = app.sign_in(&house.owner).await;
    (house, cookie)
}

async fn refused(app: &TestApp, person: &Person, code: &str) -> Value {
    app.call("GET /api/devices").by(person).send().await.expect_error(403, code)
}

async fn nobody_can_use_a_suspended_account_and_its_devices_report(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    let acme = app.tenant("acme", 2).await;
    let session = app.sign_in(&acme.owner).await;
    let device = app.device(&acme.owner, &json!({"name": "Star"})).await;
    let path = format!("/api/operator/accounts/{}/suspension", acme.account.id);
    let body = json!({"message": "Call us."});
    let answer = app.call(&format!("PUT {path}")).cookie(&cookie).json(&body).send().await.expect(200);
    assert_eq!(
        (&answer["account"]["state"], &answer["account"]["suspension"]["message"]),
        (&json!("suspended"), &json!("Call us."))
    );

    // The token, the session, a new token and a new session are refused with the reason.
    let error = refused(&app, &acme.owner, "account-suspended").await;
    assert_eq!(error["detail"], "Call us.");
    app.call("GET /api/devices").cookie(&session).send().await.expect_error(403, "account-suspended");
    let sign_in = json!({"email": acme.owner.email, "password": PASSWORD});
    app.call("POST /api/session").json(&sign_in).send().await.expect_error(403, "account-suspended");
    let wrong = json!({"email": acme.owner.email, "password": "a wrong password"});
    app.call("POST /api/session").json(&wrong).send().await.expect_error(401, "invalid-credentials");

    // A device still reports: what arrives is stored, and seen when the account is resumed.
    let (actor, id) = (Actor::operator(acme.account.id), device.parse().unwrap());
    let alert = Alert {
        time: app.clock().now(),
        name: "SOSButton".to_owned(),
        text: None,
        position: None,
        critical: true,
        attributes: BTreeMap::new(),
    };
    app.store.store_alerts(&actor, id, vec![alert]).await.unwrap();

    let resumed = app.call(&format!("DELETE {path}")).cookie(&cookie).send().await.expect(200);
    assert_eq!(
        (&resumed["account"]["state"], &resumed["account"]["suspension"]),
        (&json!("active"), &json!(null))
    );
    app.call("GET /api/devices").cookie(&session).send().await.expect(200);
    let alerts = app.get(&acme.owner, "/api/alerts").await;
    assert_eq!(alerts["alerts"][0]["alertName"], "SOSButton", "{alerts}");
}

async fn a_deletion_is_undone_or_carried_out(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    let acme = app.tenant("acme", 2).await;
    app.device(&acme.owner, &json!({"name": "Star"})).await;
    let path = format!("/api/operator/accounts/{}", acme.account.id);
    let call = async |line: String| app.call(&line).cookie(&cookie).send().await;

    let deleted = call(format!("DELETE {path}")).await.expect(200);
    let days = 86_400 * 30;
    let purge_at = app.clock().now().plus_seconds(days).to_string();
    assert_eq!(
        (&deleted["account"]["state"], &deleted["account"]["deletion"]["purgeAt"]),
        (&json!("deleting"), &json!(purge_at))
    );
    refused(&app, &acme.owner, "account-deleted").await;
    let restored = call(format!("POST {path}/restore")).await.expect(200);
    assert_eq!(restored["account"]["state"], "active");
    app.get(&acme.owner, "/api/devices").await;

    for wrong in ["0", "366", "x"] {
        call(format!("DELETE {path}?graceDays={wrong}")).await.expect_error(400, "invalid-parameter");
    }
    call(format!("DELETE {path}?graceDays=2")).await.expect(200);
    app.clock().advance_seconds(86_400);
    purge_accounts(&app.app).await;
    let cookie = app.sign_in(&app_operator(&app).await).await;
    let call = async |line: String| app.call(&line).cookie(&cookie).send().await;
    assert_eq!(
        call(format!("GET {path}")).await.expect(200)["account"]["devices"],
        1,
        "its day has not come"
    );
    app.clock().advance_seconds(86_400);
    purge_accounts(&app.app).await;
    let cookie = app.sign_in(&app_operator(&app).await).await;
    let call = async |line: String| app.call(&line).cookie(&cookie).send().await;
    call(format!("GET {path}")).await.expect_error(404, "not-found");
    call(format!("POST {path}/restore")).await.expect_error(404, "not-found");
    app.call("GET /api/devices").by(&acme.owner).send().await.expect(401);
}

/// A further operator: sessions do not last for days.
async fn app_operator(app: &TestApp) -> Person {
    let house = app.tenant(&format!("house-{}", app.clock().now().as_millis()), 0).await;
    app.store.set_operator(house.owner.id, true).await.unwrap();
    house.owner
}

async fn operators_are_not_locked_out(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (house, cookie) = operator(&app).await;
    let path = format!("/api/operator/accounts/{}", house.account.id);
    let suspended = app.call(&format!("PUT {path}/suspension")).cookie(&cookie).json(&json!({})).send().await;
    suspended.expect_error(409, "account-has-operator");
    let deleted = app.call(&format!("DELETE {path}")).cookie(&cookie).send().await;
    deleted.expect_error(409, "account-has-operator");
}

async fn branding_is_seen_by_users(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    let acme = app.tenant("acme", 2).await;
    let url = format!("/api/operator/accounts/{}", acme.account.id);
    let patch = async |body: &Value| {
        app.call(&format!("PATCH {url}")).cookie(&cookie).header("if-match", "*").json(body).send().await
    };
    let branding = json!({"branding": {"name": "Acme Safety", "colour": "#A1B2C3"}});
    let answer = patch(&branding).await.expect(200);
    assert_eq!(
        answer["account"]["branding"],
        json!({"name": "Acme Safety", "colour": "#a1b2c3", "logo": null})
    );
    let wrong = patch(&json!({"branding": {"colour": "red"}})).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&wrong), ["/branding/colour"]);

    app.call("GET /api/account/logo").by(&acme.owner).send().await.expect_error(404, "not-found");
    let put = async |kind: &str, bytes: Vec<u8>| {
        app.call(&format!("PUT {url}/logo")).cookie(&cookie).body(kind, bytes).send().await
    };
    put("image/png", b"<svg/>".to_vec()).await.expect_error(415, "unsupported-media-type");
    put("image/png", vec![0; 70_000]).await.expect_error(413, "body-too-large");
    let set = put("image/png", PNG.to_vec()).await.expect(200);
    let logo = set["account"]["branding"]["logo"].as_str().unwrap();
    let shown = app.call(&format!("GET /api/account/logo?v={logo}")).by(&acme.owner).send().await;
    assert_eq!((shown.status.as_u16(), shown.header("content-type")), (200, "image/png"));
    let session = app.get(&acme.owner, "/api/session").await;
    assert_eq!(session["account"]["branding"]["logo"], logo);
    let removed = app.call(&format!("DELETE {url}/logo")).cookie(&cookie).send().await.expect(200);
    assert_eq!(removed["account"]["branding"]["logo"], json!(null));
}

async fn the_usage_of_an_account_is_shown_beside_its_limits(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (_, cookie) = operator(&app).await;
    let acme = app.tenant("acme", 2).await;
    app.get(&acme.owner, "/api/devices").await;
    save_usage(&app.app).await;
    let path = format!("GET /api/operator/accounts/{}/usage", acme.account.id);
    let usage = app.call(&path).cookie(&cookie).send().await.expect(200);
    assert_eq!((&usage["usage"]["apiCalls"], &usage["usage"]["apiCallsToday"]), (&json!(1), &json!(1)));
    assert!(usage["usage"]["requestsPerSecond"].is_u64(), "{usage}");
    assert_eq!(usage["usage"]["messagesToday"], json!([]));
}
