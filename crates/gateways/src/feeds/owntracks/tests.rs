//! Message types other than locations, which are in `tests/feeds`.

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedDecoded, FeedOutcome, FeedRequest};
use crate::value::Value;

fn decode(body: &str, headers: &[(&str, &str)]) -> FeedDecoded {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (FEED.decode)(&FeedRequest { headers, ..FeedRequest::of_body(body.as_bytes()) }, &context)
}

#[test]
fn transitions_and_waypoints_are_read() {
    let transition = r#"{"_type":"transition","event":"leave","desc":"home","lat":1.0,"lon":2.0,"tst":1497349316,"acc":5,"tid":"JJ"}"#;
    let message = decode(transition, &[("x-limit-u", "ann"), ("x-limit-d", "phone")]).messages.remove(0);
    assert_eq!(message.identifiers, ["owntracks/ann/phone", "phone", "JJ"]);
    assert_eq!(message.reports[0].alarms, ["geofenceExit"]);
    assert_eq!(message.reports[0].get("region"), Some(&Value::text("home")));
    assert_eq!(message.reports[0].alarm_text.as_deref(), Some("home"));
    let list = r#"{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"a","lat":1,"lon":2,"rad":50,"tst":1},{"desc":"b"}]}"#;
    let message = decode(list, &[]).messages.remove(0);
    assert_eq!(message.reports.len(), 2);
    assert_eq!(message.reports[0].position, None, "a waypoint is not where the phone is");
}

#[test]
fn encrypted_messages_are_refused_clearly() {
    let message = decode(r#"{"_type":"encrypted","data":"AAAA"}"#, &[]).messages.remove(0);
    assert!(message.error.unwrap().to_string().contains("remove the encryption key"));
    assert!(decode(r#"{"_type":"what"}"#, &[]).messages[0].error.is_some());
    assert!(decode(r#"{"_type":"location","lat":"x"}"#, &[]).messages[0].error.is_some());
}

#[test]
fn every_answer_is_a_list() {
    let decoded = decode("", &[]);
    assert_eq!((decoded.messages.len(), decoded.error), (0, None));
    assert_eq!(decode(r#"{"_type":"lwt","tst":1}"#, &[]).messages.len(), 0);
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    let reply =
        |body: &'static [u8]| (FEED.reply)(&FeedRequest::of_body(body), &context, &FeedOutcome::Stored);
    assert_eq!((reply(b"").status, reply(b"").body.as_slice()), (200, b"[]".as_slice()));
    let refused = reply(br#"{"_type":"encrypted","data":"AAAA"}"#);
    assert_eq!(refused.status, 403);
    assert!(String::from_utf8(refused.body).unwrap().contains("encrypted"));
}
