//! Every feed with a route: what is stored, the exact reply, wrong secrets, a stopped store, repetitions.

use perigee_core::time::{Clock as _, Timestamp};
use perigee_gateways::{Delivery, FEEDS};
use rand::seq::SliceRandom as _;
use serde_json::{Value, json};

use super::compare::{core_difference, is_same_value};
use super::request::{GatewayServer, Reply};
use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    every_message_is_stored_once_and_answered_exactly,
    nothing_is_acknowledged_while_the_store_is_stopped,
    wrong_secrets_are_refused,
    signatures_of_ground_control_are_checked,
);

/// Ground Control's published key, and a token that it signed at this instant, in Unix seconds.
const KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlaWAVJfNWC4XfnRx96p9cztBcdQV6l8aKmzAlZdpEcQR6MSPzlgv\
    ihaUHNJgKm8t5ShR3jcDXIOI7er30cIN4/9aVFMe0LWZClUGgCSLc3rrMD4FzgOJ4ibD8scVyER/sirRzf5/dswJedEiMte1\
    ElMQy2M6IWBACry9u12kIqG0HrhaQOzc6Tr8pHUWTKft3xwGpxCkV+K1N+9HCKFccbwb8okRP6FFAMm5sBbw4yAu39IVvcSL\
    43Tucaa79FzOmfGs5mMvQfvO1ua7cOLKfAwkhxEjirC0/RYX7Wio5yL6jmykAHJqFG2HT0uyjjrQWMtoGgwv9cIcI7xbsDX6\
    owIDAQAB";
const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJSb2NrIDciLCJpYXQiOjE2Nzg3ODUzMDgsImFsdCI6IjAiLCJhdCI6IjIwMjMtMDM\
    tMTRUMDk6MTA6MDFaIiwiYXZlcmFnZUNvZyI6IjMyOCIsImF2ZXJhZ2VTb2ciOiIwLjAiLCJiYXR0ZXJ5IjoiOTgiLCJjb2c\
    iOiIzMjgiLCJkZXZpY2VfdHlwZSI6IkdSSUZGSU4iLCJpZCI6ImVKd2d6ZHBYVnhOUm5vcHJaZXdiV01EbFFHTFB2QWJrIiw\
    iaW1laSI6IjMwMDQzNDA2MjkyOTU0MCIsImxhdCI6IjUxLjQ5NTQwIiwibG9uIjoiLTMuMTcwNDAiLCJtb21zbiI6IjcwMTU\
    0ODcxIiwicG93ZXIiOiJ0cnVlIiwic2VyaWFsIjoiMTAwMDE1Iiwic29nIjoiMC4wIiwic291cmNlIjoiR1BTIiwidGVtcCI\
    6IjAuMCIsInRyYW5zbWl0X3RpbWUiOiIyMDIzLTAzLTE0VDA5OjE1OjA0WiIsInRyYW5zcG9ydCI6IkdQUlMiLCJ0cmlnZ2V\
    yIjoiQlVSU1QiLCJ0eEF0IjoiMjAyMy0wMy0xNFQwOToxNTowNFoifQ.g4AMhUDwaK-WKaaITOKMtIu8lVtsEBfJ-00ytW-c\
    0jyGUFxNW0259Dj9JcR34NaIai-ysSTVzqXBdROsZAiZS0oTSRum9l56JwZQTE0-Zx5yUUO8AOsUqXPjsSg2lSgsnSMTiQHX\
    OzhydL9GIkmiEVdwANeaB24AuP45__zUwjhwniUfi-Z2RTG8J22GqnQ9Q_w9Z861A0Bos7LmJEymbmcLOiDDdzfYxvVWE6GS\
    m2y8ypBZEqhI0byNphZ5adIFM19iyqng4MVpQe0Uh9Jc49RR_IAjte3AMS4Y82lO76sM90Tu3-3Jwhj3Iq_NGpfd4735Bl-b\
    5FR5oePP40mV3Q";
const ISSUED_S: i64 = 1_678_785_308;

/// Recordings of feeds that have a route.
const RECORDED: [&str; 7] = ["osmand", "owntracks", "globalstar", "spot", "sigfox", "flespi", "ttn"];

/// Intended differences from the recordings; the reasons are in `fixtures/DIFFERENCES.md` of `crates/gateways`.
const DIFFERENCES: [(&str, usize, &str); 1] = [("ttn", 2, "altitude")];

fn rows() -> Vec<(usize, Value)> {
    let recorded = RECORDED.iter().flat_map(|feed| {
        let path = format!("{}/../gateways/tests/fixtures/{feed}.jsonl", env!("CARGO_MANIFEST_DIR"));
        parse(&std::fs::read_to_string(path).unwrap())
    });
    recorded.chain(parse(include_str!("vectors.jsonl"))).collect()
}

fn parse(text: &str) -> Vec<(usize, Value)> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).enumerate().collect()
}

/// A request with the account that it is sent to.
struct Case {
    index: usize,
    row: Value,
    tenant: Tenant,
    devices: Vec<String>,
    path: String,
}

