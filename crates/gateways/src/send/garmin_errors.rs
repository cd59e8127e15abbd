//! The errors of Garmin IPC Inbound: a sentence for each code, with what happened and what to do.

use perigee_core::devices::conversation::TextKind;
use serde_json::Value as Json;

use super::call::quoted;

/// The numbers of the errors, by the list of Garmin.
pub(super) const INTERNAL: i64 = 1;
pub(super) const TOO_MANY: i64 = 2;

/// The sentence for an error, followed by Garmin's own description, which may name what is wrong.
pub(super) fn sentence(code: i64, kind: TextKind, answer: &Json) -> String {
    let text = |name: &str| answer.get(name).and_then(Json::as_str).map(|text| quoted(text.as_bytes()));
    let described = text("Description").or_else(|| text("Message")).filter(|text| !text.is_empty());
    let sentence = explained(code, kind);
    match described {
        Some(words) => format!("{sentence} Garmin's words (error {code}): {}.", words.trim_end_matches('.')),
        None => format!("{sentence} (Garmin's error {code})"),
    }
}

fn explained(code: i64, kind: TextKind) -> &'static str {
    match (code, kind) {
        (INTERNAL, TextKind::TrackingInterval) => {
            "Garmin did not change the tracking interval. It refuses this while the device is in an emergency; send it \
             again when the emergency is over."
        }
        (INTERNAL, _) => "Garmin has an internal error and did not take the message. Send it again later.",
        (TOO_MANY, _) => "Garmin receives too many requests of this account now. Nothing has to be done.",
        (3, _) => {
            "Garmin refused the key: it is wrong, has expired, or does not permit this request. Check the option sendKey \
             of the gateway."
        }
        (4, _) => {
            "Garmin does not know the device in the account of the key. Check the IMEI of the device, and that it is \
             active in this account at Garmin."
        }
        (5, _) => "Garmin refused the text. Send a text of 1 to 160 characters without unusual symbols.",
        (6, _) => "Garmin refused the time of the message. Check that the clock of the server is right.",
        (7, _) => {
            "Garmin refused the sender. Set the option sender of the gateway to an e-mail address or a telephone number."
        }
        (8, _) => "Garmin refused the altitude of a reference point. Send the message without one.",
        (9, _) => "Garmin refused the speed of a reference point. Send the message without one.",
        (10, _) => "Garmin refused the course of a reference point. Send the message without one.",
        (11, _) => "Garmin refused the coordinates of a reference point. Send the message without one.",
        (12, _) => "Garmin refused the tracking interval. Send one of 30 to 65535 seconds.",
        (13, _) => "Garmin refused the type of a reference point. Send the message without one.",
        (14, _) => "Garmin refused the label of a reference point. Send the message without one.",
        (15, _) => {
            "Garmin does not permit this in the emergency of the device: its own rescue centre handles it, or no \
             emergency is declared. Call the rescue centre instead."
        }
        (16, _) => "Garmin refused the type of a binary message. Send the message as a text.",
        (17, _) => "Garmin refused the data of a binary message or of a file. Send the message as a text.",
        _ => "Garmin refused the message. See its words, and ask its support.",
    }
}
