//! A batch as the app's documentation describes it.

use serde_json::json;

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedOutcome, FeedRequest};
use crate::value::Value;

#[test]
fn batches_are_read() {
    let body = json!({"locations": [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [-122.03, 37.33]}, "properties": {
            "timestamp": "2015-10-01T08:00:00-0700", "altitude": 0, "speed": 4, "horizontal_accuracy": 30,
            "vertical_accuracy": -1, "motion": ["driving", "stationary"], "battery_state": "charging",
            "battery_level": 0.89, "device_id": "phone", "wifi": ""}},
        {"type": "Feature", "properties": {"speed": -1, "course": -1}},
    ]})
    .to_string();
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    let request = FeedRequest::of_body(body.as_bytes());
    let messages = (FEED.decode)(&request, &context).messages;
    let report = &messages[0].reports[0];
    assert_eq!(messages[0].identifiers, ["phone"]);
    assert_eq!(report.time.unwrap().to_string(), "2015-10-01T15:00:00Z");
    assert_eq!((report.speed_kmh, report.accuracy_m), (Some(14.4), Some(30.0)));
    assert_eq!(report.get("batteryLevel"), Some(&Value::Real(89.0)));
    assert_eq!(report.get("charge"), Some(&Value::Flag(true)));
    assert!(messages[1].error.is_some());
    assert_eq!(messages[1].reports[0].speed_kmh, None);
    let reply = (FEED.reply)(&request, &context, &FeedOutcome::Stored);
    assert_eq!(reply.body, b"{\"result\":\"ok\"}");
}
