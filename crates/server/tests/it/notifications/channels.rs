//! Recipients of channels that are presets: their addresses, the request that reaches a service, caps and records.

use std::sync::Arc;

use perigee_core::notifications::notification::Channel;
use perigee_server::background::Worker;
use perigee_server::config::Config;
use perigee_server::senders::{ChannelSenders, Senders};
use serde_json::{Value, json};

use crate::support::sink::{Reply, Sink};
use crate::support::{Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    an_alert_reaches_a_preset_and_can_be_sent_again,
    a_test_message_reaches_a_preset,
    addresses_have_the_format_of_their_channel,
    a_service_in_a_private_network_gets_nothing,
    a_channel_without_settings_is_off,
    the_console_offers_what_is_set_up,
);

struct PresetTest {
    app: TestApp,
    sink: Sink,
    channels: ChannelSenders,
    tenant: Tenant,
    owner: Person,
}

impl PresetTest {
    /// A server with Telegram and Slack, whose requests go to a service on this machine.
    async fn new(engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        let sink = Sink::new(Reply::Status(200, "")).await;
        let server = format!("http://{}", sink.address);
        let app = TestApp::with(engine, |config| {
            config.webhooks.allow_http = true;
            config.webhooks.allow_private = true;
            config.channels = toml::from_str(&format!(
                "ntfy = {{ server = \"{server}\", daily = 2 }}\nslack = {{ server = \"{server}\" }}"
            ))
            .unwrap();
            change(config);
        })
        .await;
        app.app.config.validate().unwrap();
        let senders = Senders::build(&app.app.config, &app.app.clock).unwrap();
        let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
        let tenant = app.tenant("acme", 10).await;
        let owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone()).await;
        Self { app, sink, channels, tenant, owner }
    }

    async fn work(&self) {
        for channel in Channel::all() {
            Worker::new(&self.app.app, &self.channels, *channel).send_due().await.expect("the store works");
        }
    }

    async fn route(&self, recipients: Value) {
        let routing = json!({ "recipients": recipients });
        self.app.send(&self.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    }

    async fn raise(&self, device: &str, name: &str) {
        let alert = json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": name });
        self.app.send(&self.owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    }

    async fn notifications(&self, query: &str) -> Vec<Value> {
        let list = self.app.get(&self.owner, &format!("/api/notifications{query}")).await;
        list["notifications"].as_array().unwrap().clone()
    }
}

fn ntfy() -> Value {
    json!({ "channel": "ntfy", "address": "harbour-7Q2x", "name": "Harbour" })
}

async fn an_alert_reaches_a_preset_and_can_be_sent_again(engine: Engine) {
    let mut on = PresetTest::new(engine, |_config| {}).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    on.route(json!([ntfy()])).await;
    for name in ["SOSButton", "LowBattery", "IdleTime"] {
        on.raise(&device, name).await;
    }
    on.work().await;
    let first = on.sink.next().await.json();
    assert_eq!(first["topic"], "harbour-7Q2x");
    assert!(first["title"].as_str().unwrap().contains("Gaviota"), "{first}");
    assert!(first["message"].as_str().unwrap().contains("Gaviota"), "{first}");
    on.sink.next().await;
    let states: Vec<(Value, Value)> = on
        .notifications("?channel=ntfy")
        .await
        .into_iter()
        .map(|one| (one["state"].clone(), one["reason"].clone()))
        .collect();
    let count = |state: &str| states.iter().filter(|(one, _)| one == state).count();
    assert_eq!((count("sent"), count("suppressed")), (2, 1), "{states:?}");
    assert!(states.contains(&(json!("suppressed"), json!("daily-cap"))), "{states:?}");

    on.app.clock().advance_seconds(86_400);
    on.owner = on.app.equip(&on.tenant.account, on.owner.id, on.owner.email.clone()).await;
    let suppressed = on.notifications("?state=suppressed").await;
    let id = suppressed[0]["id"].as_str().unwrap();
    on.app.send(&on.owner, &format!("POST /api/notifications/{id}/resend"), &Value::Null).await.expect(200);
    on.work().await;
    on.sink.next().await;
    assert_eq!(on.notifications("?state=sent").await.len(), 3);
}

async fn a_test_message_reaches_a_preset(engine: Engine) {
    let mut on = PresetTest::new(engine, |_config| {}).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let group = json!({ "name": "Night watch", "contacts": [
        { "channel": "slack", "address": "https://hooks.slack.com/services/T0/B0/abc" },
    ] });
    let group = on.app.send(&on.owner, "POST /api/contactGroups", &group).await.expect(201);
    let group = group["id"].as_str().unwrap().to_owned();
    let routing = json!({ "recipients": [], "contactGroups": [{ "id": group }] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let listed = on.app.get(&on.owner, &format!("/api/devices/{device}/alertRecipients")).await;
    assert_eq!(listed["recipients"][0]["channel"], "slack");
    assert_eq!(listed["recipients"][0]["problem"], Value::Null);
    let line = format!("POST /api/devices/{device}/alertRecipients/test");
    assert_eq!(on.app.send(&on.owner, &line, &Value::Null).await.expect(200)["messages"], 1);
    on.work().await;
    let sent = on.sink.next().await.json();
    assert!(sent["text"].as_str().unwrap().starts_with("Test by acme"), "{sent}");
}

async fn addresses_have_the_format_of_their_channel(engine: Engine) {
    let on = PresetTest::new(engine, |_config| {}).await;
    for (channel, address) in [
        ("slack", "https://127.0.0.1/services/T0/B0/abc"),
        ("slack", "https://hooks.slack.com@127.0.0.1/services/T0/B0/abc"),
        ("discord", "https://discord.com.attacker.example/api/webhooks/1/a"),
        ("teams", "http://prod-01.westeurope.logic.azure.com/workflows/a"),
        ("telegram", "1\r\nX: y"),
        ("ntfy", "a/../b"),
        ("call", "600123456"),
        ("fax", "+34600123456"),
    ] {
        let routing = json!({ "recipients": [{ "channel": channel, "address": address }] });
        let refused = on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await;
        refused.expect(400);
    }
    on.route(json!([
        { "channel": "CALL", "address": "+34600123456" },
        { "channel": "matrix", "address": "!OGEhHVWSdvArJzumhm:matrix.example.org" },
    ]))
    .await;
}

async fn a_service_in_a_private_network_gets_nothing(engine: Engine) {
    let on = PresetTest::new(engine, |config| config.webhooks.allow_private = false).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    on.route(json!([ntfy()])).await;
    on.raise(&device, "SOSButton").await;
    on.work().await;
    let failed = on.notifications("?state=failed").await;
    assert!(failed[0]["reason"].as_str().unwrap().contains("public Internet"), "{failed:?}");
}

async fn a_channel_without_settings_is_off(engine: Engine) {
    let on = PresetTest::new(engine, |_config| {}).await;
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    on.route(json!([{ "channel": "telegram", "address": "-1001234567890" }])).await;
    on.raise(&device, "SOSButton").await;
    on.work().await;
    let suppressed = on.notifications("?channel=telegram").await;
    assert_eq!(
        (&suppressed[0]["state"], &suppressed[0]["reason"]),
        (&json!("suppressed"), &json!("channel-off"))
    );
    let listed = on.app.get(&on.owner, &format!("/api/devices/{device}/alertRecipients")).await;
    assert_eq!(listed["recipients"][0]["problem"], "channel-off");
}

async fn the_console_offers_what_is_set_up(engine: Engine) {
    let on = PresetTest::new(engine, |_config| {}).await;
    let facts = on.app.get(&on.owner, "/api/console").await;
    let others: Vec<&Value> =
        facts["channels"]["others"].as_array().unwrap().iter().map(|one| &one["channel"]).collect();
    assert_eq!(others, [&json!("ntfy"), &json!("slack")]);
}

#[test]
fn settings_of_channels_are_checked() {
    let with = |channels: &str| {
        let mut config: Config = toml::from_str(include_str!("../../../../../config.default.toml")).unwrap();
        config.channels = toml::from_str(channels).map_err(|error: toml::de::Error| error.to_string())?;
        config.validate().map_err(|error| error.to_string())?;
        let clock: Arc<dyn perigee_core::time::Clock> = Arc::new(perigee_core::time::SystemClock);
        Senders::build(&config, &clock)
            .map(|senders| senders.channels.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(with("telegram = { token = \"x\" }\nslack = {}"), Ok(2));
    assert!(with("telegram = {}").unwrap_err().contains("token"));
    assert!(with("telegram = { token = \"x\", tokn = \"y\" }").unwrap_err().contains("tokn"));
    assert!(with("telegram = { token_file = \"/no/such/file\" }").unwrap_err().contains("/no/such/file"));
    assert!(with("ntfy = { server = \"http://ntfy.example.org\" }").unwrap_err().contains("server"));
    assert!(with("sms = {}").unwrap_err().contains("[sms]"));
    assert!(with("fax = {}").unwrap_err().contains("not a channel"));
}
