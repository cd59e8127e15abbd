//! Secrets of gateways, as the addresses carry them to which satellite networks and phones send messages.

use super::secret::{Secret, SecretHash};

/// What to keep of a gateway's secret, and to look it up by.
pub fn hash(secret: &Secret) -> SecretHash {
    secret.hash("gateway")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_finds_its_gateway_and_no_session() {
        let secret = Secret::generate();
        let presented = Secret::parse(secret.expose()).unwrap();
        assert_eq!(hash(&presented), hash(&secret));
        assert_ne!(hash(&secret), super::super::session::hash(&secret));
    }
}
