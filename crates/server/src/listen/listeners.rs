//! The sockets to which trackers connect: bound before the store is opened, served until the service stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use perigee_gateways::{Protocol, Transport, find_protocol};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::device_slots::DeviceSlots;
use super::newcomers::{Newcomer, Newcomers};
use super::tcp::{self, Connections, End};
use super::udp::{Datagrams, Senders};
use crate::config::GatewaysSection;
use crate::ingest::Ingest;
use crate::serve::{BindError, ConnectionLimits, ConnectionPermit, Listener, ServeConfig, Tls};

/// How long connections have to finish storing when the service stops.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Pause after an accept that failed, for example because the process has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a TLS handshake may take.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// How long a peer may take to accept the end of a TLS connection.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Why the listeners of trackers cannot start.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen for trackers; choose another address in gateways.{section}.{protocol}")]
pub struct GatewayBindError {
    /// `listen` or `tls`.
    section: &'static str,
    /// The key of the setting.
    protocol: String,
    /// The error of the operating system.
    source: BindError,
}

/// The bound sockets of one protocol.
#[derive(Debug)]
struct Bound {
    name: String,
    protocol: Option<&'static Protocol>,
    tcp: Option<Listener>,
    udp: Option<UdpSocket>,
    /// Whether its connections are in TLS.
    encrypted: bool,
}

/// The bound sockets of all configured protocols.
#[derive(Debug)]
pub struct GatewayListeners {
    bound: Vec<Bound>,
    config: Arc<GatewaysSection>,
    limits: Arc<ConnectionLimits>,
}

impl GatewayListeners {
    /// Binds the configured addresses.
    pub async fn bind(config: &GatewaysSection) -> Result<Self, GatewayBindError> {
        let mut bound = Vec::new();
        for (section, addresses) in [("listen", &config.listen), ("tls", &config.tls)] {
            for (name, address) in addresses {
                let one = Bound::new(name, *address, section == "tls").await;
                let failed = |source| GatewayBindError { section, protocol: name.clone(), source };
                bound.push(one.map_err(failed)?);
            }
        }
        let limits = ServeConfig {
            max_connections: config.max_connections,
            max_connections_per_address: config.max_connections_per_address,
            ..ServeConfig::default()
        };
        let limits = ConnectionLimits::new(Arc::new(limits));
        Ok(Self { bound, config: Arc::new(config.clone()), limits })
    }

    /// The addresses of a protocol's TCP and UDP sockets, with the ports that the system chose.
    pub fn addresses(&self, name: &str) -> (Option<SocketAddr>, Option<SocketAddr>) {
        let bound = self.bound.iter().find(|bound| bound.name == name && !bound.encrypted);
        let tcp = bound.and_then(|bound| bound.tcp.as_ref()).map(Listener::local_addr);
        (tcp, bound.and_then(|bound| bound.udp.as_ref()).and_then(|socket| socket.local_addr().ok()))
    }

    /// The address of a protocol's socket for TLS, with the port the system chose.
    pub fn tls_address(&self, name: &str) -> Option<SocketAddr> {
        let bound = self.bound.iter().find(|bound| bound.name == name && bound.encrypted)?;
        bound.tcp.as_ref().map(Listener::local_addr)
    }

    /// Serves trackers until [`RunningListeners::stop`] is called. `tls` is the certificate of the server, which the
    /// settings require if trackers connect by TLS.
    pub fn start(self, ingest: &Arc<Ingest>, tls: Option<&Tls>) -> RunningListeners {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let mut sockets = Vec::new();
        // The other half is reserved for connections of known devices.
        let newcomers = Newcomers::new(self.config.max_connections / 2);
        let devices = Arc::<DeviceSlots>::default();
        let acceptor = tls.map(Tls::stream_acceptor);
        for Bound { name, protocol, tcp, udp, encrypted } in self.bound {
            if encrypted && acceptor.is_none() {
                tracing::error!(
                    protocol = name,
                    "the server has no certificate; it does not listen for trackers over TLS"
                );
                continue;
            }
            let connections = Connections {
                ingest: Arc::clone(ingest),
                protocol,
                config: Arc::clone(&self.config),
                stop: stop.clone(),
                newcomers: Arc::clone(&newcomers),
                devices: Arc::clone(&devices),
            };
            if let Some(listener) = tcp {
                let address = listener.local_addr();
                if encrypted {
                    tracing::info!(protocol = name, %address, "listening for trackers over TLS");
                } else {
                    tracing::info!(protocol = name, %address, "listening for trackers over TCP");
                }
                let acceptor = acceptor.clone().filter(|_| encrypted);
                let limits = Arc::clone(&self.limits);
                let accept = accept(listener, acceptor, connections.clone(), limits, tasks.clone());
                sockets.push(tokio::spawn(accept));
            }
            if let Some(socket) = udp {
                let address = socket.local_addr().map(|address| address.to_string()).unwrap_or_default();
                tracing::info!(protocol = name, address, "listening for trackers over UDP");
                let datagrams = Datagrams {
                    socket: Arc::new(socket),
                    ingest: Arc::clone(ingest),
                    protocol,
                    config: Arc::clone(&self.config),
                    tasks: tasks.clone(),
                    stop: stop.clone(),
                    senders: Senders::default(),
                };
                sockets.push(tokio::spawn(datagrams.serve()));
            }
        }
        RunningListeners { stop: stop.drop_guard(), sockets, tasks }
    }
}

