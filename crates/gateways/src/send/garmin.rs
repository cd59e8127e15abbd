//! Garmin IPC Inbound: texts of at most 160 characters, requests for the position, tracking intervals, and what may be
//! sent in an emergency.
//!
//! Garmin counts accepted messages and reports no delivery. Replies of a device are assigned to a conversation by the
//! sender, so a gateway has one sender.

use perigee_core::devices::conversation::TextKind;
use serde_json::{Value as Json, json};

use super::call::quoted;
use super::garmin_errors::{INTERNAL, TOO_MANY, sentence};
use super::{Address, Downlink, HttpPost, Outgoing, ProviderAnswer, ProviderCall, TextLimit, Verdict};
use crate::decoded::Options;

/// Garmin in the table of providers.
pub(super) const DOWNLINK: Downlink = Downlink {
    feed: "garmin",
    link: "garmin",
    limit: TextLimit::Characters(160),
    kinds: &[
        TextKind::Text,
        TextKind::LocationRequest,
        TextKind::TrackingInterval,
        TextKind::EmergencyAcknowledge,
        TextKind::EmergencyMessage,
    ],
    address: Address::Imei,
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
    let base = outgoing.option("sendUrl").trim_end_matches('/');
    let imei = outgoing.address;
    let (path, body) = match outgoing.kind {
        TextKind::Text => (
            "Messaging/Message".to_owned(),
            json!({"Messages": [{
                "Recipients": [imei],
                "Sender": outgoing.option("sender"),
                "Timestamp": format!("/Date({})/", outgoing.now.as_millis()),
                "Message": outgoing.text,
            }]}),
        ),
        TextKind::LocationRequest => ("Location/SendLocationRequest".to_owned(), json!({"IMEI": [imei]})),
        TextKind::TrackingInterval => (
            "Tracking/Interval".to_owned(),
            json!({"Devices": [{"Imei": imei, "Interval": outgoing.interval_s}]}),
        ),
        TextKind::EmergencyAcknowledge => {
            (format!("Emergency/AcknowledgeDeclareEmergency?IMEI={imei}"), Json::Null)
        }
        TextKind::EmergencyMessage => (
            "Emergency/SendMessage".to_owned(),
            json!({"IMEI": imei, "UtcTimeStamp": outgoing.now.to_string(), "Message": outgoing.text}),
        ),
    };
    ProviderCall::Post(HttpPost {
        url: format!("{base}/api/{path}"),
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("x-api-key", outgoing.option("sendKey").to_owned()),
        ],
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
    })
}

fn read(outgoing: &Outgoing<'_>, answer: &ProviderAnswer<'_>) -> Verdict {
    let json: Json = serde_json::from_slice(answer.body).unwrap_or_default();
    let explained = |code| sentence(code, outgoing.kind, &json);
    // Garmin permits to send again after 429 and after errors of the server. Tracking intervals are the exception: it
    // answers with error 1 while an emergency goes on.
    let is_refused_interval =
        |code| code == INTERNAL && outgoing.kind == TextKind::TrackingInterval && answer.status != 429;
    match (answer.status, code(&json)) {
        (200..=299, _) => match json.get("count").and_then(Json::as_u64) {
            Some(0) => Verdict::Refused("Garmin accepted none of the recipients. Check the IMEI.".to_owned()),
            _ => Verdict::Accepted(None),
        },
        (_, Some(code)) if is_refused_interval(code) => Verdict::Refused(explained(code)),
        (_, Some(TOO_MANY)) => Verdict::Later(explained(TOO_MANY)),
        (500..=599, Some(INTERNAL)) => Verdict::Later(explained(INTERNAL)),
        (429, _) => Verdict::Later("Garmin receives too many messages now.".to_owned()),
        (_, Some(code)) => Verdict::Refused(explained(code)),
        (401, None) => {
            Verdict::Refused("Garmin received no key. Check the option sendKey of the gateway.".to_owned())
        }
        (403, None) => Verdict::Refused(
            "Garmin refused the key: it is wrong, has expired, or does not permit messages. Check the option sendKey of \
             the gateway."
                .to_owned(),
        ),
        (status @ 500..=599, None) => Verdict::Later(format!("Garmin has an error (status {status}).")),
        (status, None) => Verdict::Refused(format!(
            "Garmin refused the message with status {status}: {}",
            quoted(answer.body)
        )),
    }
}

