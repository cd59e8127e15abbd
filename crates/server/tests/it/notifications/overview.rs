//! Overview reports, from their settings to the mail an owner reads.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender};
use perigee_server::background::{TimelineEngine, Worker, write_overview};
use perigee_server::senders::Senders;
use serde_json::json;

use crate::support::people::Tenant;
use crate::support::{Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    settings_are_set_and_read,
    an_owner_reads_what_a_day_was_like,
    a_report_covers_the_groups_it_is_asked_for,
    own_templates_are_sent
);

const PATH: &str = "/api/account/overviewReport";

#[derive(Default)]
struct Sink(Mutex<Vec<Message>>);

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        self.0.lock().push(message.clone());
        SendOutcome::Sent { reference: None }
    }
}

/// Writes the reports that are due and sends everything, as the service does.
async fn work(app: &TestApp) -> Vec<Message> {
    TimelineEngine::new(app.app.clone()).run_to_end().await;
    while write_overview(&app.app).await == Duration::ZERO {}
    let sink = Arc::new(Sink::default());
    let sender: Arc<dyn Sender> = sink.clone();
    let channels = [Channel::EMAIL, Channel::SMS].map(|channel| (channel, Arc::clone(&sender)));
    let senders = Senders { channels: channels.into(), centre: None, push: None };
    let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
    for channel in Channel::all() {
        Worker::new(&app.app, &channels, *channel).send_due().await.expect("the store works");
    }
    let received = sink.0.lock();
    received.clone()
}

/// Lets so much time pass, over which the owner's token does not last.
async fn pass(app: &TestApp, tenant: &Tenant, owner: &mut Person, seconds: i64) {
    app.clock().advance_seconds(seconds);
    *owner = app.equip(&tenant.account, owner.id, owner.email.clone()).await;
}

async fn drive(app: &TestApp, owner: &Person, device: &str, longitudes: &[f64]) {
    let start = app.app.clock.now();
    for (minute, longitude) in (0..).zip(longitudes) {
        let time = start.plus_seconds(60 * minute - 3_600).to_string();
        let location = json!({ "dateTime": time, "latitude": 0.5, "longitude": longitude });
        app.send(owner, &format!("POST /api/devices/{device}/locations"), &location).await.expect(201);
    }
}

async fn settings_are_set_and_read(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let before = app.get(&owner, PATH).await;
    assert_eq!(
        (&before["frequency"], &before["weekday"], &before["hour"], &before["reportedThrough"]),
        (&json!("off"), &json!("monday"), &json!(7), &json!(null))
    );
    let group = app.group(&owner, &json!({ "name": "Trawlers" })).await;
    let wanted = json!({ "frequency": "weekly", "weekday": "friday", "hour": 18, "groups": [group],
        "ungrouped": false, "recipients": [{ "address": "ana@example.com", "language": "es" }] });
    let set = app.send(&owner, &format!("PUT {PATH}"), &wanted).await;
    let (tag, set) = (set.header("etag").to_owned(), set.expect(200));
    assert_eq!((&set["groups"], &set["recipients"][0]["language"]), (&json!([group]), &json!("es")));
    assert_eq!(set["reportedThrough"], "2025-12-25", "2026 begins on a Thursday");
    app.send(&owner, &format!("PUT {PATH}"), &set).await.expect(200);
    let patched = app.send(&owner, &format!("PATCH {PATH}"), &json!({ "hour": 0 })).await.expect(200);
    assert_eq!((&patched["hour"], &patched["weekday"]), (&json!(0), &json!("friday")));
    let stale = app.call(&format!("PATCH {PATH}")).by(&owner).header("if-match", &tag);
    stale.json(&json!({ "hour": 1 })).send().await.expect_error(412, "precondition-failed");
    let wrong = json!({ "frequency": "hourly", "hour": 24, "weekday": "someday", "color": 1,
        "recipients": [{ "address": "nobody" }], "groups": ["x"] });
    let refused = app.send(&owner, &format!("PUT {PATH}"), &wrong).await.expect_error(400, "invalid-body");
    let mut found = pointers(&refused);
    found.sort_unstable();
    assert_eq!(found, ["/color", "/frequency", "/groups/0", "/hour", "/recipients/0/address", "/weekday"]);
    let unknown = json!({ "groups": ["grp_0000000000001"] });
    let refused = app.send(&owner, &format!("PUT {PATH}"), &unknown).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/groups"]);
}

