//! No request makes a feed fail: arbitrary bytes, and recorded requests with damage.

use perigee_core::time::Timestamp;
use perigee_gateways::{DecodeBudget, FEEDS, FeedContext, FeedOutcome, FeedRequest, Options, report_json};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::recorded::rows;

const RECORDED: &[&str] =
    &["osmand", "owntracks", "globalstar", "spot", "orbcomm", "sigfox", "flespi", "ttn"];

fn survive(query: &str, body: &[u8]) {
    let settings = json!({"token": "t", "template": {"fields": [{"field": "a", "offset": 2, "width": 3}]}});
    let options = Options::new(settings.as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: Timestamp::from_millis(1_780_000_000_000), options: &options, budget: &budget };
    let request = FeedRequest { method: "POST", query, headers: &[], body };
    for feed in FEEDS {
        let _ = (feed.check)(&request, &context);
        let decoded = (feed.decode)(&request, &context);
        for report in decoded.messages.iter().flat_map(|message| &message.reports) {
            let _ = report_json(report);
        }
        for outcome in [FeedOutcome::Stored, FeedOutcome::Failed] {
            let reply = (feed.reply)(&request, &context, &outcome);
            assert!(matches!(reply.status, 200 | 503), "{}", feed.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_survived(query in "[ -~]{0,60}", bytes in vec(any::<u8>(), 0..200)) {
        survive(&query, &bytes);
    }
}

#[test]
fn damaged_requests_are_survived() {
    let bodies: Vec<Vec<u8>> = RECORDED
        .iter()
        .flat_map(|file| rows(file))
        .map(|row| row["body"].as_str().or(row["response"].as_str()).unwrap_or_default().as_bytes().to_vec())
        .filter(|body| !body.is_empty())
        .collect();
    let damage = vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6);
    let strategy = (0..bodies.len(), damage, any::<proptest::sample::Index>());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(1500));
    runner
        .run(&strategy, |(chosen, damage, cut)| {
            let mut body = bodies[chosen].clone();
            for (at, byte) in damage {
                let at = at.index(body.len());
                body[at] = byte;
            }
            survive("", &body);
            body.truncate(cut.index(body.len() + 1));
            survive("", &body);
            Ok(())
        })
        .unwrap();
}

/// A body of nothing but small values takes more memory than is decoded at a time, whatever feed reads it.
#[test]
fn many_values_are_refused() {
    for body in [
        format!("[{}0]", "[],".repeat(1_000_000)),
        format!("{{\"locations\":[{}0]}}", "{\"\":0},".repeat(500_000)),
        format!("<kml>{}</kml>", "<a/>".repeat(90_000)),
    ] {
        let options = Options::default();
        for feed in FEEDS {
            let budget = DecodeBudget::for_body(body.len());
            let now = Timestamp::from_millis(1_780_000_000_000);
            let context = FeedContext { now, options: &options, budget: &budget };
            let decoded = (feed.decode)(&FeedRequest::of_body(body.as_bytes()), &context);
            assert!(decoded.messages.len() <= 1, "{} {}", feed.name, decoded.messages.len());
            assert!(budget.used() <= DecodeBudget::memory(body.len()));
        }
    }
}
