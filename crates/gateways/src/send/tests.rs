//! Requests of every provider, byte for byte, and limits of texts.

use serde_json::json;

use super::*;

fn options(value: &serde_json::Value) -> Options {
    Options::new(value.as_object().unwrap().clone())
}

fn called(feed: &str, options: &Options, kind: TextKind, text: &str) -> ProviderCall {
    let now = Timestamp::from_millis(1_777_636_800_123);
    let address = "300434030000000";
    (find_downlink(feed).unwrap().call)(&Outgoing { options, address, kind, text, now })
}

#[test]
fn garmin_gets_json_with_the_key_in_a_header() {
    let set = options(
        &json!({"sendUrl": "https://eur.example.com/", "sendKey": "k1", "sender": "ops@example.com"}),
    );
    let call = called("garmin", &set, TextKind::Text, "Storm \"Ana\" at 18");
    assert_eq!(call.url, "https://eur.example.com/api/Messaging/Message");
    assert!(call.headers.contains(&("x-api-key", "k1".to_owned())));
    let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
    let expect = json!({"Messages": [{"Recipients": ["300434030000000"], "Sender": "ops@example.com",
        "Timestamp": "/Date(1777636800123)/", "Message": "Storm \"Ana\" at 18"}]});
    assert_eq!(body, expect);
    let call = called("garmin", &set, TextKind::LocationRequest, "");
    assert_eq!(call.url, "https://eur.example.com/api/Location/SendLocationRequest");
    assert_eq!(call.body, br#"{"IMEI":["300434030000000"]}"#);
}

#[test]
fn rockblock_gets_a_form_in_the_body() {
    let set = options(&json!({"sendUser": "a@b.c", "sendPassword": "p&w=1"}));
    let call = called("rockblock", &set, TextKind::Text, "Hi é");
    assert_eq!(call.url, "https://rockblock.rock7.com/rockblock/MT");
    let expect = "imei=300434030000000&username=a%40b.c&password=p%26w%3D1&data=486920c3a9";
    assert_eq!(String::from_utf8(call.body).unwrap(), expect);
}

#[test]
fn what_is_missing_is_named_and_long_texts_are_refused() {
    for downlink in DOWNLINKS {
        let missing = (downlink.ready)(&Options::default()).unwrap_err();
        assert!(missing.contains("send"), "{missing}");
        assert_eq!(cannot_send(downlink.feed), None);
        assert!(downlink.refuses(&"a".repeat(1_000)).is_some());
        assert_eq!(downlink.refuses("short"), None);
    }
    let garmin = find_downlink("garmin").unwrap();
    assert_eq!(garmin.refuses(&"é".repeat(160)), None, "characters");
    assert!(garmin.refuses(&"é".repeat(161)).unwrap().contains("161 characters"));
    let rockblock = find_downlink("rockblock").unwrap();
    assert!(rockblock.refuses(&"é".repeat(136)).unwrap().contains("272 bytes"));
    for feed in crate::FEEDS {
        assert_eq!(cannot_send(feed.name).is_some(), find_downlink(feed.name).is_none(), "{}", feed.name);
    }
}
