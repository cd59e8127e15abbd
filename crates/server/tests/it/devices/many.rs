//! Many devices created with one request: JSON, NDJSON and CSV, dry runs, reports per row, limits and privileges.

use std::fmt::Write as _;

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::{Person, Traits};
use crate::support::{Answer, Engine, TestApp, on_both_engines, pointers};

on_both_engines!(
    devices_come_as_an_array_lines_or_a_table,
    a_dry_run_reports_every_row_and_creates_nothing,
    a_call_with_an_invalid_row_creates_nothing,
    a_call_beyond_the_licences_creates_nothing,
    a_call_can_be_repeated,
    many_devices_need_the_privileges_of_one,
    many_devices_are_charged_as_calls,
    bodies_of_devices_are_bounded,
);

const PATH: &str = "POST /api/bulk/devices";
const DRY: &str = "POST /api/bulk/devices?dryRun=true";

async fn table(app: &TestApp, person: &Person, line: &str, text: &str) -> Answer {
    app.call(line).by(person).body("text/csv", text.to_owned()).send().await
}

async fn count(app: &TestApp, person: &Person) -> usize {
    app.get(person, "/api/devices").await["devices"].as_array().map_or(0, Vec::len)
}

async fn devices_come_as_an_array_lines_or_a_table(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.group(&owner, &json!({"name": "Boats"})).await;
    let first = json!([{"identifier": "a1", "name": "One", "groups": ["Boats"], "tags": {"colour": "red"}}]);
    let made = app.send(&owner, PATH, &first).await.expect(201);
    assert_eq!(made["rows"][0]["outcome"], "new", "{made}");
    let id = made["rows"][0]["id"].as_str().unwrap();
    assert_eq!(
        made,
        json!({
            "success": true, "apiUsage": made["apiUsage"], "apiDailyUsage": made["apiDailyUsage"],
            "dryRun": false, "created": 1, "new": 1, "existing": 0, "invalid": 0,
            "licensesNeeded": 1, "licensesFree": 10,
            "rows": [{"index": 0, "line": null, "outcome": "new", "id": id, "identifier": "a1", "name": "One",
                "problems": []}]
        })
    );
    let device = app.get(&owner, &format!("/api/devices/{id}")).await["device"].clone();
    assert_eq!((&device["groups"], &device["tags"]), (&json!([group]), &json!({"colour": "red"})));
    let wrapped = json!({"devices": [{"name": "Two"}]});
    assert_eq!(app.send(&owner, PATH, &wrapped).await.expect(201)["created"], 1);
    let lines = "{\"name\": \"Three\"}\n\n{\"name\": \"Four\"}\n";
    let made = app.call(PATH).by(&owner).body("application/x-ndjson", lines).send().await.expect(201);
    assert_eq!((&made["rows"][1]["line"], &made["created"]), (&json!(3), &json!(2)));
    let text = "identifier;name;groups;tags.colour;expirationDate;identifiers\n\
                a5;Five;Boats;blue;2026-12-31;b5|c5\na6;Six;;;;\n";
    let made = table(&app, &owner, PATH, text).await.expect(201);
    assert_eq!((&made["rows"][0]["line"], &made["created"]), (&json!(2), &json!(2)));
    let device = app.get(&owner, "/api/devices/a5").await["device"].clone();
    assert_eq!((&device["groups"], &device["tags"]), (&json!([group]), &json!({"colour": "blue"})));
    assert_eq!(device["limits"]["expirationDate"], "2026-12-31");
    assert_eq!(device["identifiers"][1]["identifier"], "c5");
    let events = app.get(&owner, "/api/events?cursor=start&types=device.created").await;
    assert_eq!(events["events"].as_array().map(Vec::len), Some(6), "{events}");
    let audit = app.get(&owner, "/api/audit?action=device.create").await;
    assert_eq!(audit["audit"].as_array().map(Vec::len), Some(6), "{audit}");
}

async fn a_dry_run_reports_every_row_and_creates_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 2).await.owner;
    let present = app.device(&owner, &json!({"name": "Present", "identifier": "p"})).await;
    let text = "identifier,name,retentionDays,groups\n\
                p,Present,,\nn,New,,\nn,Again,,\nx,Wrong,many,\ny,,,\nz,Grouped,,Nobody\n";
    let dry = table(&app, &owner, DRY, text).await.expect(200);
    let outcomes: Vec<&Value> = dry["rows"].as_array().unwrap().iter().map(|row| &row["outcome"]).collect();
    assert_eq!(outcomes, ["existing", "new", "invalid", "invalid", "invalid", "invalid"], "{dry}");
    assert_eq!(dry["rows"][0]["id"], present);
    assert_eq!(dry["rows"][1]["id"], Value::Null);
    let problem = |row: usize| dry["rows"][row]["problems"][0].as_str().unwrap();
    assert_eq!(problem(2), "The identifier \"n\" is also in line 3. Leave one out.");
    assert!(problem(3).starts_with("\"retentionDays\" must be"), "{}", problem(3));
    assert!(problem(4).contains("\"name\""), "{}", problem(4));
    assert!(problem(5).contains("groups"), "{}", problem(5));
    assert_eq!(
        (&dry["dryRun"], &dry["created"], &dry["new"], &dry["existing"], &dry["invalid"]),
        (&json!(true), &json!(0), &json!(1), &json!(1), &json!(4))
    );
    assert_eq!((&dry["licensesNeeded"], &dry["licensesFree"]), (&json!(1), &json!(1)));
    let three = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    let dry = app.send(&owner, DRY, &three).await.expect(200);
    assert_eq!((&dry["licensesNeeded"], &dry["licensesFree"]), (&json!(3), &json!(1)));
    assert_eq!(count(&app, &owner).await, 1);
}

