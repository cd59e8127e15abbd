//! Totals and reports as clients see them.

use std::io::{Cursor, Read as _};

use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use crate::support::call::Answer;
use crate::support::people::{Tenant, Traits};
use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    totals_of_days_add_up_to_those_of_the_period,
    totals_of_groups_and_of_the_account,
    bad_questions_for_totals_are_refused,
    a_report_has_the_same_rows_in_each_format,
    a_timeline_is_cut_at_midnight_of_the_zone,
    reports_of_totals,
    bad_reports_are_refused,
    only_visible_devices_are_reported,
    devices_are_read_in_batches,
    reports_of_alerts_and_devices,
);

struct World {
    app: TestApp,
    tenant: Tenant,
    owner: Person,
    vans: Vec<String>,
    engine: TimelineEngine,
}

/// Two vans that stand for 20 minutes and drive for 15, in turn, from 21:00 to 03:00 UTC. The clock begins at
/// 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 100).await;
    let owner = tenant.owner.clone();
    let engine = TimelineEngine::new(app.app.clone());
    let mut vans = Vec::new();
    for name in ["Van 1", "=Van 2"] {
        let van = app.device(&owner, &json!({"name": name})).await;
        let path = format!("POST /api/devices/{van}/locations");
        app.send(&owner, &path, &track()).await.expect(201);
        vans.push(van);
    }
    engine.run_to_end().await;
    World { app, tenant, owner, vans, engine }
}

fn track() -> Value {
    let one = |minute: u32| {
        let moved = minute / 35 * 15 + (minute % 35).saturating_sub(19);
        let (day, hour) = ((minute / 60 + 21) / 24 + 29, (minute / 60 + 21) % 24);
        json!({
            "dateTime": format!("2025-12-{day}T{hour:02}:{:02}:00Z", minute % 60),
            "latitude": 40.0 + f64::from(moved) * 0.009, "longitude": -8.0, "ignition": minute % 35 > 15,
        })
    };
    (0..360).map(one).collect()
}

const PERIOD: &str = "from=2025-12-29T00:00:00Z&to=2025-12-31T00:00:00Z";

impl World {
    async fn totals(&self, query: &str) -> Vec<Value> {
        let answer = self.app.get(&self.owner, &format!("/api/totals?{query}")).await;
        answer["totals"].as_array().unwrap().clone()
    }

    async fn run(&self, format: &str, report: Value) -> Answer {
        let mut body = json!({"from": "2025-12-29T00:00:00Z", "to": "2025-12-31T00:00:00Z"});
        for (name, value) in report.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.app.send(&self.owner, &format!("POST /api/reports/run?format={format}"), &body).await
    }

    /// Somebody who sees one group.
    async fn limited_to(&self, group: &str) -> Person {
        let traits = Traits { group: Some(group.parse().unwrap()), ..Traits::default() };
        self.app.person(&self.tenant, "scoped", traits).await
    }

    async fn json(&self, report: Value) -> Value {
        self.run("json", report).await.expect(200)
    }
}

fn text(answer: &Answer) -> String {
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.body.clone()).unwrap()
}

fn sum(all: &[Value], member: &str) -> f64 {
    all.iter().map(|one| one[member].as_f64().unwrap()).sum()
}