async fn an_owner_reads_what_a_day_was_like(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let [tug, silent, alone] = [
        app.device(&owner, &json!({ "name": "Tug" })).await,
        app.device(&owner, &json!({ "name": "Silent <1>" })).await,
        app.device(&owner, &json!({ "name": "Alone" })).await,
    ];
    app.group(&owner, &json!({ "name": "Trawlers", "devices": [tug, silent] })).await;
    pass(&app, &tenant, &mut owner, 12 * 3_600).await;
    app.send(&owner, &format!("PUT {PATH}"), &json!({ "frequency": "daily" })).await.expect(200);
    // The second of the four is an implausible jump.
    drive(&app, &owner, &tug, &[10.0, 60.0, 10.01, 10.02]).await;
    drive(&app, &owner, &alone, &[20.0]).await;
    for name in ["SOSButton", "Route"] {
        let alert = json!({ "dateTime": app.app.clock.now().to_string(), "alertName": name });
        app.send(&owner, &format!("POST /api/devices/{tug}/alerts"), &alert).await.expect(201);
    }
    assert!(work(&app).await.is_empty(), "the day is not over");
    pass(&app, &tenant, &mut owner, 86_400).await;
    let messages = work(&app).await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!((messages[0].to.as_str(), messages[0].channel), ("owner@acme.test", Channel::EMAIL));
    assert!(messages[0].subject.ends_with("1 Jan 2026"), "{}", messages[0].subject);
    let text = &messages[0].text;
    let trawlers =
        text.split("Trawlers\n").nth(1).expect("a group").split("Without a group").next().expect("it ends");
    for line in [
        "Devices: 2",
        "Distance: 2.22 km",
        "Alerts: 2 (Critical: 1)",
        "Devices without reports: 1",
        "Silent <1>",
    ] {
        assert!(trawlers.contains(line), "{line} in {text}");
    }
    assert!(text.contains("Total\n  Devices: 3"), "{text}");
    assert!(messages[0].html.as_deref().is_some_and(|html| html.contains("Silent &lt;1&gt;")));
    assert!(work(&app).await.is_empty(), "it is sent once");
    let list = app.get(&owner, "/api/notifications").await;
    let report = &list["notifications"][0];
    assert_eq!((&report["device"], &report["state"]), (&json!(null), &json!("sent")));
    let counters = app.get(&owner, &format!("/api/devices/{tug}")).await["device"]["counters"].clone();
    assert_eq!(counters["emailsSent"], 0, "it counts against no device");
}

async fn a_report_covers_the_groups_it_is_asked_for(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let device = app.device(&owner, &json!({ "name": "Tug" })).await;
    let group = app.group(&owner, &json!({ "name": "Tugs", "devices": [device] })).await;
    let other = app.device(&owner, &json!({ "name": "Ferry" })).await;
    app.group(&owner, &json!({ "name": "Ferries", "devices": [other] })).await;
    app.device(&owner, &json!({ "name": "Alone" })).await;
    let wanted = json!({ "frequency": "daily", "groups": [group], "ungrouped": false,
        "recipients": [{ "address": "ana@example.com", "language": "es" }, { "address": "bo@example.com" }] });
    app.send(&owner, &format!("PUT {PATH}"), &wanted).await.expect(200);
    pass(&app, &tenant, &mut owner, 2 * 86_400).await;
    let mut messages = work(&app).await;
    messages.sort_by(|one, other| one.to.cmp(&other.to));
    let to: Vec<&str> = messages.iter().map(|message| message.to.as_str()).collect();
    assert_eq!(to, ["ana@example.com", "bo@example.com"]);
    assert!(messages[0].text.contains("Dispositivos: 1") && messages[1].text.contains("Devices: 1"));
    assert!(
        messages.iter().all(|message| !message.text.contains("Ferries") && message.text.contains("Tugs"))
    );
}

async fn own_templates_are_sent(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let device = app.device(&owner, &json!({ "name": "Tug", "limits": { "dailyEmailLimit": 1 } })).await;
    let routing = json!({ "recipients": [{ "channel": "email", "address": "ana@example.com" },
        { "channel": "sms", "address": "+34600123456" }] });
    app.send(&owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    for kind in
        ["alert-email-subject", "alert-email-text", "alert-sms", "limit-email-text", "overview-email-text"]
    {
        let source = json!({ "source": format!("own {kind} {{{{ device.name }}}}") });
        app.send(&owner, &format!("PUT /api/templates/{kind}"), &source).await.expect(200);
    }
    for name in ["SOSButton", "Route"] {
        let alert = json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": name });
        app.send(&owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    }
    app.send(&owner, &format!("PUT {PATH}"), &json!({ "frequency": "daily" })).await.expect(200);
    // Every e-mail ends with a link to unsubscribe.
    let own = |text: String| text.split("\n\n-- \n").next().unwrap_or_default().to_owned();
    let mut texts: Vec<String> = work(&app).await.into_iter().map(|message| own(message.text)).collect();
    pass(&app, &tenant, &mut owner, 2 * 86_400).await;
    texts.extend(work(&app).await.into_iter().map(|message| own(message.text)));
    texts.sort_unstable();
    let expected =
        ["own alert-email-text Tug", "own alert-sms Tug", "own alert-sms Tug", "own limit-email-text Tug"];
    assert_eq!(texts[..4], expected);
    assert!(texts.len() == 5 && texts[4].starts_with("own overview-email-text "), "{texts:?}");
    app.call("DELETE /api/templates/alert-sms").by(&owner).send().await.expect(200);
    pass(&app, &tenant, &mut owner, 3_600).await;
    let alert = json!({ "dateTime": "2026-01-03T00:00:00Z", "alertName": "Route" });
    app.send(&owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    let sms = work(&app).await.into_iter().find(|message| message.channel == Channel::SMS).expect("an SMS");
    assert!(!sms.text.starts_with("own"), "the built-in one speaks again: {}", sms.text);
}
