//! Users as a resource: fields, lists, changes, passwords and what their fields choose from.

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::{PASSWORD, Traits};
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_user_lives_and_dies,
    every_field_is_kept,
    both_patches_change_part,
    lists_are_filtered_and_paged,
    a_country_is_needed_unless_there_is_none,
    passwords_are_set_and_never_returned,
    ones_own_password_needs_the_present_one,
    an_address_is_taken_once_on_the_server,
    bad_bodies_say_what_to_change,
    bounds_must_be_the_accounts,
    changes_need_the_right_revision,
    sending_twice_makes_one,
    another_accounts_user_looks_like_none,
    countries_and_zones_are_listed,
);

fn ana() -> Value {
    json!({"name": "Ana", "email": "ana@acme.test", "country": "ES", "timeZone": "Europe/Madrid"})
}

async fn create(app: &TestApp, by: &Person, body: &Value) -> Value {
    app.call("POST /api/users").by(by).json(body).send().await.expect(201)
}

async fn a_user_lives_and_dies(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let made = app.call("POST /api/users").by(&owner).json(&ana()).send().await;
    let body = made.expect(201);
    let id = body["id"].as_str().unwrap();
    assert_eq!(made.header("location"), format!("http://perigee.test/api/users/{id}"));
    assert_eq!(made.header("etag"), "\"r1\"");
    let now = "2026-01-01T00:00:00Z";
    let expect = json!({
        "success": true, "apiUsage": 1, "apiDailyUsage": 1,
        "id": id, "name": "Ana", "email": "ana@acme.test", "country": "ES", "timeZone": "Europe/Madrid",
        "language": null, "description": null, "message": null, "disabled": false, "disabledMessage": null, "tags": {},
        "privileges": [], "group": null, "deviceId": null, "adminDevices": null, "from": null, "expires": null,
        "password": null, "creation": now, "modification": now, "lastLogin": null,
    });
    assert_eq!(body, expect);
    let path = format!("/api/users/{id}");
    let read = app.call(&format!("GET {path}")).by(&owner).header("if-none-match", "\"r1\"").send().await;
    assert_eq!((&read.expect(200)["name"], read.header("etag")), (&json!("Ana"), "\"r1\""));

    app.clock().advance_seconds(5);
    let mut changed = read.json();
    changed["name"] = json!("Ana Castro");
    let put = app.call(&format!("PUT {path}")).by(&owner).json(&changed).send().await;
    let body = put.expect(200);
    assert_eq!(
        (&body["name"], &body["modification"]),
        (&json!("Ana Castro"), &json!("2026-01-01T00:00:05Z"))
    );
    assert_eq!((&body["creation"], put.header("etag")), (&json!(now), "\"r2\""));
    app.call(&format!("DELETE {path}")).by(&owner).send().await.expect(200);
    for line in ["GET", "DELETE"] {
        app.call(&format!("{line} {path}")).by(&owner).send().await.expect_error(404, "not-found");
    }
    app.call(&format!("PUT {path}")).by(&owner).json(&ana()).send().await.expect_error(404, "not-found");
}

async fn every_field_is_kept(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.call("POST /api/groups").by(&owner).json(&json!({"name": "G"})).send().await.expect(201);
    let mut full = ana();
    let more = json!({
        "country": "Spain", "timeZone": "europe/madrid", "description": "Line\nbreak", "message": "Hello",
        "disabled": true, "disabledMessage": "No", "tags": {"team": "north"},
        "privileges": ["api", "devices.write"], "group": group["id"], "adminDevices": 0,
        "from": "2026-01-01T02:00:00+02:00", "expires": "2027-01-01T00:00:00.5Z", "password": PASSWORD,
    });
    full.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = create(&app, &owner, &full).await;
    let changes = [
        ("country", json!("ES")),
        ("timeZone", json!("Europe/Madrid")),
        ("privileges", json!(["devices.write", "api"])),
        ("from", json!("2026-01-01T00:00:00Z")),
        ("expires", json!("2027-01-01T00:00:00.500Z")),
        ("password", json!(null)),
    ];
    full.as_object_mut().unwrap().extend(changes.map(|(name, value)| (name.to_owned(), value)));
    for (name, value) in full.as_object().unwrap() {
        assert_eq!(&made[name], value, "{name}");
    }
    let path = format!("/api/users/{}", made["id"].as_str().unwrap());
    let bare = app.call(&format!("PUT {path}")).by(&owner).json(&ana()).send().await.expect(200);
    for (name, value) in [("tags", json!({})), ("privileges", json!([])), ("disabled", json!(false))] {
        assert_eq!(bare[name], value, "what a PUT leaves out is its default");
    }
    assert_eq!(
        (&bare["group"], &bare["expires"], &bare["message"]),
        (&json!(null), &json!(null), &json!(null))
    );
}

