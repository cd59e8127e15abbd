//! Messages in the shape that the documentation describes.

use perigee_core::locations::location::FixSource;
use serde_json::{Value as Json, json};

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedMessage, FeedRequest};
use crate::value::Value;

fn decode(body: &Json, settings: &Json) -> FeedMessage {
    let options = Options::new(settings.as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (FEED.decode)(&FeedRequest::of_body(body.to_string().as_bytes()), &context).messages.remove(0)
}

fn lingo() -> Json {
    let when = json!({"year": 2024, "month": 2, "day": 29, "hour": 12, "minute": 30, "second": 5});
    json!({
        "id": "0b1e", "receivedAt": when,
        "identity": {"accountId": "a", "hardware": {"id": "h", "type": "ROCKBLOCK_9603", "imei": "300234063904190", "serial": "1"},
                     "identifier": "boat", "thingId": "t"},
        "sbd": {"imei": "300234063904190", "cdrReference": "1894516585", "momsn": 75, "mtmsn": 0, "sessionAt": when,
                "status": "SESSION_STATUS_OK", "location": {"latitude": 51.5, "longitude": -3.2, "cep": 4}},
        "message": "SGVsbG8gd29ybGQ=",
    })
}

#[test]
fn lingo_is_read() {
    let message = decode(&lingo(), &json!({}));
    assert_eq!(message.key.as_deref(), Some("0b1e"));
    assert_eq!(message.identifiers, ["300234063904190", "boat", "t"]);
    assert_eq!(message.text.as_deref(), Some("Hello world"));
    let report = &message.reports[0];
    assert_eq!(report.time.unwrap().to_string(), "2024-02-29T12:30:05Z");
    assert_eq!((report.source, report.accuracy_m), (Some(FixSource::Network), Some(4000.0)));
    assert_eq!(report.get("sessionStatus"), Some(&Value::text("SESSION_STATUS_OK")));
}

#[test]
fn templates_of_single_devices_are_used() {
    let mut body = lingo();
    body["message"] = json!("00C583EACD37210A00");
    let settings = json!({"devices": {"300234063904190": {"payload": "smartone"}}});
    let message = decode(&body, &settings);
    let sources: Vec<_> = message.reports.iter().map(|report| report.source.unwrap()).collect();
    assert_eq!(sources, [FixSource::Gnss, FixSource::Network]);
}

#[test]
fn decoded_positions_are_kept() {
    let mut body = lingo();
    body["p6"] = json!({"reports": [{"at": {"year": 2024, "month": 2, "day": 29}, "latitude": 1, "longitude": 2, "battery": 90}]});
    let message = decode(&body, &json!({}));
    assert_eq!(message.reports.len(), 2);
    assert_eq!(message.reports[0].get("battery"), Some(&Value::Integer(90)));
}

#[test]
fn other_forms_are_read_or_reported() {
    let message = decode(
        &json!({"id": 7, "imei": "1", "payloadHex": "6869", "vehicle": "IRIDIUM", "version": 1}),
        &json!({}),
    );
    assert_eq!((message.text.as_deref(), message.error), (Some("hi"), None));
    let imt = json!({"id": "x", "imt": {"imei": "2", "topic": 244}, "message": [104, 105]});
    assert_eq!(decode(&imt, &json!({})).reports[0].get("topic"), Some(&Value::Integer(244)));
    assert!(decode(&json!({"id": "x"}), &json!({})).error.is_some());
    assert!(decode(&json!({"imei": "1", "message": "%"}), &json!({})).error.is_some());
}