async fn totals_of_days_add_up_to_those_of_the_period(engine: Engine) {
    let world = world(engine).await;
    let of_van =
        |interval: &str| format!("{PERIOD}&timeZone=UTC&interval={interval}&device={}", world.vans[0]);
    let days = world.totals(&of_van("day")).await;
    let whole = world.totals(&of_van("period")).await;
    assert_eq!((days.len(), whole.len()), (2, 1));
    assert_eq!(
        (&days[0]["from"], &days[0]["to"], &days[0]["name"], &days[0]["deviceId"]),
        (
            &json!("2025-12-29T00:00:00Z"),
            &json!("2025-12-30T00:00:00Z"),
            &json!("Van 1"),
            &json!(world.vans[0])
        )
    );
    for member in
        ["distance", "movingSeconds", "standingSeconds", "idlingSeconds", "engineSeconds", "trips", "stops"]
    {
        let (parts, all) = (sum(&days, member), whole[0][member].as_f64().unwrap());
        assert!((parts - all).abs() < 1e-6 && all > 0.0, "{member}: {parts} {all}");
    }
    let path = format!("/api/devices/{}/timeline", world.vans[0]);
    let timeline = world.app.get(&world.owner, &path).await;
    let trips: Vec<Value> = timeline["segments"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "trip")
        .cloned()
        .collect();
    assert!((sum(&trips, "distance") - whole[0]["distance"].as_f64().unwrap()).abs() < 1e-6);
    assert_eq!(whole[0]["firstDeparture"], trips[0]["from"]);
    assert_eq!(whole[0]["trips"], trips.len());
    // Madrid's midnight is an hour before.
    let madrid = world.totals(&of_van("day").replace("UTC", "Europe/Madrid")).await;
    assert_eq!(madrid.len(), 2);
    assert_eq!(madrid[1]["from"], "2025-12-29T23:00:00Z");
    let named = world.totals(&format!("period=yesterday&timeZone=UTC&device={}", world.vans[0])).await;
    assert_eq!(named, [] as [Value; 0], "nothing on New Year's Eve");
    let page = world.app.get(&world.owner, &format!("/api/totals?{PERIOD}&limit=1")).await;
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = world.totals(&format!("{PERIOD}&limit=1&cursor={cursor}")).await;
    assert!(rest.iter().all(|one| one["deviceId"] == json!(world.vans[1])) && !rest.is_empty());
}

async fn totals_of_groups_and_of_the_account(engine: Engine) {
    let world = world(engine).await;
    let mut groups = Vec::new();
    for (name, vans) in [("both", json!(world.vans)), ("first", json!([world.vans[0]]))] {
        groups.push(world.app.group(&world.owner, &json!({"name": name, "devices": vans})).await);
    }
    let each = world.totals(&format!("{PERIOD}&interval=period")).await;
    let by_group = world.totals(&format!("{PERIOD}&interval=period&by=group")).await;
    assert_eq!(by_group.len(), 2);
    assert_eq!((&by_group[0]["name"], &by_group[0]["groupId"]), (&json!("both"), &json!(groups[0])));
    assert!((sum(&each, "distance") - by_group[0]["distance"].as_f64().unwrap()).abs() < 1e-6);
    assert_eq!(by_group[1]["distance"], each[0]["distance"]);
    let account = world.totals(&format!("{PERIOD}&interval=period&by=account")).await;
    assert_eq!((&account[0]["distance"], &account[0]["name"]), (&by_group[0]["distance"], &Value::Null));
    let one = world.totals(&format!("{PERIOD}&interval=period&by=group&group=first")).await;
    assert_eq!((one.len(), &one[0]), (1, &by_group[1]));
    let scoped = world.limited_to(&groups[1]).await;
    let seen = world.app.get(&scoped, &format!("/api/totals?{PERIOD}&interval=period&by=group")).await;
    assert_eq!(seen["totals"], json!([by_group[1]]), "other groups are not visible");
}

async fn bad_questions_for_totals_are_refused(engine: Engine) {
    let world = world(engine).await;
    for (query, parameter) in [
        ("period=today&from=2026-01-01", "period"),
        ("period=soon", "period"),
        ("to=2026-01-01", "from"),
        ("from=2026-01-02&to=2026-01-01", "to"),
        ("from=2020-01-01&to=2026-01-01", "interval"),
        ("interval=hour", "interval"),
        ("by=colour", "by"),
        ("by=group&limit=5", "limit"),
        ("timeZone=Mars", "timeZone"),
        ("device=nobody", "device"),
        ("limit=0", "limit"),
        ("from=2025-01-01&to=2026-01-01&limit=1000", "limit"),
        ("colour=red", "colour"),
    ] {
        let answer = world.app.call(&format!("GET /api/totals?{query}")).by(&world.owner).send().await;
        let refused = answer.expect_error(400, "invalid-parameter");
        assert_eq!(refused["errors"][0]["pointer"], format!("/{parameter}"), "{query}: {refused}");
    }
    let cursor = world.app.call("GET /api/totals?cursor=abc").by(&world.owner).send().await;
    cursor.expect_error(400, "invalid-cursor");
}

