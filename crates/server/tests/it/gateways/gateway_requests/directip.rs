//! Iridium's `DirectIP` over real connections to a configured listener.

use std::net::SocketAddr;
use std::time::Duration;

use perigee_server::config::GatewaysSection;
use perigee_server::listen::{GatewayListeners, RunningListeners};
use rand::seq::SliceRandom as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::compare::core_difference;
use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    messages_are_confirmed_once_they_are_stored,
    nothing_is_confirmed_while_the_store_is_stopped,
    other_addresses_are_rejected,
);

/// The confirmation of a message that is stored.
const CONFIRMATION: [u8; 7] = [1, 0, 4, 5, 0, 1, 1];
/// How long an answer may take on a busy machine.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);

struct DirectIpServer {
    app: TestApp,
    tenant: Tenant,
    address: SocketAddr,
    any: SocketAddr,
    _listeners: RunningListeners,
}

impl DirectIpServer {
    async fn new(engine: Engine, change: impl FnOnce(&mut GatewaysSection)) -> Self {
        let app = TestApp::with(engine, |config| {
            let confirm = json!({"confirm": true}).as_object().unwrap().clone();
            config.gateways.options = [("iridium".to_owned(), confirm)].into();
        })
        .await;
        let tenant = app.tenant("acme", 10).await;
        let mut config = app.app.config.gateways.clone();
        let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
        config.listen = ["iridium", "any"].into_iter().map(|name| (name.to_owned(), any_port)).collect();
        config.allow = [("iridium".to_owned(), vec!["127.0.0.0/8".to_owned()])].into();
        change(&mut config);
        let bound = GatewayListeners::bind(&config).await.unwrap();
        let address = |name| bound.addresses(name).0.unwrap();
        let (address, any) = (address("iridium"), address("any"));
        let listeners = bound.start(&app.app.ingest, None);
        Self { app, tenant, address, any, _listeners: listeners }
    }

    /// Sends a message on a connection of its own, as the gateway does, and gives what is answered until the end.
    async fn deliver(&self, address: SocketAddr, message: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may close the connection of an address that is not allowed before everything is written.
        if stream.write_all(message).await.is_ok() {
            let _ = stream.shutdown().await;
        }
        let mut answer = Vec::new();
        let _ = timeout(ANSWER_WITHIN, stream.read_to_end(&mut answer)).await.expect("the end");
        answer
    }

    async fn locations(&self, device: &str) -> Vec<Value> {
        let list = self.app.get(&self.tenant.owner, &format!("/api/devices/{device}/locations")).await;
        list["locations"].as_array().unwrap().clone()
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn rows() -> Vec<Value> {
    let path = format!("{}/../gateways/tests/fixtures/iridium.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A message with a payload far longer than SBD allows, as IMT modems send.
fn long_message(imei: &str, length: usize) -> Vec<u8> {
    let mut elements = vec![1, 0, 28, 0, 0, 0, 9];
    elements.extend(imei.bytes());
    elements.extend([0, 0, 7, 0, 0]);
    elements.extend(1_767_225_000_u32.to_be_bytes());
    elements.extend([3, 0, 11, 0, 54, 0xa2, 0xb8, 25, 0x3d, 0x12, 0, 0, 0, 3, 2]);
    elements.extend(u16::try_from(length).unwrap().to_be_bytes());
    elements.extend(std::iter::repeat_n(b'x', length));
    let mut message = vec![1];
    message.extend(u16::try_from(elements.len()).unwrap().to_be_bytes());
    message.extend(elements);
    message
}

async fn messages_are_confirmed_once_they_are_stored(engine: Engine) {
    let hearing = DirectIpServer::new(engine, |_| {}).await;
    let rows = rows();
    let mut devices = Vec::new();
    for row in &rows {
        let device = json!({"name": "modem", "identifier": row["identifiers"][0], "model": row["model"]});
        devices.push(hearing.app.device(&hearing.tenant.owner, &device).await);
    }
    let mut deliveries: Vec<&Value> = rows.iter().chain(&rows).chain(&rows).collect();
    deliveries.shuffle(&mut rand::rng());
    for (number, row) in deliveries.into_iter().enumerate() {
        let address = if number % 2 == 0 { hearing.address } else { hearing.any };
        let answer = hearing.deliver(address, &bytes(row["hex"].as_str().unwrap())).await;
        assert_eq!(answer, CONFIRMATION, "{}", row["identifiers"][0]);
    }
    for (row, device) in rows.iter().zip(&devices) {
        let stored = hearing.locations(device).await;
        let wanted: Vec<&Value> =
            row["reports"].as_array().unwrap().iter().filter(|report| report["located"] == true).collect();
        assert_eq!(stored.len(), wanted.len(), "{stored:?}");
        for (want, got) in wanted.into_iter().zip(stored) {
            let mut got = got.clone();
            got["located"] = json!(true);
            assert_eq!(core_difference(want, &got), None, "{want} {got}");
        }
    }
    let imei = "300234063904999";
    let device = hearing.app.device(&hearing.tenant.owner, &json!({"name": "IMT", "identifier": imei})).await;
    for length in [1, 1_960, 60_000, 65_480] {
        let message = long_message(imei, length);
        assert_eq!(hearing.deliver(hearing.address, &message).await, CONFIRMATION, "{length}");
        let path = format!("/api/rawMessages?limit=1&device={device}");
        let raw = hearing.app.get(&hearing.tenant.owner, &path).await;
        assert_eq!(raw["rawMessages"][0]["size"], message.len(), "kept in full");
    }
    let stored = hearing.locations(&device).await;
    assert!(stored.iter().all(|each| each["source"] == "network" && each["accuracy"] == 3000), "{stored:?}");
}

async fn nothing_is_confirmed_while_the_store_is_stopped(engine: Engine) {
    let hearing = DirectIpServer::new(engine, |_| {}).await;
    let row = rows().swap_remove(2);
    let message = bytes(row["hex"].as_str().unwrap());
    let device = json!({"name": "modem", "identifier": row["identifiers"][0]});
    hearing.app.device(&hearing.tenant.owner, &device).await;
    hearing.app.store.close().await;
    assert!(hearing.deliver(hearing.address, &message).await.is_empty());
}

async fn other_addresses_are_rejected(engine: Engine) {
    let hearing = DirectIpServer::new(engine, |config| {
        config.allow.insert("iridium".to_owned(), vec!["192.0.2.0/24".to_owned()]);
    })
    .await;
    let row = rows().swap_remove(2);
    let device = json!({"name": "modem", "identifier": row["identifiers"][0]});
    let device = hearing.app.device(&hearing.tenant.owner, &device).await;
    for address in [hearing.address, hearing.any] {
        let answer = hearing.deliver(address, &bytes(row["hex"].as_str().unwrap())).await;
        assert!(answer.is_empty());
    }
    assert_eq!(hearing.locations(&device).await, Vec::<Value>::new());
    let mut open = hearing.app.app.config.clone();
    open.gateways.listen.insert("iridium".to_owned(), hearing.address);
    assert!(open.validate().is_err(), "DirectIP needs a list of addresses");
    open.gateways.allow.insert("iridium".to_owned(), vec!["nonsense".to_owned()]);
    assert!(open.validate().is_err());
    open.gateways.allow.insert("iridium".to_owned(), vec!["192.0.2.1".to_owned()]);
    open.validate().unwrap();
}
