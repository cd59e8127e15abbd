//! Notifications in browsers: subscribing, the encrypted message at the push service, acknowledging by it, and what ends
//! a subscription.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use perigee_core::notifications::notification::Channel;
use perigee_notify::push::PushKey;
use perigee_server::background::Worker;
use perigee_server::senders::{ChannelSenders, Senders};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hmac;
use ring::rand::SystemRandom;
use serde_json::{Value, json};

use crate::support::call::Answer;
use crate::support::people::Traits;
use crate::support::sink::{Received, Reply, Sink};
use crate::support::{Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    an_alert_reaches_the_browser_and_is_acknowledged_by_it,
    a_push_service_decides_about_retries_and_the_end,
    only_browsers_of_public_push_services_are_accepted,
    a_name_that_leads_inside_gets_nothing,
    subscriptions_are_few_and_changed_by_their_user,
    signing_out_ends_the_notifications,
    a_test_reaches_the_browser,
    routings_name_users_and_not_browsers,
);

const PATH: &str = "/api/account/pushSubscriptions";
const AUTH: [u8; 16] = [9; 16];
const AGENT: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36";

/// A browser that can decrypt one message.
struct TestBrowser {
    private: EphemeralPrivateKey,
    public: Vec<u8>,
}

impl TestBrowser {
    fn new() -> Self {
        let private = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = private.compute_public_key().unwrap().as_ref().to_vec();
        Self { private, public }
    }

    /// The message in a body (RFC 8291), by HMAC only: not the code that encrypts.
    fn decrypt(self, body: &[u8]) -> Value {
        assert!(body.len() <= 4_096);
        let (salt, rest) = body.split_at(16);
        assert_eq!(rest[..5], [0, 0, 16, 0, 65]);
        let (sender, sealed) = rest[5..].split_at(65);
        let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
        let shared = agree_ephemeral(self.private, &peer, <[u8]>::to_vec).unwrap();
        let mac = |key: &[u8], data: &[u8]| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref().to_vec()
        };
        let info = [b"WebPush: info\0".as_slice(), &self.public, sender, &[1]].concat();
        let secret = mac(&mac(&AUTH, &shared), &info);
        let random = mac(salt, &secret);
        let key = mac(&random, b"Content-Encoding: aes128gcm\0\x01");
        let nonce = mac(&random, b"Content-Encoding: nonce\0\x01");
        let cipher = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).unwrap();
        let mut record = sealed.to_vec();
        let plain = cipher.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        let (last, message) = plain.split_last().unwrap();
        assert_eq!(*last, 2, "the last record");
        serde_json::from_slice(message).unwrap()
    }
}

struct PushTest {
    app: TestApp,
    sink: Sink,
    channels: ChannelSenders,
    tenant: Tenant,
    owner: Person,
    cookie: String,
}

impl PushTest {
    /// A server whose push service is on this machine.
    async fn new(engine: Engine) -> Self {
        Self::with(engine, true).await
    }

    async fn with(engine: Engine, allow_private: bool) -> Self {
        let app = TestApp::with(engine, |config| {
            config.webhooks.allow_http = allow_private;
            config.webhooks.allow_private = allow_private;
            config.push.contact = "mailto:ops@example.com".into();
        })
        .await;
        Self::on(app).await
    }

