//! The account and the API key of whoever is signed in.

use perigee_core::access::actor::Origin;
use perigee_core::access::privilege::Privilege;
use perigee_core::store::{Accounts, Users};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    an_account_is_read_and_changed,
    an_answer_can_be_sent_back_as_it_is,
    licences_are_the_operators,
    an_operator_sets_licences,
    only_admins_change_the_account,
    bad_bodies_say_what_to_change,
    changes_need_the_right_revision,
    a_key_is_shown_once,
    keys_need_a_session_and_a_privilege,
);

async fn an_account_is_read_and_changed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let read = app.call("GET /api/account").by(&tenant.owner).send().await;
    let now = "2026-01-01T00:00:00Z";
    let expect = json!({
        "success": true, "apiUsage": 1, "apiDailyUsage": 1,
        "account": {
            "id": tenant.account.id, "name": "acme", "timeZone": "UTC",
            "licenses": {"total": 10, "used": 0, "free": 10}, "settings": {"expiryNoticeDays": 7, "retentionDays": null, "emergencyProcedure": null, "quickReplies": null},
            "creation": now, "lastModified": now,
        },
    });
    assert_eq!((read.expect(200), read.header("etag")), (expect, "\"r1\""));

    app.clock().advance_seconds(5);
    let patch = |body: Value| app.call("PATCH /api/account").by(&tenant.owner).json(&body).send();
    let changed = patch(json!({"timeZone": "europe/madrid", "settings": {"expiryNoticeDays": 0}})).await;
    let account = &changed.expect(200)["account"];
    assert_eq!(
        (&account["timeZone"], &account["settings"]),
        (
            &json!("Europe/Madrid"),
            &json!({"expiryNoticeDays": 0, "retentionDays": null, "emergencyProcedure": null, "quickReplies": null})
        )
    );
    assert_eq!(
        (&account["name"], &account["lastModified"]),
        (&json!("acme"), &json!("2026-01-01T00:00:05Z"))
    );
    assert_eq!(changed.header("etag"), "\"r2\"");
    let steps = json!([{"op": "replace", "path": "/name", "value": "Acme"}]);
    assert_eq!(patch(steps).await.expect(200)["account"]["name"], "Acme");
    let who = app.call("GET /api/session").by(&tenant.owner).send().await.expect(200);
    assert_eq!(who["account"]["name"], "Acme", "it acts at once");

    let replies = json!(["On our way", "Olá 😀"]);
    let changed = patch(json!({"settings": {"quickReplies": [" On our way ", "Olá 😀"]}})).await;
    assert_eq!(changed.expect(200)["account"]["settings"]["quickReplies"], replies);
    let who = app.call("GET /api/session").by(&tenant.owner).send().await.expect(200);
    assert_eq!(who["account"]["quickReplies"], replies, "the console offers them");
    for none in [json!([]), json!(null)] {
        let changed =
            patch(json!([{"op": "replace", "path": "/settings/quickReplies", "value": none}])).await;
        assert_eq!(changed.expect(200)["account"]["settings"]["quickReplies"], none);
    }
}

async fn an_answer_can_be_sent_back_as_it_is(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let mut read = app.get(&owner, "/api/account").await;
    read["account"]["name"] = json!("Castro");
    let changed = app.send(&owner, "PATCH /api/account", &read).await.expect(200);
    assert_eq!(changed["account"]["name"], "Castro");
}

async fn licences_are_the_operators(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let whole = app.call("GET /api/account").by(&tenant.owner).send().await.expect(200);
    let mut sent_back = whole["account"].clone();
    sent_back["name"] = json!("Acme");
    let mut more = sent_back.clone();
    more["licenses"]["total"] = json!(1_000);
    let refused = app.call("PATCH /api/account").by(&tenant.owner).json(&more).send().await;
    refused.expect_error(403, "forbidden");
    let changed = app.call("PATCH /api/account").by(&tenant.owner).json(&sent_back).send().await.expect(200);
    assert_eq!(
        (&changed["account"]["name"], &changed["account"]["licenses"]["total"]),
        (&json!("Acme"), &json!(10))
    );
    app.store.set_licenses(&Origin::command(), tenant.account.id, 5).await.unwrap();
    let read = app.call("GET /api/account").by(&tenant.owner).send().await.expect(200);
    assert_eq!(read["account"]["licenses"], json!({"total": 5, "used": 0, "free": 5}));
}

