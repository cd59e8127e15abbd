//! Devices: made, listed, changed and deleted, with every rule for what a client sets.

mod commands;
mod conversations;
mod device_files;
mod device_photo;
mod many;

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, bare_error, on_both_engines, pointers};

on_both_engines!(
    a_device_lives_and_dies,
    every_field_comes_back,
    an_answer_can_be_sent_back,
    an_answer_can_be_sent_back_as_it_is,
    a_date_alone_lets_a_device_expire,
    lists_are_filtered_and_paged,
    changes_need_the_right_revision,
    a_device_is_late_by_its_own_interval,
    sending_twice_makes_one,
    bad_bodies_say_what_to_change,
    unknown_groups_are_reported_where_they_were_named,
    invisible_devices_are_not_found,
    privileges_are_asked_for,
    a_groups_user_adds_to_the_group,
    identifiers_are_unique_in_the_account,
);

async fn a_device_lives_and_dies(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let made = app.send(&owner, "POST /api/devices", &json!({"name": "Boat"})).await;
    let body = made.expect(201);
    let id = body["device"]["id"].as_str().unwrap();
    assert_eq!(made.header("location"), format!("http://perigee.test/api/devices/{id}"));
    assert_eq!(made.header("etag"), "\"r1\"");
    assert_eq!(body["success"], true);
    assert_eq!(
        body["device"],
        json!({
            "id": id, "identifier": null, "identifiers": [], "name": "Boat", "description": null, "min": null, "tags": {},
            "icon": null, "photo": null, "model": null, "reportedModel": null, "decoding": {}, "proposedTimeZoneMinutes": null,
            "protocol": null, "groups": [], "state": "active", "expires": null,
            "limits": {"expires": false, "expirationDate": null, "dailyEmailLimit": null, "dailySmsLimit": null, "criticalReserve": 0},
            "counters": {"date": "2026-01-01", "timeZone": "UTC", "emailsSent": 0, "smsSent": 0, "smsSegments": 0, "resetsAt": "2026-01-02T00:00:00Z"},
            "status": "never", "lastSeen": null, "expectedIntervalSeconds": null,
            "learnedIntervalSeconds": null, "retentionDays": null,
            "creation": "2026-01-01T00:00:00Z", "lastModified": "2026-01-01T00:00:00Z"
        })
    );

    app.clock().advance_seconds(60);
    let path = format!("/api/devices/{id}");
    let steps = json!([{"op": "test", "path": "/name", "value": "Boat"}, {"op": "replace", "path": "/limits/dailySmsLimit", "value": 5}]);
    let patched = app.send(&owner, &format!("PATCH {path}"), &steps).await.expect(200);
    assert_eq!(patched["device"]["limits"]["dailySmsLimit"], 5);
    assert_eq!(patched["device"]["lastModified"], "2026-01-01T00:01:00Z");
    let merge = json!({"limits": {"dailyEmailLimit": 0}, "description": "Blue"});
    let merged = app.send(&owner, &format!("PATCH {path}"), &merge).await;
    assert_eq!(merged.header("etag"), "\"r3\"");
    let device = &merged.expect(200)["device"];
    assert_eq!(
        (&device["limits"]["dailyEmailLimit"], &device["limits"]["dailySmsLimit"], &device["description"]),
        (&json!(0), &json!(5), &json!("Blue"))
    );
    let failed = json!([{"op": "replace", "path": "/name", "value": "X"}, {"op": "test", "path": "/name", "value": "Y"}]);
    app.send(&owner, &format!("PATCH {path}"), &failed).await.expect_error(409, "patch-test-failed");
    let put = app.send(&owner, &format!("PUT {path}"), &json!({"name": "Ship"})).await.expect(200);
    assert_eq!(put["device"]["limits"], body["device"]["limits"], "without limits there are none");
    assert_eq!((&put["device"]["name"], &put["device"]["description"]), (&json!("Ship"), &json!(null)));

    let read = app.call(&format!("GET {path}")).by(&owner).header("if-none-match", "\"r4\"").send().await;
    assert_eq!(read.expect(200)["device"], put["device"], "live fields are always answered");
    assert_eq!(read.header("etag"), "\"r4\"");
    let deleted = app.call(&format!("DELETE {path}")).by(&owner).send().await.expect(200);
    assert_eq!(deleted["success"], true);
    app.call(&format!("GET {path}")).by(&owner).send().await.expect_error(404, "not-found");
}

