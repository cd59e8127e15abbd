//! The audit log: its readers, its order, and its entries.

use perigee_core::access::privilege::Privilege;
use perigee_core::store::Groups as _;
use perigee_server::background::{delete_old_records, save_usage};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    lists_who_did_what_newest_first,
    filters_narrow_it,
    only_admins_of_the_whole_account_read_it,
    notes_what_was_denied,
    refusals_are_counted_beyond_the_first,
    wrong_passwords_are_counted_beyond_the_first,
    old_records_go_and_0_keeps_them,
    stays_within_the_account,
    bad_parameters_say_what_to_change,
);

fn actions(body: &Value) -> Vec<&str> {
    body["audit"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

async fn lists_who_did_what_newest_first(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.call("POST /api/groups").by(&owner).json(&json!({"name": "A"})).send().await.expect(201);
    let path = format!("/api/groups/{}", group["id"].as_str().unwrap());
    app.call(&format!("PATCH {path}")).by(&owner).json(&json!({"name": "B"})).send().await.expect(200);
    app.call(&format!("DELETE {path}")).by(&owner).send().await.expect(200);

    let whole = app.call("GET /api/audit").by(&owner).send().await.expect(200);
    let newest = &whole["audit"][0];
    assert_eq!(actions(&whole)[..3], ["group.delete", "group.update", "group.create"]);
    assert_eq!((&newest["via"], &newest["outcome"]), (&json!("token"), &json!("done")));
    assert_eq!((&newest["user"], &newest["target"]), (&json!(owner.id.to_string()), &group["id"]));
    assert!(newest["request"].as_str().unwrap().starts_with("req_"));
    assert_eq!(newest["address"], "127.0.0.1");

    let mut seen = Vec::new();
    let mut path = "/api/audit?limit=2".to_owned();
    loop {
        let page = app.call(&format!("GET {path}")).by(&owner).send().await.expect(200);
        seen.extend(page["audit"].as_array().unwrap().clone());
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/api/audit?limit=2&cursor={cursor}");
    }
    assert_eq!(json!(seen), whole["audit"]);
}

async fn filters_narrow_it(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let traits = Traits { privileges: vec![Privilege::Admin], ..Traits::default() };
    let admin = app.person(&tenant, "ana", traits).await;
    let made = json!({"name": "A"});
    let first = app.call("POST /api/groups").by(&tenant.owner).json(&made).send().await.expect(201);
    app.call("POST /api/groups").by(&admin).json(&made).send().await.expect(201);

    let count = async |query: String| {
        let body = app.call(&format!("GET /api/audit?{query}")).by(&admin).send().await.expect(200);
        body["audit"].as_array().unwrap().len()
    };
    assert_eq!(count("action=group.create".to_owned()).await, 2);
    assert_eq!(count(format!("user={}", admin.id)).await, 1);
    assert_eq!(count(format!("target={}", first["id"].as_str().unwrap())).await, 1);
    assert_eq!(count(format!("action=group.create&user={}", tenant.owner.id)).await, 1);
    assert_eq!(count("action=nothing".to_owned()).await, 0);
}

async fn only_admins_of_the_whole_account_read_it(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let writers =
        Traits { privileges: vec![Privilege::UsersWrite, Privilege::DevicesWrite], ..Traits::default() };
    let writer = app.person(&tenant, "writer", writers).await;
    let actor = perigee_core::access::actor::Actor::operator(tenant.account.id);
    let settings = perigee_core::groups::group::GroupSettings {
        name: "G".to_owned(),
        description: None,
        devices: Vec::new(),
    };
    let group = app.store.create_group(&actor, settings, None).await.unwrap().into_inner();
    let scoped = Traits { privileges: vec![Privilege::Admin], group: Some(group.id), ..Traits::default() };
    let scoped = app.person(&tenant, "scoped", scoped).await;
    for person in [&reader, &writer, &scoped] {
        app.call("GET /api/audit").by(person).send().await.expect_error(403, "forbidden");
    }
    app.call("GET /api/audit").send().await.expect_error(401, "unauthenticated");
}

async fn notes_what_was_denied(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    app.call("POST /api/groups").by(&reader).json(&json!({"name": "A"})).send().await.expect(403);
    save_usage(&app.app).await;
    let body = app.call("GET /api/audit?action=request.denied").by(&tenant.owner).send().await.expect(200);
    let entry = &body["audit"][0];
    assert_eq!((&entry["outcome"], &entry["target"]), (&json!("denied"), &json!("POST /api/groups")));
    assert_eq!(entry["user"], reader.id.to_string());
}

async fn refusals_are_counted_beyond_the_first(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let device = app.device(&tenant.owner, &json!({"name": "A"})).await;
    let other = app.device(&tenant.owner, &json!({"name": "B"})).await;
    for _ in 0..20 {
        app.call("POST /api/groups").by(&reader).json(&json!({"name": "A"})).send().await.expect(403);
        app.call(&format!("DELETE /api/devices/{device}")).by(&reader).send().await.expect(403);
        app.call(&format!("DELETE /api/devices/{other}")).by(&reader).send().await.expect(403);
    }
    save_usage(&app.app).await;
    app.call("POST /api/groups").by(&reader).json(&json!({"name": "A"})).send().await.expect(403);
    save_usage(&app.app).await;
    let denied = async |by: &Person| app.get(by, "/api/audit?action=request.denied").await["audit"].clone();
    let counts = |entries: &Value| {
        let entries = entries.as_array().unwrap().iter();
        let mut counts: Vec<_> =
            entries.map(|entry| (entry["target"].to_string(), entry["count"].as_u64())).collect();
        counts.sort();
        counts
    };
    let deletions = (json!(format!("DELETE /api/devices/{device}")).to_string(), Some(40));
    assert_eq!(
        counts(&denied(&tenant.owner).await),
        [deletions, (json!("POST /api/groups").to_string(), Some(21))]
    );
    app.clock().advance_seconds(3_600);
    let reader = app.equip(&tenant.account, reader.id, reader.email).await;
    let owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone()).await;
    app.call("POST /api/groups").by(&reader).json(&json!({"name": "A"})).send().await.expect(403);
    save_usage(&app.app).await;
    let entries = denied(&owner).await;
    assert_eq!(entries.as_array().unwrap().len(), 3, "the next hour begins a new entry");
    assert_eq!((&entries[0]["count"], &entries[0]["lastDateTime"]), (&json!(1), &json!(null)));
}

async fn wrong_passwords_are_counted_beyond_the_first(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let body = json!({"userName": tenant.owner.email, "apiKey": "wrong"});
    for _ in 0..5 {
        app.call("POST /api/Auth/Token").json(&body).send().await.expect(401);
    }
    save_usage(&app.app).await;
    let entries = app.get(&tenant.owner, "/api/audit?action=token.create").await;
    let denied: Vec<_> =
        entries["audit"].as_array().unwrap().iter().filter(|entry| entry["outcome"] == "denied").collect();
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0]["count"], 5);
}

