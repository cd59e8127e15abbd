//! Secrets of console sessions, as their cookies carry them.

use super::secret::{Secret, SecretHash};

/// The hash of a session's secret: the stored form, and the key of the lookup.
pub fn hash(secret: &Secret) -> SecretHash {
    secret.hash("session")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_finds_its_session() {
        let secret = Secret::generate();
        let presented = Secret::parse(secret.expose()).unwrap();
        assert_eq!(hash(&presented), hash(&secret));
        assert_ne!(hash(&Secret::generate()), hash(&secret));
    }
}