async fn a_call_with_an_invalid_row_creates_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    app.device(&owner, &json!({"name": "Present", "identifiers": [{"identifier": "taken"}]})).await;
    let rows =
        json!([{"name": "Good"}, {"name": 5, "colour": "red"}, {"name": "x", "identifier": "taken"}, 7]);
    let refused = app.send(&owner, PATH, &rows).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/1/name", "/1/colour", "/2/identifier", "/3"]);
    let rows = json!([{"name": "Good"}, {"name": "x", "identifier": "taken"}]);
    let refused = app.send(&owner, PATH, &rows).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/1/identifier"]);
    let unknown = json!([{"name": "Good", "groups": ["grp_01jc2m8k4n5p6"]}]);
    let refused = app.send(&owner, PATH, &unknown).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/0/groups"]);
    assert_eq!(count(&app, &owner).await, 1);
    for body in [json!([]), json!({}), json!({"name": "x"}), json!(5)] {
        app.send(&owner, PATH, &body).await.expect_error(400, "invalid-body");
    }
    app.call(PATH).by(&owner).body("application/json", "[").send().await.expect_error(400, "malformed-json");
    app.call(PATH)
        .by(&owner)
        .body("text/plain", "x")
        .send()
        .await
        .expect_error(415, "unsupported-media-type");
    table(&app, &owner, PATH, "colour\nred\n").await.expect_error(400, "invalid-body");
    let wrong = "POST /api/bulk/devices?dryRun=perhaps";
    app.send(&owner, wrong, &json!([{"name": "x"}])).await.expect_error(400, "invalid-parameter");
}

async fn a_call_beyond_the_licences_creates_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 2).await.owner;
    let three = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    let refused = app.send(&owner, PATH, &three).await;
    let status = refused.status.as_u16();
    refused.expect_error(status, "license-exhausted");
    assert_eq!(count(&app, &owner).await, 0);
    let expired =
        json!([{"name": "a"}, {"name": "b"}, {"name": "c", "limits": {"expirationDate": "2020-01-01"}}]);
    let made = app.send(&owner, PATH, &expired).await.expect(201);
    assert_eq!((&made["created"], &made["licensesNeeded"]), (&json!(3), &json!(2)));
}

async fn a_call_can_be_repeated(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let rows = json!([{"name": "a", "identifier": "1"}, {"name": "b"}]);
    let send = async |rows: &Value, key: &str| {
        app.call(PATH).by(&owner).header("idempotency-key", key).json(rows).send().await
    };
    let first = send(&rows, "one").await.expect(201);
    let again = send(&rows, "one").await.expect(201);
    assert_eq!(first["rows"], again["rows"]);
    send(&json!([{"name": "c"}]), "one").await.expect_error(422, "idempotency-mismatch");
    assert_eq!(count(&app, &owner).await, 2);
    let known = app.send(&owner, PATH, &json!([{"name": "other", "identifier": "1"}])).await.expect(200);
    assert_eq!((&known["created"], &known["existing"]), (&json!(0), &json!(1)));
    assert_eq!(known["rows"][0]["id"], first["rows"][0]["id"]);
    assert_eq!(app.get(&owner, "/api/devices/1").await["device"]["name"], "a", "it is left as it is");
}

async fn many_devices_need_the_privileges_of_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let group = app.group(&tenant.owner, &json!({"name": "Boats"})).await;
    let traits = |privileges: &[Privilege]| Traits { privileges: privileges.to_vec(), ..Traits::default() };
    let writer = app.person(&tenant, "writer", traits(&[Privilege::DevicesWrite])).await;
    let reader = app.person(&tenant, "reader", traits(&[])).await;
    let grouped = json!([{"name": "a", "groups": [group]}]);
    app.send(&reader, PATH, &json!([{"name": "a"}])).await.expect_error(403, "forbidden");
    app.send(&reader, DRY, &json!([{"name": "a"}])).await.expect_error(403, "forbidden");
    app.send(&writer, PATH, &grouped).await.expect_error(403, "forbidden");
    app.send(&writer, PATH, &json!([{"name": "a"}])).await.expect(201);
    app.send(&tenant.owner, PATH, &grouped).await.expect(201);
}

async fn many_devices_are_charged_as_calls(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.requests_per_second = 1;
        config.limits.burst = 10;
    })
    .await;
    let owner = app.tenant("acme", 1_000).await.owner;
    let rows: Vec<Value> = (0..400).map(|row| json!({"name": format!("{row}")})).collect();
    app.send(&owner, DRY, &json!(rows)).await.expect(200);
    app.send(&owner, DRY, &json!(rows)).await.expect_error(429, "rate-limited");
    app.clock().advance_seconds(60);
    assert_eq!(app.send(&owner, PATH, &json!(rows)).await.expect(201)["created"], 400);
}

async fn bodies_of_devices_are_bounded(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let mut text = "name\n".to_owned();
    for row in 0..5_001 {
        writeln!(text, "{row}").unwrap();
    }
    table(&app, &owner, PATH, &text).await.expect_error(400, "invalid-body");
    let large = format!("name\n{}\n", "x".repeat(4 * 1024 * 1024));
    table(&app, &owner, PATH, &large).await.expect_error(413, "body-too-large");
    let zeros = format!("[[{}0]]", "0,".repeat(300_000));
    let refused = app.call(PATH).by(&owner).body("application/json", zeros).send().await;
    refused.expect_error(413, "body-too-large");
    let groups: Vec<String> = (0..1_001).map(|group| format!("group {group}")).collect();
    let refused = app.send(&owner, PATH, &json!([{"name": "x", "groups": groups}])).await;
    refused.expect_error(400, "invalid-body");
}
