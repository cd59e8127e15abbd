//! Trackers on real sockets: their data is in the API when they are acknowledged, and unknown trackers get no answer.

mod claims;
mod datagrams;
mod device_decoding;
mod feed_health;
mod feeds;
mod gateway_changes;
mod gateway_requests;
mod pollers;
mod satellite_payloads;
mod strangers;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use perigee_core::time::Timestamp;
use perigee_gateways::notation::checksum::crc16_x25;
use perigee_server::config::GatewaysSection;
use perigee_server::listen::{GatewayListeners, RunningListeners};
use rand::seq::SliceRandom as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::support::people::Traits;
use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_location_is_in_the_api_when_its_tracker_is_answered,
    nothing_is_acknowledged_while_the_store_is_stopped,
    messages_sent_three_times_in_any_order_are_stored_once,
    rubbish_and_split_frames_do_no_harm,
    strangers_get_no_answer_and_are_claimed,
    strangers_are_shown_to_those_who_run_the_server,
    an_answer_by_udp_is_never_longer_than_the_question,
    a_flood_of_its_address_does_not_silence_a_known_tracker,
    the_protocol_is_detected_by_the_first_bytes,
    an_expired_device_is_answered_and_stores_nothing,
    connections_of_one_address_are_limited,
    a_few_networks_cannot_hold_all_connections,
    a_device_has_a_few_connections,
    a_long_frame_before_a_login_ends_the_connection,
    alarms_become_alerts,
    damaged_frames_are_not_answered,
    a_damaged_first_frame_is_kept_with_its_reason,
    a_position_that_is_not_on_earth_has_its_reason,
    the_first_message_of_a_device_made_again_is_stored,
    the_last_binary_frame_of_h02_is_stored,
);

pub(crate) const IMEI: &str = "356938035643809";
/// How long an answer may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A service that receives messages of trackers.
pub(crate) struct Hearing {
    pub(crate) app: TestApp,
    pub(crate) tenant: Tenant,
    pub(crate) listeners: RunningListeners,
    pub(crate) addresses: BTreeMap<&'static str, (Option<SocketAddr>, Option<SocketAddr>)>,
}

impl Hearing {
    pub(crate) async fn new(engine: Engine) -> Self {
        Self::with(engine, |_| {}).await
    }

