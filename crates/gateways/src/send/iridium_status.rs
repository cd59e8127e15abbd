//! The status of a message to an Iridium modem: its position in the queue of the gateway, or why it was refused.

use super::Verdict;

/// What a status means. `provider` begins the sentences. A message with a negative status is neither queued nor billed.
pub(super) fn verdict(provider: &str, status: i64, reference: Option<String>) -> Verdict {
    let refused = |text: &str| Verdict::Refused(format!("{provider} {text}"));
    match status {
        0.. => Verdict::Accepted(reference),
        -1 => refused("refused the IMEI: it is not one. Check the identifiers of the device."),
        -2 => refused("does not know the IMEI of the device. Check that the modem is active at Iridium."),
        -3 => refused("refused the message: it is too long for the modem. Send a shorter text."),
        -4 => refused("refused the message: it has no content. Write a text."),
        -5 => Verdict::Later(format!(
            "{provider} has 50 messages in the queue of the modem. It takes more when the modem has fetched some."
        )),
        -6 => Verdict::Later(format!("{provider} has no resources for the message now.")),
        -7 => refused("did not understand the message. Report this to the operator of the server."),
        -8 => refused("has no ring alerts for this modem. Let the provider switch them on."),
        -9 => refused(
            "has no connection to this modem: it is not attached. Switch the modem on under open sky.",
        ),
        -10 => refused(
            "refuses messages from the address of this server. Let the provider permit the address for the account.",
        ),
        -11 => refused("refused the number of the message. Report this to the operator of the server."),
        -12 => {
            refused("refused the certificate of the connection. Ask the provider which connection to use.")
        }
        other => Verdict::Refused(format!("{provider} refused the message with status {other}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_sentence_of_its_own() {
        let mut texts = Vec::new();
        for status in -13..0 {
            let (text, is_later) = match verdict("Iridium", status, None) {
                Verdict::Refused(text) => (text, false),
                Verdict::Later(text) => (text, true),
                other => panic!("{status}: {other:?}"),
            };
            assert!(text.starts_with("Iridium ") && text.ends_with('.'), "{text}");
            assert_eq!(is_later, [-5, -6].contains(&status), "{status}");
            assert!(!texts.contains(&text), "{text}");
            texts.push(text);
        }
        for status in [0, 1, 50] {
            assert_eq!(verdict("Iridium", status, Some("7".into())), Verdict::Accepted(Some("7".into())));
        }
    }
}
