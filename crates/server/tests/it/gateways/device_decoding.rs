//! Model and options of a device over real sockets: decoding of its next message, of stored ones, and proposals.

use perigee_core::time::Timestamp;
use perigee_server::listen::GatewayListeners;
use perigee_server::serve::{Tls, install_crypto_provider};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::gateways::{Hearing, IMEI, PATIENCE, frame, hex, location, login};
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    options_take_effect_with_the_next_message,
    options_count_by_udp_and_for_stored_messages,
    stored_messages_of_a_claimed_device_are_decoded_with_its_options,
    a_wrong_password_is_refused,
    the_model_is_reported_or_chosen,
    a_time_zone_is_proposed_and_accepted,
    trackers_connect_by_tls,
);

impl Hearing {
    async fn change(&self, device: &str, change: &Value) -> Value {
        let path = format!("PATCH /api/devices/{device}");
        self.app.send(&self.tenant.owner, &path, change).await.expect(200)["device"].clone()
    }

    async fn show(&self, device: &str) -> Value {
        self.app.get(&self.tenant.owner, &format!("/api/devices/{device}")).await["device"].clone()
    }

    async fn times(&self, device: &str) -> Vec<String> {
        let of = |location: &Value| location["dateTime"].as_str().unwrap().to_owned();
        self.locations(device).await.iter().map(of).collect()
    }
}

/// A GT06 location of what the clock of the tracker shows.
fn location_at(shown: Timestamp, serial: u16) -> Vec<u8> {
    let text = shown.to_string();
    let part = |from: usize| text[from..from + 2].parse::<u8>().unwrap();
    let mut content = location(0, serial);
    for (index, from) in [2, 5, 8, 11, 14, 17].into_iter().enumerate() {
        content[4 + index] = part(from);
    }
    let body = content[4..content.len() - 6].to_vec();
    frame(0x12, &body, serial)
}

async fn options_take_effect_with_the_next_message(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    let changed = on.change(&device, &json!({"decoding": {"timeZoneMinutes": 480}})).await;
    assert_eq!(changed["decoding"], json!({"timeZoneMinutes": 480}));
    tracker.ask(&location(6, 3), &frame(0x12, &[], 3)).await;
    assert_eq!(on.times(&device).await, ["2025-12-31T16:00:06Z", "2026-01-01T00:00:05Z"]);
    on.change(&device, &json!({"decoding": {"timeZoneMinutes": null}})).await;
    assert_eq!(on.show(&device).await["decoding"], json!({}));
    tracker.ask(&location(7, 4), &frame(0x12, &[], 4)).await;
    assert_eq!(on.times(&device).await[2], "2026-01-01T00:00:07Z");

    let path = format!("PATCH /api/devices/{device}");
    for wrong in [json!({"zone": 1}), json!({"timeZoneMinutes": 841}), json!({"adc": 1}), json!(5)] {
        let refused = on.app.send(&on.tenant.owner, &path, &json!({"decoding": wrong})).await;
        refused.expect_error(400, "invalid-body");
    }
    on.listeners.stop().await;
}

