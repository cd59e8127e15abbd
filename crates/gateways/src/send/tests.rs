//! Requests of every provider, byte for byte, their answers, and limits of texts.

use serde_json::json;

use super::*;
use crate::decoded::Options;

fn options(value: &serde_json::Value) -> Options {
    Options::new(value.as_object().unwrap().clone())
}

fn outgoing<'a>(options: &'a Options, kind: TextKind, text: &'a str) -> Outgoing<'a> {
    Outgoing {
        options,
        address: "300434030000000",
        kind,
        text,
        interval_s: Some(600),
        number: 0x4d73_6737,
        now: perigee_core::time::Timestamp::from_millis(1_777_636_800_123),
    }
}

fn posted(feed: &str, options: &Options, kind: TextKind, text: &str) -> HttpPost {
    match (find_downlink(feed).unwrap().call)(&outgoing(options, kind, text)) {
        ProviderCall::Post(post) => post,
        ProviderCall::Tcp(_) => panic!("{feed} uses HTTP"),
    }
}

fn answered(feed: &str, status: u16, body: &[u8]) -> Verdict {
    let set = Options::default();
    (find_downlink(feed).unwrap().read)(
        &outgoing(&set, TextKind::Text, "x"),
        &ProviderAnswer { status, body },
    )
}

