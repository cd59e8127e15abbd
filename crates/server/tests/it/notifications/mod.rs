//! From an alert to the people who are notified of it, through the API and the workers.

mod channels;
mod email_caps;
mod messages;
mod overview;
mod push;
mod recipients;
mod routing_scope;
mod scheduled_reports;
mod templates;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use perigee_core::notifications::notification::{
    Channel, Compose, ComposeError, Composed, Content, Message, Occasion, SendOutcome, Sender,
};
use perigee_server::background::Worker;
use perigee_server::config::Config;
use perigee_server::senders::{ChannelSender, ChannelSenders};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, bare_error, on_both_engines, pointers};

on_both_engines!(
    an_alert_reaches_its_people,
    a_limit_is_seen_in_counters_and_record,
    a_missing_channel_is_reported,
    a_refused_message_is_sent_again_on_demand,
    where_alerts_go_is_set_at_three_levels,
    alerts_are_listed_taken_note_of_and_ended,
    settings_switch_channels_off,
    a_report_counts_messages,
);

/// Receives what is sent, and answers as configured.
#[derive(Default)]
struct Sink {
    received: Mutex<Vec<Message>>,
    refuse: Mutex<bool>,
}

impl Sink {
    fn received(&self) -> Vec<Message> {
        self.received.lock().clone()
    }

    fn refuse(&self, refuse: bool) {
        *self.refuse.lock() = refuse;
    }
}

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        if *self.refuse.lock() {
            return SendOutcome::Refused { reason: "550 nobody here".into() };
        }
        self.received.lock().push(message.clone());
        SendOutcome::Sent { reference: Some("ref-1".into()) }
    }
}

/// Describes the events in a few words.
struct Plain;

#[async_trait]
impl Compose for Plain {
    async fn compose(&self, content: &Content) -> Result<Composed, ComposeError> {
        let device = content.device.as_ref().map_or("", |device| device.name.as_str());
        let text = match &content.occasion {
            Occasion::Alert { alert, .. } => format!("{device}: {} {}", alert.alert.name, content.base_url),
            Occasion::LimitReached { channel } => format!("{device}: limit of {}", channel.name()),
            Occasion::Test => format!("{device}: test"),
            Occasion::Overview(_)
            | Occasion::UnregisteredSos(_)
            | Occasion::ScheduledReport(_)
            | Occasion::PasswordLink { .. }
            | Occasion::ConfirmRecipient
            | Occasion::Deleted => {
                return Err(ComposeError("not asked for here".into()));
            }
        };
        let message = Message {
            id: content.id,
            channel: content.channel,
            to: content.to.clone(),
            subject: device.to_owned(),
            text,
            html: None,
            mail_link: content.mail_link.clone(),
            push: None,
            attachment: None,
            pictures: Vec::new(),
        };
        Ok(Composed { message, segments: u32::from(content.channel == Channel::SMS) })
    }
}

/// A service with a sink for e-mails and one for SMS.
struct Outside {
    app: TestApp,
    email: Arc<Sink>,
    sms: Arc<Sink>,
}

impl Outside {
    async fn new(engine: Engine) -> Self {
        Self { app: TestApp::new(engine).await, email: Arc::default(), sms: Arc::default() }
    }

    /// Sends everything that is due.
    async fn work(&self) {
        let channel_sender = |sink: &Arc<Sink>| {
            let sender: Arc<dyn Sender> = sink.clone();
            ChannelSender { compose: Arc::new(Plain), sender }
        };
        let mut channels = ChannelSenders::default();
        channels.insert(Channel::EMAIL, channel_sender(&self.email));
        channels.insert(Channel::SMS, channel_sender(&self.sms));
        for channel in Channel::all() {
            Worker::new(&self.app.app, &channels, *channel).send_due().await.expect("the store works");
        }
    }

    async fn raise(&self, person: &Person, device: &str, name: &str) -> String {
        let alert = json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": name });
        let sent = self.app.send(person, &format!("POST /api/devices/{device}/alerts"), &alert).await;
        sent.expect(201)["ids"][0].as_str().expect("an id").to_owned()
    }
}

fn ana() -> Value {
    json!({ "recipients": [
        { "channel": "email", "address": "ana@example.com", "name": "Ana" },
        { "channel": "sms", "address": "+34600123456", "minimumSeverity": "critical" },
    ]})
}