async fn options_count_by_udp_and_for_stored_messages(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(on.addresses["gt06"].1.unwrap()).await.unwrap();
    let ask = async |question: Vec<u8>, expect: Vec<u8>| {
        let mut buffer = [0; 100];
        socket.send(&question).await.unwrap();
        let count = timeout(PATIENCE, socket.recv(&mut buffer)).await.unwrap().unwrap();
        assert_eq!(buffer[..count], expect);
    };
    ask(login(IMEI, 1), frame(0x01, &[], 1)).await;
    ask(location(5, 2), frame(0x12, &[], 2)).await;
    on.change(&device, &json!({"decoding": {"timeZoneMinutes": -60}})).await;
    ask(location(6, 3), frame(0x12, &[], 3)).await;
    assert_eq!(on.times(&device).await, ["2026-01-01T00:00:05Z", "2026-01-01T01:00:06Z"]);

    // The first message again, with the current settings of the device.
    let list = on.app.get(&on.tenant.owner, "/api/rawMessages").await;
    let first = list["rawMessages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|message| message["hex"] == json!(hex(&location(5, 2))));
    let id = first.unwrap()["id"].as_str().unwrap();
    let decode = async |body: Value| {
        let answer = on.app.send(&on.tenant.owner, "POST /api/gateways/decode", &body).await.expect(200);
        answer["messages"][0]["reports"][0]["dateTime"].clone()
    };
    assert_eq!(decode(json!({"messageId": id})).await, "2026-01-01T01:00:05Z");
    let other = json!({"messageId": id, "options": {"timeZoneMinutes": 60}});
    assert_eq!(decode(other).await, "2025-12-31T23:00:05Z");
    let pasted = json!({"text": hex(&location(5, 2)), "options": {"timeZoneMinutes": 60}});
    assert_eq!(decode(pasted).await, "2025-12-31T23:00:05Z");
    let path = format!("POST /api/rawMessages/{id}/reprocess");
    on.app.send(&on.tenant.owner, &path, &json!({})).await.expect(200);
    assert!(on.times(&device).await.contains(&"2026-01-01T01:00:05Z".to_owned()));
    on.listeners.stop().await;
}

async fn stored_messages_of_a_claimed_device_are_decoded_with_its_options(engine: Engine) {
    let on = Hearing::new(engine).await;
    let mut tracker = on.connect("gt06").await;
    tracker.send(&[login(IMEI, 1), location(5, 2)].concat()).await;
    assert_eq!(tracker.finish().await, b"");
    let new = json!({"name": "Car", "identifier": IMEI, "decoding": {"timeZoneMinutes": 480}});
    let device = on.app.device(&on.tenant.owner, &new).await;
    assert_eq!(on.app.app.reprocessing.replay_claimed().await.unwrap(), 2);
    assert_eq!(on.times(&device).await, ["2025-12-31T16:00:05Z"]);
    on.listeners.stop().await;
}

async fn a_wrong_password_is_refused(engine: Engine) {
    const RECORD: &[u8] = b"#SD#010126;000005;2230.0000;N;11400.0000;E;10;20;5;7\r\n";
    let on = Hearing::new(engine).await;
    let new = json!({"name": "Car", "identifier": "car-7", "decoding": {"password": "right"}});
    let device = on.app.device(&on.tenant.owner, &new).await;
    let mut tracker = on.connect("any").await;
    tracker.ask(b"#L#car-7;wrong\r\n", b"#AL#01\r\n").await;
    tracker.send(RECORD).await;
    // A line that names the device by itself gives no password either.
    tracker.send(&[b"car-7".as_slice(), RECORD].concat()).await;
    assert_eq!(tracker.finish().await, b"");
    assert_eq!(on.locations(&device).await.len(), 0);
    let list = on.app.get(&on.tenant.owner, &format!("/api/rawMessages?device={device}")).await;
    let messages = list["rawMessages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "the login, and the line that names the device");
    for message in messages {
        assert_eq!(message["result"], "unparsable");
        assert_eq!(
            message["error"],
            "the password differs from \"password\" in the decoding settings of the device"
        );
    }

    let mut tracker = on.connect("any").await;
    tracker.ask(b"#L#car-7;right\r\n", b"#AL#1\r\n").await;
    tracker.ask(RECORD, b"#ASD#1\r\n").await;
    assert_eq!(on.times(&device).await, ["2026-01-01T00:00:05Z"]);
    // A new password counts for a device that is connected, too.
    on.change(&device, &json!({"decoding": {"password": "newer"}})).await;
    tracker.send(b"#SD#010126;000006;2230.0000;N;11400.0000;E;10;20;5;7\r\n").await;
    assert_eq!(tracker.finish().await, b"");
    assert_eq!(on.locations(&device).await.len(), 1);
    on.listeners.stop().await;
}

async fn the_model_is_reported_or_chosen(engine: Engine) {
    let on = Hearing::new(engine).await;
    let models = on.app.get(&on.tenant.owner, "/api/trackerModels").await;
    let named = |name: &str| {
        let list = models["trackerModels"].as_array().unwrap();
        list.iter().find(|model| model["model"] == name).unwrap().clone()
    };
    assert_eq!(
        named("ST4300"),
        json!({"maker": "Suntech", "model": "ST4300", "protocol": "suntech", "options": {"universal": true}})
    );
    let zone = &models["decodingOptions"][0];
    assert_eq!(
        (&zone["name"], &zone["type"], &zone["maximum"]),
        (&json!("timeZoneMinutes"), &json!("integer"), &json!(840))
    );

    // Reported by the line, whose tail is read by the options.
    let line = |second: u8| {
        format!(
            "ST300STT;205174410;14;712;20260101;00:00:{second:02};4f0c1;+22.500000;+114.000000;010.000;020.00;8;1;900;12.50;\
             000000;1;0072;000001;4.1;1\r"
        )
    };
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Car", "identifier": "205174410"})).await;
    let report_model = async |second: u8| {
        let mut tracker = on.connect("any").await;
        tracker.send(line(second).as_bytes()).await;
        assert_eq!(tracker.finish().await, b"");
    };
    report_model(5).await;
    assert_eq!(on.show(&device).await["reportedModel"], "ST300");
    assert_eq!(on.show(&device).await["model"], json!(null));
    on.change(&device, &json!({"decoding": {"hbm": 1}, "model": "Suntech ST340LC"})).await;
    report_model(6).await;
    let stored = on.locations(&device).await;
    assert_eq!(stored.len(), 2);
    let battery = |index: usize| stored[index]["attributes"]["battery"].clone();
    assert_eq!((battery(0), battery(1)), (json!(null), json!(4.1)));
    on.listeners.stop().await;
}

async fn a_time_zone_is_proposed_and_accepted(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    let proposed = async || on.show(&device).await["proposedTimeZoneMinutes"].clone();
    for serial in 2..7 {
        assert_eq!(proposed().await, json!(null), "fix {serial}");
        on.app.clock().advance_seconds(20);
        let shown = on.app.app.clock.now().plus_seconds(8 * 3600 - 2);
        tracker.ask(&location_at(shown, serial), &frame(0x12, &[], serial)).await;
    }
    assert_eq!(proposed().await, json!(480));
    let accepted = on.change(&device, &json!({"decoding": {"timeZoneMinutes": 480}})).await;
    assert_eq!(accepted["proposedTimeZoneMinutes"], json!(null));
    for serial in 7..13 {
        on.app.clock().advance_seconds(20);
        let shown = on.app.app.clock.now().plus_seconds(8 * 3600 - 2);
        tracker.ask(&location_at(shown, serial), &frame(0x12, &[], serial)).await;
    }
    assert_eq!(proposed().await, json!(null));
    let present = on.app.app.clock.now().plus_seconds(-2).to_string();
    assert!(on.times(&device).await.iter().any(|time| time[..19] == present[..19]));
    on.listeners.stop().await;
}

fn certificate(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/serve/fixtures").join(name)
}

async fn trackers_connect_by_tls(engine: Engine) {
    install_crypto_provider();
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Car", "identifier": IMEI})).await;
    let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut config = app.app.config.gateways.clone();
    config.tls = ["teltonika", "any"].into_iter().map(|name| (name.to_owned(), any_port)).collect();
    config.max_connections_per_address = 2;
    let bound = GatewayListeners::bind(&config).await.unwrap();
    let (own, any) = (bound.tls_address("teltonika").unwrap(), bound.tls_address("any").unwrap());
    assert_eq!(bound.addresses("teltonika"), (None, None), "nothing is heard without TLS");
    let tls = Tls::load(certificate("first.crt"), certificate("first.key")).unwrap();
    let listeners = bound.start(&app.app.ingest, Some(&tls));

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate("first.crt")).unwrap()).unwrap();
    let trusting = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(trusting));
    let connect = async |address: SocketAddr| {
        let stream = TcpStream::connect(address).await.unwrap();
        connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
    };
    // A connection without TLS is closed, and none of its data is read.
    let mut plain = TcpStream::connect(own).await.unwrap();
    plain.write_all(&[&[0, 15], IMEI.as_bytes()].concat()).await.unwrap();
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, plain.read_to_end(&mut rest)).await.expect("the end");
    assert!(!rest.contains(&1) || rest.first() == Some(&0x15), "at most a TLS alert: {rest:?}");

    let mut tracker = connect(own).await;
    tracker.write_all(&[&[0, 15], IMEI.as_bytes()].concat()).await.unwrap();
    assert_eq!(timeout(PATIENCE, tracker.read_u8()).await.unwrap().unwrap(), 1);
    let mut other = connect(any).await;
    other.write_all(&login(IMEI, 1)).await.unwrap();
    let mut answer = vec![0; 10];
    timeout(PATIENCE, other.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, frame(0x01, &[], 1));
    other.write_all(&location(5, 2)).await.unwrap();
    timeout(PATIENCE, other.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, frame(0x12, &[], 2));
    let list = app.get(&tenant.owner, &format!("/api/devices/{device}/locations")).await;
    assert_eq!(list["locations"][0]["dateTime"], "2026-01-01T00:00:05Z");

    // Connections count before their handshake: a third one of this address is refused.
    let mut third = TcpStream::connect(any).await.unwrap();
    assert_eq!(timeout(PATIENCE, third.read(&mut [0])).await.unwrap().unwrap_or(0), 0);
    listeners.stop().await;
}