    async fn with(engine: Engine, change: impl FnOnce(&mut GatewaysSection)) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 10).await;
        let mut config = app.app.config.gateways.clone();
        let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
        config.listen = ["gt06", "any"].into_iter().map(|name| (name.to_owned(), any_port)).collect();
        change(&mut config);
        let bound = GatewayListeners::bind(&config).await.unwrap();
        let addresses = ["gt06", "any"].into_iter().map(|name| (name, bound.addresses(name))).collect();
        let listeners = bound.start(&app.app.ingest, None);
        Self { app, tenant, listeners, addresses }
    }

    pub(crate) async fn device(&self) -> String {
        self.app.device(&self.tenant.owner, &json!({"name": "Car", "identifier": IMEI})).await
    }

    pub(crate) async fn connect(&self, name: &str) -> Tracker {
        Tracker(TcpStream::connect(self.addresses[name].0.unwrap()).await.unwrap())
    }

    /// A connection that has logged in.
    pub(crate) async fn log_in(&self) -> Tracker {
        let mut tracker = self.connect("gt06").await;
        tracker.ask(&login(IMEI, 1), &frame(0x01, &[], 1)).await;
        tracker
    }

    pub(crate) async fn locations(&self, device: &str) -> Vec<Value> {
        let path = format!("/api/devices/{device}/locations");
        self.app.get(&self.tenant.owner, &path).await["locations"].as_array().unwrap().clone()
    }

    async fn raw_results(&self) -> Vec<String> {
        let list = self.app.get(&self.tenant.owner, "/api/rawMessages").await;
        let results = list["rawMessages"].as_array().unwrap().iter();
        results.map(|message| message["result"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) struct Tracker(TcpStream);

impl Tracker {
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn receive(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        timeout(PATIENCE, self.0.read_exact(&mut bytes)).await.expect("an answer").unwrap();
        bytes
    }

    pub(crate) async fn ask(&mut self, bytes: &[u8], expect: &[u8]) {
        self.send(bytes).await;
        assert_eq!(self.receive(expect.len()).await, expect);
    }

    /// Closes its side, and gives everything that is sent until the server closes too.
    pub(crate) async fn finish(mut self) -> Vec<u8> {
        self.0.shutdown().await.unwrap();
        self.rest().await
    }

    /// Everything that is sent until the server closes.
    pub(crate) async fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        timeout(PATIENCE, self.0.read_to_end(&mut bytes)).await.expect("the end").unwrap();
        bytes
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// A GT06 frame of this message type, with its checksum.
pub(crate) fn frame(kind: u8, content: &[u8], serial: u16) -> Vec<u8> {
    let length = u8::try_from(content.len() + 5).unwrap();
    let mut body = vec![length, kind];
    body.extend_from_slice(content);
    body.extend_from_slice(&serial.to_be_bytes());
    let crc = crc16_x25(&body);
    [b"\x78\x78".as_slice(), &body, &crc.to_be_bytes(), b"\x0d\x0a"].concat()
}

pub(crate) fn login(imei: &str, serial: u16) -> Vec<u8> {
    let digits = format!("0{imei}");
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let number: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    frame(0x01, &number, serial)
}

/// A location at this many seconds past midnight of the first of January 2026, 22.5 degrees north and 114 east.
pub(crate) fn location(seconds: u8, serial: u16) -> Vec<u8> {
    let degrees = |degrees: f64| -> [u8; 4] {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let raw = (degrees * 1_800_000.0).round() as u32;
        raw.to_be_bytes()
    };
    let content = [
        &[26, 1, 1, 0, 0, seconds, 0xc9][..],
        &degrees(22.5),
        &degrees(114.0),
        &[60],
        &0x1432_u16.to_be_bytes(),
        &[0x01, 0xcc, 0x00, 0x26, 0x2b, 0x00, 0x0f, 0x17],
    ];
    frame(0x12, &content.concat(), serial)
}

async fn a_location_is_in_the_api_when_its_tracker_is_answered(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    let stored = on.locations(&device).await;
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0]["dateTime"], "2026-01-01T00:00:05Z");
    assert_eq!((&stored[0]["latitude"], &stored[0]["longitude"]), (&json!(22.5), &json!(114)));
    assert_eq!((&stored[0]["speed"], &stored[0]["course"]), (&json!(60), &json!(50)));
    // Several frames in one packet are answered in their order.
    let both = [location(6, 3), location(7, 4)].concat();
    tracker.ask(&both, &[frame(0x12, &[], 3), frame(0x12, &[], 4)].concat()).await;
    let last = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}/lastLocation")).await;
    assert_eq!(last["lastLocation"]["dateTime"], "2026-01-01T00:00:07Z");
    let shown = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}")).await;
    assert_eq!(
        (&shown["device"]["protocol"], &shown["device"]["status"]),
        (&json!("gt06"), &json!("online"))
    );

    let messages = on.app.get(&on.tenant.owner, &format!("/api/rawMessages?device={device}&limit=2")).await;
    let newest = &messages["rawMessages"][0];
    let hex = hex(&location(7, 4));
    assert_eq!((&newest["hex"], &newest["text"]), (&json!(hex), &json!(null)));
    assert_eq!((&newest["source"], &newest["result"]), (&json!("gt06"), &json!("decoded")));
    assert_eq!((&newest["deviceId"], &newest["identifier"]), (&json!(device), &json!(IMEI)));
    assert!(messages["nextCursor"].is_string());
    let one =
        on.app.get(&on.tenant.owner, &format!("/api/rawMessages/{}", newest["id"].as_str().unwrap())).await;
    assert_eq!(one["hex"], newest["hex"]);
    assert_eq!(tracker.finish().await, b"");
    on.listeners.stop().await;
}

async fn nothing_is_acknowledged_while_the_store_is_stopped(engine: Engine) {
    let on = Hearing::new(engine).await;
    on.device().await;
    let mut tracker = on.log_in().await;
    on.app.store.close().await;
    tracker.send(&location(5, 2)).await;
    assert_eq!(tracker.rest().await, b"", "closed without an answer, so that the tracker sends again");
    on.listeners.stop().await;
}