async fn an_alert_reaches_its_people(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    on.app.send(&owner, "PUT /api/account/alertRouting", &ana()).await.expect(200);
    let quiet = on.raise(&owner, &device, "SpeedLimit").await;
    let loud = on.raise(&owner, &device, "SOSButton").await;
    on.work().await;
    let mut texts: Vec<String> = on.email.received().into_iter().map(|message| message.text).collect();
    // They are under way at the same time.
    texts.sort_unstable();
    assert_eq!(texts, ["Gaviota: SOSButton http://perigee.test", "Gaviota: SpeedLimit http://perigee.test"]);
    assert_eq!(on.sms.received().len(), 1);
    let read = async |id: &str| on.app.get(&owner, &format!("/api/alerts/{id}")).await["alert"].clone();
    assert_eq!(read(&quiet).await["notifications"], json!(["email"]));
    assert_eq!(read(&loud).await["notifications"], json!(["email", "sms"]));
    let list = on.app.get(&owner, &format!("/api/devices/{device}/notifications")).await;
    assert_eq!(list["notifications"].as_array().map(Vec::len), Some(3));
    let one = on.app.get(&owner, &format!("/api/notifications?channel=sms&state=sent&alert={loud}")).await;
    let message = &one["notifications"][0];
    assert_eq!(
        (&message["address"], &message["segments"], &message["reference"], &message["countedOn"]),
        (&json!("+34600123456"), &json!(1), &json!("ref-1"), &json!("2026-01-01"))
    );
    let counters = on.app.get(&owner, &format!("/api/devices/{device}")).await["device"]["counters"].clone();
    assert_eq!(
        (&counters["emailsSent"], &counters["smsSent"], &counters["smsSegments"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let first = on.app.get(&owner, "/api/notifications?limit=2").await;
    let next = first["nextCursor"].as_str().expect("there is more");
    let rest = on.app.get(&owner, &format!("/api/notifications?limit=2&cursor={next}")).await;
    assert_eq!(rest["notifications"].as_array().map(Vec::len), Some(1));
}

async fn a_limit_is_seen_in_counters_and_record(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let limits = json!({ "expires": false, "dailyEmailLimit": 1 });
    let device = on.app.device(&owner, &json!({ "name": "Gaviota", "limits": limits })).await;
    on.app.send(&owner, &format!("PUT /api/devices/{device}/alertRouting"), &ana()).await.expect(200);
    on.raise(&owner, &device, "SpeedLimit").await;
    on.raise(&owner, &device, "Route").await;
    on.work().await;
    let mut to: Vec<String> = on.email.received().into_iter().map(|message| message.to).collect();
    to.sort_unstable();
    assert_eq!(to, ["ana@example.com", "owner@acme.test"], "the owner is notified");
    let kept = on.app.get(&owner, "/api/notifications?state=suppressed").await;
    assert_eq!(kept["notifications"][0]["reason"], "limit");
    let counters = on.app.get(&owner, &format!("/api/devices/{device}")).await["device"]["counters"].clone();
    assert_eq!(counters["emailsSent"], 1);
}

async fn a_missing_channel_is_reported(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    on.app.send(&owner, "PUT /api/account/alertRouting", &ana()).await.expect(200);
    on.raise(&owner, &device, "SOSButton").await;
    for channel in Channel::all() {
        Worker::new(&on.app.app, &ChannelSenders::default(), *channel)
            .send_due()
            .await
            .expect("the store works");
    }
    let list = on.app.get(&owner, "/api/notifications").await;
    for message in list["notifications"].as_array().expect("a list") {
        assert_eq!((&message["state"], &message["reason"]), (&json!("suppressed"), &json!("channel-off")));
    }
    assert_eq!(list["notifications"].as_array().map(Vec::len), Some(2));
}

async fn a_refused_message_is_sent_again_on_demand(engine: Engine) {
    let on = Outside::new(engine).await;
    let tenant = on.app.tenant("acme", 10).await;
    let (owner, reader) = (tenant.owner.clone(), on.app.person(&tenant, "reader", Traits::default()).await);
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    on.app.send(&owner, "PUT /api/account/alertRouting", &ana()).await.expect(200);
    on.email.refuse(true);
    on.raise(&owner, &device, "SpeedLimit").await;
    on.work().await;
    let list = on.app.get(&owner, "/api/notifications?state=failed").await;
    let message = &list["notifications"][0];
    assert_eq!((&message["reason"], &message["countedOn"]), (&json!("550 nobody here"), &json!(null)));
    let resend = format!("POST /api/notifications/{}/resend", message["id"].as_str().expect("an id"));
    on.app.call(&resend).by(&reader).send().await.expect_error(403, "forbidden");
    let waiting = on.app.call(&resend).by(&owner).send().await.expect(200);
    assert_eq!(waiting["notification"]["state"], "waiting");
    on.email.refuse(false);
    on.work().await;
    assert_eq!(on.email.received().len(), 1);
    bare_error(&on.app.call(&resend).by(&owner).send().await, 409, "already-sent");
}

async fn where_alerts_go_is_set_at_three_levels(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    let group = on.app.group(&owner, &json!({ "name": "Trawlers", "devices": [device] })).await;
    let path = format!("/api/devices/{device}/alertRouting");
    let empty = on.app.get(&owner, &path).await;
    assert_eq!(
        (&empty["isSet"], &empty["inForce"], &empty["recipients"]),
        (&json!(false), &json!("none"), &json!([]))
    );
    for (holder, in_force) in [
        ("/api/account", "account"),
        (&format!("/api/groups/{group}"), "group"),
        (&format!("/api/devices/{device}"), "device"),
    ] {
        on.app.send(&owner, &format!("PUT {holder}/alertRouting"), &ana()).await.expect(200);
        assert_eq!(on.app.get(&owner, &path).await["inForce"], in_force);
    }
    let set = on.app.call(&format!("GET {path}")).by(&owner).send().await;
    let (tag, mut body) = (set.header("etag").to_owned(), set.expect(200));
    body["recipients"][0]["units"] = json!("nautical");
    let changed = on.app.send(&owner, &format!("PUT {path}"), &body).await.expect(200);
    assert_eq!(changed["recipients"][0]["units"], "nautical", "what was read may be changed and sent back");
    let change = json!([{ "op": "remove", "path": "/recipients/1" }]);
    let patched = on.app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!(patched["recipients"].as_array().map(Vec::len), Some(1));
    let stale = on.app.call(&format!("DELETE {path}")).by(&owner).header("if-match", &tag).send().await;
    stale.expect_error(412, "precondition-failed");
    on.app.call(&format!("DELETE {path}")).by(&owner).send().await.expect(200);
    assert_eq!(on.app.get(&owner, &path).await["inForce"], "group");
    let wrong = json!({ "recipients": [{ "channel": "sms", "address": "600123456" }], "color": 1 });
    let refused = on.app.send(&owner, &format!("PUT {path}"), &wrong).await;
    assert_eq!(pointers(&refused.expect_error(400, "invalid-body")), ["/recipients/0/address", "/color"]);
}

async fn alerts_are_listed_taken_note_of_and_ended(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let devices = [
        on.app.device(&owner, &json!({ "name": "One" })).await,
        on.app.device(&owner, &json!({ "name": "Two" })).await,
    ];
    let group = on.app.group(&owner, &json!({ "name": "Trawlers", "devices": [devices[1]] })).await;
    let sos = on.raise(&owner, &devices[0], "SOSButton").await;
    let point = on.raise(&owner, &devices[1], "CheckPoint").await;
    let names = async |query: &str| -> Vec<String> {
        let list = on.app.get(&owner, &format!("/api/alerts{query}")).await;
        let alerts = list["alerts"].as_array().expect("a list").clone();
        alerts.iter().map(|alert| alert["alertName"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names("").await, ["SOSButton", "CheckPoint"]);
    assert_eq!(names("?order=desc&limit=1").await, ["CheckPoint"]);
    assert_eq!(names(&format!("?group={group}")).await, ["CheckPoint"]);
    assert_eq!(names(&format!("?device={}", devices[0])).await, ["SOSButton"]);
    assert_eq!(names("?severity=warning").await, ["SOSButton"]);
    assert_eq!(names("?alertName=CheckPoint&to=2025-01-01T00:00:00Z").await, [""; 0]);
    for _ in 0..2 {
        let line = format!("POST /api/alerts/{sos}/acknowledge");
        let alert = on.app.call(&line).by(&owner).send().await.expect(200)["alert"].clone();
        assert_eq!(
            (&alert["acknowledgedAt"], &alert["acknowledgedBy"]),
            (&json!("2026-01-01T00:00:00Z"), &json!(owner.id))
        );
        on.app.call(&format!("POST /api/alerts/{point}/end")).by(&owner).send().await.expect(200);
    }
    assert_eq!(names("?stage=open").await, [""; 0]);
    assert_eq!(names("?stage=acknowledged").await, ["SOSButton"]);
    assert_eq!(names("?stage=ended").await, ["CheckPoint"]);
    on.app
        .call("GET /api/alerts?stage=closed")
        .by(&owner)
        .send()
        .await
        .expect_error(400, "invalid-parameter");
    on.app
        .call("POST /api/alerts/alr_0000000000001/end")
        .by(&owner)
        .send()
        .await
        .expect_error(404, "not-found");
}

async fn settings_switch_channels_off(engine: Engine) {
    let on = Outside::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    on.app.send(&owner, "PUT /api/account/alertRouting", &ana()).await.expect(200);
    let path = "/api/account/notificationSettings";
    let before = on.app.get(&owner, path).await;
    assert_eq!((&before["emailEnabled"], &before["smsPrefixes"]), (&json!(true), &json!([])));
    let change = json!({ "emailEnabled": false, "smsPrefixes": ["+1"] });
    on.app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
    on.raise(&owner, &device, "SOSButton").await;
    on.work().await;
    assert!(on.email.received().is_empty() && on.sms.received().is_empty());
    let list = on.app.get(&owner, "/api/notifications").await;
    let reasons: Vec<&str> = list["notifications"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|m| m["reason"].as_str())
        .collect();
    assert_eq!(reasons, ["country", "account-off"]);
    let wrong = json!({ "smsPrefixes": ["34"], "smsDailySegments": -1 });
    let refused = on.app.send(&owner, &format!("PUT {path}"), &wrong).await.expect_error(400, "invalid-body");
    let mut found = pointers(&refused);
    found.sort_unstable();
    assert_eq!(found, ["/smsDailySegments", "/smsPrefixes/0"]);
}

async fn a_report_counts_messages(engine: Engine) {
    let priced = |config: &mut Config| {
        "EUR".clone_into(&mut config.notifications.currency);
        config.notifications.prices = BTreeMap::from([(Channel::SMS, 0.0725)]);
    };
    let app = TestApp::with(engine, priced).await;
    let on = Outside { app, email: Arc::default(), sms: Arc::default() };
    let tenant = on.app.tenant("acme", 10).await;
    let owner = tenant.owner.clone();
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    on.app.device(&owner, &json!({ "name": "Quiet" })).await;
    on.app.send(&owner, "PUT /api/account/alertRouting", &ana()).await.expect(200);
    // The second goes to the mailbox only, and the third is a repetition of it.
    on.raise(&owner, &device, "SOSButton").await;
    on.raise(&owner, &device, "RPM").await;
    let repeated = json!({ "dateTime": "2026-01-01T00:00:10Z", "alertName": "RPM" });
    on.app.send(&owner, &format!("POST /api/devices/{device}/alerts"), &repeated).await.expect(201);
    on.work().await;
    let body = json!({ "kind": "messages", "period": "today" });
    let report = on.app.send(&owner, "POST /api/reports/run", &body).await.expect(200);
    let row = |channel: &str, sent: u32, suppressed: u32| json!({ "device": "Gaviota", "channel": channel, "sent": sent, "failed": 0, "suppressed": suppressed, "costUnits": sent });
    assert_eq!(report["rows"], json!([row("email", 2, 1), row("sms", 1, 0)]));
    assert_eq!(report["totals"][1]["sent"], 3, "{report}");
    let columns = json!(["device", "channel", "costUnits", "cost", "currency"]);
    let body = json!({ "kind": "messages", "period": "today", "columns": columns });
    let report = on.app.send(&owner, "POST /api/reports/run", &body).await.expect(200);
    let row = |channel: &str, units: u32, cost: Value, currency: Value| json!({ "device": "Gaviota", "channel": channel, "costUnits": units, "cost": cost, "currency": currency });
    let rows = [row("email", 2, Value::Null, Value::Null), row("sms", 1, json!(0.0725), json!("EUR"))];
    assert_eq!(report["rows"], json!(rows));
    assert_eq!(report["totals"][1]["cost"], json!(0.0725), "{report}");
    on.app.clock().advance_seconds(86_400);
    let body = json!({ "kind": "messages", "period": "today", "timeZone": "UTC" });
    let owner = on.app.equip(&tenant.account, owner.id, owner.email.clone()).await;
    let report = on.app.send(&owner, "POST /api/reports/run", &body).await.expect(200);
    assert_eq!(report["rows"], json!([]));
}