async fn both_patches_change_part(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let made = create(&app, &owner, &ana()).await;
    let line = format!("PATCH /api/users/{}", made["id"].as_str().unwrap());
    let patch = |kind: &str, body: Value| app.call(&line).by(&owner).body(kind, body.to_string()).send();
    let merged =
        patch("application/merge-patch+json", json!({"tags": {"a": "1", "b": "2"}, "message": "Hi"})).await;
    assert_eq!(merged.expect(200)["tags"], json!({"a": "1", "b": "2"}));
    let merged = patch("application/json", json!({"tags": {"a": null}})).await.expect(200);
    assert_eq!((&merged["tags"], &merged["message"]), (&json!({"b": "2"}), &json!("Hi")));
    let steps = json!([
        {"op": "test", "path": "/name", "value": "Ana"},
        {"op": "add", "path": "/privileges/-", "value": "api"},
        {"op": "remove", "path": "/message"},
    ]);
    let patched = patch("application/json-patch+json", steps).await.expect(200);
    assert_eq!((&patched["privileges"], &patched["message"]), (&json!(["api"]), &json!(null)));
    let steps = json!([{"op": "replace", "path": "/name", "value": "X"}, {"op": "test", "path": "/name", "value": "Y"}]);
    patch("application/json", steps).await.expect_error(409, "patch-test-failed");
    patch("application/json", json!([{"op": "remove", "path": "/nothing"}]))
        .await
        .expect_error(400, "invalid-patch");
    patch("application/json", json!({"name": null})).await.expect_error(400, "invalid-body");
    patch("application/json", json!({"nmae": "x"})).await.expect_error(400, "invalid-body");
    patch("text/plain", json!({})).await.expect_error(415, "unsupported-media-type");
    let untouched =
        patch("application/json", json!({"id": "usr_x", "lastLogin": null, "success": false})).await;
    assert_eq!(untouched.expect(200)["name"], "Ana", "read-only members mean nothing");
}