async fn every_field_comes_back(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.group(&owner, &json!({"name": "Boats"})).await;
    let input = json!({
        "identifier": "300234010753370", "name": "Northern Star ⛵", "description": "two\nlines", "min": "+34600111222",
        "tags": {"colour": "red", "": "x"}, "icon": "boat", "model": "C", "groups": [group], "expectedIntervalSeconds": 600,
        "limits": {"expires": true, "expirationDate": "2026-12-31", "dailyEmailLimit": 1_000_000, "dailySmsLimit": null, "criticalReserve": 3},
    });
    let refused = app.send(&owner, "POST /api/devices", &input).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/tags/"]);
    let mut input = input;
    input["tags"] = json!({"colour": "red"});
    app.device(&owner, &input).await;
    let device = app.get(&owner, "/api/devices/300234010753370").await["device"].clone();
    for (name, value) in input.as_object().unwrap() {
        assert_eq!(&device[name], value, "{name}");
    }
    assert_eq!(device["expires"], "2027-01-01T00:00:00Z");
    assert_eq!(app.get(&owner, &format!("/api/groups/{group}")).await["devices"], json!([device["id"]]));
}

async fn an_answer_can_be_sent_back(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let id = app.device(&owner, &json!({"name": "Boat", "limits": {"expirationDate": "2026-12-31"}})).await;
    let path = format!("/api/devices/{id}");
    let mut read = app.get(&owner, &path).await["device"].clone();
    read["success"] = json!(true);
    read["apiUsage"] = json!(7);
    let put = app.send(&owner, &format!("PUT {path}"), &read).await;
    assert_eq!(
        (put.expect(200)["device"]["limits"].clone(), put.header("etag")),
        (read["limits"].clone(), "\"r1\"")
    );
    let live = json!({"state": "expired", "lastSeen": "2026-01-01T00:00:00Z", "counters": {"smsSent": 9}, "id": "x"});
    let patched = app.send(&owner, &format!("PATCH {path}"), &live).await;
    assert_eq!(
        (patched.expect(200)["device"]["state"].clone(), patched.header("etag")),
        (json!("active"), "\"r1\"")
    );
    for name in [
        "id",
        "state",
        "expires",
        "counters",
        "status",
        "lastSeen",
        "learnedIntervalSeconds",
        "protocol",
        "creation",
        "lastModified",
        "success",
    ] {
        let body = json!({"name": "Boat", name: "x"});
        let made = app.send(&owner, "POST /api/devices", &body).await.expect(201);
        assert_ne!(made["device"].get(name), Some(&json!("x")), "{name} is not the client's to set");
        let made = format!("DELETE /api/devices/{}", made["device"]["id"].as_str().unwrap());
        app.call(&made).by(&owner).send().await.expect(200);
    }
}

async fn an_answer_can_be_sent_back_as_it_is(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let id = app.device(&owner, &json!({"name": "Boat", "identifier": "i1"})).await;
    let path = format!("/api/devices/{id}");
    let mut read = app.get(&owner, &path).await;
    read["device"]["name"] = json!("Ship");
    for method in ["PUT", "PATCH"] {
        let changed = app.send(&owner, &format!("{method} {path}"), &read).await.expect(200);
        assert_eq!(
            (&changed["device"]["name"], &changed["device"]["identifier"]),
            (&json!("Ship"), &json!("i1"))
        );
    }
    read["device"]["name"] = json!("");
    let refused = app.send(&owner, &format!("PUT {path}"), &read).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/device/name"]);
    read["device"]["name"] = json!("Ship");
    read["name"] = json!("Boat");
    let refused = app.send(&owner, &format!("PUT {path}"), &read).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/device"]);
}

