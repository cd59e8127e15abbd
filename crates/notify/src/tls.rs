//! TLS for SMTP and SMPP connections.

use std::sync::Arc;

use perigee_tls::{Trust, TrustError, client_config};
use tokio_rustls::TlsConnector;

/// Makes a TLS connector that trusts these certificates.
pub(crate) fn connector(trust: &Trust) -> Result<TlsConnector, TrustError> {
    Ok(TlsConnector::from(Arc::new(client_config(trust)?)))
}
