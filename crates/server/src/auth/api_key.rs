//! API keys: a prefix that secret scanners recognise, random characters, and a checksum that detects typing errors.

use std::fmt;

use rand::Rng as _;

use super::secret::SecretHash;

const PREFIX: &str = "pgk_";
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Random characters of a key: 178 bits.
const RANDOM_CHARS: usize = 30;
const CHECKSUM_CHARS: usize = 6;

/// An API key in the clear, as it is shown once and then presented by clients.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// A new random key.
    pub fn generate() -> Self {
        let mut rng = rand::rng();
        let mut text = PREFIX.to_owned();
        text.extend((0..RANDOM_CHARS).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])));
        let checksum = checksum(&text);
        Self(text + &checksum)
    }

    /// The hash of a text sent as a key. It takes the same time whether or not the text has the form of a key.
    pub fn hash_presented(text: &str) -> SecretHash {
        SecretHash::of(&[text.as_bytes()])
    }

    /// The beginning of the key, by which its owner recognises it.
    pub fn hint(&self) -> &str {
        self.0.get(..PREFIX.len() + 4).unwrap_or(PREFIX)
    }

    /// The text to show to its owner, once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The hash by which the store finds the key. A random key of 178 bits needs no slow hash: one SHA-256 is enough.
    pub fn hash(&self) -> SecretHash {
        Self::hash_presented(&self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(pgk_..)")
    }
}

/// The CRC-32 of the text in base 62, with a fixed length.
fn checksum(text: &str) -> String {
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    let mut rest = crc.sum();
    let mut letters = [LETTERS[0]; CHECKSUM_CHARS];
    for letter in letters.iter_mut().rev() {
        *letter = LETTERS[usize::try_from(rest % 62).unwrap_or(0)];
        rest /= 62;
    }
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_debug_output_hides_them() {
        let (one, other) = (ApiKey::generate(), ApiKey::generate());
        assert_ne!(one.expose(), other.expose());
        assert!(one.expose().starts_with("pgk_") && one.expose().len() == 40);
        assert_eq!(ApiKey::hash_presented(one.expose()), one.hash());
        assert_ne!(one.hash(), other.hash());
        assert!(!format!("{one:?}").contains(&one.expose()[4..]));
    }

    #[test]
    fn the_checksum_is_fixed() {
        // Scanners for leaked secrets know the form, and users hold keys of this form.
        assert_eq!(checksum("pgk_0123456789ABCDEFGHIJKLMNOPQRST"), "38f8fv");
        let key = ApiKey::generate();
        let (body, sum) = key.expose().split_at(PREFIX.len() + RANDOM_CHARS);
        assert_eq!(checksum(body), sum);
    }
}