async fn a_date_alone_lets_a_device_expire(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let date = "2026-12-31";
    let operations = |op: Value| json!([{"op": "test", "path": "/limits/expires", "value": false}, op]);
    for patch in [
        json!({"limits": {"expirationDate": date}}),
        operations(json!({"op": "replace", "path": "/limits/expirationDate", "value": date})),
    ] {
        let id = app.device(&owner, &json!({"name": "Boat"})).await;
        let changed = app.send(&owner, &format!("PATCH /api/devices/{id}"), &patch).await.expect(200);
        let device = &changed["device"];
        assert_eq!(
            (&device["limits"]["expires"], &device["limits"]["expirationDate"]),
            (&json!(true), &json!(date))
        );
        assert_eq!(device["expires"], "2027-01-01T00:00:00Z");
        let off = json!({"limits": {"expires": false, "expirationDate": date}});
        let changed = app.send(&owner, &format!("PATCH /api/devices/{id}"), &off).await.expect(200);
        assert_eq!(changed["device"]["limits"]["expirationDate"], json!(null), "an explicit false holds");
    }
}

async fn lists_are_filtered_and_paged(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.group(&owner, &json!({"name": "Boats"})).await;
    for number in 0..5 {
        // Ids of one millisecond are unsorted.
        app.clock().advance_seconds(1);
        let limits = json!({"expirationDate": if number == 4 { json!("2025-12-31") } else { json!(null) }});
        let body = json!({
            "name": format!("Device {number}"), "identifier": format!("imei-{number}"), "limits": limits,
            "tags": {"colour": if number % 2 == 0 { "red" } else { "blue:green" }},
            "groups": if number < 2 { vec![&group] } else { vec![] },
        });
        app.device(&owner, &body).await;
    }
    let names = async |query: &str| -> Vec<String> {
        let list = app.get(&owner, &format!("/api/devices{query}")).await;
        assert_eq!(list.get("nextCursor"), None);
        list["devices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["name"].as_str().unwrap()[7..].to_owned())
            .collect()
    };
    assert_eq!(names("").await, ["0", "1", "2", "3", "4"]);
    assert_eq!(names("?q=IMEI-3").await, ["3"]);
    assert_eq!(names("?q=device").await.len(), 5);
    assert_eq!(names(&format!("?group={group}")).await, ["0", "1"]);
    assert_eq!(names("?group=grp_0000000000000").await, [""; 0]);
    assert_eq!(names("?state=expired").await, ["4"]);
    assert_eq!(names("?state=active&tag=colour:red").await, ["0", "2"]);
    assert_eq!(names("?tag=colour:blue:green").await, ["1", "3"]);

    let first = app.call("GET /api/devices?limit=3&state=active").by(&owner).send().await;
    let body = first.expect(200);
    let cursor = body["nextCursor"].as_str().unwrap();
    let next = format!("/api/devices?limit=3&state=active&cursor={cursor}");
    assert_eq!(first.header("link"), format!("<http://perigee.test{next}>; rel=\"next\""));
    assert_eq!(names(&next["/api/devices".len()..]).await, ["3"]);
    for (query, code) in [
        ("limit=0", "invalid-parameter"),
        ("limit=1001", "invalid-parameter"),
        ("state=dead", "invalid-parameter"),
        ("group=boats", "invalid-parameter"),
        ("tag=colour", "invalid-parameter"),
        ("tag=:x", "invalid-parameter"),
        ("colour=red", "invalid-parameter"),
        ("q=a&q=b", "invalid-parameter"),
        ("cursor=AAAA", "invalid-cursor"),
    ] {
        app.call(&format!("GET /api/devices?{query}")).by(&owner).send().await.expect_error(400, code);
    }
    let groups = format!("GET /api/groups?cursor={cursor}");
    app.call(&groups).by(&owner).send().await.expect_error(400, "invalid-cursor");
}

async fn changes_need_the_right_revision(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let path = format!("/api/devices/{}", app.device(&owner, &json!({"name": "A"})).await);
    let change = async |method: &str, tag: &str, body: &Value| {
        app.call(&format!("{method} {path}")).by(&owner).header("if-match", tag).json(body).send().await
    };
    change("PUT", "\"r1\"", &json!({"name": "B"})).await.expect(200);
    for method in ["PUT", "PATCH", "DELETE"] {
        change(method, "\"r1\"", &json!({"name": "C"})).await.expect_error(412, "precondition-failed");
    }
    // Hearing from it changes nothing a client can set.
    let location = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 1});
    app.send(&owner, &format!("POST {path}/locations"), &location).await.expect(201);
    change("PATCH", "\"r2\"", &json!({"name": "D"})).await.expect(200);
    assert_eq!(app.get(&owner, &path).await["device"]["status"], "online");
    change("DELETE", "\"r3\"", &json!({})).await.expect(200);
}

