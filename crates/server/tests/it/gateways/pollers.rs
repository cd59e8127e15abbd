//! Pollers against providers on real sockets: gaps are closed, and nothing is lost or stored twice, whatever happens in
//! between.

use perigee_core::time::{Clock as _, Timestamp};
use perigee_server::budget::UntrustedBytes;
use perigee_server::config::Config;
use perigee_server::poll::Poller;
use serde_json::{Value, json};

use crate::support::app::{build, default_config};
use crate::support::logs::Logs;
use crate::support::provider::{Message, Provider};
use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    gaps_are_closed,
    a_gap_of_garmin_push_is_closed_by_its_history,
    a_poll_may_end_at_any_step,
    two_nodes_poll_once,
    refusals_are_respected_and_announced,
    other_answers_are_kept_once,
    a_call_for_help_does_not_wait_for_old_pages,
    a_corrected_clock_stops_no_feed,
);

const IMEI: &str = "300434000000001";
const FEEDS: [&str; 3] = ["garmin-history", "garmin-mapshare", "spot-feed"];

fn open(config: &mut Config) {
    // Tokens outlast the days of the test.
    config.auth.token_seconds = 400 * 86_400;
    config.webhooks.allow_http = true;
    config.webhooks.allowed_networks = vec!["127.0.0.0/8".to_owned()];
}

struct World {
    app: TestApp,
    tenant: Tenant,
    device: String,
    provider: Provider,
    gateway: String,
    cursor: String,
}

fn options(feed: &str, provider: &Provider) -> Value {
    match feed {
        "spot-feed" => json!({"feedId": "0Page", "password": "secret-word", "url": provider.url("/spot/")}),
        "garmin-mapshare" => {
            json!({"mapShare": "Boat", "password": "secret-word", "url": provider.url("/share")})
        }
        _ => json!({"url": provider.url("/Location.svc/History"), "apiKey": "secret-word", "imeis": [IMEI]}),
    }
}

