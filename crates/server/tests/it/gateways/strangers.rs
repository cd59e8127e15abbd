//! Untrusted bodies: their cost is limited and charged before it arises, on every path.

use std::fmt::Write as _;

use futures_util::future::join;
use perigee_core::id::AccountId;
use perigee_core::store::Users as _;
use perigee_server::background::watch_size;
use perigee_server::budget::Payer;
use perigee_server::config::Config;
use perigee_server::http::router::router;
use serde_json::{Value, json};

use crate::support::app::{build, default_config};
use crate::support::call::call;
use crate::support::people::Traits;
use crate::support::{Answer, Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_mapping_does_not_multiply_a_body,
    many_values_are_kept_and_not_decoded,
    a_request_waits_for_the_turn_of_its_account,
    many_unknown_devices_in_one_request,
    decoding_needs_a_privilege,
    reading_a_large_message_is_charged,
    decoding_again_takes_turns,
    rubbish_is_not_kept_beyond_its_quota,
    quotas_hold_over_nodes,
    locations_are_stored_when_messages_are_not,
    messages_are_not_kept_near_the_size_limit_of_the_database,
    operators_see_whose_messages_use_the_storage,
    messages_are_listed_page_by_page,
);

const TOO_LARGE: &str = "the request has too much content to be decoded at once; send it in parts";

async fn gateway(app: &TestApp, tenant: &Tenant, body: &Value) -> String {
    let made = app.send(&tenant.owner, "POST /api/gateways", body).await.expect(201);
    made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned()
}

async fn post(app: &TestApp, path: &str, body: String) -> Answer {
    app.call(&format!("POST {path}")).from("203.0.113.9").body("application/json", body).send().await
}

async fn newest(app: &TestApp, tenant: &Tenant) -> Value {
    app.get(&tenant.owner, "/api/rawMessages?limit=1").await["rawMessages"][0].clone()
}

/// One object that thousands of items have as their parent.
fn bomb() -> (Value, Value) {
    let parent: serde_json::Map<String, Value> =
        (0..1_000).map(|number| (format!("r{number}"), json!("0123456789"))).collect();
    let items: Vec<Value> = (0..5_000).map(|_| json!({})).collect();
    (
        json!({"each": ["/i"], "identifiers": ["^/id"], "rest": ["^/b"]}),
        json!({"id": "x", "b": parent, "i": items}),
    )
}

async fn a_mapping_does_not_multiply_a_body(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (mapping, body) = bomb();
    let path = gateway(&app, &tenant, &json!({"feed": "json", "options": {"mapping": mapping}})).await;
    assert_eq!(post(&app, &path, body.to_string()).await.status, 200, "it is kept");
    assert_eq!(newest(&app, &tenant).await["error"], TOO_LARGE);
    let pasted = json!({"feed": "json", "text": body.to_string(), "options": {"mapping": mapping}});
    let shown = app.send(&tenant.owner, "POST /api/gateways/decode", &pasted).await.expect(200);
    let messages = shown["messages"].as_array().unwrap();
    assert!(messages.len() < 200, "{} messages", messages.len());
    assert_eq!(messages.last().unwrap()["error"], TOO_LARGE);
    assert_eq!((app.app.budget.bodies.used(), app.app.budget.work.load()), (0, (0, 0)));
}

async fn many_values_are_kept_and_not_decoded(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let mapping = json!({"fields": {"a": "/a"}});
    let path = gateway(&app, &tenant, &json!({"feed": "json", "options": {"mapping": mapping}})).await;
    for body in [format!("[{}[]]", "[],".repeat(700_000)), format!("[{}0]", r#"{"":0},"#.repeat(300_000))] {
        assert_eq!(post(&app, &path, body).await.status, 200, "it is kept");
        let message = newest(&app, &tenant).await;
        assert_eq!((&message["result"], &message["error"]), (&json!("unparsable"), &json!(TOO_LARGE)));
    }
}

/// Large requests of gateways are decoded in the queue of work, as submissions are.
async fn a_request_waits_for_the_turn_of_its_account(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.work_threads = 1).await;
    let tenant = app.tenant("acme", 10).await;
    let path = gateway(&app, &tenant, &json!({"feed": "overland"})).await;
    let body = json!({"locations": vec![json!({"properties": {"device_id": "x"}}); 1_000]}).to_string();
    let work = app.app.budget.work.clone();
    let slot = work.acquire(Payer::account(AccountId::from_i64(7)), 0).await.unwrap();
    let finish = async {
        while work.load().1 == 0 {
            tokio::task::yield_now().await;
        }
        drop(slot);
    };
    let (answer, ()) = join(post(&app, &path, body), finish).await;
    assert_eq!(answer.status, 200);
}

