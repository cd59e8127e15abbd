//! Recipients of an alert: those of a rule, the escalation, and the link in a message.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender};
use perigee_server::background::{RuleEngine, Worker, escalate};
use perigee_server::senders::{ChannelSenders, Senders};
use serde_json::{Value, json};

use crate::support::{Answer, Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    a_rule_notifies_whom_it_names_besides_the_others,
    recipients_of_a_rule_must_exist_and_steps_must_ascend,
    a_preview_says_when_nobody_would_be_notified,
    an_alert_nobody_acknowledges_goes_on_until_the_link_is_used,
    looking_at_a_link_changes_nothing_and_old_links_end,
    alerts_are_mailed_and_acknowledged_in_the_recipients_language,
    a_test_message_reaches_everybody,
    users_have_a_watch_list_of_their_own,
);

/// Accepts every message.
#[derive(Default)]
struct Sink(Mutex<Vec<Message>>);

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        self.0.lock().push(message.clone());
        SendOutcome::Sent { reference: None }
    }
}

struct MessageTest {
    app: TestApp,
    sink: Arc<Sink>,
    channels: ChannelSenders,
    owner: Person,
}

impl MessageTest {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::with(engine, |config| {
            config.server.base_url = "https://track.example.com".into();
            config.email.host = "mail.example.com".into();
        })
        .await;
        let sink = Arc::new(Sink::default());
        let sender: Arc<dyn Sender> = sink.clone();
        let channels = [Channel::EMAIL, Channel::SMS].map(|channel| (channel, Arc::clone(&sender)));
        let senders = Senders { channels: channels.into(), centre: None, push: None };
        let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
        let owner = app.tenant("acme", 10).await.owner;
        Self { app, sink, channels, owner }
    }

    /// Sends what is due, and returns the messages since the last call, by address.
    async fn sent(&self) -> Vec<Message> {
        for channel in Channel::all() {
            Worker::new(&self.app.app, &self.channels, *channel).send_due().await.expect("the store works");
        }
        let mut sent = std::mem::take(&mut *self.sink.0.lock());
        sent.sort_by(|one, other| one.to.cmp(&other.to));
        sent
    }

    async fn addresses(&self) -> Vec<String> {
        self.sent().await.into_iter().map(|message| message.to).collect()
    }

    async fn make(&self, line: &str, body: &Value) -> String {
        let made = self.app.send(&self.owner, line, body).await.expect(201);
        made["id"].as_str().expect("an id").to_owned()
    }

    async fn sos(&self, device: &str) -> String {
        let alert = json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton", "text": "Help",
            "latitude": 42.24061, "longitude": -8.72071 });
        let sent = self.app.send(&self.owner, &format!("POST /api/devices/{device}/alerts"), &alert).await;
        sent.expect(201)["ids"][0].as_str().expect("an id").to_owned()
    }

    async fn alert(&self, id: &str) -> Value {
        self.app.get(&self.owner, &format!("/api/alerts/{id}")).await["alert"].clone()
    }

    async fn post_form(&self, path: &str, body: &str) -> Answer {
        let kind = "application/x-www-form-urlencoded";
        self.app.call(&format!("POST {path}")).body(kind, body.to_owned()).send().await
    }
}

/// The path of the link by which an alert is acknowledged.
fn link_in(text: &str) -> String {
    let begin = text.find("https://track.example.com/a/").unwrap_or_else(|| panic!("no link in {text}"));
    let link = text[begin..].split_whitespace().next().unwrap_or_default();
    link.trim_start_matches("https://track.example.com").to_owned()
}

