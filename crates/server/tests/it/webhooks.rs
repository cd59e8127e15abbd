//! Webhooks: managed by admins, signed, delivered at least once, and independent of receivers that misbehave.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_server::config::Config;
use perigee_server::webhook;
use ring::hmac;
use serde_json::{Value, json};

use crate::support::sink::{Received, Reply, Sink};
use crate::support::{Engine, Person, TestApp, on_both_engines, pointers};

fn open(config: &mut Config) {
    config.webhooks.allow_http = true;
    config.webhooks.allowed_networks = vec!["127.0.0.0/8".to_owned()];
    config.webhooks.timeout_seconds = 1;
}

async fn hook(app: &TestApp, person: &Person, body: &Value) -> (String, String) {
    let made = app.send(person, "POST /api/webhooks", body).await.expect(201);
    (made["id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
}

async fn locate(app: &TestApp, person: &Person, device: &str, second: u32) {
    let fix = json!({"dateTime": format!("2023-05-01T12:00:{second:02}Z"), "latitude": 1, "longitude": 2});
    app.send(person, &format!("POST /api/devices/{device}/locations"), &fix).await.expect(201);
}

/// Stores new deliveries and sends what is due, until nothing is being sent.
async fn work(app: &TestApp) {
    webhook::turn(&app.app.webhooks).await.unwrap();
    app.settle().await;
}

async fn deliveries(app: &TestApp, person: &Person, id: &str) -> Vec<Value> {
    let answer = app.get(person, &format!("/api/webhooks/{id}/deliveries")).await;
    answer["deliveries"].as_array().unwrap().clone()
}

/// Checks a signature as a receiver does, without code of this crate.
fn verifies(secret: &str, received: &Received) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = format!("{}.{}.{}", received.id(), received.headers["webhook-timestamp"], received.body);
    let signatures = received.headers["webhook-signature"].split(' ');
    signatures.filter_map(|signature| signature.strip_prefix("v1,")).any(|signature| {
        let tag = STANDARD.decode(signature).unwrap();
        hmac::verify(&key, signed.as_bytes(), &tag).is_ok()
    })
}

async fn a_webhook_is_managed_by_admins(engine: Engine) {
    let app = TestApp::with(engine, open).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let device = app.device(owner, &json!({"name": "one"})).await;
    let body = json!({"name": "Dispatch", "url": "https://example.com/hook", "types": ["alert.*"], "devices": [device]});
    let made =
        app.call("POST /api/webhooks").by(owner).header("idempotency-key", "k").json(&body).send().await;
    let again =
        app.call("POST /api/webhooks").by(owner).header("idempotency-key", "k").json(&body).send().await;
    let (made, again) = (made.expect(201), again.expect(201));
    assert_eq!((&made["id"], &made["secret"]), (&again["id"], &again["secret"]), "the same request");
    assert_eq!(made["types"], json!(["alert.created", "alert.acknowledged", "alert.updated", "alert.ended"]));
    let path = format!("/api/webhooks/{}", made["id"].as_str().unwrap());
    let read = app.call(&format!("GET {path}")).by(owner).send().await;
    assert_eq!(read.expect(200)["secret"], Value::Null, "shown once");
    let tag = read.header("etag").to_owned();
    let known = app.call(&format!("GET {path}")).by(owner).header("if-none-match", &tag).send().await;
    known.expect(304);

    let renamed = app
        .send(owner, &format!("PATCH {path}"), &json!([{"op": "replace", "path": "/name", "value": "Other"}]))
        .await;
    assert_eq!(renamed.expect(200)["name"], "Other");
    let stale = app
        .call(&format!("PATCH {path}"))
        .by(owner)
        .header("if-match", &tag)
        .json(&json!({"name": null}))
        .send()
        .await;
    stale.expect_error(412, "precondition-failed");
    let mut whole = app.get(owner, &path).await;
    whole["types"] = json!([]);
    assert_eq!(app.send(owner, &format!("PUT {path}"), &whole).await.expect(200)["types"], json!([]));

    let refused = async |body: Value, pointer: &str| {
        let answer = app.send(owner, "POST /api/webhooks", &body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&answer), [pointer], "{answer}");
    };
    for url in [
        "http://10.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/",
        "ftp://example.com",
        "nonsense",
        "https://a:b@example.com/",
    ] {
        refused(json!({"url": url}), "/url").await;
    }
    refused(json!({"url": "https://example.com", "types": ["nonsense"]}), "/types").await;
    refused(json!({"url": "https://example.com", "devices": ["dev_0000000000001"]}), "/devices").await;
    refused(json!({"url": "https://example.com", "groups": ["grp_0000000000001"]}), "/groups").await;
    let sent_back = json!({"url": "https://example.com", "secret": "mine"});
    let made = app.send(owner, "POST /api/webhooks", &sent_back).await.expect(201);
    assert_ne!(made["secret"], "mine", "a secret is not the client's to choose");
    app.call(&format!("DELETE {path}")).by(owner).send().await.expect(200);
    app.call(&format!("GET {path}")).by(owner).send().await.expect_error(404, "not-found");
}