impl Case {
    async fn new(app: &TestApp, number: usize, (index, row): (usize, Value)) -> Self {
        let tenant = app.tenant(&format!("account-{number}"), 10).await;
        let mut names: Vec<&str> =
            row["identifiers"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        let mut devices = Vec::new();
        for name in names {
            let device = json!({"name": name, "identifier": name, "model": row["model"]});
            devices.push(app.device(&tenant.owner, &device).await);
        }
        let options = if row["options"].is_object() { row["options"].clone() } else { json!({}) };
        let gateway = json!({"feed": row["protocol"], "options": options});
        let made = app.send(&tenant.owner, "POST /api/gateways", &gateway).await.expect(201);
        let path = made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned();
        Self { index, row, tenant, devices, path }
    }

    fn feed(&self) -> &str {
        self.row["protocol"].as_str().unwrap()
    }

    /// The exact answer that the provider or the app expects.
    fn check_reply(&self, reply: &Reply) {
        let body = self.row["body"].as_str().unwrap_or_default();
        let name = format!("{} {}", self.feed(), self.index);
        assert_eq!(reply.status, 200, "{name}: {reply:?}");
        let expect = match self.feed() {
            "owntracks" => "[]",
            "overland" => "{\"result\":\"ok\"}",
            "globalstar" if body.starts_with('{') => "{\"status\":\"ok\"}",
            "globalstar" => {
                let attribute = |name: &str| body.split(&format!("{name}=\"")).nth(1)?.split('"').next();
                let id = attribute("messageID").or_else(|| attribute("prvMessageID")).unwrap();
                let (tag, schema, state) = if body.contains("<prv") {
                    ("prvResponseMsg", "ProvisionResponse_Rev1_0.xsd", "PASS")
                } else {
                    ("stuResponseMsg", "StuResponse_Rev1_0.xsd", "pass")
                };
                let own = reply.body.split(" messageID=\"").nth(1).unwrap().split('"').next().unwrap();
                assert!(own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{own}");
                let expect = format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><{tag} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
                     xsi:noNamespaceSchemaLocation=\"http://cody.glpconnect.com/XSD/{schema}\" \
                     deliveryTimeStamp=\"01/01/2026 00:00:00 GMT\" messageID=\"{own}\" correlationID=\"{id}\">\
                     <state>{state}</state><stateMessage>Store OK</stateMessage></{tag}>"
                );
                assert_eq!((reply.content_type.as_str(), &reply.body), ("text/xml", &expect), "{name}");
                return;
            }
            _ => "",
        };
        assert_eq!(reply.body, expect, "{name}");
    }

    async fn check_stored(&self, app: &TestApp) {
        let name = format!("{} {}", self.feed(), self.index);
        let owner = &self.tenant.owner;
        let (mut locations, mut alerts) = (Vec::new(), Vec::new());
        for device in &self.devices {
            let list = app.get(owner, &format!("/api/devices/{device}/locations")).await;
            locations.extend(list["locations"].as_array().unwrap().clone());
            let list = app.get(owner, &format!("/api/devices/{device}/alerts")).await;
            alerts.extend(list["alerts"].as_array().unwrap().clone());
        }
        let wanted: Vec<&Value> = self.row["reports"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|report| report["located"] == true)
            .collect();
        assert_eq!(locations.len(), wanted.len(), "{name}: {locations:?}");
        for want in wanted {
            let differences = |got: &Value| {
                let mut got = got.clone();
                got["located"] = json!(true);
                let core = core_difference(want, &got).map(str::to_owned);
                let values = want["values"].as_object().into_iter().flatten();
                let other = values
                    .filter(|(name, value)| !is_same_value(name, value, &got))
                    .map(|(name, _)| name.clone());
                let accuracy =
                    want["accuracy"].as_f64().filter(|want| got["accuracy"].as_f64() != Some(*want));
                core.into_iter()
                    .chain(other)
                    .chain(accuracy.map(|_| "accuracy".to_owned()))
                    .collect::<Vec<_>>()
            };
            let is_meant = |found: &[String]| {
                let meant = |what: &String| DIFFERENCES.contains(&(self.feed(), self.index, what.as_str()));
                found.iter().all(meant)
            };
            let best = locations.iter().map(differences).min_by_key(Vec::len).unwrap();
            assert!(is_meant(&best), "{name}: {best:?} of {want} in {locations:?}");
        }
        let names: Vec<&str> = alerts.iter().map(|alert| alert["alertName"].as_str().unwrap()).collect();
        if let Some(expect) = self.row["alerts"].as_array() {
            let expect: Vec<&str> = expect.iter().map(|name| name.as_str().unwrap()).collect();
            assert_eq!(names, expect, "{name}");
        }
        let messages = app.get(owner, "/api/rawMessages").await["rawMessages"].as_array().unwrap().clone();
        assert_eq!(messages.len(), 3, "{name}: each delivery is kept as it came");
        let results: Vec<&str> = messages.iter().map(|message| message["result"].as_str().unwrap()).collect();
        assert!(
            results.iter().all(|result| ["decoded", "duplicate", "test"].contains(result)),
            "{name}: {results:?}"
        );
        assert!(messages.iter().all(|message| message["source"] == self.row["protocol"]), "{name}");
    }
}

async fn every_message_is_stored_once_and_answered_exactly(engine: Engine) {
    let server = GatewayServer::open(TestApp::new(engine).await).await;
    let rows = rows();
    for feed in FEEDS.iter().filter(|feed| feed.delivery == Delivery::Push) {
        let has_row = rows.iter().any(|(_, row)| row["protocol"] == feed.name);
        assert!(has_row, "there is no message of {}", feed.name);
    }
    let mut cases = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        cases.push(Case::new(&server.app, number, row).await);
    }
    // Networks deliver again and out of order.
    let mut deliveries: Vec<&Case> = cases.iter().chain(&cases).chain(&cases).collect();
    deliveries.shuffle(&mut rand::rng());
    for case in deliveries {
        case.check_reply(&server.send(&case.path, &case.row, &case.row["headers"]).await);
    }
    for case in &cases {
        case.check_stored(&server.app).await;
    }
}