    async fn on(app: TestApp) -> Self {
        let senders = Senders::build(&app.app.config, &app.app.clock).unwrap();
        let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
        let tenant = app.tenant("acme", 10).await;
        let owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone()).await;
        let cookie = app.sign_in(&owner).await;
        Self { app, sink: Sink::new(Reply::Status(201, "")).await, channels, tenant, owner, cookie }
    }

    async fn key(&self) -> String {
        let answer = self.app.call("GET /api/account/pushKey").cookie(&self.cookie).send().await.expect(200);
        assert_eq!(answer["enabled"], true);
        answer["publicKey"].as_str().unwrap().to_owned()
    }

    async fn body(&self, browser: &TestBrowser, endpoint: &str) -> Value {
        json!({
            "endpoint": endpoint,
            "p256dh": URL_SAFE_NO_PAD.encode(&browser.public),
            "auth": URL_SAFE_NO_PAD.encode(AUTH),
            "applicationServerKey": self.key().await,
            "minimumSeverity": "info",
        })
    }

    async fn send(&self, line: &str, body: &Value) -> Answer {
        let call = self.app.call(line).cookie(&self.cookie).header("user-agent", AGENT);
        if body.is_null() { call.send().await } else { call.json(body).send().await }
    }

    /// Subscribes a browser of the owner, and returns the ID.
    async fn subscribe(&self, browser: &TestBrowser) -> String {
        let endpoint = format!("http://{}/send/{}", self.sink.address, rand::random::<u64>());
        let body = self.body(browser, &endpoint).await;
        let made = self.send(&format!("POST {PATH}"), &body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    async fn browsers(&self) -> Vec<Value> {
        let list = self.send(&format!("GET {PATH}"), &Value::Null).await.expect(200);
        list["pushSubscriptions"].as_array().unwrap().clone()
    }

    /// A device whose alerts notify the owner, and an alert of this name.
    async fn raise(&self, name: &str) -> String {
        let device = self.app.device(&self.owner, &json!({ "name": "Gaviota" })).await;
        let routing = json!({ "recipients": [], "users": [{ "id": self.owner.id.to_string() }] });
        self.app.send(&self.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
        let alert = json!({
            "dateTime": "2026-01-01T00:00:00Z", "alertName": name, "latitude": 42.09, "longitude": -8.9
        });
        let line = format!("POST /api/devices/{device}/alerts");
        self.app.send(&self.owner, &line, &alert).await.expect(201)["ids"][0].as_str().unwrap().to_owned()
    }

    async fn work(&self) {
        Worker::new(&self.app.app, &self.channels, Channel::PUSH).send_due().await.expect("the store works");
    }

    async fn notifications(&self) -> Vec<Value> {
        let list = self.app.get(&self.owner, "/api/notifications?channel=push").await;
        list["notifications"].as_array().unwrap().clone()
    }
}

/// The claims of the token, which must be signed with the key that it names.
fn claims(received: &Received) -> Value {
    let header = &received.headers["authorization"];
    let (token, key) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    ring::signature::UnparsedPublicKey::new(&ring::signature::ECDSA_P256_SHA256_FIXED, decode(key))
        .verify(signed.as_bytes(), &decode(signature))
        .unwrap();
    serde_json::from_slice(&decode(signed.split_once('.').unwrap().1)).unwrap()
}

async fn an_alert_reaches_the_browser_and_is_acknowledged_by_it(engine: Engine) {
    let mut on = PushTest::new(engine).await;
    let browser = TestBrowser::new();
    let id = on.subscribe(&browser).await;
    let alert = on.raise("SOSButton").await;
    on.work().await;
    let received = on.sink.next().await;
    assert_eq!(received.headers["ttl"], "86400");
    assert_eq!(received.headers["urgency"], "high");
    assert_eq!(received.headers["topic"], alert);
    assert_eq!(received.headers["content-encoding"], "aes128gcm");
    let claims = claims(&received);
    assert_eq!(claims["aud"], format!("http://{}", on.sink.address));
    assert_eq!(claims["sub"], "mailto:ops@example.com");
    let message = browser.decrypt(&received.bytes);
    assert_eq!(message["web_push"], 8030);
    let shown = &message["notification"];
    assert_eq!(shown["title"], "SOS: Gaviota");
    assert_eq!((&shown["tag"], &shown["app_badge"]), (&json!(alert), &json!("1")));
    let url = on.app.app.base_url.join(&format!("/alerts/{alert}"));
    assert_eq!(shown["navigate"], url);
    let data = &shown["data"];
    assert_eq!((&data["device"], &data["alert"]), (&json!("Gaviota"), &json!(alert)));
    assert!(data["place"].as_str().unwrap().contains("Vigo"), "{data}");
    assert_eq!(data["time"], "2026-01-01T00:00:00Z");

    let sent = &on.notifications().await[0];
    assert_eq!((&sent["state"], &sent["address"]), (&json!("sent"), &json!(id)));
    assert_ne!(on.browsers().await[0]["lastUsed"], Value::Null);

    let link = data["acknowledge"]["url"].as_str().unwrap();
    assert_eq!(shown["actions"][0]["navigate"], *link);
    let path = link.strip_prefix(&on.app.app.base_url.join("")).unwrap();
    let path = format!("/{}", path.trim_start_matches('/'));
    let name = data["acknowledge"]["name"].as_str().unwrap().to_owned();
    let form = format!("name={name}");
    let tap = async || {
        on.app
            .call(&format!("POST {path}"))
            .body("application/x-www-form-urlencoded", form.clone())
            .send()
            .await
    };
    assert_eq!(tap().await.status, 200);
    let read = async || on.app.get(&on.owner, &format!("/api/alerts/{alert}")).await;
    let acknowledged = read().await["alert"].clone();
    assert_eq!(acknowledged["acknowledgedName"], name.as_str(), "{acknowledged}");
    on.app.clock().advance_seconds(60);
    tap().await;
    assert_eq!(read().await["alert"]["acknowledgedAt"], acknowledged["acknowledgedAt"], "a link works once");
    assert_eq!(
        on.app
            .call(&format!("POST {path}x"))
            .body("application/x-www-form-urlencoded", form.clone())
            .send()
            .await
            .status,
        404
    );
}

async fn a_push_service_decides_about_retries_and_the_end(engine: Engine) {
    let mut on = PushTest::new(engine).await;
    on.subscribe(&TestBrowser::new()).await;
    on.sink.set_reply(Reply::Status(429, "retry-after: 1800\r\n"));
    on.raise("LowBattery").await;
    on.work().await;
    assert_eq!(on.sink.next().await.headers["urgency"], "normal");
    let waiting = on.notifications().await.remove(0);
    assert_eq!(waiting["state"], "waiting", "{waiting}");
    on.app.clock().advance_seconds(1_799);
    on.work().await;
    assert!(on.sink.try_next().is_none(), "the service asked to wait");

    on.sink.set_reply(Reply::Status(410, ""));
    on.app.clock().advance_seconds(400);
    on.work().await;
    on.sink.next().await;
    let failed = on.notifications().await.remove(0);
    assert_eq!(failed["state"], "failed");
    assert!(failed["reason"].as_str().unwrap().contains("no longer subscribed"), "{failed}");
    assert_eq!(on.browsers().await, Vec::<Value>::new());
}

async fn only_browsers_of_public_push_services_are_accepted(engine: Engine) {
    let on = PushTest::with(engine, false).await;
    let browser = TestBrowser::new();
    let right = on.body(&browser, "https://push.example.com/send/1").await;
    let refused = async |member: &str, value: Value| {
        let mut body = right.clone();
        body[member] = value;
        let answer = on.send(&format!("POST {PATH}"), &body).await.expect(400);
        let named = answer.to_string().contains(member);
        assert!(named, "{member}: {answer}");
    };
    for endpoint in [
        "http://push.example.com/send/1",
        "https://127.0.0.1/send/1",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://2130706433/",
        "https://user:password@push.example.com/",
        "ftp://push.example.com/",
        "push",
    ] {
        refused("endpoint", json!(endpoint)).await;
    }
    refused("endpoint", json!(format!("https://push.example.com/{}", "x".repeat(2_000)))).await;
    let mut beside = browser.public.clone();
    beside[64] ^= 1;
    for key in [&beside[..], &[0; 65], &browser.public[..64], &[]] {
        refused("p256dh", json!(URL_SAFE_NO_PAD.encode(key))).await;
    }
    refused("auth", json!(URL_SAFE_NO_PAD.encode([9; 15]))).await;
    refused("auth", json!("?")).await;
    let other = PushKey::generate().unwrap();
    refused("applicationServerKey", json!(other.public())).await;
    on.send(&format!("POST {PATH}"), &right).await.expect(201);
    let by_token = on.app.send(&on.owner, &format!("POST {PATH}"), &right).await;
    by_token.expect_error(403, "session-required");
}

async fn a_name_that_leads_inside_gets_nothing(engine: Engine) {
    let app = TestApp::with(engine, |config| config.webhooks.allow_http = true).await;
    let mut on = PushTest::on(app).await;
    let endpoint = format!("http://localhost:{}/send", on.sink.address.port());
    let body = on.body(&TestBrowser::new(), &endpoint).await;
    on.send(&format!("POST {PATH}"), &body).await.expect(201);
    on.raise("SOSButton").await;
    on.work().await;
    assert!(on.sink.try_next().is_none());
    assert_ne!(on.notifications().await[0]["state"], "sent");
}

async fn subscriptions_are_few_and_changed_by_their_user(engine: Engine) {
    let on = PushTest::new(engine).await;
    let first = on.subscribe(&TestBrowser::new()).await;
    for _ in 1..20 {
        on.subscribe(&TestBrowser::new()).await;
    }
    for number in 0..30 {
        let endpoint = format!("https://push.example.com/{number}");
        let body = on.body(&TestBrowser::new(), &endpoint).await;
        on.send(&format!("POST {PATH}"), &body).await.expect_error(409, "too-many");
    }
    assert_eq!(on.browsers().await.len(), 20);

    let path = format!("{PATH}/{first}");
    let before = on.send(&format!("GET {path}"), &Value::Null).await;
    let tag = before.header("etag").to_owned();
    let before = before.expect(200);
    assert_eq!(before["name"], "Chrome on Android");
    assert_eq!((&before["currentKey"], &before["currentSession"]), (&json!(true), &json!(true)));
    assert!(before.get("endpoint").is_none(), "it is a secret");
    let quiet =
        json!({ "weekdays": ["monday"], "from": "22:00", "to": "07:00", "timeZone": "Europe/Madrid" });
    let change = json!({ "name": "Bridge", "quietHours": quiet, "criticalInQuietHours": false });
    let changed = on.send(&format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!((&changed["name"], &changed["quietHours"]), (&json!("Bridge"), &quiet));
    assert_eq!(
        (&changed["minimumSeverity"], &changed["criticalInQuietHours"]),
        (&json!("info"), &json!(false))
    );
    let stale = on.app.call(&format!("PUT {path}")).cookie(&on.cookie).header("if-match", &tag);
    stale.json(&json!({ "name": "x" })).send().await.expect_error(412, "precondition-failed");
    let replaced = on.send(&format!("PUT {path}"), &json!({ "name": "Bridge" })).await.expect(200);
    assert_eq!((&replaced["minimumSeverity"], &replaced["quietHours"]), (&json!("warning"), &Value::Null));

    let eva = on.app.person(&on.tenant, "eva", Traits::default()).await;
    let cookie = on.app.sign_in(&eva).await;
    let of_others = on.app.call(&format!("DELETE {path}")).cookie(&cookie).send().await;
    of_others.expect_error(404, "not-found");
    on.send(&format!("DELETE {path}"), &Value::Null).await.expect(200);
    assert_eq!(on.browsers().await.len(), 19);
}

async fn signing_out_ends_the_notifications(engine: Engine) {
    let mut on = PushTest::new(engine).await;
    on.subscribe(&TestBrowser::new()).await;
    on.raise("SOSButton").await;
    on.send("DELETE /api/session", &Value::Null).await.expect(200);
    on.work().await;
    assert!(on.sink.try_next().is_none(), "also one that was queued before");
    on.cookie = on.app.sign_in(&on.owner).await;
    assert_eq!(on.browsers().await, Vec::<Value>::new());
    assert_eq!(on.notifications().await[0]["state"], "failed");
}

async fn a_test_reaches_the_browser(engine: Engine) {
    let mut on = PushTest::new(engine).await;
    let browser = TestBrowser::new();
    let id = on.subscribe(&browser).await;
    on.send(&format!("POST {PATH}/{id}/test"), &Value::Null).await.expect(202);
    on.work().await;
    let received = on.sink.next().await;
    assert!(!received.headers.contains_key("topic"));
    let shown = browser.decrypt(&received.bytes)["notification"].clone();
    assert_eq!(shown["title"], "Test: notifications");
    assert!(shown["body"].as_str().unwrap().contains("acme"), "{shown}");
}

async fn routings_name_users_and_not_browsers(engine: Engine) {
    let on = PushTest::new(engine).await;
    let id = on.subscribe(&TestBrowser::new()).await;
    let routing = json!({ "recipients": [{ "channel": "push", "address": id }] });
    let refused = on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(400);
    assert!(refused.to_string().contains("name its user"), "{refused}");
    let device = on.app.device(&on.owner, &json!({ "name": "Gaviota" })).await;
    let routing = json!({ "recipients": [], "users": [{ "id": on.owner.id.to_string() }] });
    on.app.send(&on.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    let listed = on.app.get(&on.owner, &format!("/api/devices/{device}/alertRecipients")).await;
    let browser = listed["recipients"].as_array().unwrap().iter().find(|one| one["channel"] == "push");
    let browser = browser.unwrap();
    assert_eq!((&browser["address"], &browser["problem"]), (&json!(id), &Value::Null));
}
