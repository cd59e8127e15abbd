//! Garmin IPC Inbound: texts of at most 160 characters, and requests for the position.
//!
//! Garmin counts accepted messages and reports no delivery. Replies of a device are assigned to a conversation by the
//! sender, so a gateway has one sender.

use perigee_core::devices::conversation::TextKind;
use serde_json::{Value as Json, json};

use super::{Downlink, Outgoing, ProviderCall, Verdict, quoted};
use crate::decoded::Options;

/// Garmin in the table of providers.
pub(super) const DOWNLINK: Downlink = Downlink {
    feed: "garmin",
    characters_max: Some(160),
    bytes_max: None,
    asks_location: true,
    ready,
    call,
    read,
};

fn ready(options: &Options) -> Result<(), &'static str> {
    match (options.text("sendUrl"), options.text("sendKey"), options.text("sender")) {
        (Some(_), Some(_), Some(_)) => Ok(()),
        (None, _, _) => Err("The gateway has no option sendUrl, the URL of Garmin's IPC Inbound."),
        (_, None, _) => Err("The gateway has no option sendKey, the key of Garmin's IPC Inbound."),
        (_, _, None) => {
            Err("The gateway has no option sender, the e-mail address or telephone number of the sender.")
        }
    }
}

fn call(outgoing: &Outgoing<'_>) -> ProviderCall {
    let text = |name| outgoing.options.text(name).map(str::trim).unwrap_or_default();
    let base = text("sendUrl").trim_end_matches('/');
    let (path, body) = match outgoing.kind {
        TextKind::Text => (
            "Messaging/Message",
            json!({"Messages": [{
                "Recipients": [outgoing.address],
                "Sender": text("sender"),
                "Timestamp": format!("/Date({})/", outgoing.now.as_millis()),
                "Message": outgoing.text,
            }]}),
        ),
        TextKind::LocationRequest => ("Location/SendLocationRequest", json!({"IMEI": [outgoing.address]})),
    };
    ProviderCall {
        url: format!("{base}/api/{path}"),
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("x-api-key", text("sendKey").to_owned()),
        ],
        body: body.to_string().into_bytes(),
    }
}

fn read(status: u16, body: &[u8]) -> Verdict {
    let answer: Json = serde_json::from_slice(body).unwrap_or_default();
    match status {
        200..=299 => match answer.get("count").and_then(Json::as_u64) {
            Some(0) => Verdict::Refused("Garmin accepted none of the recipients. Check the IMEI.".to_owned()),
            _ => Verdict::Accepted(None),
        },
        401 => Verdict::Refused(
            "Garmin received no key. Check the option sendKey of the gateway.".to_owned(),
        ),
        403 => Verdict::Refused(
            "Garmin refused the key: it is wrong, has expired, or does not permit messages. Check the option sendKey of \
             the gateway."
                .to_owned(),
        ),
        429 => Verdict::Later("Garmin receives too many messages now.".to_owned()),
        500..=599 => match code(&answer) {
            // An error with a code is the answer of the interface and not of an overloaded server.
            Some(code) => Verdict::Refused(refusal(code, &answer)),
            None => Verdict::Later(format!("Garmin has an error (status {status}).")),
        },
        _ => match code(&answer) {
            Some(code) => Verdict::Refused(refusal(code, &answer)),
            None => Verdict::Refused(format!("Garmin refused the message with status {status}: {}", quoted(body))),
        },
    }
}

/// The number of an error, if Garmin sent one.
fn code(answer: &Json) -> Option<i64> {
    answer.get("Code").and_then(Json::as_i64).filter(|code| *code > 0)
}

/// The sentence of an error: Garmin's own description, which names what is wrong, and what follows from the code.
fn refusal(code: i64, answer: &Json) -> String {
    let text = |name: &str| answer.get(name).and_then(Json::as_str).map(|text| quoted(text.as_bytes()));
    let described = text("Description").or_else(|| text("Message")).filter(|text| !text.is_empty());
    let described = described.unwrap_or_else(|| "no description".to_owned());
    let described = described.trim_end_matches('.');
    let advice = match code {
        1 => " The device may be in an emergency, during which Garmin refuses some requests.",
        15 => " Garmin's own rescue centre handles the emergency of this device.",
        _ => "",
    };
    format!("Garmin refused the message with error {code}: {described}.{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_a_sentence_that_names_it() {
        for code in 1..=17 {
            let body = json!({"Code": code, "Description": "Something is wrong.", "IMEI": "1"}).to_string();
            for status in [422, 500] {
                let Verdict::Refused(sentence) = read(status, body.as_bytes()) else { panic!("{code}") };
                let begin = format!("Garmin refused the message with error {code}: Something is wrong.");
                assert!(sentence.starts_with(&begin) && sentence.ends_with('.'), "{sentence}");
                assert_eq!(sentence.contains("rescue centre"), code == 15);
            }
        }
        let nameless = read(422, br#"{"Code": 3}"#);
        assert_eq!(
            nameless,
            Verdict::Refused("Garmin refused the message with error 3: no description.".into())
        );
    }

    #[test]
    fn only_what_garmin_permits_is_sent_again() {
        let is_later = |status, body: &str| matches!(read(status, body.as_bytes()), Verdict::Later(_));
        assert!(is_later(429, "") && is_later(500, "") && is_later(503, "<html>"));
        for status in [400, 401, 403, 404, 422] {
            assert!(matches!(read(status, b"{}"), Verdict::Refused(_)), "{status}");
        }
        assert_eq!(read(200, br#"{"count": 1}"#), Verdict::Accepted(None));
        assert!(matches!(read(200, br#"{"count": 0}"#), Verdict::Refused(_)));
    }
}