async fn a_device_is_late_by_its_own_interval(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let path = format!("/api/devices/{}", app.device(&tenant.owner, &json!({"name": "A"})).await);
    let location = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 1});
    // A token does not last as long as what is waited for.
    let owner = || app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone());
    let silence = async |seconds: i64| {
        app.clock().advance_seconds(seconds);
        let read = app.call(&format!("GET {path}")).by(&owner().await).send().await;
        assert_eq!(read.header("etag"), "\"r1\"");
        let device = read.expect(200)["device"].clone();
        assert_eq!(device["lastModified"], "2026-01-01T00:00:00Z");
        (device["status"].clone(), device["learnedIntervalSeconds"].clone())
    };
    app.send(&tenant.owner, &format!("POST {path}/locations"), &location).await.expect(201);
    assert_eq!(silence(7_200).await, (json!("online"), json!(null)), "an hour unless more is known");
    assert_eq!(silence(1).await, (json!("late"), json!(null)));
    for silence_s in [7_199, 14_400, 14_400] {
        app.clock().advance_seconds(silence_s);
        // A repeated location is a duplicate, but shows that the device is connected.
        app.send(&owner().await, &format!("POST {path}/locations"), &location).await.expect(200);
    }
    assert_eq!(silence(28_800).await, (json!("online"), json!(14_400)));
    assert_eq!(silence(1).await, (json!("late"), json!(14_400)));
    assert_eq!(silence(57_600).await, (json!("offline"), json!(14_400)));
    let body = json!({"expectedIntervalSeconds": 86_400});
    let device =
        app.send(&owner().await, &format!("PATCH {path}"), &body).await.expect(200)["device"].clone();
    let said = (&device["status"], &device["expectedIntervalSeconds"], &device["learnedIntervalSeconds"]);
    assert_eq!(said, (&json!("online"), &json!(86_400), &json!(14_400)));
}

