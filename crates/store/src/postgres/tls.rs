//! TLS to the server: checked against trusted certificates when the address asks for it.

use perigee_tls::{Trust, client_config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;
use crate::url::PostgresAddress;

/// How connections to this server are encrypted. `sslmode=prefer` would also take a connection without encryption, so
/// that asking for a certificate would only keep honest servers with home-made ones out.
pub(crate) fn connector(address: &PostgresAddress) -> Result<MakeRustlsConnect, OpenError> {
    let trust = match &address.root_cert {
        _ if !address.verify => Trust::Anyone,
        Some(path) => Trust::File(path.clone()),
        None => Trust::Public,
    };
    Ok(MakeRustlsConnect::new(client_config(&trust).map_err(OpenError::other)?))
}
