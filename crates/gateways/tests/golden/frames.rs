//! Recorded frames.

use std::fmt::Write as _;

use perigee_core::time::Timestamp;
use perigee_gateways::{LineDecoder, LineDefaults};
use serde_json::Value as Json;

use super::compare::{core_difference, is_same_value};

/// The number of correct frames, and of all frames.
#[derive(Debug, Default)]
struct Count {
    right: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, right: bool) {
        self.right += usize::from(right);
        self.all += 1;
    }

    fn assert_at_least(&self, percent: usize, what: &str, wrong: &str) {
        let enough = self.right * 100 >= self.all * percent;
        assert!(enough, "{what}: {} of {} right, {percent} % wanted\n{wrong}", self.right, self.all);
    }
}

pub(crate) fn rows(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/fixtures/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many frames and replies differ from the recording on purpose; `DIFFERENCES.md` lists them with the reasons.
#[derive(Clone, Copy, Debug, Default)]
struct Deliberate {
    frames: usize,
    replies: usize,
}

/// Decodes every frame of a protocol by itself and counts those that match the recording.
fn check(protocol: &str) {
    check_but(protocol, Deliberate::default());
}

fn check_but(protocol: &str, deliberate: Deliberate) {
    let (mut frames, mut values, mut replies) = (Count::default(), Count::default(), Count::default());
    let mut wrong = String::new();
    for row in rows(protocol) {
        let mut line = row.clone();
        let input = line.as_object_mut().unwrap();
        input.retain(|name, _| {
            matches!(name.as_str(), "protocol" | "hex" | "text" | "model" | "options" | "known" | "datagram")
        });
        let mut decoder = LineDecoder::new(LineDefaults::default());
        let got = decoder.decode(&line.to_string(), Timestamp::from_millis(1_780_000_000_000)).unwrap();
        let frame = row["hex"].as_str().or(row["text"].as_str()).unwrap();
        let reports = got["reports"].as_array().unwrap();
        let expected = row["reports"].as_array().unwrap();
        let mut difference = (reports.len() != expected.len()).then_some("number of reports");
        for (want, got) in expected.iter().zip(reports) {
            difference = difference.or_else(|| core_difference(want, got));
        }
        frames.add(difference.is_none());
        if let Some(difference) = difference {
            writeln!(wrong, "{difference}: {frame} {}", got["error"]).unwrap();
        }
        for (index, want) in expected.iter().enumerate() {
            let got = reports.get(index).cloned().unwrap_or_default();
            for (name, value) in want["values"].as_object().into_iter().flatten() {
                let same = is_same_value(name, value, &got);
                values.add(same);
                if !same {
                    writeln!(wrong, "  {name} is not {value}: {frame}").unwrap();
                }
            }
        }
        let recorded = row["replies"].as_array().unwrap();
        if !recorded.is_empty() && row.get("sequence").is_none() && row.get("clock").is_none() {
            let want: Vec<Json> = recorded.iter().map(as_hex).collect();
            replies.add(got["replies"] == Json::from(want));
        }
    }
    frames.right += deliberate.frames;
    replies.right += deliberate.replies;
    frames.assert_at_least(97, &format!("{protocol} frames"), &wrong);
    values.assert_at_least(95, &format!("{protocol} values"), &wrong);
    replies.assert_at_least(95, &format!("{protocol} replies"), &wrong);
}

fn as_hex(reply: &Json) -> Json {
    match reply["text"].as_str() {
        Some(text) => {
            serde_json::json!({"hex": perigee_gateways::notation::reader::hex_digits(text.as_bytes())})
        }
        None => reply.clone(),
    }
}

#[test]
fn gt06() {
    check("gt06");
}

#[test]
fn teltonika() {
    check("teltonika");
}

#[test]
fn queclink() {
    check("queclink");
}

#[test]
fn jt808() {
    check("jt808");
}

#[test]
fn h02() {
    check("h02");
}

#[test]
fn gps103() {
    check("gps103");
}

#[test]
fn tk103() {
    check("tk103");
}

#[test]
fn wialon_ips() {
    check_but("wialon-ips", Deliberate { frames: 2, replies: 3 });
}

#[test]
fn calamp() {
    check("calamp");
}

#[test]
fn ruptela() {
    check("ruptela");
}

#[test]
fn meitrack() {
    check("meitrack");
}

#[test]
fn suntech() {
    check("suntech");
}

#[test]
fn iridium() {
    check("iridium");
}

/// Frames that are located although they were recorded without a position; `DIFFERENCES.md` says why.
const LOCATED_ON_PURPOSE: [(&str, &str); 3] =
    [("jt808", "7e0900"), ("queclink", "2b425546463a475443414e"), ("queclink", "2b524553503a475443414e")];

/// A status that became a position would move its device, and hide its real position.
#[test]
fn no_status_yields_a_position() {
    for protocol in perigee_gateways::PROTOCOLS {
        for row in rows(protocol.name) {
            let frame = row["hex"].as_str().or(row["text"].as_str()).unwrap();
            let recorded = row["reports"].as_array().unwrap();
            let is_meant = |(name, start): &(&str, &str)| *name == protocol.name && frame.starts_with(start);
            if recorded.iter().any(|report| report["located"] == true)
                || LOCATED_ON_PURPOSE.iter().any(is_meant)
            {
                continue;
            }
            let mut decoder = LineDecoder::new(LineDefaults::default());
            let got = decoder.decode(&row.to_string(), Timestamp::from_millis(1_780_000_000_000)).unwrap();
            for report in got["reports"].as_array().unwrap() {
                assert_eq!(report["located"], false, "{} {frame}", protocol.name);
            }
        }
    }
}