async fn messages_sent_three_times_in_any_order_are_stored_once(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut order: Vec<u8> = (0..60).chain(0..60).chain(0..60).collect();
    order.shuffle(&mut rand::rng());
    for part in order.chunks(45) {
        let mut tracker = on.log_in().await;
        for seconds in part {
            let serial = u16::from(*seconds);
            tracker.ask(&location(*seconds, serial), &frame(0x12, &[], serial)).await;
        }
    }
    let times: Vec<Value> = on.locations(&device).await.iter().map(|one| one["dateTime"].clone()).collect();
    let expect: Vec<Value> = (0..60)
        .map(|seconds| json!(Timestamp::from_millis(1_767_225_600_000 + seconds * 1000).to_string()))
        .collect();
    assert_eq!(times, expect);
    let duplicates = on.app.get(&on.tenant.owner, "/api/rawMessages?result=duplicate&limit=1000").await;
    assert_eq!(duplicates["rawMessages"].as_array().unwrap().len(), 120);
    on.listeners.stop().await;
}

async fn rubbish_and_split_frames_do_no_harm(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    for rubbish in
        [vec![0; 100_000], vec![0x78; 50_000], b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![0x79, 0x79, 0xff]]
    {
        let mut tracker = on.connect("gt06").await;
        tracker.send(&rubbish).await;
        assert_eq!(tracker.finish().await, b"");
    }
    // Half a login, then the end.
    let mut tracker = on.connect("gt06").await;
    tracker.send(&login(IMEI, 1)[..7]).await;
    assert_eq!(tracker.finish().await, b"");
    // Rubbish before a login, and a location byte by byte.
    let mut tracker = on.connect("gt06").await;
    tracker.send(b"\r\nhello\r\n").await;
    tracker.ask(&login(IMEI, 1), &frame(0x01, &[], 1)).await;
    for byte in location(5, 2) {
        tracker.send(&[byte]).await;
    }
    assert_eq!(tracker.receive(10).await, frame(0x12, &[], 2));
    assert_eq!(on.locations(&device).await.len(), 1);
    on.listeners.stop().await;
}

async fn strangers_get_no_answer_and_are_claimed(engine: Engine) {
    let on = Hearing::new(engine).await;
    let owner = &on.tenant.owner;
    let mut tracker = on.connect("gt06").await;
    tracker.send(&[login(IMEI, 1), location(5, 2)].concat()).await;
    assert_eq!(tracker.finish().await, b"");
    on.app.app.ingest.strangers.save().await.unwrap();
    let heard = on.app.get(owner, "/api/heardDevices").await;
    let one = &heard["heardDevices"][0];
    assert_eq!(
        (&one["identifier"], &one["source"], &one["messages"]),
        (&json!(IMEI), &json!("gt06"), &json!(2))
    );
    let hex = hex(&location(5, 2));
    assert_eq!(one["lastHex"], json!(hex));

    // A device of another name gets it as a further identifier, which claims it.
    let device = on.app.device(owner, &json!({"name": "Car", "identifier": "other"})).await;
    let change = json!({"identifiers": [{"identifier": IMEI, "link": "cellular"}]});
    let changed = on.app.send(owner, &format!("PATCH /api/devices/{device}"), &change).await.expect(200);
    let expect = json!([{"identifier": IMEI, "link": "cellular", "priority": 0}]);
    assert_eq!(changed["device"]["identifiers"], expect);
    assert_eq!(on.app.app.reprocessing.replay_claimed().await.unwrap(), 2);
    assert_eq!(on.locations(&device).await.len(), 1);
    assert_eq!(on.app.get(owner, "/api/heardDevices").await["heardDevices"], json!([]));
    let mut tracker = on.log_in().await;
    tracker.ask(&location(6, 3), &frame(0x12, &[], 3)).await;
    assert_eq!(on.locations(&device).await.len(), 2);
    on.listeners.stop().await;
}

