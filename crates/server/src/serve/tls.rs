//! TLS from certificate files, which are read again when they change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Why certificate files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificate file is not PEM or holds no certificate.
    #[error("{path} contains no PEM certificate")]
    NoCertificate {
        /// Path of the file.
        path: PathBuf,
    },
    /// The key file is not PEM or holds no private key.
    #[error("{path} contains no PEM private key, or one with a passphrase; remove the passphrase")]
    NoKey {
        /// Path of the file.
        path: PathBuf,
    },
    /// The key is of a kind that is not supported, or the certificate is damaged.
    #[error("the certificate in {certificate} or the key in {key} is not valid or not supported")]
    Unusable {
        /// Path of the certificate file.
        certificate: PathBuf,
        /// Path of the key file.
        key: PathBuf,
        /// The error of the TLS library.
        source: rustls::Error,
    },
    /// The key belongs to another certificate.
    #[error("the key in {key} does not belong to the certificate in {certificate}")]
    Mismatch {
        /// Path of the certificate file.
        certificate: PathBuf,
        /// Path of the key file.
        key: PathBuf,
    },
}

/// Makes `ring` the cryptography provider of this process. Further calls have no effect.
pub fn install_crypto_provider() {
    // An error means that a provider is installed already.
    let _ = ring::default_provider().install_default();
}

/// The certificate and key that a server presents; clones share them.
///
/// [`serve`](super::serve) reads the files every
/// [`certificate_check_interval`](super::ServeConfig::certificate_check_interval) and uses a changed pair for new
/// connections. A pair that cannot be used is logged, and the previous one stays in use.
#[derive(Debug, Clone)]
pub struct Tls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    files: Files,
    shown: Arc<ShownCertificate>,
    config: Arc<ServerConfig>,
    shown_digest: Mutex<PairDigest>,
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The content of the two files.
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Hashes of the content of the files. Modification times are not enough: two versions that were written in quick
/// succession may have the same.
type PairDigest = [[u8; 32]; 2];

impl Tls {
    /// Reads a PEM certificate chain, the server's own certificate first, and its PEM key.
    pub fn load(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, TlsError> {
        install_crypto_provider();
        let files = Files { certificate: certificate.into(), key: key.into() };
        let pair = files.read()?;
        let shown = Arc::new(ShownCertificate(RwLock::new(Arc::new(files.parse(&pair)?))));
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|source| files.unusable(source))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let shown_digest = Mutex::new(pair.digest());
        Ok(Self(Arc::new(Inner { files, shown, config: Arc::new(config), shown_digest })))
    }

    /// Reads the files again if they changed, and returns whether they did. On an error the old certificate stays and
    /// the next call tries again.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let inner = &*self.0;
        let mut shown_digest = inner.shown_digest.lock();
        let pair = inner.files.read()?;
        let digest = pair.digest();
        if *shown_digest == digest {
            return Ok(false);
        }
        inner.shown.replace(inner.files.parse(&pair)?);
        *shown_digest = digest;
        Ok(true)
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.config))
    }

    /// Accepts connections that are not HTTP, with the same certificate.
    pub(crate) fn stream_acceptor(&self) -> TlsAcceptor {
        let mut config = ServerConfig::clone(&self.0.config);
        config.alpn_protocols.clear();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Reloads every `period` until it is stopped. Waits for a reload that has begun, so that the files are not read
    /// after this returns.
    pub(super) async fn keep_fresh(self, period: Duration, stop: CancellationToken) {
        // The first check is after one period: the files have just been read.
        let period = period.max(Duration::from_millis(1));
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let tls = self.clone();
            match tokio::task::spawn_blocking(move || tls.reload()).await {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => {
                    metrics::counter!("perigee_tls_reloads_total", "outcome" => "ok").increment(1);
                    tracing::info!(certificate = %self.0.files.certificate.display(), "certificate reloaded");
                }
                Ok(Err(error)) => {
                    metrics::counter!("perigee_tls_reloads_total", "outcome" => "failed").increment(1);
                    let error = &error as &(dyn std::error::Error + 'static);
                    tracing::error!(error, "changed certificate files cannot be used, keeping the old ones");
                }
                Err(error) => tracing::error!(%error, "certificate check did not finish"),
            }
        }
    }
}

impl Files {
    fn read(&self) -> Result<Pair, TlsError> {
        Ok(Pair { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    fn parse(&self, pair: &Pair) -> Result<CertifiedKey, TlsError> {
        let chain = CertificateDer::pem_slice_iter(&pair.certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain.unwrap_or_default();
        if chain.is_empty() {
            return Err(TlsError::NoCertificate { path: self.certificate.clone() });
        }
        let key = PrivateKeyDer::from_pem_slice(&pair.key)
            .ok()
            .ok_or_else(|| TlsError::NoKey { path: self.key.clone() })?;
        let provider: CryptoProvider = ring::default_provider();
        CertifiedKey::from_der(chain, key, &provider).map_err(|source| match source {
            rustls::Error::InconsistentKeys(_) => {
                TlsError::Mismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
            source => self.unusable(source),
        })
    }

    fn unusable(&self, source: rustls::Error) -> TlsError {
        TlsError::Unusable { certificate: self.certificate.clone(), key: self.key.clone(), source }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })
}

impl Pair {
    fn digest(&self) -> PairDigest {
        [Sha256::digest(&self.certificate).into(), Sha256::digest(&self.key).into()]
    }
}

#[derive(Debug)]
struct ShownCertificate(RwLock<Arc<CertifiedKey>>);

impl ShownCertificate {
    fn replace(&self, new: CertifiedKey) {
        *self.0.write() = Arc::new(new);
    }
}

impl ResolvesServerCert for ShownCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read()))
    }
}