fn text_of(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

fn mail(address: &str) -> Value {
    json!({ "channel": "email", "address": address })
}

async fn a_rule_notifies_whom_it_names_besides_the_others(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let watch = json!({ "name": "Night watch", "contacts": [
        { "channel": "sms", "address": "+34600123456", "name": "Eva" }, mail("office@example.com"),
    ]});
    let group = on.make("POST /api/contactGroups", &watch).await;
    let user = json!({ "name": "Leo", "email": "leo@acme.test", "country": "ES", "timeZone": "UTC" });
    let user = on.make("POST /api/users", &user).await;
    let account = json!({ "recipients": [mail("ana@example.com")] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &account).await.expect(200);
    let rule = json!({
        "name": "Fast", "allDevices": true, "conditions": [{ "type": "speed", "above": 90 }],
        "then": {
            "recipients": [mail("night@example.com"), mail("ANA@example.com")],
            "users": [{ "id": user }],
            "contactGroups": [{ "id": group, "minimumSeverity": "critical" }],
        },
    });
    let rule_id = on.make("POST /api/rules", &rule).await;
    let line = format!("DELETE /api/contactGroups/{group}");
    let refused = on.app.call(&line).by(&on.owner).send().await.expect_error(409, "in-use");
    let expect = "An alert routing or a rule notifies this contact group. Remove the group from it first.";
    assert_eq!(refused["error"], expect);
    let read = on.app.get(&on.owner, &format!("/api/rules/{rule_id}")).await;
    assert_eq!(read["then"]["users"][0]["id"], user);
    let path = format!("PUT /api/rules/{rule_id}");
    on.app.send(&on.owner, &path, &read).await.expect(200);
    let path = format!("/api/devices/{device}/alertRecipients?rule={rule_id}&severity=warning");
    let preview = on.app.get(&on.owner, &path).await;
    let words: Vec<(String, Value)> = preview["recipients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["address"].as_str().unwrap().to_owned(), one["problem"].clone()))
        .collect();
    let expected: Vec<&str> =
        words.iter().filter(|(_, problem)| problem.is_null()).map(|(address, _)| address.as_str()).collect();
    assert_eq!(expected, ["night@example.com", "ANA@example.com", "leo@acme.test"], "{preview}");
    assert_eq!(preview["recipients"][1]["namedBy"], json!(["rule", "account"]));

    let fast = json!({ "dateTime": "2026-01-01T00:00:10Z", "latitude": 42, "longitude": -8, "speed": 120 });
    on.app.clock().advance_seconds(20);
    on.app.send(&on.owner, &format!("POST /api/devices/{device}/locations"), &fast).await.expect(201);
    let engine = RuleEngine::new(on.app.app.clone());
    for _ in 0..10 {
        engine.run_once().await;
    }
    let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
    expected.sort();
    assert_eq!(on.addresses().await, expected, "exactly those of whom it was said");
    on.sos(&device).await;
    assert_eq!(on.addresses().await, ["ana@example.com"], "the rule did not raise this one");
}

async fn recipients_of_a_rule_must_exist_and_steps_must_ascend(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let rule = |then: Value| {
        json!({ "name": "Fast", "allDevices": true, "then": then,
            "conditions": [{ "type": "speed", "above": 90 }] })
    };
    for then in [
        json!({ "users": [{ "id": "usr_0000000000001" }] }),
        json!({ "contactGroups": [{ "id": "ctg_0000000000001" }] }),
        json!({ "webhooks": [{ "id": "whk_0000000000001" }] }),
        json!({ "escalation": { "steps": [{ "afterMinutes": 5, "users": [{ "id": "usr_0000000000001" }] }] } }),
    ] {
        let refused = on.app.send(&on.owner, "POST /api/rules", &rule(then)).await;
        assert_eq!(pointers(&refused.expect(400)), ["/then"]);
    }
    let step = |after: u32| json!({ "afterMinutes": after, "recipients": [mail("a@example.com")] });
    let escalation = json!({ "escalation": { "steps": [step(10), step(5)], "repeatTimes": 3 } });
    let refused = on.app.send(&on.owner, "POST /api/rules", &rule(escalation)).await.expect(400);
    assert_eq!(pointers(&refused), ["/then/escalation/steps", "/then/escalation/repeatTimes"]);
    let empty = json!({ "escalation": { "steps": [{ "afterMinutes": 5 }] } });
    let refused = on.app.send(&on.owner, "POST /api/rules", &rule(empty)).await.expect(400);
    assert_eq!(pointers(&refused), ["/then/escalation/steps/0/recipients"]);
}

async fn a_preview_says_when_nobody_would_be_notified(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let limits = json!({ "expires": false, "dailyEmailLimit": 0 });
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota", "limits": limits })).await;
    let path = format!("/api/devices/{device}/alertRecipients");
    assert_eq!(on.app.get(&on.owner, &path).await["nobody"], true);
    let routing = json!({ "recipients": [mail("ana@example.com"),
        { "channel": "sms", "address": "+34600123456" }] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let preview = on.app.get(&on.owner, &path).await;
    assert_eq!(preview["nobody"], true);
    assert_eq!(preview["recipients"][0]["problem"], "limit", "a limit of none");
    assert_eq!(preview["recipients"][1]["problem"], "channel-off", "no gateway is set up");
    let more = json!({ "limits": { "dailyEmailLimit": 5 } });
    on.app.send(&on.owner, &format!("PATCH /api/devices/{device}"), &more).await.expect(200);
    assert_eq!(on.app.get(&on.owner, &path).await["nobody"], false);
}

async fn an_alert_nobody_acknowledges_goes_on_until_the_link_is_used(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let routing = json!({
        "recipients": [mail("ana@example.com")],
        "escalation": { "repeatMinutes": 10, "repeatTimes": 2, "steps": [
            { "afterMinutes": 5, "recipients": [{ "channel": "sms", "address": "+34600123456" }] },
            { "afterMinutes": 15, "recipients": [mail("boss@example.com")] },
        ]},
    });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let alert = on.sos(&device).await;
    let [first] = &on.sent().await[..] else { panic!("Ana alone is notified at once") };
    for part in [
        &format!("https://track.example.com/alerts/{alert}")[..],
        "42.24061,-8.72071",
        "42°14.437' N, 008°43.243' W",
        "https://www.openstreetmap.org/?mlat=42.24061&mlon=-8.72071",
    ] {
        assert!(first.text.contains(part), "{part} is not in {}", first.text);
    }
    on.app.clock().advance_seconds(300);
    escalate(&on.app.app).await;
    let [sms] = &on.sent().await[..] else { panic!("the first step") };
    assert_eq!(sms.to, "+34600123456");
    on.app.clock().advance_seconds(600);
    escalate(&on.app.app).await;
    let [boss] = &on.sent().await[..] else { panic!("the second step") };
    assert_eq!(boss.to, "boss@example.com");
    assert!(boss.text.contains("Nobody has acknowledged this alert yet."), "{}", boss.text);
    let list = on.app.get(&on.owner, &format!("/api/notifications?alert={alert}")).await;
    let steps: Vec<&Value> =
        list["notifications"].as_array().unwrap().iter().map(|message| &message["step"]).collect();
    assert_eq!(steps, [&json!(2), &json!(1), &json!(0)], "newest first");

    let link = link_in(&sms.text);
    let page = on.app.call(&format!("GET {link}")).send().await;
    assert_eq!(page.status, 200);
    let page = on.post_form(&link, "name=Eva+B&note=On+my+way").await;
    assert_eq!(page.status, 200);
    assert!(text_of(&page).contains("Eva B acknowledged this alert"), "{}", text_of(&page));
    let seen = on.alert(&alert).await;
    assert_eq!((&seen["acknowledgedName"], &seen["acknowledgedBy"]), (&json!("Eva B"), &json!(null)));
    let notes = on.app.get(&on.owner, &format!("/api/alerts/{alert}/notes")).await;
    assert_eq!(
        (&notes["notes"][0]["text"], &notes["notes"][0]["acknowledges"]),
        (&json!("On my way"), &json!(true))
    );
    on.app.clock().advance_seconds(86_400);
    escalate(&on.app.app).await;
    assert!(on.sent().await.is_empty(), "acknowledged");
}

async fn looking_at_a_link_changes_nothing_and_old_links_end(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "<b>Gaviota</b>" })).await;
    let routing = json!({ "recipients": [mail("ana@example.com")] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let alert = on.sos(&device).await;
    let link = link_in(&on.sent().await[0].text);
    for _ in 0..3 {
        let page = on.app.call(&format!("GET {link}")).send().await;
        assert!(!text_of(&page).contains("<b>Gaviota"), "a name is text");
        assert_eq!(page.header("cache-control"), "no-store");
    }
    assert_eq!(on.alert(&alert).await["acknowledgedAt"], json!(null));
    let unnamed = on.post_form(&link, "note=hello").await;
    assert_eq!((unnamed.status.as_u16(), unnamed.header("cache-control")), (400, "no-store"));
    assert_eq!(on.alert(&alert).await["acknowledgedAt"], json!(null));
    for wrong in ["/a/AAAA", &format!("{link}AA")[..], &link.replace("/a/", "/a/B")[..]] {
        let refused = on.post_form(wrong, "name=Eva").await;
        assert_eq!(refused.status, 404, "{wrong}");
    }
    on.app.clock().advance_seconds(3 * 86_400 + 60);
    let late = on.post_form(&link, "name=Eva").await;
    assert_eq!(late.status, 400);
    assert!(text_of(&late).contains("This link has expired."), "{}", text_of(&late));
}

/// From the alert to the page on which it is acknowledged, in German and in French.
async fn alerts_are_mailed_and_acknowledged_in_the_recipients_language(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let reader = |address: &str, language: &str| json!({ "channel": "email", "address": address, "language": language });
    let routing =
        json!({ "recipients": [reader("ute@example.com", "de-AT"), reader("luc@example.com", "fr")] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    on.sos(&device).await;
    let sent = on.sent().await;
    let to = |address: &str| sent.iter().find(|message| message.to == address).expect("a mail");
    let (german, french) = (to("ute@example.com"), to("luc@example.com"));
    assert_eq!(german.subject, "[Perigee] Kritisch: SOS - Gaviota");
    for text in ["Ort: Vigo, Spanien, 42.24061,-8.72071", "Zeit: 1. Jan. 2026", "Quittieren: https://"] {
        assert!(german.text.contains(text), "{text} in {}", german.text);
    }
    assert!(german.text.contains("E-Mails von acme abbestellen"), "{}", german.text);
    assert!(german.html.as_ref().is_some_and(|html| html.contains("<html lang=\"de\">")));
    assert!(french.text.contains("Lieu: Vigo, Espagne, 42.24061,-8.72071"), "{}", french.text);

    let link = link_in(&german.text);
    let page = text_of(&on.app.call(&format!("GET {link}")).send().await);
    for text in ["<html lang=\"de\">", "Diesen Alarm hat noch niemand quittiert.", "Vigo, Spanien"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let unnamed = text_of(&on.post_form(&link, "name=").await);
    assert!(unnamed.contains("Geben Sie Ihren Namen ein"), "{unnamed}");
    let done = text_of(&on.post_form(&link, "name=Ute").await);
    assert!(done.contains("Ute hat diesen Alarm um ") && done.contains("Notiz hinzufügen"), "{done}");
    let seen = text_of(&on.app.call(&format!("GET {}", link_in(&french.text))).send().await);
    assert!(seen.contains("Ute a acquitté cette alerte à "), "{seen}");

    // Pages without a known recipient are in the language of the browser.
    for (accepted, text) in
        [("pt-BR, en;q=0.5", "Esta ligação não é válida."), ("nl, it;q=0.7", "Questo link")]
    {
        for path in ["/a/AAAA", "/mail/AAAA"] {
            let page = on.app.call(&format!("GET {path}")).header("accept-language", accepted).send().await;
            assert!(text_of(&page).contains(text), "{accepted}");
        }
    }
}

async fn a_test_message_reaches_everybody(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let spanish = json!({ "channel": "sms", "address": "+34600123456", "language": "es" });
    let routing = json!({ "recipients": [mail("ana@example.com"), spanish] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let line = format!("POST /api/devices/{device}/alertRecipients/test");
    let written = on.app.send(&on.owner, &line, &Value::Null).await.expect(200);
    assert_eq!(written["messages"], 2);
    let sent = on.sent().await;
    let texts: Vec<&str> = sent.iter().map(|message| message.text.as_str()).collect();
    assert!(texts[0].starts_with("Prueba de acme"), "{texts:?}");
    assert!(texts[1].starts_with("Test by acme: you will be notified of alerts of Gaviota"), "{texts:?}");
}

async fn users_have_a_watch_list_of_their_own(engine: Engine) {
    let on = MessageTest::new(engine).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let other = on.app.device(&on.owner, &json!({ "name": "Otra" })).await;
    let empty = on.app.get(&on.owner, "/api/session/watchList").await;
    assert_eq!(empty["enabled"], false);
    let list = json!({ "devices": ["Gaviota"], "minimumSeverity": "critical" });
    let set = on.app.send(&on.owner, "PUT /api/session/watchList", &list).await.expect(200);
    assert_eq!((&set["enabled"], &set["devices"]), (&json!(true), &json!([device])));
    on.sos(&other).await;
    assert!(on.sent().await.is_empty());
    on.sos(&device).await;
    assert_eq!(on.addresses().await, ["owner@acme.test"]);
    let unknown = json!({ "devices": ["dev_0000000000001"] });
    let refused = on.app.send(&on.owner, "PATCH /api/session/watchList", &unknown).await.expect(400);
    assert_eq!(pointers(&refused), ["/devices"]);
}
