//! Tests every option with every feed: accepted if the feed uses it, refused with its pointer otherwise.

use perigee_core::time::Timestamp;
use serde_json::json;

use super::*;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FEEDS, FeedContext, FeedRequest, SENDERS, find_feed};

const KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlaWAVJfNWC4XfnRx96p9cztBcdQV6l8aKmzAlZdpEcQR6MSPzlgvihaU\
    HNJgKm8t5ShR3jcDXIOI7er30cIN4/9aVFMe0LWZClUGgCSLc3rrMD4FzgOJ4ibD8scVyER/sirRzf5/dswJedEiMte1ElMQy2M6\
    IWBACry9u12kIqG0HrhaQOzc6Tr8pHUWTKft3xwGpxCkV+K1N+9HCKFccbwb8okRP6FFAMm5sBbw4yAu39IVvcSL43Tucaa79FzO\
    mfGs5mMvQfvO1ua7cOLKfAwkhxEjirC0/RYX7Wio5yL6jmykAHJqFG2HT0uyjjrQWMtoGgwv9cIcI7xbsDX6owIDAQAB";

/// The options that each feed reads.
const TABLE: &[(&str, &str)] = &[
    ("garmin", "token sendUrl sendKey sender model devices payload format template"),
    ("garmin-history", "url apiKey imeis user password"),
    ("garmin-mapshare", "mapShare password url"),
    ("cloudloop", "sendUrl sendToken model devices payload format template"),
    ("rockblock", "key speedUnit sendUrl sendUser sendPassword model devices payload format template"),
    ("globalstar", "model devices payload format template"),
    ("spot", "user password"),
    ("spot-feed", "feedId password url"),
    ("zoleo", "user password"),
    ("osmand", "user password"),
    ("owntracks", "user password"),
    ("overland", "user password"),
    ("gpslogger", "user password"),
    ("somewear", "user password"),
    ("bullitt", "user password"),
    ("ttn", "user password"),
    ("chirpstack", "user password"),
    ("myriota", "user password model devices payload format template"),
    ("flespi", "user password"),
    ("sigfox", "model devices"),
    ("orbcomm", ""),
    ("json", "mapping user password model devices payload format template"),
    ("directip", "sendAddress"),
];

/// For each option a valid value, and an invalid one with the pointer of the error.
fn values() -> Vec<(&'static str, Json, Json, &'static str)> {
    let template = json!({"fields": [{"field": "level", "offset": 0}]});
    vec![
        ("user", json!("u"), json!(5), ""),
        ("password", json!("p"), json!(""), ""),
        ("token", json!("t"), json!("a\nb"), ""),
        ("sendUrl", json!("https://example.org"), json!(5), ""),
        ("sendKey", json!("k"), json!("a\nb"), ""),
        ("sender", json!("ops@example.org"), json!("nobody"), ""),
        ("sendUser", json!("u"), json!(5), ""),
        ("sendPassword", json!("p"), json!(""), ""),
        ("sendToken", json!("t"), json!(5), ""),
        ("sendAddress", json!("sbd.example.org:10800"), json!("sbd.example.org"), ""),
        ("url", json!("https://example.org/x"), json!(["https://example.org"]), ""),
        ("apiKey", json!("k"), json!({}), ""),
        ("imeis", json!(["300434000000001"]), json!(["300434000000001", 5]), "/1"),
        ("mapShare", json!("ana"), json!("a/b"), ""),
        ("feedId", json!("0abc"), json!("../x"), ""),
        ("key", json!(KEY), json!("no key"), ""),
        ("speedUnit", json!("km/h"), json!("mph"), ""),
        ("model", json!("T622"), json!(622), ""),
        ("payload", json!("records"), json!("record"), ""),
        ("format", json!("01,02,1a"), json!("01,ff"), ""),
        (
            "template",
            template.clone(),
            json!({"fields": [{"field": "a", "offset": 0, "width": 9}]}),
            "/fields/0/width",
        ),
        (
            "mapping",
            json!({"fields": {"latitude": "/lat"}}),
            json!({"fields": {"a/b": {"unit": "x", "path": "/x"}}}),
            "/fields/a~1b/unit",
        ),
        (
            "devices",
            json!({"300": {"template": template}}),
            json!({"3/0": {"template": {}}}),
            "/3~10/template/fields",
        ),
    ]
}

/// Valid options including this one.
fn options(feed: &Feed, name: &str, value: &Json) -> Map<String, Json> {
    let mut options = Map::new();
    let required = feed.options.iter().copied().flatten().filter(|option| option.required);
    let mut names: Vec<&str> = required.map(|option| option.name).collect();
    match (feed.name, name) {
        ("garmin-history", "user" | "password") => names.extend(["user", "password"]),
        ("garmin-history", _) => names.push("apiKey"),
        ("garmin-mapshare" | "spot-feed", _) => {}
        (_, "user" | "password") => names.extend(["user", "password"]),
        _ => {}
    }
    for name in names {
        let (_, right, ..) = values().into_iter().find(|(known, ..)| *known == name).unwrap();
        options.insert(name.to_owned(), right);
    }
    if !name.is_empty() {
        options.insert(name.to_owned(), value.clone());
    }
    options
}

