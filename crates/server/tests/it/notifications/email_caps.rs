//! The operator's mail server is not a relay: caps on e-mail, and recipients who end, resume or confirm it by their link.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender};
use perigee_core::store::Users as _;
use perigee_server::background::Worker;
use perigee_server::config::Config;
use perigee_server::senders::Senders;
use serde_json::{Value, json};

use crate::support::{Answer, Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    one_device_and_fifty_recipients_make_no_relay,
    an_account_sets_lower_caps,
    a_mail_is_ended_and_resumed_by_its_link,
    a_link_that_was_not_made_here_leads_nowhere,
    strangers_confirm_where_that_is_asked,
    critical_alerts_to_many_strangers_make_no_relay,
);

/// Accepts every e-mail.
#[derive(Default)]
struct Sink(Mutex<Vec<Message>>);

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        self.0.lock().push(message.clone());
        SendOutcome::Sent { reference: None }
    }
}

struct Mailed {
    app: TestApp,
    sink: Arc<Sink>,
    worker: Worker,
}

impl Mailed {
    async fn new(engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        let app = TestApp::with(engine, |config| {
            config.server.base_url = "https://track.example.com".into();
            change(config);
        })
        .await;
        let sink = Arc::new(Sink::default());
        let senders = Senders {
            channels: [(Channel::EMAIL, sink.clone() as Arc<dyn Sender>)].into(),
            centre: None,
            push: None,
        };
        let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
        let worker = Worker::new(&app.app, &channels, Channel::EMAIL);
        Self { app, sink, worker }
    }

    /// Sends what is due, and returns the messages since the last call.
    async fn sent(&self) -> Vec<Message> {
        self.worker.send_due().await.expect("the store works");
        std::mem::take(&mut *self.sink.0.lock())
    }

    async fn raise(&self, person: &Person, device: &str, names: &[String]) {
        let alert = |name| json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": name });
        let alerts: Vec<Value> = names.iter().map(alert).collect();
        let line = format!("POST /api/devices/{device}/alerts");
        self.app.send(person, &line, &json!(alerts)).await.expect(201);
    }

    async fn suppressed(&self, person: &Person, reason: &str) -> usize {
        let list = self.app.get(person, "/api/notifications?state=suppressed&limit=1000").await;
        let list = list["notifications"].as_array().unwrap().clone();
        list.iter().filter(|message| message["reason"] == reason).count()
    }

    /// Follows the link of an e-mail.
    async fn say(&self, link: &str, body: &str) -> Answer {
        let path = link.strip_prefix("https://track.example.com").expect("a link of ours");
        let kind = "application/x-www-form-urlencoded";
        self.app.call(&format!("POST {path}")).body(kind, body.to_owned()).send().await
    }
}

fn people(addresses: &[String]) -> Value {
    let person = |address| json!({ "channel": "email", "address": address });
    json!({ "recipients": addresses.iter().map(person).collect::<Vec<_>>() })
}

fn named(count: usize, kind: &str) -> Vec<String> {
    (0..count).map(|number| format!("{kind}{number}")).collect()
}

async fn one_device_and_fifty_recipients_make_no_relay(engine: Engine) {
    let on = Mailed::new(engine, |config| {
        config.notifications.email_daily = 60;
        // Used up by the first critical alert, so that it does not matter in which order the later ones are sent.
        config.notifications.email_critical_daily = 50;
        config.notifications.unconfirmed_recipients = 0;
    })
    .await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    let fifty: Vec<String> = named(50, "p").iter().map(|name| format!("{name}@example.com")).collect();
    on.app.send(&owner, "PUT /api/account/alertRouting", &people(&fifty)).await.expect(200);
    on.raise(&owner, &device, &named(5, "Alert")).await;
    on.raise(&owner, &device, &named(5, "More")).await;
    assert_eq!(on.sent().await.len(), 60);
    assert_eq!(on.suppressed(&owner, "email-daily-cap").await, 440, "recorded, not dropped");
    on.raise(&owner, &device, &["SOSButton".to_owned()]).await;
    assert_eq!(on.sent().await.len(), 50, "each recipient is notified of a critical alert");
    let critical = |name| json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": name, "critical": true });
    let line = format!("POST /api/devices/{device}/alerts");
    on.app.send(&owner, &line, &json!([critical("A"), critical("B")])).await.expect(201);
    assert_eq!(
        on.sent().await.len(),
        50,
        "nor does an SOS use up the first message of another critical alert"
    );
    on.app.send(&owner, &line, &json!([critical("C"), critical("D")])).await.expect(201);
    assert_eq!(on.sent().await.len(), 0, "critical alerts make no relay either");
}

