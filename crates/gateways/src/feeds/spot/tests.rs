//! The feed's answers; the push is in `tests/feeds`.

use serde_json::{Value as Json, json};

use super::POLL;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedDecoded, FeedRequest, SosStep};

fn decode(body: &str) -> FeedDecoded {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (POLL.decode)(&FeedRequest::of_body(body.as_bytes()), &context)
}

fn message(kind: &str) -> Json {
    json!({"@clientUnixTime": "0", "id": 1_234, "messengerId": "0-8356068", "messengerName": "Ann", "unixTime": 1_364_908_774,
           "messageType": kind, "latitude": 45.42249, "longitude": -111.68832, "modelId": "SPOT2",
           "dateTime": "2013-04-02T13:19:34+0000", "batteryState": "LOW", "hidden": 0, "messageContent": "hello"})
}

fn feed(messages: &Json) -> String {
    json!({"response": {"feedMessageResponse": {"count": 1, "messages": {"message": messages}}}}).to_string()
}

#[test]
fn one_message_may_be_an_object() {
    let one = decode(&feed(&message("TRACK")));
    assert_eq!(one, decode(&feed(&json!([message("TRACK")]))));
    let read = &one.messages[0];
    assert_eq!((read.key.as_deref(), read.text.as_deref()), (Some("1234"), Some("hello")));
    assert_eq!(read.identifiers, ["0-8356068", "Ann"]);
    assert_eq!(read.reports[0].time.unwrap().to_string(), "2013-04-02T13:19:34Z");
    assert_eq!(read.reports[0].alarms, ["lowBattery"]);
}

#[test]
fn help_begins_and_ends() {
    let sos = |kind: &str| decode(&feed(&message(kind))).messages[0].sos;
    assert_eq!(
        (sos("HELP"), sos("HELP-CANCEL"), sos("OK")),
        (Some(SosStep::Declare), Some(SosStep::Cancel), None)
    );
    assert!(decode(&feed(&message("TEST"))).messages[0].test);
}

#[test]
fn no_messages_is_no_error() {
    let error = |code: &str| json!({"response": {"errors": {"error": {"code": code, "text": "x", "description": "y"}}}});
    assert_eq!(decode(&error("E-0195").to_string()), FeedDecoded::default());
    assert!(decode(&error("E-0160").to_string()).error.is_some());
    let list = json!({"response": {"errors": {"error": [{"code": "E-0195"}]}}});
    assert_eq!(decode(&list.to_string()), FeedDecoded::default());
    let xml = "<response><errors><error><code>E-0195</code></error></errors></response>";
    assert_eq!(decode(xml), FeedDecoded::default());
    assert!(decode(&xml.replace("0195", "0160")).error.is_some());
    let xml = "<response><feedMessageResponse><messages><message clientUnixTime=\"0\"><id>5</id>\
        <messengerId>0-1</messengerId><unixTime>1364908774</unixTime><messageType>OK</messageType><latitude>-99999</latitude>\
        <longitude>-99999</longitude></message></messages></feedMessageResponse></response>";
    let read = decode(xml).messages.remove(0);
    assert_eq!((read.key.as_deref(), read.reports[0].position), (Some("5"), None));
    assert!(decode("{}").error.is_some());
}
