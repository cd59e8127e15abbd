//! Every SOS code of every protocol and every feed: from the bytes on a socket to the message to a person.

mod feeds;
mod frames;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use perigee_core::store::{Queue, Users as _};
use perigee_gateways::{PROTOCOLS, Raises, Transport};
use perigee_server::background::RuleEngine;
use perigee_server::listen::GatewayListeners;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::support::{Engine, Tenant, TestApp, on_both_engines};
use frames::CASES;

on_both_engines!(
    every_sos_code_of_a_protocol_reaches_a_person,
    every_sos_code_in_a_datagram_above_the_rates_reaches_a_person,
    every_sos_of_a_feed_reaches_a_person,
    every_sos_of_a_polled_feed_reaches_a_person,
    an_sos_of_an_unknown_tracker_reaches_the_operators,
);

/// The address that is notified of every alert.
const ADDRESS: &str = "rescue@example.com";

/// A service whose alerts go to one person.
struct Watched {
    app: TestApp,
    tenant: Tenant,
    rule_engine: RuleEngine,
}

impl Watched {
    async fn new(app: TestApp) -> Self {
        let tenant = app.tenant("acme", 100).await;
        let routing = json!({"recipients": [{"channel": "email", "address": ADDRESS}]});
        app.send(&tenant.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
        let rule_engine = RuleEngine::new(app.app.clone());
        Self { app, tenant, rule_engine }
    }

    async fn device(&self, identifier: &str, model: Option<&str>) -> String {
        let body = json!({"name": identifier, "identifier": identifier, "model": model});
        self.app.device(&self.tenant.owner, &body).await
    }

    /// One critical alert of the device, and a message of the outbox about it.
    async fn check(&self, device: &str, what: &str) {
        for _ in 0..1_000 {
            if self.rule_engine.run_once().await == Duration::from_secs(1) {
                break;
            }
        }
        let owner = &self.tenant.owner;
        let alerts = self.app.get(owner, &format!("/api/devices/{device}/alerts")).await["alerts"].clone();
        let alerts: Vec<&Value> =
            alerts.as_array().unwrap().iter().filter(|alert| alert["alertName"] == "SOSButton").collect();
        let raw = self.app.get(owner, "/api/rawMessages?limit=3").await;
        assert_eq!(alerts.len(), 1, "{what}: {raw}");
        assert_eq!(alerts[0]["critical"], true, "{what}");
        let messages = self.app.get(owner, "/api/notifications?limit=1000").await["notifications"].clone();
        let about = |message: &&Value| message["alertId"] == alerts[0]["id"];
        let messages: Vec<&Value> = messages.as_array().unwrap().iter().filter(about).collect();
        assert_eq!(messages.len(), 1, "{what}");
        assert_eq!(messages[0]["address"], ADDRESS, "{what}");
    }
}

async fn every_sos_code_of_a_protocol_reaches_a_person(engine: Engine) {
    let on = Watched::new(TestApp::new(engine).await).await;
    let mut config = on.app.app.config.gateways.clone();
    let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    config.listen = names.iter().map(|name| ((*name).to_owned(), any_port)).collect();
    let bound = GatewayListeners::bind(&config).await.unwrap();
    let addresses: Vec<_> = names.iter().map(|name| (*name, bound.addresses(name).0)).collect();
    let listeners = bound.start(&on.app.app.ingest, None);
    for case in CASES {
        let device = on.device(case.identifier, case.model).await;
        let address = addresses.iter().find(|(name, _)| *name == case.protocol).unwrap().1.unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&(case.bytes)()).await.unwrap();
        stream.shutdown().await.unwrap();
        // Everything is stored once the server has closed its side.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        on.check(&device, &format!("{} {} {}", case.protocol, case.field, case.code)).await;
    }
    listeners.stop().await;
}

/// The datagram of a tracker for what it would send by TCP.
fn datagram(protocol: &str, bytes: Vec<u8>) -> Vec<u8> {
    if protocol != "teltonika" {
        return bytes;
    }
    // The login has 17 bytes; then come four zeros, the length, the data, and a checksum of four bytes.
    let (imei, data) = (&bytes[..17], &bytes[25..bytes.len() - 4]);
    let channel = [&[0, 1, 0, 5], imei, data].concat();
    [&u16::try_from(channel.len()).unwrap().to_be_bytes(), &channel[..]].concat()
}

async fn every_sos_code_in_a_datagram_above_the_rates_reaches_a_person(engine: Engine) {
    // The alerts of each device are read until there is one, and the clock stands still.
    let on = Watched::new(TestApp::with(engine, |config| config.limits.burst = 10_000_000).await).await;
    let mut config = on.app.app.config.gateways.clone();
    let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let by_udp = PROTOCOLS.iter().filter(|protocol| protocol.transports.contains(&Transport::Udp));
    let names: Vec<&str> = by_udp.map(|protocol| protocol.name).collect();
    config.listen = names.iter().map(|name| ((*name).to_owned(), any_port)).collect();
    let bound = GatewayListeners::bind(&config).await.unwrap();
    let addresses: Vec<_> = names.iter().map(|name| (*name, bound.addresses(name).1)).collect();
    let listeners = bound.start(&on.app.app.ingest, None);
    let admission = &on.app.app.ingest.admission;
    // The clock stands still, so that nothing is refilled.
    while admission.admits_datagram(any_port.ip()) {}
    for case in CASES {
        let what = format!("{} {} {}", case.protocol, case.field, case.code);
        let device = on.device(case.identifier, case.model).await;
        while admission.admits_datagram_of(device.parse().unwrap()) {}
        let (_, address) = addresses.iter().find(|(name, _)| *name == case.protocol).expect("by UDP");
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let bytes = datagram(case.protocol, (case.bytes)());
        socket.send_to(&bytes, address.unwrap()).await.unwrap();
        // Not every protocol has an answer.
        let path = format!("/api/devices/{device}/alerts");
        let stored = async {
            while on.app.get(&on.tenant.owner, &path).await["alerts"].as_array().unwrap().is_empty() {
                on.rule_engine.run_once().await;
            }
        };
        timeout(Duration::from_secs(20), stored).await.unwrap_or_else(|_| panic!("{what}"));
        on.check(&device, &what).await;
    }
    listeners.stop().await;
}