async fn an_operator_sets_licences(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    app.store.set_operator(tenant.owner.id, true).await.unwrap();
    app.device(&tenant.owner, &json!({"name": "Star"})).await;
    let patch = |body: Value| app.call("PATCH /api/account").by(&tenant.owner).json(&body).send();
    let account = patch(json!({"licenses": {"total": 3}})).await.expect(200)["account"].clone();
    assert_eq!(account["licenses"], json!({"total": 3, "used": 1, "free": 2}));
    let steps = json!([{"op": "replace", "path": "/licenses/total", "value": 2}]);
    assert_eq!(patch(steps).await.expect(200)["account"]["licenses"]["total"], 2);
    patch(json!({"licenses": {"total": 0}})).await.expect_error(409, "licenses-in-use");
    for wrong in [json!(-1), json!(10_000_001), json!("3"), json!(null)] {
        let refused = patch(json!({"licenses": {"total": wrong}})).await.expect_error(400, "invalid-body");
        assert_eq!(refused["errors"][0]["pointer"], "/licenses/total", "{refused}");
    }
    let audit = app.get(&tenant.owner, "/api/audit?action=account.licenses").await;
    let details: Vec<_> = audit["audit"].as_array().unwrap().iter().map(|entry| &entry["detail"]).collect();
    assert_eq!(details, ["licenses 3 -> 2", "licenses 10 -> 3"]);
    assert_eq!(audit["audit"][0]["user"], json!(tenant.owner.id));
}

