//! The listening socket, bound with errors an operator can act on.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process has the address.
    #[error("the address {0} is already in use by another process")]
    InUse(SocketAddr),
    /// The address belongs to no interface of this host.
    #[error("the address {0} does not belong to this host; listen on another one")]
    NotLocal(SocketAddr),
    /// The process may not use the port.
    #[error("no permission to listen on {0} (ports below 1024 need a privilege)")]
    NotPermitted(SocketAddr),
    /// Any other error of the operating system.
    #[error("cannot listen on {address}")]
    Other {
        /// The address requested.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Connections that may wait to be accepted; the system may allow fewer. When the backlog is full, the first packet of
/// a connection is dropped, and the client sends it again only after a second.
const BACKLOG: i32 = 4_096;

/// A bound listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_addr: SocketAddr,
}

impl Listener {
    /// Binds `address`; with port 0 the system picks one, which [`Self::local_addr`] returns.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let explain = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse(address),
            io::ErrorKind::AddrNotAvailable => BindError::NotLocal(address),
            io::ErrorKind::PermissionDenied => BindError::NotPermitted(address),
            _ => BindError::Other { address, source },
        };
        let socket = TcpListener::bind(address).await.map_err(explain)?;
        // The socket listens already; this changes its backlog.
        SockRef::from(&socket).listen(BACKLOG).map_err(explain)?;
        let local_addr = socket.local_addr().map_err(explain)?;
        Ok(Self { socket, local_addr })
    }

    /// The address really bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Waits for the next connection.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.socket.accept().await
    }
}

/// Configures an accepted socket; a setting that the system refuses is only a lost optimisation.
pub(super) fn tune(stream: &TcpStream, stall_timeout: Duration) {
    let socket = SockRef::from(stream);
    let idle = TcpKeepalive::new().with_time(Duration::from_mins(1));
    let mut outcome = socket.set_tcp_nodelay(true).and(socket.set_tcp_keepalive(&idle));
    #[cfg(target_os = "linux")]
    {
        // Without this the kernel buffers megabytes and reports room only once a third of them is used up, which makes
        // a slow reader look like a stalled one.
        const UNSENT_BYTES: u32 = 16 * 1024;
        // Closes the connection of a peer that acknowledges nothing. Later than the stall limit, which is more precise.
        let dead_after = stall_timeout.saturating_add(Duration::from_secs(30));
        outcome = outcome
            .and(socket.set_tcp_notsent_lowat(UNSENT_BYTES))
            .and(socket.set_tcp_user_timeout(Some(dead_after)));
    }
    if let Err(error) = outcome {
        tracing::debug!(%error, "socket options not set");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn port_zero_gives_a_real_port_and_a_used_port_is_an_error() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = Listener::bind(any).await.unwrap();
        assert_ne!(listener.local_addr().port(), 0);

        let error = Listener::bind(listener.local_addr()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the address {} is already in use by another process", listener.local_addr())
        );
    }

    #[tokio::test]
    async fn an_address_of_another_host_is_an_error() {
        let error = Listener::bind(SocketAddr::from(([203, 0, 113, 1], 0))).await.unwrap_err();
        assert!(matches!(error, BindError::NotLocal(_)), "{error}");
    }
}
