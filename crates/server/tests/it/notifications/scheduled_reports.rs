//! Saved reports through the API, and scheduled ones to the mail that a person reads, by a real SMTP conversation.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::notifications::notification::Channel;
use perigee_core::time::{Clock, SystemClock};
use perigee_server::background::{TimelineEngine, Worker, make_scheduled_report};
use perigee_server::config::EmailSecurity;
use perigee_server::http::router::READ_REPORT;
use perigee_server::senders::Senders;
use serde_json::{Value, json};

use super::messages::smtp::{Act, FakeServer, GREETED, Hang, Hear, Say, Take};
use crate::support::people::{Tenant, Traits};
use crate::support::{Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    reports_are_saved_run_and_changed,
    bad_schedules_are_refused,
    a_report_of_yesterday_is_mailed_with_its_file,
    a_report_shows_what_its_owner_sees,
    a_run_that_fails_says_why,
);

async fn save(app: &TestApp, person: &Person, body: &Value) -> Value {
    app.send(person, "POST /api/reports", body).await.expect(201)
}

fn trips(name: &str, period: &str) -> Value {
    json!({ "name": name, "report": { "kind": "trips", "period": period, "columns": ["device", "distance"] } })
}

fn daily(to: &str, format: &str) -> Value {
    json!({ "frequency": "daily", "time": "07:00", "timeZone": "UTC", "format": format,
        "recipients": [{ "channel": "email", "address": to }] })
}

/// A van that stands for ten minutes, drives for 20 and stands again, on the first day.
async fn drive(app: &TestApp, owner: &Person, van: &str) {
    let start = app.app.clock.now();
    let one = |minute: i64| {
        let moved = (minute - 10).clamp(0, 20);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let latitude = 40.0 + moved as f64 * 0.009;
        json!({ "dateTime": start.plus_seconds(60 * (minute - 60)).to_string(), "latitude": latitude, "longitude": -8.0 })
    };
    let track: Vec<Value> = (0..60).map(one).collect();
    app.send(owner, &format!("POST /api/devices/{van}/locations"), &json!(track)).await.expect(201);
    TimelineEngine::new(app.app.clone()).run_to_end().await;
}

/// Lets so much time pass, over which the owner's token does not last.
async fn pass(app: &TestApp, tenant: &Tenant, owner: &mut Person, seconds: i64) {
    app.clock().advance_seconds(seconds);
    *owner = app.equip(&tenant.account, owner.id, owner.email.clone()).await;
}

async fn make_all(app: &TestApp) {
    while make_scheduled_report(&app.app, READ_REPORT).await == Duration::ZERO {}
}