async fn strangers_are_shown_to_those_who_run_the_server(engine: Engine) {
    let on = Hearing::new(engine).await;
    let owner = &on.tenant.owner;
    let mut tracker = on.connect("gt06").await;
    tracker.send(&login(IMEI, 1)).await;
    tracker.finish().await;
    on.app.app.ingest.strangers.save().await.unwrap();
    let reader = on.app.person(&on.tenant, "reader", Traits::default()).await;
    on.app.call("GET /api/heardDevices").by(&reader).send().await.expect_error(403, "forbidden");
    let count =
        async || on.app.get(owner, "/api/heardDevices").await["heardDevices"].as_array().unwrap().len();
    assert_eq!(count().await, 1, "there is nobody else whose it could be");
    on.app.tenant("second", 10).await;
    assert_eq!(count().await, 0, "it could be of the other account");
    perigee_core::store::Users::set_operator(&on.app.store, owner.id, true).await.unwrap();
    let session = on.app.sign_in(owner).await;
    let heard = on.app.call("GET /api/heardDevices").cookie(&session).send().await.expect(200);
    assert_eq!(heard["heardDevices"].as_array().unwrap().len(), 1);
    on.listeners.stop().await;
}

async fn an_answer_by_udp_is_never_longer_than_the_question(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(on.addresses["gt06"].1.unwrap()).await.unwrap();
    let mut buffer = [0; 100];
    socket.send(&login("111111111111111", 9)).await.unwrap();
    socket.send(&login(IMEI, 1)).await.unwrap();
    let count = timeout(PATIENCE, socket.recv(&mut buffer)).await.unwrap().unwrap();
    assert_eq!(buffer[..count], frame(0x01, &[], 1), "the other is unknown");
    // The answer to a request for the time has 16 bytes, the request 10.
    socket.send(&frame(0x8a, &[], 2)).await.unwrap();
    socket.send(&location(5, 3)).await.unwrap();
    let count = timeout(PATIENCE, socket.recv(&mut buffer)).await.unwrap().unwrap();
    assert_eq!(buffer[..count], frame(0x12, &[], 3));
    assert_eq!(on.locations(&device).await.len(), 1);
    on.listeners.stop().await;
    assert!(socket.try_recv(&mut buffer).is_err(), "everything is answered by now");
}

async fn a_flood_of_its_address_does_not_silence_a_known_tracker(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let (known, stranger) =
        (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    for socket in [&known, &stranger] {
        socket.connect(on.addresses["gt06"].1.unwrap()).await.unwrap();
    }
    let mut buffer = [0; 100];
    let ask = async |bytes: Vec<u8>, buffer: &mut [u8; 100]| {
        known.send(&bytes).await.unwrap();
        timeout(PATIENCE, known.recv(buffer)).await.unwrap().unwrap()
    };
    ask(login(IMEI, 1), &mut buffer).await;
    // The clock stands still, so that the address has no datagram left.
    let ingest = &on.app.app.ingest;
    while ingest.admission.admits_datagram("127.0.0.1".parse().unwrap()) {}
    stranger.send(&[login(IMEI, 2), location(6, 3)].concat()).await.unwrap();
    let count = ask(location(5, 4), &mut buffer).await;
    assert_eq!(buffer[..count], frame(0x12, &[], 4));
    assert_eq!(on.locations(&device).await.len(), 1, "a new port that names the device is not believed");
    let id = device.parse().unwrap();
    let left = (0..2_000).take_while(|_| ingest.admission.admits_datagram_of(id)).count();
    assert_eq!(left, 1_997, "the login once, the location before it was decoded and when it was stored");
    on.listeners.stop().await;
}

async fn the_protocol_is_detected_by_the_first_bytes(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.connect("any").await;
    let login = login(IMEI, 1);
    tracker.send(&login[..1]).await;
    tracker.ask(&login[1..], &frame(0x01, &[], 1)).await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    // Another tracker of the same device speaks H02.
    let mut other = on.connect("any").await;
    other
        .send(
            format!("*HQ,{IMEI},V1,000006,A,2230.0000,N,11400.0000,E,000.00,000,010126,FFFFFBFF#").as_bytes(),
        )
        .await;
    assert!(other.finish().await.starts_with(b"*HQ,"));
    assert_eq!(on.locations(&device).await.len(), 2);
    let mut stranger = on.connect("any").await;
    stranger.send(b"\x00\x01\x02 no tracker says this").await;
    assert_eq!(stranger.rest().await, b"");
    on.listeners.stop().await;
}

async fn an_expired_device_is_answered_and_stores_nothing(engine: Engine) {
    let on = Hearing::new(engine).await;
    let limits = json!({"expires": true, "expirationDate": "2025-12-01"});
    let body = json!({"name": "Car", "identifier": IMEI, "limits": limits});
    let device = on.app.device(&on.tenant.owner, &body).await;
    let mut tracker = on.log_in().await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    assert_eq!(on.locations(&device).await.len(), 0);
    assert_eq!(on.raw_results().await, ["expiredDevice", "expiredDevice"]);
    let shown = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}")).await;
    assert!(shown["device"]["lastSeen"].is_string(), "its owner sees that it is alive");
    on.listeners.stop().await;
}

