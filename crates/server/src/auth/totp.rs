//! One-time codes of authenticator apps (RFC 6238: SHA-1, six digits, thirty seconds).

use std::fmt::{self, Write as _};

use perigee_core::time::Timestamp;
use rand::RngCore as _;
use totp_rs::{Builder, Secret, Totp};

const STEP_SECONDS: u64 = 30;
const BYTES: usize = 20;

/// The secret shared with a user's authenticator app.
#[derive(Clone)]
pub struct TotpSecret([u8; BYTES]);

impl TotpSecret {
    /// A new random secret.
    pub fn generate() -> Self {
        let mut bytes = [0; BYTES];
        rand::rng().fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The secret from the store.
    pub const fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The secret for typing into an app that cannot scan.
    pub fn to_base32(&self) -> String {
        const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let mut text = String::with_capacity(BYTES * 8 / 5);
        // Twenty bytes are four blocks of five, each of eight characters, so that no padding is needed.
        for five in self.0.chunks_exact(5) {
            let bits = five.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            text.extend((0..8).rev().map(|index| {
                let letter = usize::try_from(bits >> (5 * index) & 31).unwrap_or(0);
                char::from(LETTERS[letter])
            }));
        }
        text
    }

    /// The `otpauth` address of the QR code that an app scans.
    pub fn otpauth_uri(&self, issuer: &str, account: &str) -> String {
        let (issuer, account) = (percent_encode(issuer), percent_encode(account));
        let secret = self.to_base32();
        format!(
            "otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits=6&period=30"
        )
    }

    /// The step of a valid code: the current one or a neighbour, and later than the last step used. The caller stores
    /// the step as the last used one, in the same transaction.
    pub fn check(&self, code: &str, now: Timestamp, last_used: Option<u64>) -> Option<u64> {
        let seconds = u64::try_from(now.as_seconds()).ok()?;
        let digits: String = code.chars().filter(|letter| !letter.is_whitespace()).take(7).collect();
        let step = self.totp().check(&digits, seconds)?;
        last_used.is_none_or(|last| step > last).then_some(step)
    }

    /// The current code, as an app shows it.
    pub fn code(&self, now: Timestamp) -> String {
        self.totp().generate(u64::try_from(now.as_seconds()).unwrap_or(0)).to_string()
    }

    fn totp(&self) -> Totp {
        let secret = Secret::new_stack(self.0);
        Builder::new().with_skew(1).with_step_duration(STEP_SECONDS).with_secret(secret).build_noncompliant()
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret(..)")
    }
}

/// Escapes everything that is not a letter, digit or one of `-._~`; apps read a plus sign literally.
fn percent_encode(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a `String` never fails.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B.
    fn secret() -> TotpSecret {
        TotpSecret::from_bytes(*b"12345678901234567890")
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret().code(at(seconds)), code);
            assert_eq!(secret().check(code, at(seconds), None), Some(u64::try_from(seconds).unwrap() / 30));
        }
    }

    #[test]
    fn a_code_is_right_one_step_early_or_late() {
        let code = "081804";
        let step = 1_111_111_109 / 30;
        for (seconds, expect) in
            [(-60, None), (-30, Some(step)), (0, Some(step)), (30, Some(step)), (60, None)]
        {
            assert_eq!(secret().check(code, at(1_111_111_109 + seconds), None), expect, "{seconds}");
        }
    }

    #[test]
    fn a_code_works_once() {
        let now = at(1_111_111_109);
        let step = secret().check("081804", now, None).unwrap();
        assert_eq!(secret().check("081804", now, Some(step)), None);
        assert_eq!(secret().check("081804", now, Some(step - 1)), Some(step));
        assert_eq!(secret().check("081804", at(1_111_111_139), Some(step)), None);
    }

    #[test]
    fn reads_codes_as_apps_show_them_and_nothing_else() {
        let now = at(1_111_111_109);
        assert!(secret().check(" 081 804 ", now, None).is_some());
        for code in ["", "81804", "+81804", "0818040", "08180x", "０８１８０４", "000000"] {
            assert_eq!(secret().check(code, now, None), None, "{code}");
        }
        assert_eq!(secret().check("081804", at(-5), None), None);
    }

    #[test]
    fn the_uri_has_what_apps_need() {
        assert_eq!(secret().to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            secret().otpauth_uri("Perigee", "ana+boat@example.com"),
            "otpauth://totp/Perigee:ana%2Bboat%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
             &issuer=Perigee&algorithm=SHA1&digits=6&period=30"
        );
        assert_eq!(format!("{:?}", secret()), "TotpSecret(..)");
        assert_ne!(TotpSecret::generate().as_bytes(), TotpSecret::generate().as_bytes());
    }
}