#[test]
fn garmin_gets_json_with_the_key_in_a_header() {
    let set = options(
        &json!({"sendUrl": "https://eur.example.com/", "sendKey": "k1", "sender": "ops@example.com"}),
    );
    let call = posted("garmin", &set, TextKind::Text, "Storm \"Ana\" at 18");
    assert_eq!(call.url, "https://eur.example.com/api/Messaging/Message");
    assert!(call.headers.contains(&("x-api-key", "k1".to_owned())));
    let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
    let expect = json!({"Messages": [{"Recipients": ["300434030000000"], "Sender": "ops@example.com",
        "Timestamp": "/Date(1777636800123)/", "Message": "Storm \"Ana\" at 18"}]});
    assert_eq!(body, expect);
    let rows = [
        (TextKind::LocationRequest, "Location/SendLocationRequest", r#"{"IMEI":["300434030000000"]}"#),
        (
            TextKind::TrackingInterval,
            "Tracking/Interval",
            r#"{"Devices":[{"Imei":"300434030000000","Interval":600}]}"#,
        ),
        (TextKind::EmergencyAcknowledge, "Emergency/AcknowledgeDeclareEmergency?IMEI=300434030000000", ""),
        (
            TextKind::EmergencyMessage,
            "Emergency/SendMessage",
            r#"{"IMEI":"300434030000000","Message":"Hold on","UtcTimeStamp":"2026-05-01T12:00:00.123Z"}"#,
        ),
    ];
    for (kind, path, body) in rows {
        let call = posted("garmin", &set, kind, "Hold on");
        assert_eq!(call.url, format!("https://eur.example.com/api/{path}"));
        assert_eq!(json_of(&call.body), json_of(body.as_bytes()));
    }
}

/// The JSON of a body; null for an empty one.
fn json_of(body: &[u8]) -> serde_json::Value {
    if body.is_empty() { serde_json::Value::Null } else { serde_json::from_slice(body).unwrap() }
}

#[test]
fn rockblock_gets_a_form_in_the_body() {
    let set = options(&json!({"sendUser": "a@b.c", "sendPassword": "p&w=1"}));
    let call = posted("rockblock", &set, TextKind::Text, "Hi é");
    assert_eq!(call.url, "https://rockblock.rock7.com/rockblock/MT");
    let expect = "imei=300434030000000&username=a%40b.c&password=p%26w%3D1&data=486920c3a9";
    assert_eq!(String::from_utf8(call.body).unwrap(), expect);
}

#[test]
fn cloudloop_gets_a_form_with_the_token_in_the_body() {
    let set = options(&json!({"sendToken": "t&1"}));
    let call = posted("cloudloop", &set, TextKind::Text, "Hello World");
    assert_eq!(call.url, "https://api.cloudloop.com/Data/DoSendSbdMessage");
    let expect = "token=t%261&thing=300434030000000&message=48656c6c6f20576f726c64";
    assert_eq!(String::from_utf8(call.body).unwrap(), expect);
    let own = options(&json!({"sendToken": "t", "sendUrl": "https://example.com/"}));
    assert_eq!(
        posted("cloudloop", &own, TextKind::Text, "x").url,
        "https://example.com/Data/DoSendSbdMessage"
    );
}

#[test]
fn answers_of_cloudloop_are_read() {
    let read = |status, body: &str| answered("cloudloop", status, body.as_bytes());
    assert_eq!(read(200, r#"{"id":"sbd-123","status":"queued"}"#), Verdict::Accepted(Some("sbd-123".into())));
    assert_eq!(read(200, r#"{"id":"a","mtMessageStatus":3}"#), Verdict::Accepted(Some("a".into())));
    let refused = [
        (200, r#"{"at":1,"error":"DispatcherInputException"}"#, "ID of the Thing"),
        (400, r#"{"error":"AuthenticationException"}"#, "option sendToken"),
        (200, r#"{"error":"OtherException"}"#, "Ground Control's support"),
        (200, r#"{"id":"a","mtMessageStatus":-2}"#, "does not know the IMEI"),
        (401, "", "refused the token"),
        (403, "", "refused the token"),
        (404, "no such page", "status 404: no such page"),
    ];
    for (status, body, words) in refused {
        let Verdict::Refused(text) = read(status, body) else { panic!("{status} {body}") };
        assert!(text.contains(words), "{text}");
    }
    assert!(matches!(read(429, ""), Verdict::Later(_)));
    for (status, body) in [(200, "{}"), (200, "<html>"), (500, ""), (502, "")] {
        assert!(matches!(read(status, body), Verdict::Unclear(_)), "billed: never sent again");
    }
}

#[test]
fn directip_is_written_and_its_confirmation_read() {
    let set = options(&json!({"sendAddress": "sbd.example.com:10800"}));
    let mut message = outgoing(&set, TextKind::Text, "Hello World!");
    message.address = "300234010753370";
    let downlink = find_downlink("directip").unwrap();
    let ProviderCall::Tcp(call) = (downlink.call)(&message) else { panic!() };
    assert_eq!(call.address, ("sbd.example.com".to_owned(), 10800));
    // The published example: its client ID is "Msg7".
    let expect = "0100274100154d736737333030323334303130373533333730000042000c48656c6c6f20576f726c6421";
    assert_eq!(super::call::hex(&call.bytes), expect);
    assert_eq!(call.answer_bytes, 31);

    let confirmation = |client: &[u8; 4], imei: &[u8; 15], status: i16| {
        let mut bytes = vec![1, 0, 28, 0x44, 0, 25];
        bytes.extend(client);
        bytes.extend(imei);
        bytes.extend(77_u32.to_be_bytes());
        bytes.extend(status.to_be_bytes());
        bytes
    };
    let read = |body: &[u8]| (downlink.read)(&message, &ProviderAnswer { status: 0, body });
    let own = b"300234010753370";
    assert_eq!(read(&confirmation(b"Msg7", own, 42)), Verdict::Accepted(Some("77".into())));
    assert!(matches!(read(&confirmation(b"Msg7", own, -2)), Verdict::Refused(_)));
    assert!(
        matches!(read(&confirmation(b"Msg7", own, -5)), Verdict::Later(_)),
        "not in the queue: not billed"
    );
    for strange in [
        confirmation(b"Msg8", own, 1),
        confirmation(b"Msg7", b"300234010753371", 1),
        confirmation(b"Msg7", own, 1)[..30].to_vec(),
        Vec::new(),
        b"HTTP/1.1 400 Bad Request\r\n\r\nxxxxxx".to_vec(),
    ] {
        assert!(matches!(read(&strange), Verdict::Unclear(_)), "{strange:?}");
    }
}

#[test]
fn what_is_missing_is_named_and_long_texts_are_refused() {
    for downlink in DOWNLINKS {
        let missing = (downlink.ready)(&Options::default()).unwrap_err();
        assert!(missing.contains("send"), "{missing}");
        assert_eq!((cannot_send(downlink.feed), cannot_send(downlink.link)), (None, None));
        assert!(downlink.limit.refuses(&"a".repeat(1_000)).is_some());
        assert_eq!(downlink.limit.refuses("short"), None);
        assert!(downlink.carries(TextKind::Text));
        assert!(downlink.address.advice().ends_with('.'));
    }
    for feed in crate::FEEDS.iter().chain(crate::SENDERS) {
        assert_eq!(cannot_send(feed.name).is_some(), find_downlink(feed.name).is_none(), "{}", feed.name);
    }
    assert!(Address::Imei.is_form_of("300434030000000") && !Address::Imei.is_form_of("30043403000000x"));
    assert!(Address::Thing.is_form_of("DgXeoxwVPMyrdOBJeEGlqKRJLbajQkzZ"));
    assert!(!Address::Thing.is_form_of("300434030000000"));
}