async fn lists_are_filtered_and_paged(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.call("POST /api/groups").by(&owner).json(&json!({"name": "G"})).send().await.expect(201);
    let group = group["id"].as_str().unwrap();
    for (name, extra) in [
        ("Ana", json!({"group": group})),
        ("Bea", json!({"tags": {"team": "north"}})),
        ("Cleo", json!({"description": "Étoile"})),
    ] {
        let mut body = ana();
        body["name"] = json!(name);
        body["email"] = json!(format!("{}@acme.test", name.to_lowercase()));
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        create(&app, &owner, &body).await;
    }
    let list = async |query: &str| {
        let answer = app.call(&format!("GET /api/users{query}")).by(&owner).send().await.expect(200);
        let names =
            answer["users"].as_array().unwrap().iter().map(|user| user["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(list("").await.len(), 4);
    assert_eq!(list("?q=BEA").await, ["Bea"]);
    assert_eq!(list("?q=cleo%40ACME").await, ["Cleo"]);
    assert_eq!(list("?q=%C3%A9toile").await, ["Cleo"]);
    assert_eq!(list(&format!("?group={group}")).await, ["Ana"]);
    assert_eq!(list("?group=grp_0000000000000").await, [""; 0]);
    assert_eq!(list("?tag=team:north").await, ["Bea"]);
    let mut path = "/api/users?limit=3".to_owned();
    let mut sizes = Vec::new();
    loop {
        let page = app.call(&format!("GET {path}")).by(&owner).send().await.expect(200);
        sizes.push(page["users"].as_array().unwrap().len());
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/api/users?limit=3&cursor={cursor}");
    }
    assert_eq!(sizes, [3, 1]);
    for query in ["group=nonsense", "tag=north", "limit=0", "state=active", "cursor=x"] {
        app.call(&format!("GET /api/users?{query}")).by(&owner).send().await.expect(400);
    }
}

async fn a_country_is_needed_unless_there_is_none(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let line = |method: &str| format!("{method} /api/users/{}", owner.id);
    let patch = |body: Value| app.call(&line("PATCH")).by(&owner).json(&body).send();
    let made_by_command = app.call(&line("GET")).by(&owner).send().await.expect(200);
    assert_eq!(made_by_command["country"], json!(null));
    assert_eq!(patch(json!({"description": "First"})).await.expect(200)["country"], json!(null));
    let put = app.call(&line("PUT")).by(&owner).json(&made_by_command).send().await.expect(200);
    assert_eq!(put["country"], json!(null));
    assert_eq!(patch(json!({"country": "Portugal"})).await.expect(200)["country"], "PT");
    let refused = patch(json!({"country": null})).await.expect_error(400, "invalid-body");
    assert_eq!(refused["errors"][0]["pointer"], "/country");
    let mut without = ana();
    without.as_object_mut().unwrap().remove("country");
    app.call("POST /api/users").by(&owner).json(&without).send().await.expect_error(400, "invalid-body");
}

async fn passwords_are_set_and_never_returned(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let sign_in = |password: &str| {
        app.call("POST /api/session").json(&json!({"email": "ana@acme.test", "password": password})).send()
    };
    let mut body = ana();
    body["password"] = json!(PASSWORD);
    let made = create(&app, &owner, &body).await;
    assert_eq!(made["password"], json!(null));
    let signed_in = sign_in(PASSWORD).await;
    signed_in.expect(200);
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap();
    let line = format!("PATCH /api/users/{}", made["id"].as_str().unwrap());
    let patch = |body: Value| app.call(&line).by(&owner).json(&body).send();
    patch(json!({"password": null, "name": "Ana C"})).await.expect(200);
    app.call("GET /api/session").cookie(cookie).send().await.expect(200);
    for weak in ["short", "ana@acme.test", &"x".repeat(129)] {
        let refused = patch(json!({"password": weak})).await.expect_error(400, "invalid-body");
        assert_eq!(refused["errors"][0]["pointer"], "/password", "{refused}");
        assert!(!refused.to_string().contains(&"x".repeat(129)), "{refused}");
    }
    assert_eq!(patch(json!({"password": "nine lives of a cat"})).await.expect(200)["password"], json!(null));
    app.call("GET /api/session").cookie(cookie).send().await.expect_error(401, "unauthenticated");
    sign_in(PASSWORD).await.expect(401);
    sign_in("nine lives of a cat").await.expect(200);
    let audit = app.get(&owner, "/api/audit?action=password.set").await;
    assert_eq!((&audit["audit"][0]["target"], &audit["audit"][0]["user"]), (&made["id"], &json!(owner.id)));
}

async fn ones_own_password_needs_the_present_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    let line = format!("PATCH /api/users/{}", owner.id);
    let body = json!({"password": "nine lives of a cat"});
    for call in [app.call(&line).by(&owner), app.call(&line).cookie(&cookie)] {
        let refused = call.json(&body).send().await.expect_error(400, "invalid-body");
        assert_eq!(refused["errors"][0]["pointer"], "/password", "{refused}");
        assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("PUT /api/session/password"));
    }
    app.sign_in(&owner).await;
    app.call(&line).by(&owner).json(&json!({"password": null, "name": "Boss"})).send().await.expect(200);
}

async fn an_address_is_taken_once_on_the_server(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await.owner, app.tenant("other", 10).await.owner);
    let made = create(&app, &mine, &ana()).await;
    let mut upper = ana();
    upper["email"] = json!("ANA@Acme.test");
    for owner in [&mine, &theirs] {
        let taken = app.call("POST /api/users").by(owner).json(&upper).send().await;
        taken.expect_error(409, "email-taken");
    }
    let line = format!("PATCH /api/users/{}", made["id"].as_str().unwrap());
    let own = app.call(&line).by(&mine).json(&json!({"email": "ANA@acme.test"})).send().await.expect(200);
    assert_eq!(own["email"], "ANA@acme.test");
    let taken = app.call(&line).by(&mine).json(&json!({"email": theirs.email})).send().await;
    taken.expect_error(409, "email-taken");
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cases = [
        ("name", json!("")),
        ("name", json!("   ")),
        ("name", json!("two\nlines")),
        ("name", json!("x".repeat(201))),
        ("email", json!("nobody")),
        ("email", json!(format!("{}@acme.test", "x".repeat(300)))),
        ("country", json!("Atlantis")),
        ("timeZone", json!("Europe/Atlantis")),
        ("timeZone", json!(null)),
        ("description", json!("x".repeat(2_001))),
        ("disabled", json!("true")),
        ("disabled", json!(null)),
        ("tags", json!({"a": 1})),
        ("tags", json!(["a"])),
        ("privileges", json!("owner")),
        ("privileges", json!(["root"])),
        ("privileges", json!(["api", "api"])),
        ("group", json!("G")),
        ("deviceId", json!("grp_0000000000000")),
        ("adminDevices", json!(-1)),
        ("adminDevices", json!(1.5)),
        ("adminDevices", json!(1_000_001)),
        ("from", json!("yesterday")),
        ("expires", json!("2026-02-30T00:00:00Z")),
        ("password", json!(12_345_678_901_i64)),
        ("operator", json!(true)),
    ];
    for (member, value) in cases {
        let mut body = ana();
        body[member] = value.clone();
        let answer = app.call("POST /api/users").by(&owner).json(&body).send().await;
        let problem = answer.expect_error(400, "invalid-body");
        let pointer = problem["errors"][0]["pointer"].as_str().unwrap();
        assert!(pointer.starts_with(&format!("/{member}")), "{value}: {problem}");
    }
    let mut body = ana();
    body["from"] = json!("2026-02-01T00:00:00Z");
    body["expires"] = json!("2026-02-01T00:00:00Z");
    let answer = app.call("POST /api/users").by(&owner).json(&body).send().await;
    assert_eq!(answer.expect_error(400, "invalid-body")["errors"][0]["pointer"], "/expires");
    let several = app.call("POST /api/users").by(&owner).json(&json!({"name": 5, "emial": "x"})).send().await;
    let problems = several.expect_error(400, "invalid-body");
    assert_eq!(problems["errors"].as_array().unwrap().len(), 5, "{problems}");
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    for body in
        ["", "{", r#"{"name": "a\u0000"}"#, r#"{"name": "\ud800"}"#, r#"{"name": "a", "name": "b"}"#, &deep]
    {
        let answer =
            app.call("POST /api/users").by(&owner).body("application/json", body.to_owned()).send().await;
        answer.expect_error(400, "malformed-json");
    }
    let all = app.call("GET /api/users").by(&owner).send().await.expect(200);
    assert_eq!(all["users"].as_array().unwrap().len(), 1, "nothing was stored");
}

async fn bounds_must_be_the_accounts(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await.owner, app.tenant("other", 10).await.owner);
    let group = app.call("POST /api/groups").by(&theirs).json(&json!({"name": "G"})).send().await.expect(201);
    let made = create(
        &app,
        &mine,
        &json!({"name": "B", "email": "b@acme.test", "country": "ES", "timeZone": "UTC"}),
    )
    .await;
    let line = format!("PATCH /api/users/{}", made["id"].as_str().unwrap());
    for (member, id) in [
        ("group", group["id"].clone()),
        ("group", json!("grp_0000000000000")),
        ("deviceId", json!("dev_0000000000000")),
    ] {
        let mut body = ana();
        body[member] = id.clone();
        let created = app.call("POST /api/users").by(&mine).json(&body).send().await;
        let changed = app.call(&line).by(&mine).json(&json!({ member: id })).send().await;
        for answer in [created, changed] {
            let problem = answer.expect_error(400, "invalid-body");
            assert_eq!(problem["errors"][0]["pointer"], format!("/{member}"));
        }
    }
}

