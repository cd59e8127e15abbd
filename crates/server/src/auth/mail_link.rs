//! Signed links in e-mails with which recipients unsubscribe, resubscribe or confirm: an account and an address.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use perigee_core::id::AccountId;
use perigee_core::text::Email;
use ring::hmac;

/// Signs and verifies the tokens of these links. They do not expire, so that links in old e-mails work.
pub struct MailLinks(hmac::Key);

/// Bytes of the account's number before the address.
const ACCOUNT_BYTES: usize = 8;
/// Bytes of a signature.
const TAG_BYTES: usize = 32;

impl MailLinks {
    /// Links signed by this key.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The token of an account and an address.
    pub fn token(&self, account: AccountId, address: &str) -> String {
        let mut bytes = account.as_i64().to_be_bytes().to_vec();
        bytes.extend_from_slice(address.as_bytes());
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The account and address of a token; none unless it was signed with this key.
    pub fn read(&self, token: &str) -> Option<(AccountId, Email)> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (signed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        hmac::verify(&self.0, signed, tag).ok()?;
        let (account, address) = signed.split_at_checked(ACCOUNT_BYTES)?;
        let account = AccountId::from_i64(i64::from_be_bytes(account.try_into().ok()?));
        Some((account, std::str::from_utf8(address).ok()?.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_read() {
        let (links, account) = (MailLinks::new(&[1; 32]), AccountId::from_i64(77));
        let token = links.token(account, "ana@example.com");
        assert_eq!(links.read(&token), Some((account, "ana@example.com".parse().unwrap())));
        assert_eq!(MailLinks::new(&[2; 32]).read(&token), None, "another key");
        for at in [0, 5, 20, token.len() - 2] {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(links.read(&String::from_utf8(changed).unwrap()), None, "changed at {at}");
        }
        for other in ["", "AAAA", "not base64!", &"A".repeat(80)] {
            assert_eq!(links.read(other), None, "{other}");
        }
    }
}