async fn many_unknown_devices_in_one_request(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let known = app.device(&tenant.owner, &json!({"name": "Known", "identifier": "known"})).await;
    let path = gateway(&app, &tenant, &json!({"feed": "overland"})).await;
    let mut features = String::new();
    for number in 0..5_000 {
        let _ = write!(
            features,
            r#"{{"properties":{{"device_id":"unknown {number}","timestamp":"2026-01-01T00:00:00Z"}}}},"#
        );
    }
    let last = json!({
        "geometry": {"coordinates": [2.0, 1.0]},
        "properties": {"device_id": "known", "timestamp": "2026-01-01T00:00:00Z"},
    });
    assert_eq!(post(&app, &path, format!(r#"{{"locations":[{features}{last}]}}"#)).await.status, 200);
    let messages = app.get(&tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 1, "stored once");
    let stored = app.get(&tenant.owner, &format!("/api/devices/{known}/locations")).await;
    assert_eq!(stored["locations"].as_array().unwrap().len(), 1);
}

async fn decoding_needs_a_privilege(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits { privileges: Vec::new(), ..Traits::default() }).await;
    let body = json!({"feed": "osmand", "text": "id=1&lat=1&lon=1"});
    app.send(&reader, "POST /api/gateways/decode", &body).await.expect_error(403, "forbidden");
}

async fn stored_message(app: &TestApp, tenant: &Tenant) -> String {
    let path = gateway(app, tenant, &json!({"feed": "osmand"})).await;
    assert_eq!(post(app, &path, format!("id=x&text={}", "y".repeat(200_000))).await.status, 200);
    newest(app, tenant).await["id"].as_str().unwrap().to_owned()
}

async fn reading_a_large_message_is_charged(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.answer_mib = 16).await;
    let tenant = app.tenant("acme", 10).await;
    let id = stored_message(&app, &tenant).await;
    let line = format!("GET /api/rawMessages/{id}");
    let read = async || app.call(&line).by(&tenant.owner).from("203.0.113.9").send().await;
    let shown = read().await.expect(200);
    assert_eq!(
        shown["hex"].as_str().unwrap().len(),
        2 * usize::try_from(shown["size"].as_u64().unwrap()).unwrap()
    );
    let address = Payer::client("203.0.113.9".parse().unwrap(), None);
    let all = app.app.budget.answers.try_acquire(address, 8 * 1024 * 1024).unwrap();
    read().await.expect_error(429, "rate-limited");
    drop(all);
    read().await.expect(200);
    assert_eq!((app.app.budget.answers.used(), app.app.budget.bodies.used()), (0, 0));
}

async fn decoding_again_takes_turns(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let id = stored_message(&app, &tenant).await;
    let queue = app.app.budget.reprocessing.clone();
    let mut slots = Vec::new();
    for account in [7, 8] {
        slots.push(queue.acquire(Payer::account(AccountId::from_i64(account)), 0).await.unwrap());
    }
    let finish = async {
        while queue.load().1 == 0 {
            tokio::task::yield_now().await;
        }
        drop(slots);
    };
    let line = format!("POST /api/rawMessages/{id}/reprocess");
    let (answer, ()) = join(app.call(&line).by(&tenant.owner).send(), finish).await;
    answer.expect(200);
    assert_eq!(queue.load(), (0, 0));
}

async fn used(app: &TestApp) -> Vec<perigee_core::gateways::raw_usage::RawUsage> {
    app.app.ingest.raw.save(&*app.app.store).await.unwrap();
    let listed = app.app.store.list_raw_usage().await.unwrap();
    listed.into_iter().map(|listed| listed.usage).collect()
}

async fn count(app: &TestApp, tenant: &Tenant) -> usize {
    app.get(&tenant.owner, "/api/rawMessages?limit=1000").await["rawMessages"].as_array().unwrap().len()
}

/// Of a quota of 1 MiB, messages that store nothing new take a quarter: two of 100 kB.
async fn rubbish_is_not_kept_beyond_its_quota(engine: Engine) {
    let app = TestApp::with(engine, |config| config.gateways.raw_mib_per_gateway = 1).await;
    let mut tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Phone"})).await;
    let first = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    let second = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    for _ in 0..10 {
        assert_eq!(post(&app, &first, "x".repeat(100_000)).await.status, 200, "acknowledged");
    }
    assert_eq!(count(&app, &tenant).await, 2);
    let fix = |second: u32| format!("lat=42.5&lon=-8.25&timestamp={}", 1_767_225_600 + second);
    assert_eq!(post(&app, &first, fix(1)).await.status, 200);
    assert_eq!(count(&app, &tenant).await, 3, "what is useful is kept");
    assert_eq!(post(&app, &second, "x".repeat(100_000)).await.status, 200);
    assert_eq!(count(&app, &tenant).await, 4, "another gateway has a quota of its own");
    let usage = used(&app).await;
    assert_eq!((usage[0].kept, usage[0].dropped), (3, 8), "{usage:?}");
    assert!(
        usage[0].gateway.is_some() && usage[0].dropped_bytes > 800_000 && usage[0].unused_bytes > 200_000
    );
    app.clock().advance_seconds(24 * 60 * 60);
    assert_eq!(post(&app, &first, "x".repeat(100_000)).await.status, 200);
    tenant.owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email).await;
    assert_eq!(count(&app, &tenant).await, 5, "a day later");
}

