//! Signatures of the Standard Webhooks specification: a receiver can check the sender and the time of a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::{Webhook, WebhookSecret};
use ring::hmac;

/// Prefix of a secret when it is shown.
const PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;

/// A header of every message, as Standard Webhooks defines it and as the API's document describes it.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The name, in lower case.
    pub name: &'static str,
    /// The meaning of the header and how a receiver uses it, for the API document.
    pub description: &'static str,
    /// A regular expression that its values match.
    pub pattern: &'static str,
    /// A value of the header, for the API document.
    pub example: &'static str,
}

pub(super) const ID_HEADER: Header = Header {
    name: "webhook-id",
    description: "`id` of the event, the same on every attempt. Ignore an event whose `id` was processed before.",
    pattern: "^[!-~]+$",
    example: "AAAAAAAAACoAAAAAAAAAAKh8Z1E",
};
pub(super) const TIMESTAMP_HEADER: Header = Header {
    name: "webhook-timestamp",
    description: "Time of this attempt, in seconds since 1970-01-01 UTC. Refuse an attempt older than five minutes.",
    pattern: "^[0-9]+$",
    example: "1777636803",
};
pub(super) const SIGNATURE_HEADER: Header = Header {
    name: "webhook-signature",
    description: "`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in Base64, with the webhook's \
        secret as the key: the Base64 text after `whsec_`, decoded. While a secret is being replaced the header has two \
        values, separated by a space; accept the request if one of them matches.",
    pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$",
    example: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
/// The headers of every message besides those of HTTP.
pub const HEADERS: [Header; 3] = [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER];

/// A new random secret.
pub fn generate_secret() -> WebhookSecret {
    WebhookSecret(rand::random::<[u8; SECRET_BYTES]>().to_vec())
}

/// A secret as it is shown to its owner, once.
pub fn show_secret(secret: &WebhookSecret) -> String {
    format!("{PREFIX}{}", STANDARD.encode(&secret.0))
}

/// The value of `webhook-signature`: a signature with the current secret and, until the previous secret expires, one
/// with the previous secret.
pub fn sign(webhook: &Webhook, message: &str, seconds: i64, body: &str, now: Timestamp) -> String {
    let previous = webhook.previous.as_ref().filter(|(_, until)| now < *until).map(|(secret, _)| secret);
    let signatures = std::iter::once(&webhook.secret).chain(previous).map(|secret| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
        let tag = hmac::sign(&key, format!("{message}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag.as_ref()))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn the_known_signature_comes_out() {
        let secret = WebhookSecret(STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
        let signed = r#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
        let tag = hmac::sign(&key, signed.as_bytes());
        assert_eq!(STANDARD.encode(tag.as_ref()), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(show_secret(&secret), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }
}
