//! Mappings decode as described, and invalid ones are refused.

use serde_json::{Value as Json, json};

use super::Mapping;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedMessage, SosStep};
use crate::value::Value;

fn apply(setting: &Json, body: &Json) -> Vec<FeedMessage> {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    let decoded = Mapping::parse(setting).unwrap().apply(body, &context);
    assert_eq!(decoded.error, None);
    decoded.messages
}

#[test]
fn items_in_lists_are_read() {
    let setting = json!({
        "each": ["/payloads", "/events"], "when": {"path": "/type", "in": ["Location", "SOS"]},
        "identifiers": ["^/device/serial", "^/device/id"], "key": ["^^/requestId", "/n"],
        "sos": [{"step": "declare", "when": {"path": "/type", "equals": "SOS"}}],
        "test": {"path": "^/test", "equals": true},
        "fields": {
            "latitude": "/lat", "longitude": ["/lng", "/lon"], "time": "/t",
            "speed": {"path": "/speed", "unit": "m/s", "none": -1}, "altitude": {"path": "/alt", "unit": "ft"},
            "temp1": {"path": "/temp", "scale": 0.1, "add": -5}, "network": {"value": "x"},
        },
    });
    let body = json!({"requestId": 9, "payloads": [
        {"device": {"serial": "s", "id": 4}, "events": [
            {"type": "Location", "n": 1, "lat": "1.5", "lon": 2, "t": "2026-01-02T03:04:05Z", "speed": 10, "alt": "100", "temp": 250},
            {"type": "Other"},
        ]},
        {"device": {"id": 5}, "test": true, "events": {"type": "SOS", "n": 2, "lat": 1, "lng": 2, "speed": -1}},
    ]});
    let messages = apply(&setting, &body);
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0].identifiers, ["s", "4"]);
    assert_eq!(messages[0].key.as_deref(), Some("9/1"));
    let report = &messages[0].reports[0];
    assert_eq!(report.time.unwrap().to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(report.speed_kmh, Some(36.0));
    assert!((report.altitude_m.unwrap() - 30.48).abs() < 1e-9);
    assert_eq!(report.get("temp1"), Some(&Value::Real(20.0)));
    assert_eq!(report.get("network"), Some(&Value::text("x")));
    assert_eq!((messages[1].sos, messages[1].test), (Some(SosStep::Declare), true));
    assert_eq!(messages[1].reports[0].speed_kmh, None);
}

#[test]
fn json_in_texts_and_payloads_are_read() {
    let setting = json!({"each": [{"path": "/Data", "json": true}, "/Packets"], "identifiers": "/TerminalId",
        "fields": {"time": "/Timestamp", "payload": {"path": "/Value", "encoding": "hex"}}});
    let inner =
        json!({"Packets": [{"Timestamp": 1_700_000_000_000_i64, "TerminalId": "t", "Value": "68656c6c6f"}]});
    let messages = apply(&setting, &json!({"Data": inner.to_string()}));
    assert_eq!((messages[0].text.as_deref(), messages[0].error), (Some("hello"), None));
}

#[test]
fn a_missing_member_is_reported() {
    let setting = json!({"fields": {"latitude": "/a", "longitude": "/b"}});
    assert!(apply(&setting, &json!([{"c": 1}]))[0].error.is_some());
    let check = |setting: Json, expect: &str| {
        assert_eq!(Mapping::parse(&setting).unwrap_err().to_string(), expect);
    };
    check(json!({}), "/fields must have at least one member");
    check(
        json!({"fields": {"speed": {"path": "/a", "unit": "furlongs"}}}),
        "/fields/speed/unit must be one of km/h, m/s, knots, mph, m, km, ft, mi, 1, %",
    );
    check(
        json!({"fields": {"a": "b"}}),
        "/fields/a must be a path such as /location/lat, or ^/device/id for the item above",
    );
    check(json!({"fields": {"a": {}}}), "/fields/a/path is required unless \"value\" is given");
    check(
        json!({"fields": {"a": "/a"}, "when": {"path": "/x"}}),
        "/when/equals is required: give exactly one of \"equals\", \"notEquals\", \"in\", \"exists\", \"atLeast\" and \"atMost\"",
    );
    assert!(
        Mapping::parse(&json!({"fields": {"a": "/a"}, "identifers": "/x"}))
            .unwrap_err()
            .to_string()
            .starts_with("/identifers is not known")
    );
}

/// A large parent of many items is not copied without a limit.
#[test]
fn a_small_body_makes_no_large_messages() {
    let options = Options::default();
    let large: serde_json::Map<String, Json> =
        (0..1_000).map(|number| (format!("reading{number}"), json!("x".repeat(20)))).collect();
    let items: Vec<Json> = (0..10_000).map(|number| json!(number)).collect();
    let body = json!({"b": large, "text": "y".repeat(20_000), "items": items});
    let length = body.to_string().len();
    for (setting, most) in [
        (json!({"each": ["/items"], "rest": ["^/b"]}), 200),
        (json!({"each": ["/items"], "identifiers": ["^/text"], "fields": {"a": "/a"}}), 1_000),
        (json!({"each": ["/items"], "fields": {"a": "^/text"}}), 1_000),
        (json!({"each": ["/items"], "text": "^/text", "fields": {"a": "/a"}}), 1_000),
    ] {
        let budget = DecodeBudget::for_body(length);
        let context =
            FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
        let decoded = Mapping::parse(&setting).unwrap().apply(&body, &context);
        assert_eq!(decoded.error, Some(crate::DecodeError::TooLarge), "{setting}");
        assert!(decoded.messages.len() < most, "{setting} gives {} messages", decoded.messages.len());
        assert!(!decoded.messages.is_empty(), "{setting}: what was decoded before is kept");
    }
}

#[test]
fn numbers_and_texts_are_compared_without_copies() {
    let body = json!({"n": 5, "t": " 5 ", "null": "null", "list": [1]});
    let holds = |path: &str, wanted: Json| {
        let setting = json!({"when": {"path": path, "equals": wanted}, "fields": {"a": {"value": 1}}});
        !apply(&setting, &body).is_empty()
    };
    assert!(
        holds("/n", json!(5)) && holds("/n", json!("5")) && holds("/t", json!(5)) && holds("/t", json!("5"))
    );
    assert!(holds("/null", json!("null")) && holds("/list", json!([1])));
    assert!(!holds("/n", json!(6)) && !holds("/t", json!("6")) && !holds("/x", json!(5)));
}