/// Sends messages of a gateway to one node and then to another one; returns how many of 100 kB are kept by both.
async fn kept_by_nodes(engine: Engine, change: impl Fn(&mut Config) + Copy, gateways: [usize; 2]) -> usize {
    let app = TestApp::with(engine, change).await;
    let mut config = default_config();
    change(&mut config);
    let node = build(&app.store, app.clock(), config).await;
    let tenant = app.tenant("acme", 10).await;
    let body = json!({"feed": "osmand"});
    let paths = [gateway(&app, &tenant, &body).await, gateway(&app, &tenant, &body).await];
    let routers = [app.router.clone(), router(node.clone())];
    let send = async |to: usize, bytes: usize| {
        let line = format!("POST {}", paths[gateways[to]]);
        let sent = call(&routers[to], &line).from("203.0.113.9").body("text/plain", "x".repeat(bytes));
        assert_eq!(sent.send().await.status, 200);
    };
    let save = async |to: usize| {
        send(to, 1).await;
        [&app.app, &node][to].ingest.raw.save(&*app.app.store).await.unwrap();
    };
    // What was stored before a node began is charged without what was refilled since midnight; so both begin first.
    for to in [0, 1, 0] {
        save(to).await;
    }
    for _ in 0..2 {
        send(0, 100_000).await;
    }
    save(0).await;
    save(1).await;
    for _ in 0..2 {
        send(1, 100_000).await;
    }
    count(&app, &tenant).await - 5
}

async fn quotas_hold_over_nodes(engine: Engine) {
    let of_gateway = |config: &mut Config| config.gateways.raw_mib_per_gateway = 1;
    let of_account = |config: &mut Config| config.gateways.raw_mib_per_account = 1;
    assert_eq!(kept_by_nodes(engine, |_| {}, [0, 0]).await, 4, "far from every quota");
    // Messages that store nothing new may take a quarter of 1 MiB: two of 100 kB.
    assert_eq!(
        kept_by_nodes(engine, of_gateway, [0, 0]).await,
        2,
        "the gateway has used it up on the first node"
    );
    assert_eq!(kept_by_nodes(engine, of_gateway, [0, 1]).await, 4, "another gateway");
    assert_eq!(kept_by_nodes(engine, of_account, [0, 1]).await, 2, "the account has used it up");
}

async fn locations_are_stored_when_messages_are_not(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Phone"})).await;
    let path = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    app.app.ingest.raw.set_disk_full(true);
    let body = "lat=42.5&lon=-8.25&timestamp=1767225600&alarm=sos".to_owned();
    assert_eq!(post(&app, &path, body).await.status, 200);
    assert_eq!(count(&app, &tenant).await, 0);
    let stored = app.get(&tenant.owner, &format!("/api/devices/{device}/locations")).await;
    assert_eq!(stored["locations"].as_array().unwrap().len(), 1);
    let alerts = app.get(&tenant.owner, &format!("/api/devices/{device}/alerts")).await;
    assert_eq!(alerts["alerts"].as_array().unwrap().len(), 1);
    app.app.ingest.raw.set_disk_full(false);
    assert_eq!(post(&app, &path, "lat=42.5&lon=-8.25&timestamp=1767225601".to_owned()).await.status, 200);
    assert_eq!(count(&app, &tenant).await, 1);
    assert_eq!(used(&app).await.iter().map(|usage| usage.dropped).sum::<u64>(), 1);
}

