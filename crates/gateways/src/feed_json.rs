//! The decoded content of a request, in the JSON form of `perigee decode`.

use serde_json::{Value as Json, json};

use crate::feed::{Feed, FeedDecoded, FeedMessage, SosStep};
use crate::location::report_json;

/// Each message of a request as a JSON object, and an object with the error if the request could not be decoded. At
/// most `most` messages, with at most `most` reports each.
pub fn feed_json(feed: &Feed, decoded: &FeedDecoded, most: usize) -> Vec<Json> {
    let mut messages: Vec<Json> =
        decoded.messages.iter().take(most).map(|message| message_json(feed, message, most)).collect();
    if let Some(error) = decoded.error {
        messages.push(json!({
            "protocol": feed.name, "identifiers": [], "reports": [], "replies": [], "error": error.to_string(),
        }));
    }
    messages
}

fn message_json(feed: &Feed, message: &FeedMessage, most: usize) -> Json {
    json!({
        "protocol": feed.name,
        "identifiers": message.identifiers,
        "reports": message.reports.iter().take(most).map(report_json).collect::<Vec<_>>(),
        "replies": [],
        "text": message.text,
        "sos": message.sos.map(step_name),
        "test": message.test,
        "error": message.error.map(|error| error.to_string()),
    })
}

const fn step_name(step: SosStep) -> &'static str {
    match step {
        SosStep::Declare => "declare",
        SosStep::Confirm => "confirm",
        SosStep::Repeat => "repeat",
        SosStep::Cancel => "cancel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::DecodeError;
    use crate::report::Report;

    #[test]
    fn messages_are_bounded_and_an_error_comes_last() {
        let message = || FeedMessage {
            identifiers: vec!["a".to_owned()],
            reports: vec![Report::default(); 3],
            sos: Some(SosStep::Cancel),
            ..FeedMessage::default()
        };
        let decoded = FeedDecoded {
            messages: vec![message(), message(), message()],
            error: Some(DecodeError::Short),
            ..FeedDecoded::default()
        };
        let feed = crate::find_feed("json").unwrap();
        let all = feed_json(feed, &decoded, 2);
        assert_eq!(all.len(), 3);
        assert_eq!((&all[0]["sos"], all[0]["reports"].as_array().unwrap().len()), (&json!("cancel"), 2));
        assert_eq!(all[2]["error"], json!("the message ends before its last field"));
    }
}
