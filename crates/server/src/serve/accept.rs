//! The accept loop: admits connections within the limits and hands each to its own task when it is its turn.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::join_all;
use http::Request;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::config::ServeConfig;
use super::connection::{Shared, http_builder, run};
use super::counters::{CloseReason, Counters};
use super::limits::{ConnectionLimits, Permit};
use super::listener::Listener;
use super::shutdown::{Lifecycle, ShutdownReport};
use super::threads::Threads;
use super::tls::Tls;
use super::turns::Turns;

/// Serves `service` on `listener`, with TLS if given, until `shutdown` resolves; then stops
/// accepting, lets accepted work finish within the configured time and reports the result of all
/// connections.
///
/// Dropping the returned future closes every connection at once.
pub async fn serve<S>(
    listener: Listener,
    tls: Option<Tls>,
    service: S,
    mut config: ServeConfig,
    shutdown: impl Future<Output = ()>,
) -> ShutdownReport
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    // Not part of the shared state: a hanging connection would keep the threads alive, and the threads the
    // connection.
    let threads = std::mem::take(&mut config.threads);
    let config = Arc::new(config);
    let server = Server {
        threads,
        limits: ConnectionLimits::new(Arc::clone(&config)),
        lifecycle: Lifecycle::new(),
        shared: Shared {
            counters: Arc::new(Counters::new(config.open_connections.clone())),
            http: Arc::new(http_builder(&config)),
            tls: tls.as_ref().map(Tls::acceptor),
            config: Arc::clone(&config),
        },
        service,
        turns: Turns::new(),
    };
    let stop_watching = CancellationToken::new();
    let mut watching = pin!(watch_certificate(tls, config.certificate_check_interval, stop_watching.clone()));
    tokio::select! {
        () = server.accept_forever(&listener) => {}
        () = server.start_in_turn() => {}
        () = &mut watching => {}
        () = shutdown => {}
    }
    // Closed before anything is waited for: from here on new connections are refused.
    drop(listener);
    for accepted in server.turns.take(usize::MAX) {
        server.start(accepted);
    }
    stop_watching.cancel();
    watching.await;
    server.lifecycle.drain(config.shutdown_timeout, &server.shared.counters).await
}

async fn watch_certificate(tls: Option<Tls>, period: Duration, stop: CancellationToken) {
    match tls {
        Some(tls) => tls.keep_fresh(period, stop).await,
        None => stop.cancelled().await,
    }
}

struct Server<S> {
    threads: Threads,
    limits: Arc<ConnectionLimits>,
    lifecycle: Lifecycle,
    shared: Shared,
    service: S,
    turns: Turns<Accepted>,
}

/// A connection that has not begun.
#[derive(Debug)]
struct Accepted {
    stream: TcpStream,
    peer: SocketAddr,
    permit: Permit,
}

impl<S> Server<S>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    async fn accept_forever(&self, listener: &Listener) {
        let mut backoff = Backoff::default();
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    backoff = Backoff::default();
                    match self.limits.admit(peer.ip()) {
                        Ok(permit) => self.turns.push(peer.ip(), Accepted { stream, peer, permit }),
                        Err(refusal) => {
                            self.shared.counters.refused(refusal.label());
                            tracing::debug!(%peer, limit = refusal.label(), "connection refused");
                        }
                    }
                }
                Err(error) => {
                    if let Some(pause) = backoff.after(&error) {
                        Counters::accept_error();
                        tracing::error!(%error, ?pause, "cannot accept connections, pausing");
                        tokio::time::sleep(pause).await;
                    }
                }
            }
        }
    }

    /// Starts accepted connections, as fast as the threads take them.
    async fn start_in_turn(&self) {
        loop {
            let mut runtimes: Vec<Handle> = Vec::new();
            for accepted in self.turns.next().await {
                let runtime = self.start(accepted);
                if runtimes.iter().all(|other| other.id() != runtime.id()) {
                    runtimes.push(runtime);
                }
            }
            // A thread takes what it is given in order, so this ends when it has begun these connections.
            join_all(runtimes.into_iter().map(|runtime| runtime.spawn(async {}))).await;
        }
    }

    /// Starts a connection, and returns where it is served.
    fn start(&self, Accepted { stream, peer, permit }: Accepted) -> Handle {
        let shared = self.shared.clone();
        let service = self.service.clone();
        let phases = self.lifecycle.follow();
        let open = shared.counters.open();
        let thread = self.threads.assign();
        let runtime = thread.runtime.clone();
        runtime.spawn(async move {
            let _counted_meanwhile = thread;
            let reason = match stream.into_std().and_then(TcpStream::from_std) {
                Ok(stream) => run(stream, peer, service, shared, phases.clone()).await,
                Err(error) => {
                    tracing::warn!(%peer, %error, "an accepted connection could not be handed over");
                    CloseReason::Failed
                }
            };
            tracing::debug!(%peer, reason = reason.label(), "connection closed");
            open.close(reason);
            drop(permit);
            // The server waits until every connection has dropped its `phases`, which it does after it is counted.
            drop(phases);
        });
        runtime
    }
}

/// How long to wait after accept errors in a row.
#[derive(Debug, Default)]
struct Backoff {
    pauses: u32,
}

impl Backoff {
    /// The pause after `error`: none if only one connection is lost, a growing one if the process has run out of a
    /// resource, because the next accept would fail immediately.
    fn after(&mut self, error: &io::Error) -> Option<Duration> {
        const SHORTEST: Duration = Duration::from_millis(10);
        const LONGEST: Duration = Duration::from_secs(1);
        let only_this_connection = matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::Interrupted
        );
        if only_this_connection {
            return None;
        }
        let pause = SHORTEST.saturating_mul(1 << self.pauses.min(16)).min(LONGEST);
        self.pauses += 1;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_of_files_pauses_longer_and_longer() {
        const TOO_MANY_OPEN_FILES: i32 = 24;
        let error = io::Error::from_raw_os_error(TOO_MANY_OPEN_FILES);
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..9).map(|_| backoff.after(&error).unwrap().as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }

    #[test]
    fn one_lost_connection_does_not_pause() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.after(&io::ErrorKind::ConnectionAborted.into()), None);
    }
}
