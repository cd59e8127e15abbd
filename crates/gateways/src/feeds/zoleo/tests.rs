//! Messages in the format of a public receiver.

use serde_json::{Value as Json, json};

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedMessage, FeedRequest, SosStep};
use crate::value::Value;

fn decode(body: &Json) -> FeedMessage {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (FEED.decode)(&FeedRequest::of_body(body.to_string().as_bytes()), &context).messages.remove(0)
}

fn message(kind: &str) -> Json {
    json!({"MessageId": "m1", "MessageType": kind, "DeviceIMEI": "300434", "ReceivedAtServer": "2023-05-05T10:00:05Z",
           "SentFromDevice": "2023-05-05T10:00:00Z", "Location": {"Latitude": 49.1, "Longitude": -123.2},
           "Properties": {"EpochMiliseconds": "1683280800000", "TimeZoneId": "x", "Source": "Satellite", "Battery": "80"}})
}

#[test]
fn check_ins_are_read() {
    let read = decode(&message("CheckIn"));
    assert_eq!((read.key.as_deref(), read.sos), (Some("m1"), None));
    let report = &read.reports[0];
    assert_eq!(report.time.unwrap().to_string(), "2023-05-05T10:00:00Z");
    assert_eq!(report.get("batteryLevel"), Some(&Value::Real(80.0)));
    let mut unlocated = message("LS_end");
    unlocated["Location"] = json!({});
    assert_eq!(decode(&unlocated).reports[0].position, None);
}

#[test]
fn emergencies_and_links_are_read() {
    assert_eq!(decode(&message("SOSInitiated")).sos, Some(SosStep::Declare));
    assert_eq!(decode(&message("SOSCancelled")).sos, Some(SosStep::Cancel));
    let link = decode(&json!({"IMEI": "300434", "partnerDeviceID": "p"}));
    assert_eq!((link.identifiers.len(), link.reports.len(), link.error), (2, 0, None));
    assert!(decode(&json!({"MessageType": "CheckIn"})).error.is_some());
}
