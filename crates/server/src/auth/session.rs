//! Secrets of console sessions, as their cookies carry them.

use super::secret::{Secret, SecretHash};

/// What to keep of a session's secret, and to look it up by.
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