async fn a_report_has_the_same_rows_in_each_format(engine: Engine) {
    let world = world(engine).await;
    let report = json!({"kind": "trips", "timeZone": "UTC", "language": "en"});
    let answer = world.json(report.clone()).await;
    let rows = answer["rows"].as_array().unwrap();
    let trips = world.app.get(&world.owner, &format!("/api/trips?{PERIOD}")).await;
    assert_eq!(rows.len(), trips["trips"].as_array().unwrap().len());
    assert_eq!((&answer["success"], &answer["title"]), (&json!(true), &json!("Trips")));
    assert!(answer["apiUsage"].is_u64());
    let of_van: Vec<&Value> = rows.iter().filter(|row| row["device"] == "Van 1").collect();
    let listed = world
        .app
        .get(&world.owner, &format!("/api/trips?{PERIOD}&device={}&place=true", world.vans[0]))
        .await;
    for (row, trip) in of_van.iter().zip(listed["trips"].as_array().unwrap()) {
        assert_eq!(
            (&row["from"], &row["distance"], &row["idling"], &row["startPlace"]),
            (&trip["from"], &trip["distance"], &trip["idlingSeconds"], &trip["start"]["place"])
        );
    }
    let total = answer["totals"].as_array().unwrap().last().unwrap();
    assert_eq!((&total["id"], &total["rows"]), (&Value::Null, &json!(rows.len())));
    let lines = world.run("ndjson", report.clone()).await;
    assert_eq!(lines.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = text(&lines).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, rows);
    let table = world.run("csv", report.clone()).await;
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8; header=present");
    assert_eq!(table.header("content-disposition"), "attachment; filename=\"trips.csv\"");
    let table = text(&table);
    let lines: Vec<&str> = table.trim_end().split("\r\n").collect();
    assert!(lines[0].starts_with("Device,From,Start,To,End,Duration,Distance (km),"), "{}", lines[0]);
    assert_eq!(lines.len(), rows.len() + 1);
    assert!(lines.last().unwrap().starts_with("'=Van 2,"), "no formula: {}", lines.last().unwrap());
    let book = world.run("xlsx", report).await;
    let mut archive = zip::ZipArchive::new(Cursor::new(book.body)).unwrap();
    let mut sheet = String::new();
    archive.by_name("xl/worksheets/sheet1.xml").unwrap().read_to_string(&mut sheet).unwrap();
    assert_eq!(sheet.matches("<row ").count(), rows.len() + 1);
    assert!(sheet.contains("=Van 2") && !sheet.contains("<f>"));
    let by_accept = world
        .app
        .call("POST /api/reports/run")
        .by(&world.owner)
        .header("accept", "text/csv")
        .json(&json!({"kind": "trips"}));
    assert!(by_accept.send().await.header("content-type").starts_with("text/csv"));
    let refused = world.app.call("POST /api/reports/run").by(&world.owner).header("accept", "image/png");
    refused.json(&json!({"kind": "trips"})).send().await.expect_error(406, "not-acceptable");
}

async fn a_timeline_is_cut_at_midnight_of_the_zone(engine: Engine) {
    let world = world(engine).await;
    let report = json!({
        "kind": "timeline", "timeZone": "Europe/Madrid", "devices": ["Van 1"],
        "columns": ["date", "kind", "from", "to", "duration", "distance", "segmentId"],
    });
    let answer = world.json(report).await;
    let rows = answer["rows"].as_array().unwrap();
    for pair in rows.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"]);
    }
    let midnight = rows.iter().position(|row| row["from"] == "2025-12-29T23:00:00Z").expect("a cut");
    assert_eq!(
        (&rows[midnight - 1]["date"], &rows[midnight]["date"]),
        (&json!("2025-12-29"), &json!("2025-12-30"))
    );
    let timeline =
        world.app.get(&world.owner, &format!("/api/devices/{}/timeline?{PERIOD}", world.vans[0])).await;
    let whole = sum(timeline["segments"].as_array().unwrap(), "distance");
    assert!((sum(rows, "distance") - whole).abs() < 1e-6);
}

