//! The published key and token, and messages as in the documentation.

use serde_json::json;

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedDecoded, FeedRequest, Refused};
use crate::value::Value;
use perigee_core::locations::location::FixSource;
use perigee_core::time::Timestamp;

const KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlaWAVJfNWC4XfnRx96p9cztBcdQV6l8aKmzAlZdpEcQR6MSPzlgvihaU\
    HNJgKm8t5ShR3jcDXIOI7er30cIN4/9aVFMe0LWZClUGgCSLc3rrMD4FzgOJ4ibD8scVyER/sirRzf5/dswJedEiMte1ElMQy2M6\
    IWBACry9u12kIqG0HrhaQOzc6Tr8pHUWTKft3xwGpxCkV+K1N+9HCKFccbwb8okRP6FFAMm5sBbw4yAu39IVvcSL43Tucaa79FzO\
    mfGs5mMvQfvO1ua7cOLKfAwkhxEjirC0/RYX7Wio5yL6jmykAHJqFG2HT0uyjjrQWMtoGgwv9cIcI7xbsDX6owIDAQAB";
const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJSb2NrIDciLCJpYXQiOjE2Nzg3ODUzMDgsImFsdCI6IjAiLCJhdCI6IjIwMjMtMDMtMTR\
    UMDk6MTA6MDFaIiwiYXZlcmFnZUNvZyI6IjMyOCIsImF2ZXJhZ2VTb2ciOiIwLjAiLCJiYXR0ZXJ5IjoiOTgiLCJjb2ciOiIzMjg\
    iLCJkZXZpY2VfdHlwZSI6IkdSSUZGSU4iLCJpZCI6ImVKd2d6ZHBYVnhOUm5vcHJaZXdiV01EbFFHTFB2QWJrIiwiaW1laSI6IjM\
    wMDQzNDA2MjkyOTU0MCIsImxhdCI6IjUxLjQ5NTQwIiwibG9uIjoiLTMuMTcwNDAiLCJtb21zbiI6IjcwMTU0ODcxIiwicG93ZXI\
    iOiJ0cnVlIiwic2VyaWFsIjoiMTAwMDE1Iiwic29nIjoiMC4wIiwic291cmNlIjoiR1BTIiwidGVtcCI6IjAuMCIsInRyYW5zbWl\
    0X3RpbWUiOiIyMDIzLTAzLTE0VDA5OjE1OjA0WiIsInRyYW5zcG9ydCI6IkdQUlMiLCJ0cmlnZ2VyIjoiQlVSU1QiLCJ0eEF0Ijo\
    iMjAyMy0wMy0xNFQwOToxNTowNFoifQ.g4AMhUDwaK-WKaaITOKMtIu8lVtsEBfJ-00ytW-c0jyGUFxNW0259Dj9JcR34NaIai-y\
    sSTVzqXBdROsZAiZS0oTSRum9l56JwZQTE0-Zx5yUUO8AOsUqXPjsSg2lSgsnSMTiQHXOzhydL9GIkmiEVdwANeaB24AuP45__zU\
    wjhwniUfi-Z2RTG8J22GqnQ9Q_w9Z861A0Bos7LmJEymbmcLOiDDdzfYxvVWE6GSm2y8ypBZEqhI0byNphZ5adIFM19iyqng4MVp\
    Qe0Uh9Jc49RR_IAjte3AMS4Y82lO76sM90Tu3-3Jwhj3Iq_NGpfd4735Bl-b5FR5oePP40mV3Q";
/// Time at which the token was issued (`iat`), in Unix seconds.
const ISSUED_S: i64 = 1_678_785_308;

