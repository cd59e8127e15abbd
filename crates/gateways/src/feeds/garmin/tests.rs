//! Events, history and `MapShare` pages as Garmin writes them.

use perigee_core::locations::location::FixSource;
use serde_json::{Value as Json, json};

use super::{HISTORY, MAPSHARE, OUTBOUND};
use crate::decode_budget::DecodeBudget;
use crate::decoded::{DecodeError, Options};
use crate::feed::{Feed, FeedContext, FeedDecoded, FeedMessage, FeedOutcome, FeedRequest, Refused, SosStep};
use crate::value::Value;

fn options(members: &Json) -> Options {
    Options::new(members.as_object().unwrap().clone())
}

fn decode(feed: &Feed, body: &[u8], settings: &Json) -> FeedDecoded {
    let options = options(settings);
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    (feed.decode)(&FeedRequest::of_body(body), &context)
}

fn event(changes: &Json) -> FeedMessage {
    let mut event = json!({
        "imei": "100000000000001", "messageCode": 0, "freeText": null, "timeStamp": 1_323_784_607_376_i64,
        "pingbackReceived": null, "pingbackResponded": null, "addresses": [{"address": "a@example.org"}],
        "point": {"latitude": 43.8, "longitude": -70.16, "altitude": -422, "gpsFix": 2, "course": 45, "speed": 50},
        "status": {"autonomous": 0, "lowBattery": 1, "intervalChange": 0, "resetDetected": 0}, "payload": null,
    });
    for (name, value) in changes.as_object().unwrap() {
        event[name] = value.clone();
    }
    let body = json!({"Version": "2.0", "Events": [event]}).to_string();
    let decoded = decode(&OUTBOUND, body.as_bytes(), &json!({}));
    assert_eq!((decoded.error, decoded.messages.len()), (None, 1));
    decoded.messages[0].clone()
}

#[test]
fn positions_are_read() {
    let message = event(&json!({}));
    assert_eq!(message.identifiers, ["100000000000001"]);
    let report = &message.reports[0];
    assert_eq!(report.time.unwrap().to_string(), "2011-12-13T13:56:47.376Z");
    assert_eq!((report.altitude_m, report.speed_kmh, report.course), (Some(-422.0), Some(50.0), Some(45.0)));
    assert_eq!((report.source, report.valid), (Some(FixSource::Gnss), Some(true)));
    assert_eq!(report.alarms, ["lowBattery"]);
    assert_eq!((message.sos, message.test, message.error), (None, false, None));
}

#[test]
fn no_fix_is_no_position() {
    let zero = json!({"latitude": 0, "longitude": 0, "altitude": 0, "gpsFix": 0, "course": 0, "speed": 0});
    let report = event(&json!({"point": zero})).reports.remove(0);
    assert_eq!((report.position, report.valid), (None, Some(false)));
    assert_eq!(event(&json!({"messageCode": 8})).reports[0].position, None);
}

#[test]
fn emergencies_have_steps() {
    for (code, step) in [
        (4, Some(SosStep::Declare)),
        (6, Some(SosStep::Confirm)),
        (7, Some(SosStep::Cancel)),
        (3, None),
        (12_345, None),
    ] {
        let message = event(&json!({"messageCode": code}));
        assert_eq!(message.sos, step, "{code}");
        assert_eq!(message.reports[0].get("messageCode"), Some(&Value::Integer(code)));
        assert!(message.reports[0].position.is_some(), "unknown codes are kept");
    }
}

#[test]
fn a_repeated_event_has_the_same_key() {
    let text = json!({"messageCode": 3, "freeText": "all well"});
    let message = event(&text);
    assert_eq!(message.text.as_deref(), Some("all well"));
    assert_eq!(message.key, event(&text).key);
    assert_ne!(message.key, event(&json!({"messageCode": 3, "freeText": "all ill"})).key);
    assert_ne!(message.key, event(&json!({"messageCode": 3, "freeText": "all well", "timeStamp": 1})).key);
}

#[test]
fn newer_versions_and_missing_members_are_read() {
    let body = json!({"Version": "4.0", "Events": [
        {"imei": "1", "messageCode": 66, "timeStamp": 1_700_000_000_000_i64, "payload": "aGVsbG8=", "transportMode": "Internet"},
        {"imei": "1", "messageCode": 64, "payload": "AAEC"},
        {"imei": "2", "messageCode": 3, "mediaBytes": "AAEC", "mediaId": "g", "mediaType": "audio/ogg", "transcription": "hi"},
        {"messageCode": 3},
    ]});
    let messages = decode(&OUTBOUND, body.to_string().as_bytes(), &json!({})).messages;
    assert_eq!(messages[0].text.as_deref(), Some("hello"));
    assert_eq!(messages[0].reports[0].get("transportMode"), Some(&Value::text("Internet")));
    assert_eq!(messages[1].reports[0].get("encrypted"), Some(&Value::Flag(true)));
    assert_eq!(messages[2].text.as_deref(), Some("hi"));
    assert_eq!(messages[2].reports[0].get("mediaSize"), Some(&Value::Integer(3)));
    assert_eq!(
        messages[3].error,
        Some(DecodeError::Malformed("an event has no \"imei\" or no \"messageCode\""))
    );
}