async fn reports_are_saved_run_and_changed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let van = app.device(&owner, &json!({ "name": "Van" })).await;
    pass(&app, &tenant, &mut owner, 12 * 3_600).await;
    drive(&app, &owner, &van).await;
    let mut body = trips("Today", "today");
    body["report"]["devices"] = json!(["Van"]);
    body["report"]["timeZone"] = json!(null);
    let saved = save(&app, &owner, &body).await;
    let id = saved["id"].as_str().expect("an id").to_owned();
    assert_eq!(saved["report"]["devices"], json!([van]), "names become IDs");
    assert_eq!(saved["report"].get("timeZone"), None, "null is the default");
    assert_eq!(
        (&saved["schedule"], &saved["nextRun"], &saved["lastRun"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert_eq!(saved["url"], format!("http://perigee.test/reports/{id}"));
    let path = format!("/api/reports/{id}");
    let listed = app.get(&owner, "/api/reports").await;
    assert_eq!(listed["reports"][0]["id"], json!(id));
    let report = app.send(&owner, &format!("POST {path}/run"), &json!({})).await.expect(200);
    assert_eq!(
        (&report["title"], report["rows"].as_array().map(Vec::len)),
        (&json!("Today"), Some(1)),
        "{report}"
    );
    let csv = app.call(&format!("POST {path}/run?format=csv")).by(&owner).send().await;
    let csv = String::from_utf8_lossy(&csv.body);
    assert!(csv.contains("Device,Distance (km)\r\nVan,"), "{csv}");
    // What was answered can be sent back.
    let whole = app.get(&owner, &path).await;
    let same = app.send(&owner, &format!("PUT {path}"), &whole).await.expect(200);
    assert_eq!(same["lastModified"], whole["lastModified"]);
    let change = json!({ "name": "Each day", "schedule": daily("ana@example.com", "pdf") });
    let patched = app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!((&patched["name"], &patched["report"]), (&json!("Each day"), &whole["report"]));
    assert_eq!(patched["nextRun"], "2026-01-02T07:00:00Z");
    let answered = app.get(&owner, &path).await;
    app.send(&owner, &format!("PUT {path}"), &answered).await.expect(200);
    let patched =
        app.send(&owner, &format!("PATCH {path}"), &json!({ "schedule": { "enabled": false } })).await;
    assert_eq!(patched.expect(200)["paused"], "off");
    let once = app.call("POST /api/reports").by(&owner).header("idempotency-key", "k1").json(&body);
    let first = once.send().await.expect(201)["id"].clone();
    let once = app.call("POST /api/reports").by(&owner).header("idempotency-key", "k1").json(&body);
    assert_eq!(once.send().await.expect(201)["id"], first);
    app.call(&format!("DELETE {path}")).by(&owner).send().await.expect(200);
    app.call(&format!("GET {path}")).by(&owner).send().await.expect_error(404, "not-found");
}

async fn bad_schedules_are_refused(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let check = async |body: Value, expect: &[&str]| {
        let refused = app.send(&owner, "POST /api/reports", &body).await.expect_error(400, "invalid-body");
        let mut found = pointers(&refused);
        found.sort_unstable();
        assert_eq!(found, expect, "{body}");
    };
    check(json!({}), &["/name", "/report"]).await;
    let mut body = trips("x", "someday");
    body["report"]["from"] = json!("2026-01-01T00:00:00Z");
    check(body, &["/report/from", "/report/period"]).await;
    let mut body = trips("x", "today");
    body["report"]["columns"] = json!(["nothing"]);
    check(body, &["/report/columns"]).await;
    let mut body = trips("x", "today");
    body["report"]["devices"] = json!(["dev_0000000000001"]);
    check(body, &["/report/devices"]).await;
    let schedule = |changes: Value| {
        let mut body = trips("x", "today");
        body["schedule"] = daily("ana@example.com", "xlsx");
        for (name, value) in changes.as_object().expect("an object") {
            body["schedule"][name] = value.clone();
        }
        body
    };
    check(schedule(json!({ "frequency": "weekly" })), &["/schedule/weekdays"]).await;
    check(
        schedule(json!({ "frequency": "monthly", "weekdays": ["monday"] })),
        &["/schedule/monthDay", "/schedule/weekdays"],
    )
    .await;
    check(schedule(json!({ "frequency": "monthly", "monthDay": "32" })), &["/schedule/monthDay"]).await;
    check(
        schedule(json!({ "time": "24:00", "timeZone": "Mars" })),
        &["/schedule/time", "/schedule/timeZone"],
    )
    .await;
    check(schedule(json!({ "recipients": [] })), &["/schedule/recipients"]).await;
    let by_sms = json!([{ "channel": "sms", "address": "+34600123456" }]);
    check(
        schedule(json!({ "recipients": by_sms, "format": "json" })),
        &["/schedule/format", "/schedule/recipients"],
    )
    .await;
    check(schedule(json!({ "users": [{ "id": "usr_0000000000001" }] })), &["/schedule"]).await;
    let monthly = schedule(json!({ "frequency": "monthly", "monthDay": "last" }));
    assert_eq!(save(&app, &owner, &monthly).await["nextRun"], "2026-01-31T07:00:00Z");
}

/// A mail server that takes one message for this address.
async fn mail_server(to: &'static str) -> FakeServer {
    let offered: Vec<Act> = vec![
        Hear("MAIL FROM:<alerts@example.org>"),
        Say("250 ok\r\n"),
        Hear(to),
        Say("250 ok\r\n"),
        Hear("DATA"),
        Say("354 go on\r\n"),
    ];
    let taking = [&GREETED[..], &offered, &[Take, Say("250 queued as X1\r\n"), Hang]].concat();
    FakeServer::start(vec![taking]).await
}

async fn app_with_mail(engine: Engine, server: &FakeServer) -> TestApp {
    TestApp::with(engine, |config| {
        config.email.host = "127.0.0.1".into();
        config.email.port = server.address.port();
        config.email.security = EmailSecurity::None;
        config.email.from = "Perigee <alerts@example.org>".into();
    })
    .await
}

async fn send_mail(app: &TestApp) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let senders = Senders::build(&app.app.config, &clock).unwrap();
    let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
    Worker::new(&app.app, &channels, Channel::EMAIL).send_due().await.unwrap();
}

async fn a_report_of_yesterday_is_mailed_with_its_file(engine: Engine) {
    let server = mail_server("RCPT TO:<ana@example.com>").await;
    let app = app_with_mail(engine, &server).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let van = app.device(&owner, &json!({ "name": "Van" })).await;
    pass(&app, &tenant, &mut owner, 12 * 3_600).await;
    drive(&app, &owner, &van).await;
    let mut body = trips("Vans / week", "yesterday");
    body["schedule"] = daily("ana@example.com", "csv");
    body["schedule"]["recipients"][0]["language"] = json!("es");
    let saved = save(&app, &owner, &body).await;
    make_all(&app).await;
    let path = format!("/api/reports/{}", saved["id"].as_str().expect("an id"));
    assert_eq!(app.get(&owner, &path).await["lastRun"], json!(null), "it is not due");
    pass(&app, &tenant, &mut owner, 86_400).await;
    make_all(&app).await;
    make_all(&app).await;
    send_mail(&app).await;
    {
        let taken = server.taken.lock().unwrap();
        assert_eq!((taken.len(), server.surprises.lock().unwrap().len()), (1, 0));
        let mail = &taken[0];
        assert!(mail.contains("Subject: [Perigee] Vans / week (2026-01-02)\r\n"), "{mail}");
        assert!(mail.contains("Content-Type: multipart/mixed;"), "{mail}");
        assert!(mail.contains("filename=\"Vans _ week 2026-01-02.csv\""), "{mail}");
        assert!(mail.contains("Content-Type: text/csv\r\n"), "{mail}");
        assert!(mail.contains("Periodo: de 2026-01-01 00:00 a 2026-01-02 00:00 (UTC)"), "{mail}");
        // "Device,Distance" begins the file.
        assert!(mail.contains("\r\nRGV2aWNlLERpc3RhbmNl"), "{mail}");
        assert!(mail.contains("List-Unsubscribe: <http://perigee.test/mail/"), "{mail}");
    }
    let shown = app.get(&owner, &path).await;
    assert_eq!(shown["nextRun"], "2026-01-03T07:00:00Z");
    let run = &shown["lastRun"];
    assert_eq!(
        (&run["state"], &run["rows"], &run["recipients"]),
        (&json!("sent"), &json!(1), &json!(1)),
        "{run}"
    );
    assert_eq!(
        (&run["attached"], &run["attempts"], &run["error"]),
        (&json!(true), &json!(1), &json!(null)),
        "{run}"
    );
    let runs = app.get(&owner, &format!("{path}/runs")).await;
    assert_eq!(runs["runs"], json!([run]));
    let listed = app.get(&owner, "/api/notifications").await;
    assert_eq!(listed["notifications"][0]["state"], "sent", "{listed}");
}

async fn a_report_shows_what_its_owner_sees(engine: Engine) {
    let server = mail_server("RCPT TO:<ana@example.com>").await;
    let app = app_with_mail(engine, &server).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let mut vans = Vec::new();
    for name in ["Own", "Hidden"] {
        vans.push(app.device(&owner, &json!({ "name": name })).await);
    }
    let group = app.group(&owner, &json!({ "name": "North", "devices": [vans[0]] })).await;
    let traits = Traits {
        privileges: vec![perigee_core::access::privilege::Privilege::RulesWrite],
        group: Some(group.parse().expect("an ID")),
        ..Traits::default()
    };
    let scoped = app.person(&tenant, "scoped", traits).await;
    pass(&app, &tenant, &mut owner, 12 * 3_600).await;
    for van in &vans {
        drive(&app, &owner, van).await;
    }
    let scoped = app.equip(&tenant.account, scoped.id, scoped.email.clone()).await;
    let mut body = trips("Mine", "yesterday");
    body["schedule"] = daily("ana@example.com", "csv");
    let saved = save(&app, &scoped, &body).await;
    // The owner of the account sees all and changes its time; the report still belongs to who created it.
    let path = format!("/api/reports/{}", saved["id"].as_str().expect("an id"));
    app.send(&owner, &format!("PATCH {path}"), &json!({ "schedule": { "time": "08:00" } })).await.expect(200);
    save(&app, &owner, &trips("Of the owner", "today")).await;
    assert_eq!(app.get(&scoped, "/api/reports").await["reports"].as_array().map(Vec::len), Some(1));
    pass(&app, &tenant, &mut owner, 86_400).await;
    make_all(&app).await;
    let run = app.get(&owner, &path).await["lastRun"].clone();
    assert_eq!((&run["state"], &run["rows"]), (&json!("sent"), &json!(1)), "one of two vans: {run}");
}

async fn a_run_that_fails_says_why(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let mut body = trips("Broken", "yesterday");
    body["schedule"] = daily("ana@example.com", "pdf");
    let saved = save(&app, &owner, &body).await;
    let path = format!("/api/reports/{}", saved["id"].as_str().expect("an id"));
    pass(&app, &tenant, &mut owner, 86_400).await;
    // As if a later version had removed the kind.
    let refuses: perigee_server::reports::ReadReport =
        |_, _, _| Err("\"kind\" must be one of others.".to_owned());
    while make_scheduled_report(&app.app, refuses).await == Duration::ZERO {}
    let shown = app.get(&owner, &path).await;
    assert_eq!(shown["lastRun"]["state"], "failed");
    assert_eq!(shown["lastRun"]["error"], "\"kind\" must be one of others.");
    assert_eq!(shown["nextRun"], "2026-01-02T07:00:00Z");
}
