//! Connections by TLS.

use std::sync::Arc;

use perigee_tls::{Trust, TrustError, client_config};
use tokio_rustls::TlsConnector;

/// A connector that believes these certificates.
pub(crate) fn connector(trust: &Trust) -> Result<TlsConnector, TrustError> {
    Ok(TlsConnector::from(Arc::new(client_config(trust)?)))
}