impl Bound {
    async fn new(name: &str, address: SocketAddr, encrypted: bool) -> Result<Self, BindError> {
        let protocol = find_protocol(name);
        let has = |transport| protocol.is_none_or(|protocol| protocol.transports.contains(&transport));
        let tcp = if has(Transport::Tcp) { Some(Listener::bind(address).await?) } else { None };
        let udp = if has(Transport::Udp) && !encrypted { Some(bind_udp(address).await?) } else { None };
        Ok(Self { name: name.to_owned(), protocol, tcp, udp, encrypted })
    }
}

async fn bind_udp(address: SocketAddr) -> Result<UdpSocket, BindError> {
    UdpSocket::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse(address),
        _ => BindError::Other { address, source },
    })
}

/// Listeners that serve trackers. Dropping it stops them.
#[derive(Debug)]
pub struct RunningListeners {
    stop: DropGuard,
    sockets: Vec<JoinHandle<()>>,
    tasks: TaskTracker,
}

impl RunningListeners {
    /// Closes the sockets and waits until all received frames are stored and acknowledged.
    pub async fn stop(self) {
        drop(self.stop);
        for socket in self.sockets {
            if let Err(error) = socket.await {
                tracing::error!(%error, "a listener for trackers failed");
            }
        }
        self.tasks.close();
        if tokio::time::timeout(STOP_WITHIN, self.tasks.wait()).await.is_err() {
            tracing::warn!(
                connections = self.tasks.len(),
                "trackers were still connected when the service stopped"
            );
        }
    }
}

async fn accept(
    listener: Listener,
    acceptor: Option<TlsAcceptor>,
    connections: Connections,
    limits: Arc<ConnectionLimits>,
    tasks: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = connections.stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, peer)) => match limits.admit(peer.ip()) {
                Ok(permit) => {
                    let Some(newcomer) = connections.newcomers.admit(peer.ip()) else {
                        refused("network");
                        continue;
                    };
                    let (acceptor, connections) = (acceptor.clone(), connections.clone());
                    drop(tasks.spawn(serve(stream, acceptor, peer, connections, (permit, newcomer))));
                }
                Err(refusal) => refused(refusal.label()),
            },
            Err(error) => {
                tracing::debug!(%error, "a tracker's connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn refused(limit: &'static str) {
    metrics::counter!("perigee_gateway_connections_refused_total", "limit" => limit).increment(1);
}

async fn serve(
    mut stream: tokio::net::TcpStream,
    acceptor: Option<TlsAcceptor>,
    peer: SocketAddr,
    connections: Connections,
    (permit, newcomer): (ConnectionPermit, Newcomer),
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "socket option not set");
    }
    metrics::gauge!("perigee_gateway_connections_open").increment(1.0);
    let end = match acceptor {
        None => tcp::serve(&mut stream, peer, connections, newcomer).await,
        Some(acceptor) => serve_tls(stream, &acceptor, peer, connections, newcomer).await,
    };
    metrics::gauge!("perigee_gateway_connections_open").decrement(1.0);
    metrics::counter!("perigee_gateway_connections_total", "end" => end.label()).increment(1);
    tracing::debug!(%peer, end = end.label(), "a tracker's connection ended");
    drop(permit);
}

/// Serves a connection in TLS. Its handshake counts as an open connection and may take [`HANDSHAKE_WITHIN`].
async fn serve_tls(
    stream: tokio::net::TcpStream,
    acceptor: &TlsAcceptor,
    peer: SocketAddr,
    connections: Connections,
    newcomer: Newcomer,
) -> End {
    let handshake = tokio::select! {
        handshake = timeout(HANDSHAKE_WITHIN, acceptor.accept(stream)) => handshake,
        () = connections.stop.cancelled() => return End::Stopping,
    };
    let mut stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%peer, %error, "a tracker's TLS handshake failed");
            return End::Handshake;
        }
        Err(_elapsed) => return End::Timeout,
    };
    let end = tcp::serve(&mut stream, peer, connections, newcomer).await;
    // The peer may have disconnected.
    let _closed = timeout(CLOSE_WITHIN, stream.shutdown()).await;
    end
}