async fn changes_need_the_right_revision(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let id = create(&app, &owner, &ana()).await["id"].as_str().unwrap().to_owned();
    let patch = |tag: &str, name: &str| {
        let call = app.call(&format!("PATCH /api/users/{id}")).by(&owner).header("if-match", tag);
        call.json(&json!({"name": name})).send()
    };
    patch("\"r1\"", "B").await.expect(200);
    patch("\"r1\"", "C").await.expect_error(412, "precondition-failed");
    let body = json!({"email": "ana@acme.test", "password": PASSWORD});
    app.call(&format!("PATCH /api/users/{id}"))
        .by(&owner)
        .json(&json!({"password": PASSWORD}))
        .send()
        .await
        .expect(200);
    app.call("POST /api/session").json(&body).send().await.expect(200);
    patch("\"r3\"", "D").await.expect(200);
    let stale =
        app.call(&format!("DELETE /api/users/{id}")).by(&owner).header("if-match", "\"r1\"").send().await;
    stale.expect_error(412, "precondition-failed");
}

async fn sending_twice_makes_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let post = |body: Value| {
        app.call("POST /api/users").by(&owner).header("idempotency-key", "once").json(&body).send()
    };
    let (first, again) = (post(ana()).await.expect(201), post(ana()).await.expect(201));
    assert_eq!(first["id"], again["id"]);
    let mut other = ana();
    other["name"] = json!("B");
    post(other).await.expect_error(422, "idempotency-mismatch");
}