#[test]
fn every_option_of_every_feed() {
    assert_eq!(TABLE.len(), FEEDS.len() + SENDERS.len());
    for (name, known) in TABLE {
        let feed = find_feed(name).unwrap();
        let known: Vec<&str> = known.split_whitespace().collect();
        let listed: Vec<&str> = feed.options.iter().copied().flatten().map(|option| option.name).collect();
        assert_eq!(listed, known, "{name}");
        assert_eq!(check_options(feed, &options(feed, "", &Json::Null)), [], "{name}");
        for (option, right, wrong, pointer) in values() {
            let (right, wrong, pointer) = if option == "devices" && !known.contains(&"template") {
                (json!({"300": {"model": "T622"}}), json!({"3/0": {"model": 622}}), "/3~10/model")
            } else {
                (right, wrong, pointer)
            };
            if known.contains(&option) {
                assert_eq!(check_options(feed, &options(feed, option, &right)), [], "{name} {option}");
                let errors = check_options(feed, &options(feed, option, &wrong));
                let [error] = errors.as_slice() else { panic!("{name} {option}: {errors:?}") };
                assert_eq!(error.path, format!("/{option}{pointer}"), "{name}: {error}");
            } else {
                let mut given = options(feed, "", &Json::Null);
                given.insert(option.to_owned(), right);
                let errors = check_options(feed, &given);
                let [error] = errors.as_slice() else { panic!("{name} {option}: {errors:?}") };
                assert_eq!(error.path, format!("/{option}"));
                assert!(error.problem.starts_with("is not an option of the feed "), "{error}");
            }
        }
    }
}

#[test]
fn user_and_password_are_options_of_feeds_that_check_them() {
    let basic = json!({"user": "u", "password": "p"}).as_object().unwrap().clone();
    let options = Options::new(basic);
    let budget = DecodeBudget::for_body(1 << 20);
    let context = FeedContext { now: Timestamp::from_millis(0), options: &options, budget: &budget };
    for feed in FEEDS {
        let is_checked = (feed.check)(&FeedRequest::of_body(b""), &context).is_err();
        let has = feed.options.iter().copied().flatten().any(|option| option.name == "user");
        // The server itself sends these credentials to the history service of Garmin.
        assert_eq!(has, is_checked || feed.name == "garmin-history", "{}", feed.name);
    }
}

#[test]
fn missing_and_misspelt_options_are_named() {
    let check = |feed: &str, options: Json, expect: &[&str]| {
        let errors = check_options(find_feed(feed).unwrap(), options.as_object().unwrap());
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expect, "{feed} {options}");
    };
    let json_options = "the options are mapping, user, password, model, devices, payload, format, template";
    check(
        "json",
        json!({"maping": {"fields": {}}}),
        &[&format!("/maping is not an option of the feed json; {json_options}")],
    );
    check("orbcomm", json!({"a": [1]}), &["/a is not an option of the feed orbcomm, which has no options"]);
    check(
        "osmand",
        json!({"a": [1]}),
        &["/a is not an option of the feed osmand; the options are user, password"],
    );
    check("spot-feed", json!({}), &["/feedId is required by this feed"]);
    check("zoleo", json!({"user": "u"}), &["/password is required together with \"user\""]);
    check("zoleo", json!({"password": "u"}), &["/user is required together with \"password\""]);
    let history = json!({"url": "https://example.org", "imeis": ["300434000000001"]});
    check("garmin-history", history, &["/apiKey is required unless \"user\" and \"password\" are given"]);
    check(
        "cloudloop",
        json!({"payload": "template"}),
        &["/payload is \"template\", which requires the option \"template\""],
    );
    check(
        "cloudloop",
        json!({"devices": {"1": {"token": "x"}}}),
        &[
            "/devices/1/token is not an option of the feed cloudloop; the options are model, payload, format, template",
        ],
    );
    check("cloudloop", json!({"payload": null, "whatever": null}), &[]);
}

#[test]
fn a_host_has_a_port() {
    assert_eq!(host_and_port(" sbd.example.org:10800 "), Some(("sbd.example.org", 10800)));
    assert_eq!(host_and_port("[2001:db8::1]:1"), Some(("2001:db8::1", 1)));
    for text in ["a", "a:", ":1", "a:0", "a:65536", "a b:1", "http://a:1", "2001:db8::1:1", "[a]:1", "a/b:1"]
    {
        assert_eq!(host_and_port(text), None, "{text}");
    }
}