#[test]
fn tokens_are_checked() {
    let options = options(&json!({"token": "s3cret"}));
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    let check = |headers: &[(&str, &str)]| {
        (OUTBOUND.check)(&FeedRequest { headers, ..FeedRequest::of_body(b"") }, &context)
    };
    assert_eq!(check(&[("x-outbound-auth-token", "s3cret")]), Ok(()));
    assert_eq!(check(&[("x-outbound-auth-token", "other")]), Err(Refused::Wrong("X-Outbound-Auth-Token")));
    assert_eq!(check(&[]), Err(Refused::Missing("X-Outbound-Auth-Token")));
    let request = FeedRequest::of_body(b"");
    assert_eq!((OUTBOUND.reply)(&request, &context, &FeedOutcome::Stored).status, 200);
    assert_eq!((OUTBOUND.reply)(&request, &context, &FeedOutcome::Failed).status, 503);
}

#[test]
fn history_is_read() {
    let body = json!({"HistoryItems": [
        {"IMEI": 300_434_030_000_000_i64, "Timestamp": "/Date(1398184577123-0400)/", "Altitude": 12,
         "Coordinate": {"Latitude": 1.5, "Longitude": -2.5}, "Course": 90, "Speed": 3, "GPSFixStatus": 2},
        {"IMEI": "3", "Timestamp": "/Date(1398184577124)/", "Coordinate": null},
        {"Timestamp": "/Date(x)/"},
    ]});
    let messages = decode(&HISTORY, body.to_string().as_bytes(), &json!({})).messages;
    assert_eq!(messages[0].key.as_deref(), Some("300434030000000/1398184577123"));
    let report = &messages[0].reports[0];
    assert_eq!(
        (report.speed_kmh, report.valid, report.source),
        (Some(3.0), Some(true), Some(FixSource::Gnss))
    );
    assert_eq!((messages[1].reports[0].position, messages[1].error), (None, None));
    assert!(messages[2].error.is_some());
    assert!(decode(&HISTORY, b"{\"Code\": 1}", &json!({})).error.is_some());
}

#[test]
fn mapshare_is_read() {
    let placemark = |id: &str, event: &str, emergency: &str| {
        format!(
            "<Placemark><TimeStamp><when>2026-05-01T12:00:00Z</when></TimeStamp><ExtendedData>\
             <Data name=\"Id\"><value>{id}</value></Data><Data name=\"IMEI\"><value>300434</value></Data>\
             <Data name=\"Latitude\"><value>43.1</value></Data><Data name=\"Longitude\"><value>-70.2</value></Data>\
             <Data name=\"Elevation\"><value>5.10 m from MSL</value></Data><Data name=\"Velocity\"><value>1.5 km/h</value></Data>\
             <Data name=\"Course\"><value>315.00 ° True</value></Data><Data name=\"Valid GPS Fix\"><value>True</value></Data>\
             <Data name=\"In Emergency\"><value>{emergency}</value></Data><Data name=\"Text\"><value></value></Data>\
             <Data name=\"Event\"><value>{event}</value></Data></ExtendedData></Placemark>"
        )
    };
    let kml = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><kml xmlns=\"x\"><Document><Folder>{}{}{}\
         <Placemark><name>line</name><LineString/></Placemark></Folder></Document></kml>",
        placemark("1", "Tracking interval received.", "False"),
        placemark("2", "Reference Point message received.", "False"),
        placemark("3", "Msg", "True"),
    );
    let messages = decode(&MAPSHARE, kml.as_bytes(), &json!({})).messages;
    assert_eq!(
        messages.iter().map(|message| message.key.as_deref()).collect::<Vec<_>>(),
        [Some("1"), Some("3")]
    );
    let report = &messages[0].reports[0];
    assert_eq!((report.altitude_m, report.speed_kmh, report.course), (Some(5.1), Some(1.5), Some(315.0)));
    assert_eq!((messages[0].sos, messages[1].sos), (None, Some(SosStep::Repeat)));
}