async fn another_accounts_user_looks_like_none(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await, app.tenant("other", 10).await.owner);
    let mut bodies = Vec::new();
    for id in [&theirs.id.to_string(), "usr_0000000000000", "nonsense", "%00", "grp_0000000000000"] {
        for method in ["GET", "DELETE", "PATCH", "PUT"] {
            let mut call = app.call(&format!("{method} /api/users/{id}")).by(&mine.owner);
            if method != "GET" {
                call = call.json(&ana());
            }
            let mut body = call.send().await.expect_error(404, "not-found");
            for live in ["instance", "apiUsage", "apiDailyUsage"] {
                body[live] = json!(null);
            }
            bodies.push(body);
        }
    }
    assert!(bodies.iter().all(|body| body == &bodies[0]), "{bodies:?}");
}

async fn countries_and_zones_are_listed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader =
        app.person(&tenant, "reader", Traits { privileges: vec![Privilege::Api], ..Traits::default() }).await;
    for (path, list, key, label, least) in [
        ("/api/users/countries", "countries", "ES", "Spain", 249),
        ("/api/Users/timezones", "timeZones", "Europe/Madrid", "(UTC+01:00) Europe/Madrid", 500),
    ] {
        let answer = app.call(&format!("GET {path}")).by(&reader).send().await;
        let body = answer.expect(200);
        assert_eq!(body[list][key], label);
        assert!(body[list].as_object().unwrap().len() >= least);
        assert!(body["apiUsage"].is_u64(), "{body}");
        let tag = answer.header("etag");
        assert!(tag.starts_with('"'), "{tag}");
        let known = app.call(&format!("GET {path}")).by(&reader).header("if-none-match", tag).send().await;
        assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
        app.call(&format!("GET {path}?q=x")).by(&reader).send().await.expect_error(400, "invalid-parameter");
        app.call(&format!("GET {path}")).send().await.expect_error(401, "unauthenticated");
    }
    app.clock().set("2026-07-01T00:00:00Z".parse().unwrap());
    let reader = app.equip(&tenant.account, reader.id, reader.email).await;
    let summer = app.call("GET /api/users/timeZones").by(&reader).send().await.expect(200);
    assert_eq!(summer["timeZones"]["Europe/Madrid"], "(UTC+02:00) Europe/Madrid");
}