async fn nothing_is_acknowledged_while_the_store_is_stopped(engine: Engine) {
    let server = GatewayServer::open(TestApp::new(engine).await).await;
    let mut cases: Vec<Case> = Vec::new();
    for (number, row) in rows().into_iter().enumerate() {
        if cases.iter().all(|case| row.1["protocol"] != case.feed()) {
            cases.push(Case::new(&server.app, number, row).await);
        }
    }
    server.app.store.close().await;
    for case in &cases {
        let reply = server.send(&case.path, &case.row, &case.row["headers"]).await;
        let is_refused = reply.status == 503 || reply.body.contains("<state>fail</state>");
        assert!(is_refused, "{}: {reply:?}", case.feed());
    }
}

async fn wrong_secrets_are_refused(engine: Engine) {
    let server = GatewayServer::open(TestApp::new(engine).await).await;
    let mut signed = 0;
    for (number, row) in rows().into_iter().enumerate() {
        let case = Case::new(&server.app, number, row).await;
        let (start, secret) = case.path.rsplit_once('/').unwrap();
        let other: String = secret.chars().rev().collect();
        let reply = server.send(&format!("{start}/{other}"), &case.row, &case.row["headers"]).await;
        assert_eq!(reply.status, 404, "{}", case.feed());
        if case.row["wrong"].is_object() {
            signed += 1;
            // Who can send a user and a password is requested them.
            let expect = if case.row["options"]["user"].is_string() { 401 } else { 403 };
            for headers in [&case.row["wrong"], &json!({})] {
                let reply = server.send(&case.path, &case.row, headers).await;
                assert_eq!(reply.status, expect, "{}: {}", case.feed(), reply.body);
            }
        }
        let messages = server.app.get(&case.tenant.owner, "/api/rawMessages").await;
        assert_eq!(messages["rawMessages"], json!([]), "{}", case.feed());
    }
    assert_eq!(signed, 3);
}

async fn signatures_of_ground_control_are_checked(engine: Engine) {
    let server = GatewayServer::open(TestApp::new(engine).await).await;
    let start = server.app.clock().now();
    let row = json!({"protocol": "rockblock", "method": "POST", "uri": "/", "identifiers": ["300434062929540"], "model": null,
        "headers": {"Content-Type": "application/json"}, "options": {"key": KEY},
        "body": json!({"JWT": TOKEN, "imei": "999", "lat": "1", "lon": "2"}).to_string()});
    let case = Case::new(&server.app, 0, (0, row.clone())).await;
    let send = async |body: Value| {
        let changed = json!({"method": "POST", "uri": "/", "body": body.to_string()});
        server.send(&case.path, &changed, &row["headers"]).await.status
    };
    server.app.clock().set(Timestamp::from_millis((ISSUED_S + 60) * 1000));
    let (head, signature) = TOKEN.rsplit_once('.').unwrap();
    let forged = format!("{head}.{}", signature.chars().rev().collect::<String>());
    assert_eq!(send(json!({"JWT": forged, "imei": "300434062929540", "lat": "1", "lon": "2"})).await, 403);
    assert_eq!(send(json!({"imei": "300434062929540", "lat": "1", "lon": "2"})).await, 403);
    for _ in 0..3 {
        assert_eq!(send(json!({"JWT": TOKEN, "imei": "999", "lat": "1", "lon": "2"})).await, 200);
    }
    server.app.clock().set(Timestamp::from_millis((ISSUED_S + 15 * 3_600) * 1000));
    assert_eq!(send(json!({"JWT": TOKEN})).await, 403, "too old");
    server.app.clock().set(start);
    let path = format!("/api/devices/{}/locations", case.devices[0]);
    let stored = server.app.get(&case.tenant.owner, &path).await["locations"].clone();
    assert_eq!(stored.as_array().unwrap().len(), 1, "{stored}");
    let position = (&stored[0]["latitude"], &stored[0]["longitude"], &stored[0]["dateTime"]);
    assert_eq!(
        position,
        (&json!(51.4954), &json!(-3.1704), &json!("2023-03-14T09:10:01Z")),
        "the claims count"
    );
}