async fn connections_of_one_address_are_limited(engine: Engine) {
    let on = Hearing::with(engine, |config| config.max_connections_per_address = 2).await;
    on.device().await;
    let (mut first, mut second) = (on.log_in().await, on.log_in().await);
    let refused = on.connect("gt06").await;
    assert_eq!(refused.rest().await, b"");
    for tracker in [&mut first, &mut second] {
        tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    }
    on.listeners.stop().await;
}

/// Connections that name no known device give way to those of other networks.
async fn a_few_networks_cannot_hold_all_connections(engine: Engine) {
    let on = Hearing::with(engine, |config| config.max_connections = 4).await;
    on.device().await;
    let silent = [on.connect("gt06").await, on.connect("gt06").await];
    let [first, second] = silent;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.9.9.9:0".parse().unwrap()).unwrap();
    let mut tracker = Tracker(socket.connect(on.addresses["gt06"].0.unwrap()).await.unwrap());
    tracker.ask(&login(IMEI, 1), &frame(0x01, &[], 1)).await;
    assert_eq!(first.rest().await, b"", "the oldest of the largest network is closed");
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    drop(second);
    on.listeners.stop().await;
}

async fn a_device_has_a_few_connections(engine: Engine) {
    let on = Hearing::new(engine).await;
    on.device().await;
    let oldest = on.log_in().await;
    let mut newer = Vec::new();
    for _ in 0..8 {
        newer.push(on.log_in().await);
    }
    assert_eq!(oldest.rest().await, b"", "closed");
    newer[0].ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    on.listeners.stop().await;
}

async fn a_long_frame_before_a_login_ends_the_connection(engine: Engine) {
    let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let on = Hearing::with(engine, |config| {
        config.listen = [("any".to_owned(), any_port)].into();
    })
    .await;
    let mut stranger = on.connect("any").await;
    stranger.send(b"#L#2.0;").await;
    // The server may close before all of it was sent.
    let _sent = stranger.0.write_all(&[b'x'; 16 * 1024]).await;
    let mut bytes = Vec::new();
    let _reset =
        timeout(PATIENCE / 2, stranger.0.read_to_end(&mut bytes)).await.expect("the connection ends");
    assert_eq!(bytes, b"");
    on.listeners.stop().await;
}

async fn alarms_become_alerts(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    // A status message without a position: terminal information with the alarm bits of an SOS, voltage, signal, alarm.
    let status = frame(0x13, &[0x24, 0x04, 0x04, 0x01, 0x02], 2);
    tracker.ask(&status, &frame(0x13, &[], 2)).await;
    let alerts = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}/alerts")).await;
    let names: Vec<&Value> =
        alerts["alerts"].as_array().unwrap().iter().map(|alert| &alert["alertName"]).collect();
    assert_eq!(names, [&json!("SOSButton")]);
    assert_eq!(alerts["alerts"][0]["critical"], true);
    on.listeners.stop().await;
}

async fn damaged_frames_are_not_answered(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    let mut damaged = location(5, 2);
    damaged[10] ^= 1;
    tracker.send(&damaged).await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    assert_eq!(tracker.finish().await, b"");
    assert_eq!(on.locations(&device).await.len(), 1);
    assert_eq!(on.raw_results().await, ["decoded", "unparsable", "decoded"]);
    on.listeners.stop().await;
}

/// A login whose checksum is wrong.
fn damaged_login(imei: &str) -> Vec<u8> {
    let mut frame = login(imei, 1);
    let at = frame.len() - 3;
    frame[at] ^= 1;
    frame
}

