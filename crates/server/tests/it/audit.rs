//! The audit log: who may read it, in which order it comes, and what is in it.

use perigee_core::privilege::Privilege;
use perigee_core::store::Groups as _;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    tells_who_did_what_newest_first,
    filters_narrow_it,
    only_admins_of_the_whole_account_read_it,
    notes_what_was_denied,
    stays_within_the_account,
    bad_parameters_say_what_to_change,
);

fn actions(body: &Value) -> Vec<&str> {
    body["audit"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

async fn tells_who_did_what_newest_first(engine: Engine) {
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
    let actor = perigee_core::actor::Actor::operator(tenant.account.id);
    let settings =
        perigee_core::group::GroupSettings { name: "G".to_owned(), description: None, devices: Vec::new() };
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
    app.app.background.close();
    app.app.background.wait().await;
    let body = app.call("GET /api/audit?action=request.denied").by(&tenant.owner).send().await.expect(200);
    let entry = &body["audit"][0];
    assert_eq!((&entry["outcome"], &entry["target"]), (&json!("denied"), &json!("POST /api/groups")));
    assert_eq!(entry["user"], reader.id.to_string());
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