fn with<T>(settings: &serde_json::Value, now_s: i64, run: impl FnOnce(&FeedContext<'_>) -> T) -> T {
    let options = Options::new(settings.as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    run(&FeedContext { now: Timestamp::from_millis(now_s * 1000), options: &options, budget: &budget })
}

fn decode(body: &str) -> FeedDecoded {
    with(&json!({}), ISSUED_S, |context| (FEED.decode)(&FeedRequest::of_body(body.as_bytes()), context))
}

#[test]
fn claims_win_over_the_body() {
    let body = json!({"JWT": TOKEN, "imei": "999", "lat": "1", "lon": "2"}).to_string();
    let request = FeedRequest::of_body(body.as_bytes());
    let settings = json!({"key": KEY});
    assert_eq!(with(&settings, ISSUED_S + 60, |context| (FEED.check)(&request, context)), Ok(()));
    let decoded = with(&settings, ISSUED_S, |context| (FEED.decode)(&request, context));
    let message = &decoded.messages[0];
    assert_eq!(message.identifiers, ["300434062929540", "100015"]);
    assert_eq!(message.key.as_deref(), Some("eJwgzdpXVxNRnoprZewbWMDlQGLPvAbk"));
    let report = &message.reports[0];
    let position = report.position.unwrap();
    assert!((position.latitude - 51.4954).abs() < 1e-9 && (position.longitude + 3.1704).abs() < 1e-9);
    assert_eq!(report.time.unwrap().to_string(), "2023-03-14T09:10:01Z");
    assert_eq!(report.get("momsn"), Some(&Value::Integer(70_154_871)));
    assert_eq!(report.get("event"), Some(&Value::text("BURST")));
    assert_eq!(report.get("transport"), Some(&Value::text("GPRS")));
}

#[test]
fn wrong_tokens_are_refused() {
    let check = |token: &str, key: &str, now_s| {
        let body = json!({"JWT": token, "imei": "1"}).to_string();
        with(&json!({"key": key}), now_s, |context| {
            (FEED.check)(&FeedRequest::of_body(body.as_bytes()), context)
        })
    };
    assert_eq!(check(TOKEN, KEY, ISSUED_S + 14 * 3600 + 1), Err(Refused::Wrong("time of the JWT")));
    assert_eq!(check(TOKEN, KEY, ISSUED_S - 3600), Err(Refused::Wrong("time of the JWT")));
    let unsigned = TOKEN.replacen("eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJub25lIn0", 1);
    for token in [unsigned.as_str(), &TOKEN[..TOKEN.len() - 4], "a.b.c", "x", ""] {
        assert!(check(token, KEY, ISSUED_S).is_err(), "{token}");
    }
    assert_eq!(check(TOKEN, "AAAA", ISSUED_S), Err(Refused::Setting("key")));
    let missing = FeedRequest::of_body(b"imei=1");
    assert_eq!(
        with(&json!({"key": KEY}), ISSUED_S, |context| (FEED.check)(&missing, context)),
        Err(Refused::Missing("JWT"))
    );
    assert_eq!(with(&json!({}), ISSUED_S, |context| (FEED.check)(&missing, context)), Ok(()));
}

#[test]
fn forms_are_read() {
    let decoded = decode(
        "imei=300234010753370&serial=1234&momsn=12345&transmit_time=21-10-12+10%3A41%3A45&iridium_latitude=52.3867\
         &iridium_longitude=0.2938&iridium_cep=9&data=48656c6c6f20576f726c6420526f636b424c4f434b&device_type=ROCKBLOCK",
    );
    let message = &decoded.messages[0];
    assert_eq!(message.key.as_deref(), Some("300234010753370/12345/21-10-12 10:41:45"));
    assert_eq!(message.text.as_deref(), Some("Hello World RockBLOCK"));
    let report = &message.reports[0];
    assert_eq!((report.source, report.accuracy_m), (Some(FixSource::Network), Some(9000.0)));
    assert_eq!(report.time.unwrap().to_string(), "2021-10-12T10:41:45Z");
}

#[test]
fn trackers_are_read() {
    let decoded = decode(
        "imei=300434062929540&device_type=GRIFFIN&serial=100015&momsn=70153268&transmit_time=2023-03-14T09%3A00%3A14Z\
         &id=abgrGXzpmLqPnyqrDDoMnOyoKJdkeVNv&transport=GPRS&at=2023-03-14T09%3A00%3A00Z&lat=51.49530&lon=-3.17030\
         &source=GPS&sog=0.2&cog=51&alt=0&temp=0.0&battery=100&power=false&trigger=BURST",
    );
    let message = &decoded.messages[0];
    assert_eq!(message.key.as_deref(), Some("abgrGXzpmLqPnyqrDDoMnOyoKJdkeVNv"));
    let [report] = &message.reports[..] else { panic!("{message:?}") };
    assert_eq!((report.source, report.course), (Some(FixSource::Gnss), Some(51.0)));
    assert_eq!(report.get("momsn"), Some(&Value::Integer(70_153_268)));
    assert!(decode("serial=1").error.is_some());
    assert!(decode("imei=1&data=zz").messages[0].error.is_some());
}
