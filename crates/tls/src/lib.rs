//! TLS to databases, mail servers, message centres, webhooks and other servers, with rustls and one crypto backend.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Which certificates are trusted.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Certificates signed by public authorities.
    Public,
    /// Certificates signed by the authorities in a PEM file, and no others.
    File(std::path::PathBuf),
    /// Any certificate. Only for connections that would also be accepted without encryption.
    Anyone,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file of authorities cannot be used.
    #[error("cannot use the certificates in {path}: {problem}; give a PEM file of the authorities to trust")]
    File {
        /// The PEM file that was given.
        path: String,
        /// Why the file cannot be used.
        problem: String,
    },
    /// The library refused its own settings.
    #[error("cannot set up TLS")]
    Library(#[from] rustls::Error),
}

/// Client settings that trust these certificates.
pub fn client_config(trust: &Trust) -> Result<ClientConfig, TrustError> {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    Ok(match trust {
        Trust::Public => {
            let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Trust::File(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
        Trust::Anyone => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(provider)))
            .with_no_client_auth(),
    })
}

fn roots(path: &Path) -> Result<RootCertStore, TrustError> {
    let unusable = |problem: String| TrustError::File { path: path.display().to_string(), problem };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        store.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if store.is_empty() { Err(unusable("it holds no certificate".to_owned())) } else { Ok(store) }
}

#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // A signature by the key of a certificate that anybody can make proves nothing. Checking it would only refuse
    // certificates of version 1, which some databases make for themselves.
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{ClientConnection, ServerConfig, ServerConnection};

    use super::*;

    /// A certificate of version 1 and its key, made with `openssl x509 -req`.
    const CERTIFICATE: &[u8] = include_bytes!("../tests/version1.pem");
    const KEY: &[u8] = include_bytes!("../tests/version1.key.pem");

    /// Presents the certificate without checking it.
    #[derive(Debug)]
    struct Always(Arc<CertifiedKey>);

    impl ResolvesServerCert for Always {
        fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    /// Whether a client with this trust completes a handshake with a server that has the certificate.
    fn connects(trust: &Trust, versions: &[&'static rustls::SupportedProtocolVersion]) -> bool {
        let key = ring::sign::any_supported_type(&PrivateKeyDer::from_pem_slice(KEY).unwrap()).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Always(Arc::new(CertifiedKey::new(chain, key)))));
        let mut server = ServerConnection::new(Arc::new(server)).unwrap();
        let name = ServerName::try_from("v1.example").unwrap();
        let mut client = ClientConnection::new(Arc::new(client_config(trust).unwrap()), name).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let mut flight = Vec::new();
            client.write_tls(&mut flight).unwrap();
            server.read_tls(&mut flight.as_slice()).unwrap();
            if server.process_new_packets().is_err() {
                return false;
            }
            let mut flight = Vec::new();
            server.write_tls(&mut flight).unwrap();
            client.read_tls(&mut flight.as_slice()).unwrap();
            if client.process_new_packets().is_err() {
                return false;
            }
        }
        true
    }

    #[test]
    fn a_certificate_of_version_1_is_accepted_where_any_is() {
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            assert!(connects(&Trust::Anyone, &[version]), "{version:?}");
            assert!(!connects(&Trust::Public, &[version]), "{version:?}");
        }
    }
}
