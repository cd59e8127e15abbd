//! The simulated providers check what the real ones check.

use serde_json::json;

use super::http::{Request, answer};
use super::*;

fn garmin_body(text: &str) -> Vec<u8> {
    let message = json!({"Recipients": ["300434030000000"], "Sender": "a@b.example", "Timestamp": "/Date(1)/",
                         "Message": text});
    json!({"Messages": [message]}).to_string().into_bytes()
}

#[test]
fn garmin_checks_key_and_length() {
    let garmin = Downlink::new(Interface::Garmin, "k");
    let ask = |key, body: &[u8]| answer(&garmin, &Request { path: "/api/Messaging/Message", key, body });
    let status = |key, body: &[u8]| ask(key, body).unwrap().0;
    assert_eq!(status(None, b""), 401);
    assert_eq!(status(Some("other"), b""), 403);
    assert_eq!(status(Some("k"), &garmin_body(&"x".repeat(161))), 422);
    assert_eq!(status(Some("k"), &garmin_body("hello")), 200);
    garmin.fail_next(Fault::Busy(7));
    assert_eq!(status(Some("k"), &garmin_body("again")), 429);
    garmin.fail_next(Fault::Silent);
    assert_eq!(ask(Some("k"), &garmin_body("lost")), None);
    let texts: Vec<_> = garmin.taken().into_iter().filter_map(|taken| taken.text).collect();
    assert_eq!((texts, garmin.requests()), (vec!["hello".to_owned(), "lost".to_owned()], 6));
}

#[test]
fn garmin_answers_every_error_of_its_list() {
    let garmin = Downlink::new(Interface::Garmin, "k");
    for code in 1..=17 {
        garmin.fail_next(Fault::Code(code));
        let request = Request { path: "/api/Messaging/Message", key: Some("k"), body: &garmin_body("x") };
        let (status, _, body) = answer(&garmin, &request).unwrap();
        let expect = match code {
            1 => 500,
            2 => 429,
            3 => 403,
            _ => 422,
        };
        assert_eq!(status, expect, "{code}");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["Code"], code);
    }
    assert_eq!(garmin.taken(), []);
    let code_of = |path: &str, body: serde_json::Value| {
        let body = body.to_string().into_bytes();
        let (_, _, body) = answer(&garmin, &Request { path, key: Some("k"), body: &body }).unwrap();
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default()["Code"].clone()
    };
    let imei = "300434030000000";
    assert_eq!(code_of("/api/Tracking/Interval", json!({"Devices": [{"Imei": imei, "Interval": 29}]})), 12);
    assert_eq!(code_of("/api/Location/SendLocationRequest", json!({"IMEI": ["1"]})), 4);
    let path = format!("/api/Emergency/AcknowledgeDeclareEmergency?IMEI={imei}");
    assert_eq!(code_of(&path, json!(null)), json!(null));
    assert_eq!(garmin.taken()[0].path, "Emergency/AcknowledgeDeclareEmergency");
}

#[test]
fn rockblock_answers_with_codes() {
    let rockblock = Downlink::new(Interface::Rockblock, "p");
    let said = |body: &str| {
        let request = Request { path: "/rockblock/MT", key: None, body: body.as_bytes() };
        answer(&rockblock, &request).unwrap().2
    };
    assert!(said("imei=1&password=x&data=00").starts_with("FAILED,10,"));
    assert!(said("imei=1&password=p&data=").starts_with("FAILED,16,"));
    assert!(said("imei=1&password=p&data=0g").starts_with("FAILED,14,"));
    assert!(said(&format!("imei=1&password=p&data={}", "00".repeat(271))).starts_with("FAILED,15,"));
    assert_eq!(said("imei=1&username=u&password=p&data=6869"), "OK,4114651");
    assert_eq!(rockblock.taken()[0].text.as_deref(), Some("hi"));
}

#[test]
fn cloudloop_refuses_with_status_200() {
    let cloudloop = Downlink::new(Interface::Cloudloop, "t");
    let said = |body: &str| {
        let request = Request { path: "/Data/DoSendSbdMessage", key: None, body: body.as_bytes() };
        let (status, _, body) = answer(&cloudloop, &request).unwrap();
        (status, body)
    };
    let thing = "DgXeoxwVPMyrdOBJeEGlqKRJLbajQkzZ";
    assert_eq!(said(&format!("token=x&thing={thing}&message=6869")).0, 403);
    let (status, body) = said("token=t&thing=1&message=6869");
    assert!(status == 200 && body.contains("DispatcherInputException"), "{body}");
    assert!(said(&format!("token=t&thing={thing}&message={}", "00".repeat(271))).1.contains("error"));
    assert_eq!(said(&format!("token=t&thing={thing}&message=6869")).1, r#"{"id":"MTsimulated"}"#);
    cloudloop.fail_next(Fault::Code(2));
    assert!(said("").1.contains("-2"));
    cloudloop.fail_next(Fault::Code(401));
    assert_eq!(said("").0, 401);
    assert_eq!((cloudloop.taken().len(), cloudloop.taken()[0].to.as_str()), (1, thing));
}

#[test]
fn directip_confirms_with_the_position_in_the_queue() {
    let directip = Downlink::new(Interface::DirectIp, "");
    let message = |imei: &str, payload: &[u8]| {
        let mut bytes = vec![0x41, 0, 21];
        bytes.extend(b"Msg7");
        bytes.extend(imei.as_bytes());
        bytes.extend([0, 0]);
        if !payload.is_empty() {
            bytes.push(0x42);
            bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
            bytes.extend(payload);
        }
        bytes
    };
    let status = |elements: &[u8]| {
        let bytes = directip::answer(&directip, 1, elements).unwrap();
        assert_eq!(bytes.len(), 31);
        i16::from_be_bytes([bytes[29], bytes[30]])
    };
    let imei = "300234010753370";
    for position in 1..=50 {
        assert_eq!(status(&message(imei, b"hi")), position);
    }
    assert_eq!(status(&message(imei, b"hi")), -5);
    assert_eq!(status(&message("30023401075337x", b"hi")), -1);
    assert_eq!(status(&message(imei, b"")), -4);
    assert_eq!(status(&message(imei, &[0; 1_891])), -3);
    assert_eq!(status(b"junk"), -7);
    directip.fail_next(Fault::Code(10));
    assert_eq!(status(&message(imei, b"hi")), -10);
    directip.fail_next(Fault::Silent);
    assert_eq!(directip::answer(&directip, 1, &message("300234010753371", b"hi")), None);
    assert_eq!(directip.taken().len(), 51);
}