async fn messages_are_not_kept_near_the_size_limit_of_the_database(engine: Engine) {
    let kept_with = async |size_limit_mib| {
        let app = TestApp::with(engine, |config| config.store.size_limit_mib = size_limit_mib).await;
        let tenant = app.tenant("acme", 10).await;
        let device = app.device(&tenant.owner, &json!({"name": "Phone"})).await;
        let path = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
        for _ in 0..10 {
            assert_eq!(post(&app, &path, "x".repeat(100_000)).await.status, 200);
        }
        watch_size(&app.app).await;
        app.store.set_operator(tenant.owner.id, true).await.unwrap();
        let cookie = app.sign_in(&tenant.owner).await;
        let health = app.call("GET /api/operator/health").cookie(&cookie).send().await.expect(200);
        let body = "lat=42.5&lon=-8.25&timestamp=1767225600".to_owned();
        assert_eq!(post(&app, &path, body).await.status, 200);
        let stored = app.get(&tenant.owner, &format!("/api/devices/{device}/locations")).await;
        assert_eq!(stored["locations"].as_array().unwrap().len(), 1, "locations are stored in any case");
        (count(&app, &tenant).await, health["health"]["store"]["rawMessagesStored"].clone())
    };
    assert_eq!(kept_with(0).await, (11, json!(true)), "no limit");
    assert_eq!(kept_with(1 << 20).await, (11, json!(true)), "far from it");
    assert_eq!(kept_with(1).await, (10, json!(false)), "a database of more than 1 MB");
}

async fn operators_see_whose_messages_use_the_storage(engine: Engine) {
    let app = TestApp::with(engine, |config| config.gateways.raw_mib_per_gateway = 1).await;
    let (acme, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    app.store.set_operator(acme.owner.id, true).await.unwrap();
    let cookie = app.sign_in(&acme.owner).await;
    let body = json!({"feed": "osmand"});
    let (quiet, loud) = (gateway(&app, &acme, &body).await, gateway(&app, &other, &body).await);
    assert_eq!(post(&app, &quiet, "x".repeat(1_000)).await.status, 200);
    for _ in 0..3 {
        assert_eq!(post(&app, &loud, "x".repeat(100_000)).await.status, 200);
    }
    app.app.ingest.raw.save(&*app.app.store).await.unwrap();
    let listed = app.call("GET /api/operator/storage").cookie(&cookie).send().await.expect(200);
    let [first, second] = listed["rawMessages"].as_array().unwrap().as_slice() else {
        panic!("two gateways in {listed}")
    };
    assert_eq!(
        (&first["accountName"], &first["accountId"]),
        (&json!("other"), &json!(other.account.id.to_string()))
    );
    assert_eq!((&first["messages"], &first["droppedMessages"]), (&json!(2), &json!(1)));
    assert!(first["droppedBytes"].as_u64().unwrap() >= 100_000 && first["gatewayId"].is_string());
    assert_eq!((&second["accountName"], &second["messages"]), (&json!("acme"), &json!(1)));
    assert_eq!((&second["deviceId"], &second["droppedBytes"]), (&json!(null), &json!(0)));
}

async fn messages_are_listed_page_by_page(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Phone"})).await;
    let path = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    for second in 0..3 {
        let body = format!("lat=42.5&lon=-8.25&timestamp={}", 1_767_225_600 + second);
        assert_eq!(post(&app, &path, body).await.status, 200);
    }
    let first = app.get(&tenant.owner, "/api/rawMessages?limit=2").await;
    let cursor = first["nextCursor"].as_str().expect("there is more");
    let rest = app.get(&tenant.owner, &format!("/api/rawMessages?limit=2&cursor={cursor}")).await;
    assert_eq!(rest["rawMessages"].as_array().unwrap().len(), 1);
    assert_ne!(rest["rawMessages"][0]["id"], first["rawMessages"][0]["id"]);
}