async fn a_damaged_first_frame_is_kept_with_its_reason(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    for imei in [IMEI, "111111111111111"] {
        let mut tracker = on.connect("gt06").await;
        tracker.send(&damaged_login(imei)).await;
        assert_eq!(tracker.finish().await, b"", "not answered: it is sent again");
    }
    let list = on.app.get(&on.tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!((&list[0]["deviceId"], &list[0]["result"]), (&json!(device), &json!("unparsable")));
    assert!(list[0]["error"].as_str().unwrap().contains("checksum"), "{list}");
    // That of the stranger is where frames of strangers are, under the address that it came from.
    on.app.app.ingest.strangers.save().await.unwrap();
    let heard = on.app.get(&on.tenant.owner, "/api/heardDevices").await["heardDevices"].clone();
    assert_eq!(heard.as_array().unwrap().len(), 1, "{heard}");
    assert_eq!(heard[0]["identifier"], " 127.0.0.1: the checksum is wrong");
    let claim = json!({"name": "x", "identifier": heard[0]["identifier"]});
    let claimed = on.app.send(&on.tenant.owner, "POST /api/devices", &claim).await;
    claimed.expect_error(400, "invalid-body");
    on.listeners.stop().await;
}

async fn a_position_that_is_not_on_earth_has_its_reason(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    // 95 degrees north.
    let content = [
        &[26, 1, 1, 0, 0, 5, 0xc9][..],
        &171_000_000_u32.to_be_bytes(),
        &205_200_000_u32.to_be_bytes(),
        &[60],
        &0x1432_u16.to_be_bytes(),
        &[0x01, 0xcc, 0x00, 0x26, 0x2b, 0x00, 0x0f, 0x17],
    ];
    tracker.ask(&frame(0x12, &content.concat(), 2), &frame(0x12, &[], 2)).await;
    assert_eq!(on.locations(&device).await.len(), 0);
    let list = on.app.get(&on.tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    assert_eq!((&list[0]["deviceId"], &list[0]["result"]), (&json!(device), &json!("unparsable")));
    assert!(list[0]["error"].as_str().unwrap().contains("a position is invalid"), "{list}");
    on.listeners.stop().await;
}

async fn the_first_message_of_a_device_made_again_is_stored(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    on.app.call(&format!("DELETE /api/devices/{device}")).by(&on.tenant.owner).send().await.expect(200);
    let again = on.device().await;
    tracker.ask(&location(6, 3), &frame(0x12, &[], 3)).await;
    assert_eq!(on.locations(&again).await.len(), 1);
    // Deleted for good: its frames are where those of strangers are.
    on.app.call(&format!("DELETE /api/devices/{again}")).by(&on.tenant.owner).send().await.expect(200);
    tracker.send(&location(7, 4)).await;
    assert_eq!(tracker.finish().await, b"");
    on.app.app.ingest.strangers.save().await.unwrap();
    let heard = on.app.get(&on.tenant.owner, "/api/heardDevices").await["heardDevices"].clone();
    assert_eq!(heard[0]["identifier"], IMEI, "{heard}");
    on.listeners.stop().await;
}

async fn the_last_binary_frame_of_h02_is_stored(engine: Engine) {
    let on = Hearing::with(engine, |_| {}).await;
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Car", "identifier": "2705171109"})).await;
    // 22.5 N 113.9 E; the day is that of the number.
    let binary = |day: u8| {
        let mut frame = vec![0x24, 0x27, 0x05, 0x17, 0x11, 0x09, 0x12, 0, 0, day, 0x12, 0x25];
        frame.extend_from_slice(&[0x22, 0x30, 0, 0, 0, 0x11, 0x35, 0x40, 0, 0x0e, 0, 0, 0]);
        frame.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0]);
        frame
    };
    let mut tracker = on.connect("any").await;
    tracker.send(&binary(1)).await;
    // Stored while the connection is open and nothing follows.
    let stored = async || on.locations(&device).await.len();
    let waited = timeout(PATIENCE, async {
        while stored().await < 1 {
            tokio::task::yield_now().await;
        }
    });
    waited.await.expect("it is stored without a successor");
    tracker.send(&[binary(2), binary(3)].concat()).await;
    assert_eq!(tracker.finish().await, b"");
    assert_eq!(stored().await, 3, "the last one too");
    on.listeners.stop().await;
}
