//! TLS from certificate files, which are read again when they change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

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
        /// What the operating system says.
        source: io::Error,
    },
    /// The certificate file is not PEM or holds no certificate.
    #[error("{path} holds no PEM certificate")]
    NoCertificate {
        /// Path of the file.
        path: PathBuf,
    },
    /// The key file is not PEM or holds no private key.
    #[error("{path} holds no PEM private key without a passphrase")]
    NoKey {
        /// Path of the file.
        path: PathBuf,
    },
    /// The key is of a kind that is not supported, or the certificate is damaged.
    #[error("the certificate in {certificate} or the key in {key} cannot be used")]
    Unusable {
        /// Path of the certificate file.
        certificate: PathBuf,
        /// Path of the key file.
        key: PathBuf,
        /// What the TLS library says.
        source: rustls::Error,
    },
    /// The key is another certificate's.
    #[error("the key in {key} does not belong to the certificate in {certificate}")]
    Mismatch {
        /// Path of the certificate file.
        certificate: PathBuf,
        /// Path of the key file.
        key: PathBuf,
    },
}

/// Makes ring the cryptography of this process; further calls change nothing.
pub fn install_crypto_provider() {
    // An error means that a provider is installed already.
    let _ = ring::default_provider().install_default();
}

/// The certificate and key a server shows; clones share them.
///
/// [`serve`](super::serve) looks at the files every
/// [`certificate_check_interval`](super::ServeConfig::certificate_check_interval) and takes a
/// changed pair for new connections. A pair that cannot be used is reported and the old one stays.
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

/// The files as read, before anything is made of them.
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// What tells one version of the files from the next. Their times would not do: two versions
/// written in quick succession may have the same.
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

    /// Reads the files again if they changed, and says whether they did. On an error the old
    /// certificate stays and the next call tries again.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let inner = &*self.0;
        let mut shown_digest = inner.shown_digest.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Reloads every `period` until told to stop. A reload that has begun is waited for: nothing looks at the files once
    /// this is over.
    pub(super) async fn keep_fresh(self, period: Duration, stop: CancellationToken) {
        // Not at once: the files have just been read.
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
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
    }
}

impl ResolvesServerCert for ShownCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}