async fn alerts_reach_the_webhooks_their_routing_names(engine: Engine) {
    let app = TestApp::with(engine, open).await;
    let owner = &app.tenant("acme", 10).await.owner;
    let device = app.device(owner, &json!({"name": "one"})).await;
    let sink = async || Sink::new(Reply::Status(200, "")).await;
    let (mut named, mut both, mut left) = (sink().await, sink().await, sink().await);
    let only = json!({"url": named.url(), "types": ["alert.created"], "alertsByRouting": true});
    let (only, secret) = hook(&app, owner, &only).await;
    let (subscribed, _) = hook(&app, owner, &json!({"url": both.url(), "types": ["alert.created"]})).await;
    hook(&app, owner, &json!({"url": left.url(), "alertsByRouting": true, "types": ["alert.*"]})).await;
    let routing = json!({"recipients": [],
        "webhooks": [{"id": only, "minimumSeverity": "critical"}, {"id": subscribed}]});
    let path = format!("/api/devices/{device}/alertRouting");
    let set = app.send(owner, &format!("PUT {path}"), &routing).await.expect(200);
    assert_eq!(set["webhooks"][0], json!({"id": only, "minimumSeverity": "critical", "schedule": null}));
    app.send(owner, &format!("PUT {path}"), &set).await.expect(200);
    for name in ["Route", "SOSButton"] {
        let alert = json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": name});
        app.send(owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    }
    work(&app).await;
    work(&app).await;
    let sos = named.next().await;
    assert!(verifies(&secret, &sos) && sos.json()["data"]["alertName"] == "SOSButton");
    assert_eq!(sos.json()["data"]["routedTo"], Value::Null, "where else it goes is nobody's business");
    let ids = [both.next().await.id().to_owned(), both.next().await.id().to_owned()];
    assert!(ids[0] != ids[1] && ids.contains(&sos.id().to_owned()), "one id wherever it goes");
    assert!(named.try_next().is_none() && both.try_next().is_none() && left.try_next().is_none());
    assert_eq!(deliveries(&app, owner, &only).await.len(), 1);

    let refused = async |webhooks: Value| {
        let body = json!({"recipients": [], "webhooks": webhooks});
        let answer = app.send(owner, "PUT /api/account/alertRouting", &body).await;
        pointers(&answer.expect_error(400, "invalid-body")).join(" ")
    };
    assert_eq!(refused(json!([{"id": only}, {"id": "x"}])).await, "/webhooks/1/id");
    assert_eq!(refused(json!([{"id": "whk_0000000000001"}])).await, "/webhooks");
    app.call(&format!("DELETE /api/webhooks/{only}")).by(owner).send().await.expect_error(409, "in-use");
    app.call(&format!("DELETE {path}")).by(owner).send().await.expect(200);
    app.call(&format!("DELETE /api/webhooks/{only}")).by(owner).send().await.expect(200);
}

async fn events_are_delivered_signed_and_once(engine: Engine) {
    let app = TestApp::with(engine, open).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let one = app.device(owner, &json!({"name": "one"})).await;
    let two = app.device(owner, &json!({"name": "two"})).await;
    let group = app.group(owner, &json!({"name": "some", "devices": [two]})).await;
    let (mut all, mut some) =
        (Sink::new(Reply::Status(200, "")).await, Sink::new(Reply::Status(204, "")).await);
    let (id, secret) = hook(&app, owner, &json!({"url": all.url()})).await;
    let filtered = json!({"url": some.url(), "groups": [group], "types": ["location.created"]});
    hook(&app, owner, &filtered).await;
    locate(&app, owner, &one, 0).await;
    locate(&app, owner, &two, 1).await;
    work(&app).await;
    work(&app).await;
    let polled = app.get(owner, "/api/events?cursor=start&types=location.created").await;
    let mut received = [all.next().await, all.next().await];
    received.sort_by_key(|received| received.json()["data"]["dateTime"].to_string());
    for (received, event) in received.iter().zip(polled["events"].as_array().unwrap()) {
        assert_eq!(received.json(), *event, "the same form as by polling");
        assert_eq!(received.id(), event["id"].as_str().unwrap());
        assert_eq!(received.headers["content-type"], "application/json");
        assert!(verifies(&secret, received) && !verifies("whsec_AAAA", received));
    }
    assert_eq!(some.next().await.json()["device"], json!(two));
    assert!(all.try_next().is_none() && some.try_next().is_none(), "nothing comes twice");
    let listed = deliveries(&app, owner, &id).await;
    assert!(listed.iter().all(|delivery| delivery["state"] == "delivered" && delivery["attempts"] == 1));

    // While a secret is replaced, messages are signed with both.
    let rotated =
        app.send(owner, &format!("POST /api/webhooks/{id}/rotateSecret"), &Value::Null).await.expect(200);
    let new = rotated["secret"].as_str().unwrap().to_owned();
    assert_eq!(rotated["previousSecretUntil"], "2026-01-02T00:00:00Z");
    let test = app.send(owner, &format!("POST /api/webhooks/{id}/test"), &Value::Null).await.expect(200);
    work(&app).await;
    let received = all.next().await;
    assert_eq!(
        (received.json()["type"].clone(), received.id()),
        (json!("webhook.test"), test["messageId"].as_str().unwrap())
    );
    assert!(verifies(&secret, &received) && verifies(&new, &received));
    app.clock().advance_seconds(24 * 3600);
    let owner = &app.equip(&tenant.account, owner.id, owner.email.clone()).await;
    let delivery = test["id"].as_str().unwrap();
    app.send(owner, &format!("POST /api/webhooks/{id}/deliveries/{delivery}/retry"), &Value::Null)
        .await
        .expect(200);
    work(&app).await;
    let again = all.next().await;
    assert_eq!(
        (again.id(), &again.body),
        (received.id(), &received.body),
        "the same message under the same name"
    );
    assert!(!verifies(&secret, &again) && verifies(&new, &again), "the old secret has had its time");
}

/// Whatever a receiver answers, the message is retried with the same id and arrives in the end.
async fn bad_receivers_are_tried_again(engine: Engine) {
    let app = TestApp::with(engine, open).await;
    let tenant = app.tenant("acme", 10).await;
    let mut owner = tenant.owner.clone();
    let mut sink = Sink::new(Reply::Status(500, "")).await;
    let (id, _) = hook(&app, &owner, &json!({"url": sink.url(), "types": ["device.created"]})).await;
    app.device(&owner, &json!({"name": "one"})).await;
    work(&app).await;
    let name = sink.next().await.id().to_owned();
    let bad_days = [
        (Reply::Status(500, ""), json!(500), "answered 500"),
        (Reply::Status(302, "location: http://127.0.0.1:1/\r\n"), json!(302), "not followed"),
        (Reply::Hang, Value::Null, "within 1 seconds"),
        (Reply::Close, Value::Null, "closed before"),
    ];
    for (attempts, (reply, status, error)) in bad_days.into_iter().enumerate() {
        sink.set_reply(reply.clone());
        app.clock().advance_seconds(3 * 3600);
        owner = app.equip(&tenant.account, owner.id, owner.email.clone()).await;
        work(&app).await;
        assert_eq!(sink.next().await.id(), name, "{reply:?}");
        let delivery = &deliveries(&app, &owner, &id).await[0];
        assert_eq!(
            (&delivery["state"], &delivery["attempts"]),
            (&json!("waiting"), &json!(attempts + 2)),
            "{reply:?}"
        );
        assert_eq!(delivery["lastStatus"], status, "{reply:?}");
        assert!(delivery["lastError"].as_str().unwrap().contains(error), "{delivery}");
        while sink.try_next().is_some() {}
    }
    // An answer without end is cut off; its status counts.
    sink.set_reply(Reply::Endless);
    app.clock().advance_seconds(3 * 3600);
    let owner = app.equip(&tenant.account, owner.id, owner.email.clone()).await;
    work(&app).await;
    assert_eq!(sink.next().await.id(), name);
    assert_eq!(deliveries(&app, &owner, &id).await[0]["state"], "delivered");
}

async fn a_receiver_may_ask_for_rest_or_answer_410(engine: Engine) {
    let app = TestApp::with(engine, open).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let mut sink = Sink::new(Reply::Status(429, "retry-after: 600\r\n")).await;
    let (id, _) = hook(&app, owner, &json!({"url": sink.url(), "types": ["device.created"]})).await;
    app.device(owner, &json!({"name": "one"})).await;
    work(&app).await;
    sink.next().await;
    let path = format!("/api/webhooks/{id}");
    assert_eq!(app.get(owner, &path).await["heldUntil"], "2026-01-01T00:10:00Z");
    app.device(owner, &json!({"name": "two"})).await;
    app.clock().advance_seconds(599);
    work(&app).await;
    assert!(sink.try_next().is_none(), "everything rests");
    sink.set_reply(Reply::Status(410, ""));
    app.clock().advance_seconds(1);
    work(&app).await;
    sink.next().await;
    let off = app.get(owner, &path).await;
    assert_eq!(
        (&off["enabled"], &off["disabledReason"]),
        (&json!(false), &json!("The receiver answered 410 Gone."))
    );
    while sink.try_next().is_some() {}
    work(&app).await;
    assert!(sink.try_next().is_none(), "nothing more is sent");
    let events = app.get(owner, "/api/events?cursor=start&types=webhook.disabled").await;
    assert_eq!(events["events"][0]["data"]["id"], json!(id));
    assert_eq!(app.get(owner, "/api/audit?action=webhook.disable").await["audit"][0]["target"], json!(id));
    sink.set_reply(Reply::Status(200, ""));
    let on = app.send(owner, &format!("PATCH {path}"), &json!({"enabled": true})).await.expect(200);
    assert_eq!(
        (&on["enabled"], &on["disabledAt"], &on["heldUntil"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    work(&app).await;
    let names =
        [sink.next().await, sink.next().await].map(|received| received.json()["data"]["name"].clone());
    assert!(names.contains(&json!("one")) && names.contains(&json!("two")), "nothing is lost: {names:?}");
}

/// A name that resolves to a private address fails like an unknown name: a difference would show tenants which names
/// the operator's network has.
async fn names_of_private_addresses_are_refused(engine: Engine) {
    let app = TestApp::with(engine, |config| config.webhooks.allow_http = true).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let mut sink = Sink::new(Reply::Status(200, "")).await;
    let mut errors = Vec::new();
    for host in ["localhost", "no-such-host.invalid"] {
        let url = format!("http://{host}:{}/", sink.address.port());
        let (id, _) = hook(&app, owner, &json!({"url": url})).await;
        app.send(owner, &format!("POST /api/webhooks/{id}/test"), &Value::Null).await.expect(200);
        work(&app).await;
        let delivery = deliveries(&app, owner, &id).await[0].clone();
        assert_eq!((&delivery["state"], &delivery["lastStatus"]), (&json!("waiting"), &Value::Null));
        errors.push(delivery["lastError"].as_str().unwrap().to_owned());
    }
    assert!(errors[0].contains("public Internet"), "{errors:?}");
    assert_eq!(errors[0], errors[1], "nobody else learns which it was");
    assert!(sink.try_next().is_none(), "nobody was connected to");
}

/// A receiver that hangs delays its own messages only.
async fn who_hangs_holds_up_nobody_else(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        open(config);
        config.webhooks.timeout_seconds = 60;
        config.webhooks.concurrency_per_endpoint = 2;
    })
    .await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let mut hanging = Sink::new(Reply::Hang).await;
    let (mut beside, mut elsewhere) =
        (Sink::new(Reply::Status(200, "")).await, Sink::new(Reply::Status(200, "")).await);
    let wanted = |sink: &Sink| json!({"url": sink.url(), "types": ["device.created"]});
    hook(&app, &tenant.owner, &wanted(&hanging)).await;
    hook(&app, &tenant.owner, &wanted(&beside)).await;
    hook(&app, &other.owner, &wanted(&elsewhere)).await;
    for name in ["a", "b", "c", "d"] {
        app.device(&tenant.owner, &json!({"name": name})).await;
        app.device(&other.owner, &json!({"name": name})).await;
    }
    webhook::turn(&app.app.webhooks).await.unwrap();
    for _ in 0..4 {
        beside.next().await;
        elsewhere.next().await;
    }
    hanging.next().await;
    hanging.next().await;
    webhook::turn(&app.app.webhooks).await.unwrap();
    assert!(hanging.try_next().is_none(), "no more than two at once");
}

on_both_engines!(
    alerts_reach_the_webhooks_their_routing_names,
    a_webhook_is_managed_by_admins,
    events_are_delivered_signed_and_once,
    bad_receivers_are_tried_again,
    a_receiver_may_ask_for_rest_or_answer_410,
    names_of_private_addresses_are_refused,
    who_hangs_holds_up_nobody_else,
);