async fn reports_of_totals(engine: Engine) {
    let world = world(engine).await;
    let totals = world.totals(&format!("{PERIOD}&timeZone=UTC")).await;
    let answer = world.json(json!({"kind": "totals", "timeZone": "UTC"})).await;
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), totals.len());
    for (row, total) in rows.iter().zip(&totals) {
        assert_eq!(
            (&row["device"], &row["distance"], &row["engine"], &row["firstDeparture"]),
            (&total["name"], &total["distance"], &total["engineSeconds"], &total["firstDeparture"])
        );
    }
    let months = world.json(json!({"kind": "mileage", "units": "imperial"})).await;
    assert_eq!(months["rows"][0]["month"], "2025-12");
    assert_eq!(months["columns"][2]["unit"], "mi");
    let engines = world.json(json!({"kind": "engineHours", "timeZone": "UTC"})).await;
    assert!(engines["rows"][0]["engine"].as_u64().unwrap() > 0);
    let account = world.json(json!({"kind": "totals", "groupBy": "account", "interval": "period"})).await;
    assert_eq!(account["rows"].as_array().unwrap().len(), 1);
    let idling = world.json(json!({"kind": "idling"})).await;
    let rows = idling["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["idling"].as_u64().unwrap() > 0));
    let stops = world.json(json!({"kind": "stops", "language": "es"})).await;
    assert_eq!((&stops["title"], &stops["columns"][0]["title"]), (&json!("Paradas"), &json!("Dispositivo")));
    // There are no titles in French: the whole report is in English.
    let stops = world.json(json!({"kind": "stops", "language": "fr"})).await;
    assert_eq!((&stops["title"], &stops["language"]), (&json!("Stops"), &json!("en")));
    let kinds = world.app.get(&world.owner, "/api/reports/kinds?language=fr").await;
    assert_eq!(kinds["kinds"][0]["title"], "Trips");
    let kinds = world.app.get(&world.owner, "/api/reports/kinds?language=es&units=nautical").await;
    let trips = &kinds["kinds"][0];
    assert_eq!(
        (&trips["kind"], &trips["title"], &trips["isTotals"]),
        (&json!("trips"), &json!("Viajes"), &json!(false))
    );
    let distance =
        trips["columns"].as_array().unwrap().iter().find(|column| column["id"] == "distance").unwrap();
    assert_eq!((&distance["unit"], &distance["isDefault"]), (&json!("nmi"), &json!(true)));
}

async fn bad_reports_are_refused(engine: Engine) {
    let world = world(engine).await;
    for (report, pointer) in [
        (json!({"kind": null}), "/kind"),
        (json!({"kind": "secrets"}), "/kind"),
        (json!({"kind": "trips", "columns": ["device", "colour"]}), "/columns"),
        (json!({"kind": "trips", "columns": ["device", "device"]}), "/columns"),
        (json!({"kind": "trips", "columns": []}), "/columns"),
        (json!({"kind": "trips", "groupBy": "group"}), "/groupBy"),
        (json!({"kind": "trips", "interval": "day"}), "/interval"),
        (json!({"kind": "trips", "period": "today"}), "/period"),
        (json!({"kind": "trips", "to": "2020-01-01"}), "/to"),
        (json!({"kind": "timeline", "from": "2001-01-01"}), "/to"),
        (json!({"kind": "totals", "from": "2001-01-01"}), "/interval"),
        (json!({"kind": "trips", "devices": ["dev_01jc2m8k4n5p7"]}), "/devices"),
        (json!({"kind": "trips", "groups": ["grp_01jc2m8k4n5p6"]}), "/groups"),
        (json!({"kind": "trips", "timeZone": "Mars"}), "/timeZone"),
        (json!({"kind": "trips", "colour": "red"}), "/colour"),
    ] {
        let answer = world.run("csv", report.clone()).await;
        let problem = answer.json();
        assert_eq!(answer.status, 400, "{report}: {problem}");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{report}: {problem}");
    }
    world.run("docx", json!({"kind": "trips"})).await.expect_error(400, "invalid-parameter");
}