async fn critical_alerts_to_many_strangers_make_no_relay(engine: Engine) {
    let on = Mailed::new(engine, |config| {
        config.notifications.email_ceiling_daily = 200;
        config.notifications.unconfirmed_recipients = 5;
    })
    .await;
    let house = on.app.tenant("house", 0).await;
    on.app.store.set_operator(house.owner.id, true).await.unwrap();
    let cookie = on.app.sign_in(&house.owner).await;
    let tenant = on.app.tenant("acme", 100).await;
    let owner = tenant.owner;
    let strangers: Vec<String> = named(40, "p").iter().map(|name| format!("{name}@example.com")).collect();
    let routing = on.app.send(&owner, "PUT /api/account/alertRouting", &people(&strangers)).await.expect(200);
    let status = |state: &str| {
        let recipients = routing["recipients"].as_array().unwrap();
        recipients.iter().filter(|one| one["status"] == state).count()
    };
    assert_eq!((status("active"), status("unconfirmed")), (5, 35), "shown at once");
    assert_eq!(on.sent().await.len(), 35, "and asked at once, without a text of the account's");
    let raise = async |name: &str| {
        let device = on.app.device(&owner, &json!({ "name": name })).await;
        let critical =
            |alert| json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": alert, "critical": true });
        let line = format!("POST /api/devices/{device}/alerts");
        on.app.send(&owner, &line, &json!([critical("SOSButton"), critical("Fire")])).await.expect(201);
        on.sent().await
    };
    let mails = raise("Buy now: all@example.com").await;
    assert_eq!(mails.len(), 10, "two alerts to the first five");
    for mail in &mails {
        assert!(mail.subject.starts_with("[Perigee] ") && !mail.subject.contains('\n'), "{}", mail.subject);
        assert!(mail.subject.chars().count() <= 112, "{}", mail.subject);
    }
    assert_eq!(on.suppressed(&owner, "unconfirmed").await, 70);

    for number in 0..20 {
        raise(&format!("Device {number}")).await;
    }
    assert!(on.suppressed(&owner, "email-ceiling").await > 0, "critical alerts obey the ceiling too");
    let sent = on.app.get(&owner, "/api/notifications?state=sent&limit=1000").await;
    assert_eq!(sent["notifications"].as_array().unwrap().len(), 200);
    let notices = on.app.call("GET /api/operator/notices").cookie(&cookie).send().await.expect(200);
    let notice = &notices["notices"][0];
    assert_eq!((&notice["kind"], &notice["accountName"]), (&json!("email-ceiling"), &json!("acme")));
    let address = format!("/api/operator/accounts/{}", tenant.account.id);
    let patch =
        on.app.call(&format!("PATCH {address}")).cookie(&cookie).json(&json!({ "emailCeiling": 204 }));
    assert_eq!(patch.send().await.expect(200)["account"]["emailCeiling"], 204);
    assert_eq!(raise("One more").await.len(), 4, "the account's own ceiling");
    let id = notice["id"].as_str().unwrap();
    let dismiss = || on.app.call(&format!("DELETE /api/operator/notices/{id}")).cookie(&cookie).send();
    dismiss().await.expect(200);
    dismiss().await.expect_error(404, "not-found");
}

async fn an_account_sets_lower_caps(engine: Engine) {
    let on = Mailed::new(engine, |_| {}).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    let settings = json!({ "emailDaily": 5, "emailRecipientHourly": 2 });
    let set = on.app.send(&owner, "PATCH /api/account/notificationSettings", &settings).await.expect(200);
    assert_eq!((&set["emailDaily"], &set["emailRecipientHourly"]), (&json!(5), &json!(2)));
    let two = ["ana@example.com".to_owned(), "bob@example.com".to_owned()];
    on.app.send(&owner, "PUT /api/account/alertRouting", &people(&two)).await.expect(200);
    on.raise(&owner, &device, &named(4, "Alert")).await;
    assert_eq!(on.sent().await.len(), 4, "two to each");
    assert_eq!(on.suppressed(&owner, "email-recipient-cap").await, 4);
    let bad = json!({ "emailDaily": -1 });
    let refused = on.app.send(&owner, "PATCH /api/account/notificationSettings", &bad).await;
    refused.expect_error(400, "invalid-body");
}