async fn old_records_go_and_0_keeps_them(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.retention.audit_days = 30;
        config.retention.alert_days = 0;
    })
    .await;
    let tenant = app.tenant("acme", 10).await;
    let owner = tenant.owner;
    let device = app.device(&owner, &json!({"name": "A"})).await;
    let alert = json!({"dateTime": "2023-05-01T12:00:00Z", "alertName": "SOS"});
    app.send(&owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    let old = app.get(&owner, "/api/audit").await["audit"].as_array().unwrap().len();
    delete_old_records(&app.app).await;
    assert_eq!(app.get(&owner, "/api/audit").await["audit"].as_array().unwrap().len(), old);
    app.clock().advance_seconds(31 * 86_400);
    let owner = app.equip(&tenant.account, owner.id, owner.email).await;
    delete_old_records(&app.app).await;
    let left = app.get(&owner, "/api/audit").await;
    assert!(!actions(&left).contains(&"device.create"), "{left}");
    let alerts = app.get(&owner, &format!("/api/devices/{device}/alerts")).await;
    assert_eq!(alerts["alerts"].as_array().unwrap().len(), 1, "alerts are kept for ever unless set");
}

async fn stays_within_the_account(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (ours, theirs) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    app.call("POST /api/groups").by(&theirs.owner).json(&json!({"name": "A"})).send().await.expect(201);
    let query = format!("GET /api/audit?user={}", theirs.owner.id);
    let body = app.call(&query).by(&ours.owner).send().await.expect(200);
    assert_eq!(body["audit"], json!([]));
}

async fn bad_parameters_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for query in ["user=grp_01jc2m8k4n5p6", "limit=0", "limit=1001", "page=2", "limit=5&limit=6"] {
        let answer = app.call(&format!("GET /api/audit?{query}")).by(&owner).send().await;
        answer.expect_error(400, "invalid-parameter");
    }
    let answer = app.call("GET /api/audit?cursor=AAAA").by(&owner).send().await;
    answer.expect_error(400, "invalid-cursor");
}