impl World {
    async fn new(engine: Engine, feed: &str) -> Self {
        let app = TestApp::with(engine, open).await;
        let tenant = app.tenant("acme", 10).await;
        let device = app.device(&tenant.owner, &json!({"name": "Boat", "identifier": IMEI})).await;
        let provider = Provider::new(app.clock()).await;
        let body = json!({"feed": feed, "options": options(feed, &provider)});
        let made = app.send(&tenant.owner, "POST /api/gateways", &body).await.expect(201);
        assert_eq!(made["url"], Value::Null, "it is fetched");
        let gateway = made["id"].as_str().unwrap().to_owned();
        let cursor = app.get(&tenant.owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
        Self { app, tenant, device, provider, gateway, cursor }
    }

    fn now_s(&self) -> i64 {
        self.app.clock().now().as_seconds()
    }

    async fn health(&self) -> Value {
        self.app.get(&self.tenant.owner, &format!("/api/gateways/{}", self.gateway)).await["health"].clone()
    }

    /// Polls whenever it is due until everything up to now is stored.
    async fn catch_up(&self, poller: &Poller) {
        let until = self.app.clock().now();
        for _ in 0..2_000 {
            while poller.turn().await.unwrap() {}
            let health = self.health().await;
            let next: Timestamp = health["nextPoll"].as_str().unwrap().parse().unwrap();
            let now = self.app.clock().now();
            let complete = health["backlogSeconds"].as_i64().map(|behind| now.plus_seconds(-behind));
            if complete.is_some_and(|complete| complete >= until) {
                return;
            }
            self.app.clock().set(next.max(now));
        }
        panic!("it never catches up: {}", self.health().await);
    }

    /// The instants of all stored locations, in seconds.
    async fn stored(&self) -> Vec<i64> {
        let mut times = Vec::new();
        let mut path = format!("/api/devices/{}/locations?limit=10000", self.device);
        loop {
            let page = self.app.get(&self.tenant.owner, &path).await;
            let time = |location: &Value| {
                location["dateTime"].as_str().unwrap().parse::<Timestamp>().unwrap().as_seconds()
            };
            times.extend(page["locations"].as_array().unwrap().iter().map(time));
            let Some(cursor) = page["nextCursor"].as_str() else { return times };
            path = format!("/api/devices/{}/locations?limit=10000&cursor={cursor}", self.device);
        }
    }

    /// Everything that the provider has is stored once.
    async fn check_complete(&self, what: &str) {
        let mut expect: Vec<i64> =
            self.provider.state.lock().unwrap().messages.iter().map(|message| message.at_s).collect();
        expect.sort_unstable();
        let stored = self.stored().await;
        assert_eq!(stored.len(), expect.len(), "{what}: {} messages", expect.len());
        assert_eq!(stored, expect, "{what}");
        let abuses = self.provider.state.lock().unwrap().abuses.clone();
        assert_eq!(abuses, Vec::<String>::new(), "{what}");
    }

    async fn raw_messages(&self) -> usize {
        let list = self.app.get(&self.tenant.owner, "/api/rawMessages?limit=1000").await;
        list["rawMessages"].as_array().unwrap().len()
    }
}

/// A clock is a day ahead for an hour, and is corrected.
async fn a_corrected_clock_stops_no_feed(engine: Engine) {
    for feed in FEEDS {
        let world = World::new(engine, feed).await;
        let (clock, store) = (world.app.clock(), &world.app.app.store);
        let correct = async |seconds| {
            clock.step_seconds(seconds);
            store.watch_clock().await.unwrap();
        };
        store.watch_clock().await.unwrap();
        world.provider.fill(IMEI, world.now_s() - 3_600, world.now_s() - 60, 20);
        world.catch_up(&world.app.app.poller).await;
        correct(86_400).await;
        while world.app.app.poller.turn().await.unwrap() {}
        clock.advance_seconds(3_600);
        while world.app.app.poller.turn().await.unwrap() {}
        correct(-86_400).await;
        let from_s = world.now_s();
        clock.advance_seconds(2 * 3_600);
        world.provider.fill(IMEI, from_s, world.now_s() - 60, 20);
        world.catch_up(&world.app.app.poller).await;
        assert_eq!(world.stored().await.len(), 40, "{feed}");
    }
}

async fn gaps_are_closed(engine: Engine) {
    for feed in FEEDS {
        for (hours, count) in [(6, 10_000), (6 * 24, 10_000)] {
            let world = World::new(engine, feed).await;
            let what = format!("{feed}, {hours} hours");
            world.provider.fill(IMEI, world.now_s() - 3_600, world.now_s() - 60, 20);
            world.catch_up(&world.app.app.poller).await;
            world.check_complete(&what).await;
            // Nobody polls for some time.
            let from_s = world.now_s();
            world.app.clock().advance_seconds(hours * 3_600);
            world.provider.fill(IMEI, from_s, world.now_s(), count);
            world.catch_up(&world.app.app.poller).await;
            world.check_complete(&what).await;
        }
    }
}

/// Events of IPC Outbound, as Garmin sends them.
fn outbound(world: &World, from: usize, count: usize) -> String {
    let messages = world.provider.state.lock().unwrap().messages.clone();
    let event = |message: &crate::support::provider::Message| {
        let (latitude, longitude) = message.position();
        json!({"imei": message.device, "messageCode": 0, "timeStamp": message.at_s * 1000, "freeText": null,
               "point": {"latitude": latitude, "longitude": longitude, "altitude": 1, "gpsFix": 2, "course": 90, "speed": 3}})
    };
    let events: Vec<Value> = messages.iter().skip(from).take(count).map(event).collect();
    json!({"Version": "2.0", "Events": events}).to_string()
}

async fn a_gap_of_garmin_push_is_closed_by_its_history(engine: Engine) {
    let world = World::new(engine, "garmin-history").await;
    let owner = &world.tenant.owner;
    let made = world.app.send(owner, "POST /api/gateways", &json!({"feed": "garmin"})).await.expect(201);
    let path = made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned();
    let push = async |from: usize, count: usize| {
        let body = outbound(&world, from, count);
        let answer = world.app.call(&format!("POST {path}")).body("application/json", body).send().await;
        assert_eq!(answer.status, 200);
    };
    let from_s = world.now_s();
    world.app.clock().advance_seconds(6 * 86_400);
    world.provider.fill(IMEI, from_s, world.now_s(), 10_000);
    push(0, 700).await;
    world.catch_up(&world.app.app.poller).await;
    world.check_complete("after the history").await;
    // Garmin delivers the newest five days again, which the history has already brought.
    for from in (1_667..10_000).step_by(1_000) {
        push(from, 1_000).await;
    }
    world.check_complete("after everything came again").await;
}

async fn a_poll_may_end_at_any_step(engine: Engine) {
    for feed in FEEDS {
        for step in 0..4 {
            let world = World::new(engine, feed).await;
            let what = format!("{feed}, killed after step {step}");
            // In the first time that is requested, so that the first answer has them.
            let from_s = world.now_s() - 7 * 86_400 + 4 * 3_600;
            world.provider.fill(IMEI, from_s, from_s + 3_000, 120);
            let poller = &world.app.app.poller;
            // The node dies after leasing, fetching, storing, or settling.
            let poll = poller.lease().await.unwrap().unwrap();
            if step >= 1 {
                let fetched = poller.fetch(&poll).await;
                if step >= 2 {
                    let settled = poller.store(&poll, fetched).await.unwrap();
                    if step >= 3 {
                        assert!(poller.settle(&poll, settled).await.unwrap());
                    }
                }
            }
            let other = build(&world.app.store, world.app.clock(), world.app.app.config.clone()).await;
            if step < 3 {
                assert!(!other.poller.turn().await.unwrap(), "{what}: leased to the other node");
            }
            world.app.clock().advance_seconds(400);
            world.catch_up(&other.poller).await;
            world.check_complete(&what).await;
            let pages = if feed == "spot-feed" { 3 } else { 1 };
            assert!(world.raw_messages().await <= pages + 1, "{what}: answers are stored once");
            // A write of the dead node is refused.
            if step == 2 {
                let late = poller
                    .store(
                        &poll,
                        perigee_server::poll::Fetch::Body(UntrustedBytes::new(
                            "{}".into(),
                            poller.memory(poll.gateway.account),
                        )),
                    )
                    .await
                    .unwrap();
                let before = world.raw_messages().await;
                assert!(!poller.settle(&poll, late).await.unwrap(), "{what}");
                assert_eq!(world.raw_messages().await, before);
            }
        }
    }
}

async fn two_nodes_poll_once(engine: Engine) {
    let world = World::new(engine, "garmin-mapshare").await;
    world.provider.fill(IMEI, world.now_s() - 3_000, world.now_s() - 60, 10);
    let other = build(&world.app.store, world.app.clock(), world.app.app.config.clone()).await;
    let (one, two) = tokio::join!(world.app.app.poller.turn(), other.poller.turn());
    assert!(one.unwrap() ^ two.unwrap(), "one of them");
    assert_eq!(world.provider.requests(), 1);
}

async fn refusals_are_respected_and_announced(engine: Engine) {
    for (feed, refuse, wait_s) in [
        ("garmin-mapshare", (429, ""), 3_600),
        ("garmin-mapshare", (429, "retry-after: 7200\r\n"), 7_200),
        ("garmin-mapshare", (401, ""), 3_600),
        ("spot-feed", (403, ""), 3_600),
        ("spot-feed", (503, ""), 150),
        ("garmin-history", (500, ""), 60),
    ] {
        let world = World::new(engine, feed).await;
        world.provider.state.lock().unwrap().refuse = Some(refuse);
        assert!(world.app.app.poller.turn().await.unwrap());
        let due = world.health().await["nextPoll"].as_str().unwrap().parse::<Timestamp>().unwrap();
        assert_eq!(due.as_seconds() - world.now_s(), wait_s, "{feed} {refuse:?}");
        world.app.clock().advance_seconds(wait_s - 1);
        assert!(!world.app.app.poller.turn().await.unwrap(), "{feed}: not before");
        assert_eq!(world.provider.requests(), 1);
        let health = world.health().await;
        assert_eq!((&health["errors"], health["lastError"].is_string()), (&json!(1), true));
        let is_refused = refuse.0 < 500;
        assert_eq!(health["refused"], i64::from(is_refused));
        let path = format!("/api/events?cursor={}&types=feed.refused", world.cursor);
        let events = world.app.get(&world.tenant.owner, &path).await["events"].clone();
        assert_eq!(events.as_array().unwrap().len(), usize::from(is_refused), "{events}");
        // Nothing is lost by it.
        world.provider.state.lock().unwrap().refuse = None;
        world.provider.fill(IMEI, world.now_s() - 600, world.now_s() - 60, 5);
        world.app.clock().advance_seconds(1);
        world.catch_up(&world.app.app.poller).await;
        world.check_complete(feed).await;
    }
}

async fn other_answers_are_kept_once(engine: Engine) {
    for feed in FEEDS {
        let world = World::new(engine, feed).await;
        world.provider.state.lock().unwrap().body = Some("<html>under maintenance</html>".to_owned());
        for _ in 0..3 {
            assert!(world.app.app.poller.turn().await.unwrap());
            world.app.clock().advance_seconds(7_300);
        }
        assert_eq!(world.raw_messages().await, 1, "{feed}");
        let health = world.health().await;
        assert_eq!(health["errors"], 3, "{feed}: {health}");
        world.provider.state.lock().unwrap().body = None;
        world.provider.fill(IMEI, world.now_s() - 600, world.now_s() - 60, 5);
        world.catch_up(&world.app.app.poller).await;
        world.check_complete(feed).await;
    }
}

/// On a runtime of one thread, whose log is captured.
#[tokio::test]
async fn credentials_are_neither_logged_nor_shown() {
    let logs = Logs::capture();
    for feed in FEEDS {
        let world = World::new(Engine::Sqlite, feed).await;
        for refuse in [Some((401, "")), Some((500, "")), None] {
            world.provider.state.lock().unwrap().refuse = refuse;
            assert!(world.app.app.poller.turn().await.unwrap());
            world.app.clock().advance_seconds(7_300);
        }
        let shown = world.app.get(&world.tenant.owner, "/api/gateways").await.to_string();
        let messages = world.app.get(&world.tenant.owner, "/api/rawMessages").await.to_string();
        assert!(!shown.contains("secret-word") && !messages.contains("secret-word"), "{shown}");
    }
    assert!(!logs.text().contains("secret-word"), "{}", logs.text());
}

#[tokio::test]
async fn internal_addresses_are_refused() {
    let app = TestApp::new(Engine::Sqlite).await;
    let tenant = app.tenant("acme", 10).await;
    let refused = async |feed: &str, options: Value| {
        let body = json!({"feed": feed, "options": options});
        app.send(&tenant.owner, "POST /api/gateways", &body).await.expect_error(400, "invalid-body")
    };
    for url in [
        "http://example.com",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest",
        "https://a:b@example.com/",
        "nonsense",
    ] {
        refused("spot-feed", json!({"feedId": "x", "url": url})).await;
        refused("garmin-mapshare", json!({"mapShare": "x", "url": url})).await;
        refused("garmin-history", json!({"url": url, "apiKey": "k", "imeis": [IMEI]})).await;
    }
    for (feed, options) in [
        ("spot-feed", json!({})),
        ("spot-feed", json!({"feedId": "../x"})),
        ("garmin-mapshare", json!({"mapShare": "a/b"})),
        ("garmin-history", json!({"url": "https://example.com", "apiKey": "k", "imeis": []})),
        ("garmin-history", json!({"url": "https://example.com", "apiKey": "k", "imeis": ["12"]})),
        ("garmin-history", json!({"url": "https://example.com", "imeis": [IMEI]})),
        ("orbcomm", json!({})),
    ] {
        refused(feed, options).await;
    }
    let config = default_config();
    assert!(!config.webhooks.allow_http && !config.webhooks.allow_private);
}

async fn a_call_for_help_does_not_wait_for_old_pages(engine: Engine) {
    let world = World::new(engine, "spot-feed").await;
    world.provider.fill(IMEI, world.now_s() - 6 * 86_400, world.now_s() - 60, 10_000);
    let poll = async || {
        let next: Timestamp = world.health().await["nextPoll"].as_str().unwrap().parse().unwrap();
        world.app.clock().set(next.max(world.app.clock().now()));
        assert!(world.app.app.poller.turn().await.unwrap());
    };
    let path = format!("/api/devices/{}/alerts", world.device);
    let alerts = async || world.app.get(&world.tenant.owner, &path).await["alerts"].as_array().unwrap().len();
    // The first page, then an old one and the newest one in turn.
    for help in 1..=2 {
        for _ in 0..5 {
            poll().await;
        }
        let at_s = world.now_s();
        let kind = if help == 1 { "HELP" } else { "HELP-CANCEL" };
        world.provider.state.lock().unwrap().messages.push(Message { device: IMEI.to_owned(), at_s, kind });
        let requests = world.provider.requests();
        let is_heard = async || {
            let shown = world.app.get(&world.tenant.owner, &path).await["alerts"].clone();
            shown.as_array().unwrap().len() == 1 && (help == 1 || shown[0]["endedAt"].is_string())
        };
        while !is_heard().await {
            poll().await;
        }
        let waited = world.provider.requests() - requests;
        assert!(waited <= 2, "{kind}: {waited} requests of 200");
        if help == 1 {
            // The other parity.
            poll().await;
        }
        assert_eq!(alerts().await, 1);
    }
    assert_eq!(world.provider.state.lock().unwrap().abuses, Vec::<String>::new());
}
