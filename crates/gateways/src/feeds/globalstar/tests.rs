//! Exact answers, and messages that `tests/feeds` does not have.

use serde_json::json;

use super::FEED;
use crate::decode_budget::DecodeBudget;
use crate::decoded::{DecodeError, Options};
use crate::feed::{FeedContext, FeedDecoded, FeedOutcome, FeedRequest};

fn with<T>(run: impl FnOnce(&FeedContext<'_>) -> T) -> T {
    let options =
        Options::new(json!({"devices": {"0-1": {"model": "AtlasTrax"}}}).as_object().unwrap().clone());
    let budget = DecodeBudget::for_body(1 << 20);
    run(&FeedContext { now: "2020-03-25T15:02:33Z".parse().unwrap(), options: &options, budget: &budget })
}

fn reply(body: &str, outcome: &FeedOutcome) -> (u16, String) {
    let reply = with(|context| (FEED.reply)(&FeedRequest::of_body(body.as_bytes()), context, outcome));
    (reply.status, String::from_utf8(reply.body).unwrap())
}

fn decode(body: &str) -> FeedDecoded {
    with(|context| (FEED.decode)(&FeedRequest::of_body(body.as_bytes()), context))
}

const MESSAGE: &str = "<stuMessages messageID=\"300421a0\"><stuMessage><esn>0-2</esn><unixTime>1585105370</unixTime>\
    <gps>N</gps><payload length=\"9\">002E914EBAEAE84A08</payload></stuMessage><stuMessage><esn>0-1</esn>\
    <unixTime>1585105371</unixTime><payload>0x20C583EACD37210A00</payload></stuMessage></stuMessages>";

#[test]
fn answers_echo_the_id() {
    let (status, body) = reply(MESSAGE, &FeedOutcome::Stored);
    assert_eq!(status, 200);
    assert!(body.contains("deliveryTimeStamp=\"25/03/2020 15:02:33 GMT\""), "{body}");
    assert!(body.ends_with(
        "correlationID=\"300421a0\"><state>pass</state><stateMessage>Store OK</stateMessage></stuResponseMsg>"
    ));
    assert!(!body.contains(['\n', '\t']));
    let (status, body) = reply(MESSAGE, &FeedOutcome::Failed);
    assert!(status == 200 && body.contains("<state>fail</state>"));
    for body in ["<prvmsgs prvMessageID=\"p\"/>", "<prvMessages messageID=\"p\"></prvMessages>"] {
        let answer = reply(body, &FeedOutcome::Stored).1;
        assert!(
            answer.contains("ProvisionResponse_Rev1_0.xsd")
                && answer.contains("correlationID=\"p\"><state>PASS")
        );
        assert_eq!(decode(body), FeedDecoded::default());
    }
    assert_eq!(reply("{}", &FeedOutcome::Stored).1, "{\"status\":\"ok\"}");
}

#[test]
fn many_units_are_in_one_post() {
    let messages = decode(MESSAGE).messages;
    assert_eq!(
        messages.iter().map(|message| message.key.as_deref()).collect::<Vec<_>>(),
        [Some("300421a0/0"), Some("300421a0/1")]
    );
    assert_eq!(messages[0].reports[0].alarms, ["vibration"]);
    assert_eq!((messages[1].reports[0].course, messages[1].reports[0].speed_kmh), (Some(45.0), Some(10.0)));
}

#[test]
fn an_unreadable_message_is_reported() {
    let wrong = MESSAGE.replace("002E91", "002Ezz");
    let messages = decode(&wrong).messages;
    assert_eq!(messages[0].error, Some(DecodeError::Malformed("the payload is not hexadecimal")));
    assert_eq!(messages[0].identifiers, ["0-2"]);
    assert_eq!(messages[1].error, None);
    assert!(decode("<!DOCTYPE a><stuMessages/>").error.is_some());
    assert!(decode("<other/>").error.is_some());
}

/// The key of every message contains the ID of the request.
#[test]
fn a_long_id_is_not_copied_into_every_message() {
    let body = format!(
        "<stuMessages messageID=\"{}\">{}</stuMessages>",
        "x".repeat(200_000),
        "<stuMessage><esn>0-1</esn></stuMessage>".repeat(5_000)
    );
    let decoded = decode(&body);
    assert_eq!(decoded.messages.len(), 5_000);
    let keys: usize =
        decoded.messages.iter().filter_map(|message| message.key.as_ref()).map(String::len).sum();
    assert!(keys < 5_000 * 100, "{keys} bytes of keys");
    assert!(reply(&body, &FeedOutcome::Stored).1.contains("correlationID=\"\""));
}
