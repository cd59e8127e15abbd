//! Secrets of gateways, which are part of the URLs to which satellite networks and phones send messages.

use super::secret::{Secret, SecretHash};

/// The hash of a gateway's secret: the stored form, and the key of the lookup.
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
