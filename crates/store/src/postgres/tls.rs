//! TLS to the server, with the certificate verified if the URL requires it.

use perigee_tls::{Trust, client_config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;
use crate::url::PostgresAddress;

/// The TLS settings for this server. `sslmode=prefer` accepts unencrypted connections too, so verifying certificates
/// would protect nothing and only exclude servers with self-signed ones.
pub(crate) fn connector(address: &PostgresAddress) -> Result<MakeRustlsConnect, OpenError> {
    let trust = match &address.root_cert {
        _ if !address.verify => Trust::Anyone,
        Some(path) => Trust::File(path.clone()),
        None => Trust::Public,
    };
    Ok(MakeRustlsConnect::new(client_config(&trust).map_err(OpenError::other)?))
}
