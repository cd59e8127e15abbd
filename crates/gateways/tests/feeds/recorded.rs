//! Recorded requests. Differences on purpose are counted here and explained in `fixtures/DIFFERENCES.md`.

use std::fmt::Write as _;

use perigee_core::time::Timestamp;
use perigee_gateways::{
    DecodeBudget, FeedContext, FeedDecoded, FeedRequest, Options, find_feed, report_json,
};
use serde_json::{Value as Json, json};

use super::compare::{core_difference, is_same_value};

pub(crate) fn rows(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/fixtures/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn decode(feed: &str, row: &Json) -> FeedDecoded {
    let feed = find_feed(feed).unwrap_or_else(|| panic!("there is no feed {feed}"));
    let query = row["uri"].as_str().and_then(|uri| uri.split_once('?')).map_or("", |(_, query)| query);
    let body = row["body"].as_str().or(row["response"].as_str()).unwrap_or_default();
    let headers: Vec<(String, String)> = row["headers"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let settings = match row["model"].as_str() {
        Some(model) => json!({"devices": {row["identifiers"][0].as_str().unwrap(): {"model": model}}}),
        None => json!({}),
    };
    let options = Options::new(settings.as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: Timestamp::from_millis(1_780_000_000_000), options: &options, budget: &budget };
    let request = FeedRequest {
        method: row["method"].as_str().unwrap_or("GET"),
        query,
        headers: &headers,
        body: body.as_bytes(),
    };
    (feed.decode)(&request, &context)
}

/// Compares all requests of a feed. `differ` names what differs on purpose: `row: what`.
fn check(feed: &str, differ: &[&str]) {
    let mut wrong = String::new();
    let mut seen = Vec::new();
    for (index, row) in rows(feed).iter().enumerate() {
        let decoded = decode(feed, row);
        let reports: Vec<Json> =
            decoded.messages.iter().flat_map(|message| &message.reports).map(report_json).collect();
        let mut say = |what: String| {
            let what = format!("{index}: {what}");
            if differ.contains(&what.as_str()) {
                seen.push(what);
            } else {
                writeln!(wrong, "{what}").unwrap();
            }
        };
        for (message, want) in decoded.messages.iter().zip(row["identifiers"].as_array().unwrap()) {
            if !message.identifiers.iter().any(|identifier| Some(identifier.as_str()) == want.as_str()) {
                say(format!("identifiers {:?}", message.identifiers));
            }
        }
        let expected = row["reports"].as_array().unwrap();
        if reports.len() != expected.len() {
            say(format!("{} reports, error {:?}", reports.len(), decoded.error));
        }
        for (want, got) in expected.iter().zip(&reports) {
            if let Some(what) = core_difference(want, got) {
                say(what.to_owned());
            }
            if let Some(accuracy) = want["accuracy"].as_f64()
                && got["accuracy"].as_f64() != Some(accuracy)
            {
                say("accuracy".to_owned());
            }
            for (name, value) in want["values"].as_object().into_iter().flatten() {
                if !is_same_value(name, value, got) {
                    say(format!("{name} is not {value}"));
                }
            }
            for (list, name) in [("cellTowers", "cellTowers"), ("wifi", "wifi")] {
                let text = got["attributes"][name].as_str().unwrap_or_default();
                let count = want[list].as_array().map_or(0, Vec::len);
                if text.split_ascii_whitespace().count() != count {
                    say(format!("{list} {text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{feed}:\n{wrong}");
    assert_eq!(seen.len(), differ.len(), "{feed}: differences that are no longer there");
}

#[test]
fn osmand() {
    check("osmand", &[]);
}

#[test]
fn owntracks() {
    check("owntracks", &["5: cellTowers 232-1-20301-26426"]);
}

#[test]
fn globalstar() {
    check("globalstar", &[]);
}

#[test]
fn spot() {
    check("spot", &[]);
}

#[test]
fn orbcomm() {
    check("orbcomm", &["1: 1 reports, error None"]);
}

#[test]
fn sigfox() {
    check("sigfox", &[]);
}

#[test]
fn flespi() {
    check("flespi", &[]);
}

#[test]
fn ttn() {
    check("ttn", &["2: altitude"]);
}