async fn an_sos_of_an_unknown_tracker_reaches_the_operators(engine: Engine) {
    let on = Watched::new(TestApp::new(engine).await).await;
    on.app.store.set_operator(on.tenant.owner.id, true).await.unwrap();
    let mut config = on.app.app.config.gateways.clone();
    config.listen = [("gt06".to_owned(), "127.0.0.1:0".parse().unwrap())].into();
    let bound = GatewayListeners::bind(&config).await.unwrap();
    let address = bound.addresses("gt06").0.unwrap();
    let listeners = bound.start(&on.app.app.ingest, None);
    let ingest = &on.app.app.ingest;
    let recorded = on.app.app.store.commit_signals().of_queue(Queue::RecordedSos);
    let case = CASES.iter().find(|case| case.protocol == "gt06").unwrap();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&(case.bytes)()).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
    assert!(recorded.has_changed().unwrap(), "at once");
    assert_eq!(on.app.app.store.announce_recorded_sos().await.unwrap(), 1, "a stranger causes few writes");
    // After the next save it is recorded again, and nobody is notified again so soon.
    ingest.strangers.save().await.unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&(case.bytes)()).await.unwrap();
    stream.shutdown().await.unwrap();
    stream.read_to_end(&mut Vec::new()).await.unwrap();
    assert_eq!(on.app.app.store.announce_recorded_sos().await.unwrap(), 1);
    let mails = on.app.get(&on.tenant.owner, "/api/notifications").await["notifications"].clone();
    assert_eq!(mails.as_array().unwrap().len(), 1, "{mails}");
    listeners.stop().await;
}

/// No code is left out: the cases are those of the tables.
#[test]
fn every_sos_code_of_the_tables_has_a_case() {
    let mut wanted = Vec::new();
    // The words of DirectIP are those of templates, which the feeds have.
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.name != "iridium") {
        for table in protocol.alarms {
            for code in table.codes.iter().filter(|code| code.raises == Raises::Alarm("sos")) {
                let name = if code.text.is_empty() { code.number.to_string() } else { code.text.to_owned() };
                wanted.push((protocol.name, table.field, name));
            }
        }
    }
    let mut tried: Vec<_> =
        CASES.iter().map(|case| (case.protocol, case.field, case.code.to_owned())).collect();
    wanted.sort();
    tried.sort();
    tried.dedup();
    assert_eq!(tried, wanted);
}

async fn every_sos_of_a_feed_reaches_a_person(engine: Engine) {
    let on = Watched::new(TestApp::new(engine).await).await;
    for (number, case) in feeds::PUSHED.iter().enumerate() {
        let identifier = format!("30043400000{:04}", number + 1);
        let device = on.device(&identifier, None).await;
        let body = json!({"feed": case.feed, "deviceId": device, "options": (case.options)()});
        let made = on.app.send(&on.tenant.owner, "POST /api/gateways", &body).await.expect(201);
        let path = made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned();
        let call = on.app.call(&format!("POST {path}{}", case.query));
        let answer = call.body("application/json", (case.body)(&identifier)).send().await;
        let what = format!("{} {} {}", case.feed, case.code, case.place);
        assert_eq!(answer.status, 200, "{what}");
        on.check(&device, &what).await;
    }
}

async fn every_sos_of_a_polled_feed_reaches_a_person(engine: Engine) {
    for case in feeds::POLLED {
        let app = TestApp::with(engine, |config| {
            config.webhooks.allow_http = true;
            config.webhooks.allowed_networks = vec!["127.0.0.0/8".to_owned()];
        })
        .await;
        let on = Watched::new(app).await;
        let device = on.device(feeds::IMEI, None).await;
        let provider = crate::support::provider::Provider::new(on.app.clock()).await;
        let options = match case.feed {
            "spot-feed" => json!({"feedId": "0Page", "url": provider.url("/spot/")}),
            "garmin-mapshare" => json!({"mapShare": "Boat", "url": provider.url("/share")}),
            _ => json!({"url": provider.url("/History"), "apiKey": "word", "imeis": [feeds::IMEI]}),
        };
        let body = json!({"feed": case.feed, "options": options});
        on.app.send(&on.tenant.owner, "POST /api/gateways", &body).await.expect(201);
        provider.state.lock().unwrap().body = Some((case.answer)());
        let what = format!("{} {}", case.feed, case.code);
        assert!(on.app.app.poller.turn().await.unwrap(), "{what}");
        on.check(&device, &what).await;
    }
}

/// The same for feeds.
#[test]
fn every_sos_code_of_the_feeds_has_a_case() {
    let pushed = feeds::PUSHED.iter().map(|case| (case.feed.to_owned(), case.code.to_owned()));
    let polled = feeds::POLLED.iter().map(|case| (case.feed.to_owned(), case.code.to_owned()));
    let tried: BTreeSet<_> = pushed.chain(polled).collect();
    let wanted: BTreeSet<_> = feeds::codes_of_page().into_iter().collect();
    assert_eq!(tried, wanted);
}
