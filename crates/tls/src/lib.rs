//! TLS to databases, mail servers, message centres, webhooks and other servers, by rustls on the one crypto backend.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Which certificates are trusted.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Those signed by public authorities.
    Public,
    /// Those signed by the authorities in a PEM file, and no others.
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

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