async fn a_mail_is_ended_and_resumed_by_its_link(engine: Engine) {
    let on = Mailed::new(engine, |_| {}).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    on.app.send(&owner, "PATCH /api/account", &json!({ "name": "acme & <sons>" })).await.expect(200);
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    let ana = ["Ana@example.com".to_owned()];
    on.app.send(&owner, "PUT /api/account/alertRouting", &people(&ana)).await.expect(200);
    on.raise(&owner, &device, &named(1, "First")).await;
    let mail = on.sent().await.remove(0);
    let link = mail.mail_link.clone().expect("a link");
    assert!(link.starts_with("https://track.example.com/mail/"), "{link}");
    assert!(mail.text.contains(&link) && mail.html.as_ref().unwrap().contains(&link), "{}", mail.text);

    let path = link.strip_prefix("https://track.example.com").unwrap();
    let page = on.app.call(&format!("GET {path}")).send().await;
    let text = String::from_utf8(page.body).unwrap();
    assert_eq!((page.status.as_u16(), text.contains("acme &amp; &lt;sons&gt;")), (200, true), "{text}");
    on.raise(&owner, &device, &named(1, "Second")).await;
    assert_eq!(on.sent().await.len(), 1, "looking at the page ends nothing");

    assert_eq!(on.say(&link, "what=else").await.status, 400);
    assert_eq!(on.say(&link, "List-Unsubscribe=One-Click").await.status, 200);
    on.raise(&owner, &device, &named(1, "Third")).await;
    assert!(on.sent().await.is_empty());
    assert_eq!(on.suppressed(&owner, "unsubscribed").await, 1);
    let routing = on.app.get(&owner, "/api/account/alertRouting").await;
    assert_eq!(routing["recipients"][0]["status"], "unsubscribed");
    on.app.send(&owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    on.raise(&owner, &device, &named(1, "Fourth")).await;
    assert!(on.sent().await.is_empty(), "setting it again does not let them in");

    assert_eq!(on.say(&link, "say=subscribe").await.status, 200);
    let routing = on.app.get(&owner, "/api/account/alertRouting").await;
    assert_eq!(routing["recipients"][0]["status"], "active");
    on.raise(&owner, &device, &named(1, "Fifth")).await;
    assert_eq!(on.sent().await.len(), 1);

    let form =
        "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n";
    let multipart = on.app.call(&format!("POST {path}")).body("multipart/form-data; boundary=x", form);
    assert_eq!(multipart.send().await.status, 200);
    on.raise(&owner, &device, &named(1, "Sixth")).await;
    assert!(on.sent().await.is_empty());
}

async fn a_link_that_was_not_made_here_leads_nowhere(engine: Engine) {
    let on = Mailed::new(engine, |_| {}).await;
    let tenant = on.app.tenant("acme", 10).await;
    let good = on.app.app.access.mail_links.token(tenant.account.id, "ana@example.com");
    let other = perigee_server::auth::mail_link::MailLinks::new(&[7; 32]);
    let forged = other.token(tenant.account.id, "ana@example.com");
    for token in ["x", &forged, &good[1..]] {
        let answer = on.app.call(&format!("GET /mail/{token}")).send().await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (404, "text/html; charset=utf-8")
        );
        let answer = on.say(&format!("https://track.example.com/mail/{token}"), "say=unsubscribe").await;
        assert_eq!(answer.status, 404);
    }
    assert_eq!(on.app.call(&format!("GET /mail/{good}")).send().await.status, 200);
}

async fn strangers_confirm_where_that_is_asked(engine: Engine) {
    let on = Mailed::new(engine, |config| config.notifications.confirm_recipients = true).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let device = on.app.device(&owner, &json!({ "name": "Gaviota" })).await;
    let two = ["ana@example.com".to_owned(), owner.email.clone()];
    let set = on.app.send(&owner, "PUT /api/account/alertRouting", &people(&two)).await.expect(200);
    let statuses = [&set["recipients"][0]["status"], &set["recipients"][1]["status"]];
    assert_eq!(statuses, [&json!("unconfirmed"), &json!("active")], "a user need not confirm");
    let asked = on.sent().await;
    assert_eq!(asked.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(), ["ana@example.com"]);
    let link = asked[0].mail_link.clone().unwrap();
    assert!(asked[0].subject.contains("acme") && asked[0].text.contains(&link), "{}", asked[0].text);

    on.raise(&owner, &device, &named(1, "First")).await;
    assert_eq!(on.sent().await.len(), 1, "the owner alone");
    assert_eq!(on.suppressed(&owner, "unconfirmed").await, 1);
    on.app.send(&owner, "PUT /api/account/alertRouting", &people(&two)).await.expect(200);
    assert!(on.sent().await.is_empty(), "asked once");

    assert_eq!(on.say(&link, "say=subscribe").await.status, 200);
    on.raise(&owner, &device, &named(1, "Second")).await;
    assert_eq!(on.sent().await.len(), 2);
}