async fn sending_twice_makes_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 1).await.owner;
    let post = async |name: &str| {
        let call = app.call("POST /api/devices").by(&owner).header("idempotency-key", "once");
        call.json(&json!({"name": name})).send().await
    };
    let first = post("A").await;
    let id = first.expect(201)["device"]["id"].clone();
    app.send(&owner, &format!("PATCH /api/devices/{}", id.as_str().unwrap()), &json!({"name": "B"}))
        .await
        .expect(200);
    let again = post("A").await;
    assert_eq!(
        again.expect(201)["device"],
        first.json()["device"],
        "the answer of then, and no licence more"
    );
    assert_eq!(again.header("location"), first.header("location"));
    post("B").await.expect_error(422, "idempotency-mismatch");
    assert_eq!(app.get(&owner, "/api/devices").await["devices"].as_array().unwrap().len(), 1);
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    for body in [
        "",
        "{",
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a\u0000"}"#,
        r#"{"name":"\ud800"}"#,
        &deep,
        "\"\u{1}\"",
    ] {
        let answer =
            app.call("POST /api/devices").by(&owner).body("application/json", body.to_owned()).send().await;
        answer.expect_error(400, "malformed-json");
    }
    let many: serde_json::Map<String, Value> = (0..65).map(|n| (n.to_string(), json!("x"))).collect();
    for (body, pointer) in [
        (json!([]), ""),
        (json!({}), "/name"),
        (json!({"name": " "}), "/name"),
        (json!({"name": 5}), "/name"),
        (json!({"name": "a\u{7}"}), "/name"),
        (json!({"name": "x".repeat(201)}), "/name"),
        (json!({"name": "a", "nmae": "b"}), "/nmae"),
        (json!({"name": "a", "identifier": "dev_1"}), "/identifier"),
        (json!({"name": "a", "identifier": ""}), "/identifier"),
        (json!({"name": "a", "identifier": "x".repeat(101)}), "/identifier"),
        (json!({"name": "a", "description": "x".repeat(2001)}), "/description"),
        (json!({"name": "a", "min": [1]}), "/min"),
        (json!({"name": "a", "tags": {"a": 1}}), "/tags/a"),
        (json!({"name": "a", "tags": many}), "/tags"),
        (json!({"name": "a", "groups": ["x"]}), "/groups/0"),
        (json!({"name": "a", "groups": {}}), "/groups"),
        (json!({"name": "a", "limits": {"expires": true}}), "/limits/expirationDate"),
        (json!({"name": "a", "limits": {"expirationDate": "2026-02-30"}}), "/limits/expirationDate"),
        (json!({"name": "a", "limits": {"dailySmsLimit": -1}}), "/limits/dailySmsLimit"),
        (json!({"name": "a", "limits": {"dailyEmailLimit": 1_000_001}}), "/limits/dailyEmailLimit"),
        (json!({"name": "a", "limits": {"criticalReserve": 1.5}}), "/limits/criticalReserve"),
        (json!({"name": "a", "limits": {"sms": 1}}), "/limits/sms"),
        (json!({"name": "a", "expectedIntervalSeconds": 0}), "/expectedIntervalSeconds"),
    ] {
        let refused = app.send(&owner, "POST /api/devices", &body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
    let huge = json!({"name": "a", "description": "x".repeat(1 << 20)});
    app.send(&owner, "POST /api/devices", &huge).await.expect_error(413, "body-too-large");
    let text = app.call("POST /api/devices").by(&owner).body("text/plain", "{}").send().await;
    text.expect_error(415, "unsupported-media-type");
    assert_eq!(app.get(&owner, "/api/devices").await["devices"], json!([]), "nothing was stored");
}

async fn unknown_groups_are_reported_where_they_were_named(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await.owner, app.tenant("other", 10).await.owner);
    let foreign = app.group(&theirs, &json!({"name": "Boats"})).await;
    let id = app.device(&mine, &json!({"name": "A"})).await;
    for group in ["grp_0000000000000", &foreign] {
        let body = json!({"name": "A", "groups": [group]});
        for line in [
            "POST /api/devices".to_owned(),
            format!("PUT /api/devices/{id}"),
            format!("PATCH /api/devices/{id}"),
        ] {
            let refused = app.send(&mine, &line, &body).await.expect_error(400, "invalid-body");
            assert_eq!(pointers(&refused), ["/groups"], "{line}");
            assert_eq!(
                refused["error"],
                format!("The account has no group with the ID {group}. Check the ID.")
            );
        }
    }
    let whole = app.send(&mine, &format!("PUT /api/devices/{id}"), &json!([])).await;
    assert_eq!(pointers(&whole.expect_error(400, "invalid-body")), [""]);
}

async fn invisible_devices_are_not_found(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let their_id = app.device(&theirs.owner, &json!({"name": "A", "identifier": "taken-there"})).await;
    let group = app.group(&mine.owner, &json!({"name": "Boats"})).await;
    let other = app.device(&mine.owner, &json!({"name": "B", "identifier": "beside"})).await;
    let all =
        [Privilege::DevicesWrite, Privilege::GroupsWrite, Privilege::LocationsWrite, Privilege::AlertsWrite];
    let scoped = Traits { privileges: all.to_vec(), group: group.parse().ok(), ..Traits::default() };
    let scoped = app.person(&mine, "scoped", scoped).await;
    let point = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 1, "alertName": "X"});
    for line in [
        "GET /api/devices/{}",
        "PUT /api/devices/{}",
        "PATCH /api/devices/{}",
        "DELETE /api/devices/{}",
        "GET /api/devices/{}/lastLocation",
        "GET /api/devices/{}/locations",
        "POST /api/devices/{}/locations",
        "GET /api/devices/{}/alerts",
        "POST /api/devices/{}/alerts",
    ] {
        let body = if line.starts_with("POST") { point.clone() } else { json!({"name": "Mine now"}) };
        let mut bodies = Vec::new();
        for id in [
            &their_id,
            "dev_0000000000000",
            "nonsense",
            "taken-there",
            "%00",
            &other,
            "beside",
            &"x".repeat(101),
        ] {
            let answer = app.send(&scoped, &line.replace("{}", id), &body).await;
            bodies.push(bare_error(&answer, 404, "not-found"));
        }
        assert!(bodies.iter().all(|body| body == &bodies[0]), "{line}: {bodies:?}");
    }
    assert_eq!(app.get(&theirs.owner, "/api/devices/taken-there").await["device"]["name"], "A");
    assert_eq!(app.get(&mine.owner, "/api/devices/beside").await["device"]["name"], "B");
}