async fn only_visible_devices_are_reported(engine: Engine) {
    let world = world(engine).await;
    let group = world.app.group(&world.owner, &json!({"name": "first", "devices": [world.vans[0]]})).await;
    let scoped = world.limited_to(&group).await;
    let body = json!({"kind": "trips", "from": "2025-12-29T00:00:00Z", "columns": ["device"]});
    let answer = world.app.send(&scoped, "POST /api/reports/run", &body).await;
    let rows = answer.expect(200)["rows"].as_array().unwrap().clone();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["device"] == "Van 1"));
    let hidden = json!({"kind": "trips", "devices": [world.vans[1]]});
    let refused = world.app.send(&scoped, "POST /api/reports/run", &hidden).await;
    refused.expect_error(400, "invalid-body");
    let stranger = world.app.tenant("other", 1).await.owner;
    let answer = world.app.send(&stranger, "POST /api/reports/run", &body).await;
    assert_eq!(answer.expect(200)["rows"], json!([]));
    let each_once =
        json!({"kind": "trips", "from": "2025-12-29T00:00:00Z", "devices": ["Van 1"], "groups": ["first"]});
    let answer = world.app.send(&world.owner, "POST /api/reports/run", &each_once).await;
    assert_eq!(answer.expect(200)["rows"].as_array().unwrap().len(), rows.len());
}

async fn devices_are_read_in_batches(engine: Engine) {
    let world = world(engine).await;
    // A batch reads at most fifty devices.
    for number in 0..55 {
        world.app.device(&world.owner, &json!({"name": format!("Silent {number}")})).await;
    }
    let last = world.app.device(&world.owner, &json!({"name": "Last"})).await;
    world.app.send(&world.owner, &format!("POST /api/devices/{last}/locations"), &track()).await.expect(201);
    world.engine.run_to_end().await;
    let columns = json!(["device", "deviceId", "segmentId", "from", "distance"]);
    let table = text(&world.run("csv", json!({"kind": "timeline", "columns": columns})).await);
    let answer = world.json(json!({"kind": "timeline", "columns": columns})).await;
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len() + 1, table.lines().count());
    assert_eq!(rows.last().unwrap()["deviceId"], json!(last));
    assert_eq!(answer["totals"].as_array().unwrap().len(), 4);
    let totals = world.json(json!({"kind": "totals", "interval": "period"})).await;
    assert_eq!(totals["rows"].as_array().unwrap().len(), 3);
}

async fn reports_of_alerts_and_devices(engine: Engine) {
    let world = world(engine).await;
    let path = format!("POST /api/devices/{}/alerts", world.vans[0]);
    for (time, text) in [("2025-12-29T10:00:00Z", "=1+1"), ("2025-12-31T00:00:00Z", "after the period")] {
        let alert = json!({"dateTime": time, "alertName": "SOSButton", "text": text, "latitude": 40, "longitude": -8});
        world.app.send(&world.owner, &path, &alert).await.expect(201);
    }
    let alerts = world.app.get(&world.owner, &format!("/api/devices/{}/alerts", world.vans[0])).await;
    let first = alerts["alerts"].as_array().unwrap().iter().find(|alert| alert["text"] == "=1+1").unwrap();
    let acknowledge = format!("POST /api/alerts/{}/acknowledge", first["id"].as_str().unwrap());
    world.app.send(&world.owner, &acknowledge, &Value::Null).await.expect(200);
    let columns =
        json!(["device", "alertId", "time", "alert", "severity", "text", "acknowledgedBy", "responseTime"]);
    let answer = world.json(json!({"kind": "alerts", "columns": columns, "language": "en"})).await;
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{answer}");
    assert_eq!(
        (&rows[0]["alertId"], &rows[0]["alert"], &rows[0]["severity"], &rows[0]["responseTime"]),
        (&first["id"], &json!("SOSButton"), &json!("Critical"), &json!(0))
    );
    assert!(rows[0]["acknowledgedBy"].is_string());
    let health = world.json(json!({"kind": "deviceHealth", "language": "en"})).await;
    let rows = health["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["device"], &rows[0]["status"]), (&json!("Van 1"), &json!("Online")));
    assert_eq!(rows[0]["lastPosition"], "2025-12-30T02:59:00Z");
    let page = world.run("pdf", json!({"kind": "trips"})).await;
    assert_eq!(page.header("content-type"), "application/pdf");
    assert!(page.body.starts_with(b"%PDF-") && page.header("content-length") == page.body.len().to_string());
}
