//! An alarm in a message; recorded answers are in `tests/feeds`.

use serde_json::json;

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::Options;
use crate::feed::{FeedContext, FeedRequest};

#[test]
fn an_alarm_of_a_message_is_raised() {
    let options = Options::default();
    let budget = DecodeBudget::for_body(1 << 20);
    let context =
        FeedContext { now: "2026-01-01T00:00:00Z".parse().unwrap(), options: &options, budget: &budget };
    for (sent, raised) in [("SOS", &["sos"][..]), ("unheard of", &[][..])] {
        let fields = json!([{"Name": "Alarm", "Value": sent}]);
        let message = json!({"ID": 1, "MessageUTC": "2026-01-01 00:00:00", "MobileID": "01452955SKYB444",
                             "Payload": {"Name": "panic", "Fields": fields}});
        let body = json!({"ErrorID": 0, "Messages": [message]}).to_string();
        let decoded = (FEED.decode)(&FeedRequest::of_body(body.as_bytes()), &context);
        let report = &decoded.messages[0].reports[0];
        assert_eq!(report.alarms, raised, "{sent}");
        assert_eq!(report.get("alarm").is_none(), !raised.is_empty(), "{sent}");
    }
}