async fn privileges_are_asked_for(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let group = app.group(&tenant.owner, &json!({"name": "Boats"})).await;
    let id = app.device(&tenant.owner, &json!({"name": "A"})).await;
    let path = format!("/api/devices/{id}");
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let device_only =
        Traits { privileges: vec![Privilege::DevicesWrite], device: id.parse().ok(), ..Traits::default() };
    let device_only = app.person(&tenant, "single", device_only).await;
    let writer = Traits { privileges: vec![Privilege::DevicesWrite], ..Traits::default() };
    let writer = app.person(&tenant, "writer", writer).await;
    let name = json!({"name": "B"});

    app.get(&reader, &path).await;
    for line in [
        "POST /api/devices".to_owned(),
        format!("PUT {path}"),
        format!("PATCH {path}"),
        format!("DELETE {path}"),
    ] {
        app.send(&reader, &line, &name).await.expect_error(403, "forbidden");
    }
    app.send(&device_only, "POST /api/devices", &name).await.expect_error(403, "forbidden");
    app.send(&device_only, &format!("PATCH {path}"), &name).await.expect(200);
    let seen = app.get(&device_only, "/api/devices").await;
    assert_eq!(seen["devices"].as_array().unwrap().len(), 1);

    app.send(&writer, "POST /api/devices", &name).await.expect(201);
    let grouped = json!({"name": "C", "groups": [group]});
    app.send(&writer, "POST /api/devices", &grouped).await.expect_error(403, "forbidden");
    app.send(&writer, &format!("PATCH {path}"), &grouped).await.expect_error(403, "forbidden");
    app.send(&tenant.owner, &format!("PATCH {path}"), &grouped).await.expect(200);
    app.send(&writer, &format!("PATCH {path}"), &json!({"name": "D"})).await.expect(200);
    app.send(&writer, &format!("PUT {path}"), &json!({"name": "D"})).await.expect_error(403, "forbidden");
    app.send(&writer, &format!("PUT {path}"), &json!({"name": "E", "groups": [group]})).await.expect(200);
    // A user sees only this device.
    app.call(&format!("DELETE {path}")).by(&writer).send().await.expect_error(409, "in-use");
}

async fn a_groups_user_adds_to_the_group(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let group = app.group(&tenant.owner, &json!({"name": "Boats"})).await;
    let scoped =
        Traits { privileges: vec![Privilege::DevicesWrite], group: group.parse().ok(), ..Traits::default() };
    let scoped = app.person(&tenant, "scoped", scoped).await;
    for body in [json!({"name": "A"}), json!({"name": "B", "groups": [group]})] {
        let id = app.device(&scoped, &body).await;
        assert_eq!(app.get(&scoped, &format!("/api/devices/{id}")).await["device"]["groups"], json!([group]));
        let put =
            app.send(&scoped, &format!("PUT /api/devices/{id}"), &json!({"name": "C"})).await.expect(200);
        assert_eq!(put["device"]["groups"], json!([group]), "it stays visible");
    }
    let other = app.group(&tenant.owner, &json!({"name": "Cars"})).await;
    let body = json!({"name": "C", "groups": [other]});
    app.send(&scoped, "POST /api/devices", &body).await.expect_error(403, "forbidden");
}

async fn identifiers_are_unique_in_the_account(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (mine, theirs) = (app.tenant("acme", 10).await.owner, app.tenant("other", 10).await.owner);
    let body = json!({"name": "A", "identifier": "ESN 0/1"});
    app.device(&mine, &body).await;
    app.device(&theirs, &body).await;
    app.send(&mine, "POST /api/devices", &body).await.expect_error(409, "identifier-taken");
    let other = app.device(&mine, &json!({"name": "B"})).await;
    app.send(&mine, &format!("PUT /api/devices/{other}"), &body).await.expect_error(409, "identifier-taken");
    assert_eq!(app.get(&mine, "/api/devices/ESN%200%2F1").await["device"]["name"], "A");
}
