//! Signed links in messages with which their recipient acknowledges an alert, with or without an account.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use perigee_core::id::{AccountId, NotificationId};
use perigee_core::time::Timestamp;
use ring::hmac;

/// Signs and verifies the tokens of these links. A token names the message that contains it, and expires.
pub struct AlertLinks(hmac::Key);

/// The content of a token. The message determines the alert and the recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertLink {
    /// The account of the alert.
    pub account: AccountId,
    /// The message that contains the link.
    pub message: NotificationId,
    /// From this time on the page shows only that the link has expired.
    pub expires: Timestamp,
}

/// Bytes of account, message and expiry in minutes.
const SIGNED_BYTES: usize = 8 + 8 + 4;
/// Bytes of a signature, shortened so that the link fits into an SMS; 128 bits cannot be guessed.
const TAG_BYTES: usize = 16;
const MINUTE_MS: i64 = 60_000;

impl AlertLinks {
    /// Seconds for which a link works: three days.
    pub const VALID_S: i64 = 3 * 86_400;

    /// Links signed by this key, which also signs links for other purposes.
    pub fn new(key: &[u8; 32]) -> Self {
        let parent = hmac::Key::new(hmac::HMAC_SHA256, key);
        let own = hmac::sign(&parent, b"acknowledge an alert");
        Self(hmac::Key::new(hmac::HMAC_SHA256, own.as_ref()))
    }

    /// The token of a message written at `now`.
    pub fn token(&self, account: AccountId, message: NotificationId, now: Timestamp) -> String {
        let minute = now.plus_seconds(Self::VALID_S).as_millis().div_euclid(MINUTE_MS);
        let mut bytes = account.as_i64().to_be_bytes().to_vec();
        bytes.extend_from_slice(&message.as_i64().to_be_bytes());
        bytes.extend_from_slice(&u32::try_from(minute).unwrap_or(u32::MAX).to_be_bytes());
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend(tag.as_ref().iter().take(TAG_BYTES));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The content of a token; `None` unless it was signed with this key.
    pub fn read(&self, token: &str) -> Option<AlertLink> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signed, tag) = bytes.split_at_checked(SIGNED_BYTES)?;
        let expected = hmac::sign(&self.0, signed);
        let expected = expected.as_ref().get(..TAG_BYTES)?;
        // Compared in constant time, so that the duration reveals nothing about the expected signature.
        let differs = expected.iter().zip(tag).fold(0, |differs, (one, other)| differs | (one ^ other));
        if tag.len() != TAG_BYTES || differs != 0 {
            return None;
        }
        let (account, rest) = signed.split_at_checked(8)?;
        let (message, minute) = rest.split_at_checked(8)?;
        let number = |bytes: &[u8]| Some(i64::from_be_bytes(bytes.try_into().ok()?));
        let minute = u32::from_be_bytes(minute.try_into().ok()?);
        Some(AlertLink {
            account: AccountId::from_i64(number(account)?),
            message: NotificationId::from_i64(number(message)?),
            expires: Timestamp::from_millis(i64::from(minute) * MINUTE_MS),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_signed_tokens_are_read_and_they_contain_their_expiry() {
        let (links, now) = (AlertLinks::new(&[1; 32]), Timestamp::from_millis(1_800_000_000_000));
        let (account, message) = (AccountId::from_i64(7), NotificationId::from_i64(9));
        let token = links.token(account, message, now);
        assert!(token.len() <= 48, "{token}");
        let read = links.read(&token).unwrap();
        assert_eq!((read.account, read.message), (account, message));
        assert_eq!(read.expires, now.plus_seconds(AlertLinks::VALID_S));
        assert_eq!(AlertLinks::new(&[2; 32]).read(&token), None, "another key");
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(links.read(&String::from_utf8(changed).unwrap()), None, "changed at {at}");
        }
        for other in ["", "AAAA", "not base64!", &"A".repeat(80), &format!("{token}AAAA")] {
            assert_eq!(links.read(other), None, "{other}");
        }
    }
}
