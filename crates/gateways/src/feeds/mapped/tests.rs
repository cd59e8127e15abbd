//! Every preset is valid and reads a message of its provider; recorded ones are in `tests/feeds`.

use serde_json::{Value as Json, json};

use super::preset;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedDecoded, FeedRequest, SosStep, find_feed};
use crate::mapping::Mapping;

fn decode(feed: &str, body: &Json, settings: &Json) -> FeedDecoded {
    let options = Options::new(settings.as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (find_feed(feed).unwrap().decode)(&FeedRequest::of_body(body.to_string().as_bytes()), &context)
}

#[test]
fn presets_are_valid() {
    for name in ["somewear", "bullitt", "ttn", "chirpstack", "myriota", "flespi", "gpslogger"] {
        let setting = preset(name).unwrap_or_else(|| panic!("{name} is not JSON"));
        if let Err(error) = Mapping::parse(&setting) {
            panic!("{name}: {error}");
        }
        assert!(find_feed(name).is_some(), "{name}");
    }
    assert_eq!(preset("other"), None);
}

#[test]
fn somewear_and_bullitt_are_read() {
    let body = json!({"requestId": "r", "payloads": [{"identity": "i", "device": {"id": "d", "serial": "s"}, "events": [
        {"type": "Location", "latitude": "37.1", "longitude": "-122.2", "altitude": "12", "timestamp": "2024-01-02T03:04:05Z"}]}]});
    let message = decode("somewear", &body, &json!({})).messages.remove(0);
    assert_eq!(message.identifiers, ["s", "d", "i"]);
    assert_eq!((message.reports[0].altitude_m, message.error), (Some(12.0), None));
    // The test request that is sent when the webhook is saved has no events.
    assert_eq!(
        decode("somewear", &json!({"requestId": "r", "payloads": []}), &json!({})),
        FeedDecoded::default()
    );
    let body = json!({"messageId": "m", "sentVia": "satellite", "imsi": "9", "timestamp": 1_700_000_000, "type": "CloseSOS",
        "location": {"latitude": 1, "longitude": 2}});
    let message = decode("bullitt", &body, &json!({})).messages.remove(0);
    assert_eq!((message.key.as_deref(), message.sos), (Some("m"), Some(SosStep::Cancel)));
}

#[test]
fn networks_of_sensors_are_read() {
    let body = json!({"deduplicationId": "u", "time": "2024-01-02T03:04:05.123+00:00", "deviceInfo": {"devEui": "00ff", "deviceName": "n"},
        "fCnt": 1, "fPort": 2, "object": {"latitude": 1.5, "longitude": 2.5, "humidity": 40}, "rxInfo": [{"rssi": -50, "snr": 7}]});
    let message = decode("chirpstack", &body, &json!({})).messages.remove(0);
    assert_eq!((message.key.as_deref(), message.identifiers.len()), (Some("u"), 2));
    assert!(message.reports[0].get("humidity").is_some() && message.reports[0].position.is_some());
    let packets = json!({"Packets": [{"Timestamp": 1_700_000_000_000_i64, "TerminalId": "t", "Value": "0102030405060708090a0b0c0d0e0f1011121314"}]});
    let settings = json!({"devices": {"t": {"template": {"fields": [{"field": "level", "offset": 1}]}}}});
    let message =
        decode("myriota", &json!({"EndpointRef": "e", "Id": "i", "Data": packets.to_string()}), &settings)
            .messages
            .remove(0);
    assert_eq!(message.reports[0].get("level"), Some(&crate::Value::Integer(2)));
}

#[test]
fn parameters_of_an_address_are_read() {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    let request = FeedRequest {
        method: "GET",
        query: "lat=1.5&lon=2.5&spd=10&time=2024-01-02T03%3A04%3A05Z&id=p",
        headers: &[],
        body: b"",
    };
    let message = (find_feed("gpslogger").unwrap().decode)(&request, &context).messages.remove(0);
    assert_eq!((message.identifiers[0].as_str(), message.reports[0].speed_kmh), ("p", Some(36.0)));
}

#[test]
fn own_mappings_are_used() {
    let settings = json!({"mapping": {"fields": {"latitude": "/y", "longitude": "/x"}}});
    assert!(decode("json", &json!({"x": 1, "y": 2}), &settings).messages[0].reports[0].position.is_some());
    assert!(decode("json", &json!({"x": 1}), &json!({})).error.is_some());
    assert!(decode("json", &json!({"x": 1}), &json!({"mapping": 1})).error.is_some());
}