/// The number of an error, if Garmin sent one.
fn code(answer: &Json) -> Option<i64> {
    answer.get("Code").and_then(Json::as_i64).filter(|code| *code > 0)
}

#[cfg(test)]
mod tests {
    use perigee_core::time::Timestamp;

    use super::*;

    fn answered(kind: TextKind, status: u16, body: &str) -> Verdict {
        let outgoing = Outgoing {
            options: &Options::default(),
            address: "300434030000000",
            kind,
            text: "x",
            interval_s: None,
            number: 1,
            now: Timestamp::from_millis(0),
        };
        read(&outgoing, &ProviderAnswer { status, body: body.as_bytes() })
    }

    /// Words that only the sentence of a code has, with the status that Garmin sends with it.
    const SENTENCES: [(i64, u16, &str); 17] = [
        (1, 500, "internal error"),
        (2, 429, "too many requests"),
        (3, 403, "Check the option sendKey"),
        (4, 422, "does not know the device"),
        (5, 422, "refused the text"),
        (6, 422, "clock of the server"),
        (7, 422, "option sender of the gateway"),
        (8, 422, "the altitude of"),
        (9, 422, "the speed of"),
        (10, 422, "the course of"),
        (11, 422, "the coordinates of"),
        (12, 422, "30 to 65535 seconds"),
        (13, 422, "the type of a reference"),
        (14, 422, "the label of"),
        (15, 422, "rescue centre"),
        (16, 422, "the type of a binary"),
        (17, 422, "the data of"),
    ];

    #[test]
    fn each_error_has_a_sentence_of_its_own() {
        for (code, status, _) in SENTENCES {
            let body = json!({"Code": code, "Description": "Something is wrong.", "IMEI": "1"}).to_string();
            let verdict = answered(TextKind::Text, status, &body);
            let (Verdict::Refused(text) | Verdict::Later(text)) = &verdict else { panic!("{code}") };
            assert!(text.ends_with(&format!("Garmin's words (error {code}): Something is wrong.")), "{text}");
            for (other, _, of_other) in SENTENCES {
                assert_eq!(text.contains(of_other), other == code, "{code} and {other}: {text}");
            }
            assert_eq!(matches!(verdict, Verdict::Later(_)), code <= 2, "{code}");
            // Final, unless Garmin permits another attempt.
            let as_final = matches!(answered(TextKind::Text, 422, &body), Verdict::Refused(_));
            assert_eq!(as_final, code != 2, "{code}");
        }
        let nameless = answered(TextKind::Text, 422, r#"{"Code": 12}"#);
        let expect =
            "Garmin refused the tracking interval. Send one of 30 to 65535 seconds. (Garmin's error 12)";
        assert_eq!(nameless, Verdict::Refused(expect.into()));
        let unknown = answered(TextKind::Text, 422, r#"{"Code": 99, "Description": "New"}"#);
        let Verdict::Refused(text) = unknown else { panic!() };
        assert!(text.ends_with("(error 99): New."), "{text}");
    }

    #[test]
    fn an_interval_is_refused_during_an_emergency() {
        let verdict = answered(TextKind::TrackingInterval, 500, r#"{"Code": 1}"#);
        assert!(
            matches!(&verdict, Verdict::Refused(text) if text.contains("in an emergency")),
            "{verdict:?}"
        );
        let busy = answered(TextKind::TrackingInterval, 503, "<html>");
        assert!(matches!(busy, Verdict::Later(_)));
    }

    #[test]
    fn only_what_garmin_permits_is_sent_again() {
        let is_later =
            |status, body: &str| matches!(answered(TextKind::Text, status, body), Verdict::Later(_));
        assert!(is_later(429, "") && is_later(500, "") && is_later(503, "<html>"));
        for status in [400, 401, 403, 404, 422] {
            assert!(matches!(answered(TextKind::Text, status, "{}"), Verdict::Refused(_)), "{status}");
        }
        assert_eq!(answered(TextKind::Text, 200, r#"{"count": 1}"#), Verdict::Accepted(None));
        assert_eq!(answered(TextKind::EmergencyAcknowledge, 200, ""), Verdict::Accepted(None));
        assert!(matches!(answered(TextKind::Text, 200, r#"{"count": 0}"#), Verdict::Refused(_)));
    }
}