async fn only_admins_change_the_account(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let made =
        app.call("POST /api/groups").by(&tenant.owner).json(&json!({"name": "G"})).send().await.expect(201);
    let group = made["id"].as_str().unwrap().parse().ok();
    let all = Privilege::ALL.into_iter().filter(|one| !matches!(one, Privilege::Owner | Privilege::Admin));
    let people = [
        ("admin", vec![Privilege::Admin], None, 200, 200),
        ("writer", all.collect(), None, 200, 403),
        ("reader", vec![], None, 200, 403),
        ("scoped", vec![Privilege::Admin], group, 403, 403),
    ];
    for (name, privileges, group, may_read, may_change) in people {
        let person = app.person(&tenant, name, Traits { privileges, group, ..Traits::default() }).await;
        app.call("GET /api/account").by(&person).send().await.expect(may_read);
        let body = json!({"name": name});
        app.call("PATCH /api/account").by(&person).json(&body).send().await.expect(may_change);
    }
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let patch = |body: Value| app.call("PATCH /api/account").by(&owner).json(&body).send();
    for (body, pointer) in [
        (json!({"name": null}), "/name"),
        (json!({"name": "x".repeat(201)}), "/name"),
        (json!({"timeZone": "Mars/Olympus"}), "/timeZone"),
        (json!({"settings": null}), "/settings"),
        (json!({"settings": {"expiryNoticeDays": 366}}), "/settings/expiryNoticeDays"),
        (json!({"settings": {"expiryNoticeDays": null}}), "/settings/expiryNoticeDays"),
        (json!({"settings": {"retentionDays": 0}}), "/settings/retentionDays"),
        (json!({"settings": {"retentionDays": 36_501}}), "/settings/retentionDays"),
        (json!({"settings": {"retentionDays": "30"}}), "/settings/retentionDays"),
        (json!({"settings": {"emergencyProcedure": "x".repeat(2_001)}}), "/settings/emergencyProcedure"),
        (json!({"settings": {"quickReplies": ["x".repeat(161)]}}), "/settings/quickReplies"),
        (json!({"settings": {"quickReplies": ["two\nlines"]}}), "/settings/quickReplies/0"),
        (json!({"settings": {"quickReplies": [" "]}}), "/settings/quickReplies"),
        (json!({"settings": {"quickReplies": vec!["x"; 13]}}), "/settings/quickReplies"),
        (json!({"settings": {"quickReplies": [5]}}), "/settings/quickReplies/0"),
        (json!({"settings": {"colour": "red"}}), "/settings/colour"),
        (json!({"licences": {}}), "/licences"),
    ] {
        let problem = patch(body).await.expect_error(400, "invalid-body");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    patch(json!([{"op": "jump", "path": "/name"}])).await.expect_error(400, "invalid-patch");
    app.call("GET /api/account?x=1").by(&owner).send().await.expect_error(400, "invalid-parameter");
    app.call("PUT /api/account")
        .by(&owner)
        .json(&json!({}))
        .send()
        .await
        .expect_error(405, "method-not-allowed");
}

async fn changes_need_the_right_revision(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let patch = |tag: &str, name: &str| {
        let call = app.call("PATCH /api/account").by(&owner).header("if-match", tag);
        call.json(&json!({"name": name})).send()
    };
    patch("\"r1\"", "B").await.expect(200);
    patch("\"r1\"", "C").await.expect_error(412, "precondition-failed");
    patch("\"r2\"", "C").await.expect(200);
}

async fn a_key_is_shown_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let cookie = app.sign_in(&tenant.owner).await;
    let read = || app.call("GET /api/account/apiKey").cookie(&cookie).send();
    assert_eq!(read().await.expect(200)["hint"], "pgk_test");
    let answer = app.call("POST /api/account/apiKey").cookie(&cookie).send().await;
    let made = answer.expect(201);
    let key = made["apiKey"].as_str().unwrap();
    assert!(key.starts_with("pgk_") && key.starts_with(made["hint"].as_str().unwrap()), "{made}");
    assert_eq!(answer.header("location"), "http://perigee.test/api/account/apiKey");
    let shown = read().await;
    assert!(!String::from_utf8(shown.body.clone()).unwrap().contains(key));
    let shown = shown.json();
    assert_eq!((&shown["active"], &shown["hint"]), (&json!(true), &made["hint"]));
    assert_eq!((&shown["creation"], &shown["lastUsed"]), (&json!("2026-01-01T00:00:00Z"), &json!(null)));
    let body = json!({"userName": tenant.owner.email, "apiKey": key});
    app.call("POST /api/Auth/Token").json(&body).send().await.expect(200);
    app.settle().await;
    assert_eq!(read().await.expect(200)["lastUsed"], "2026-01-01T00:00:00Z");
    for _ in 0..2 {
        app.call("DELETE /api/account/apiKey").cookie(&cookie).send().await.expect(200);
        let revoked = read().await.expect(200);
        assert_eq!(
            (&revoked["active"], &revoked["hint"], &revoked["creation"]),
            (&json!(false), &json!(null), &json!(null))
        );
    }
}

async fn keys_need_a_session_and_a_privilege(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let person = app.person(&tenant, "plain", Traits::default()).await;
    let cookie = app.sign_in(&person).await;
    for method in ["GET", "POST", "DELETE"] {
        let line = format!("{method} /api/account/apiKey");
        app.call(&line).by(&tenant.owner).send().await.expect_error(403, "session-required");
        app.call(&line).send().await.expect_error(401, "unauthenticated");
    }
    let body = json!({"privileges": []});
    app.call(&format!("PATCH /api/users/{}", person.id))
        .by(&tenant.owner)
        .json(&body)
        .send()
        .await
        .expect(200);
    for method in ["GET", "POST", "DELETE"] {
        let line = format!("{method} /api/account/apiKey");
        app.call(&line).cookie(&cookie).send().await.expect_error(403, "forbidden");
    }
}
