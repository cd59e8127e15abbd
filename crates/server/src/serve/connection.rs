//! One accepted connection from the handshake to the close.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tower::Service;

use super::activity::{Activity, Verdict};
use super::config::{ServeConfig, after};
use super::counters::{CloseReason, Counters};
use super::listener::tune;
use super::proxy::Scheme;
use super::service::ConnectionService;
use super::shutdown::{Phase, PhaseWatch};
use super::slow_io::{HttpStream, WatchedSocket};

/// State that all connections of a server share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) config: Arc<ServeConfig>,
    pub(super) counters: Arc<Counters>,
    pub(super) http: Arc<auto::Builder<TokioExecutor>>,
    pub(super) tls: Option<TlsAcceptor>,
}

/// The HTTP engine under the limits of `config`. The time a head may take is watched by the
/// connection itself: the engine's own timer does not distinguish a half-sent head from an idle peer.
pub(super) fn http_builder(config: &ServeConfig) -> auto::Builder<TokioExecutor> {
    /// The engine accepts no smaller buffer.
    const LEAST_HEAD_BYTES: usize = 8192;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(config.max_head_bytes.max(LEAST_HEAD_BYTES));
    let http2 = &config.http2;
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(http2.max_concurrent_streams)
        .max_header_list_size(http2.max_header_list_bytes)
        .keep_alive_interval(http2.keep_alive_interval)
        .keep_alive_timeout(http2.keep_alive_timeout)
        .max_pending_accept_reset_streams(http2.max_pending_resets)
        .max_local_error_reset_streams(http2.max_error_resets)
        .initial_stream_window_size(http2.stream_window_bytes)
        .initial_connection_window_size(http2.connection_window_bytes)
        .max_send_buf_size(http2.send_buffer_bytes);
    builder
}

/// Serves `stream` until it ends and returns why it ended.
pub(super) async fn run<S>(
    stream: TcpStream,
    peer: SocketAddr,
    service: S,
    shared: Shared,
    mut phases: PhaseWatch,
) -> CloseReason
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    tune(&stream, shared.config.stall_timeout);
    let activity = Activity::new(Arc::clone(&shared.config), Instant::now());
    let socket = WatchedSocket::new(stream, Arc::clone(&activity));
    let (stream, scheme) = match &shared.tls {
        None => (HttpStream::plain(socket, Arc::clone(&activity)), Scheme::Http),
        Some(acceptor) => {
            let handshake = timeout(shared.config.tls_handshake_timeout, acceptor.accept(socket));
            let finished = tokio::select! {
                finished = handshake => finished,
                _ = phases.next() => return CloseReason::Finished,
            };
            match finished {
                Ok(Ok(stream)) => (HttpStream::tls(stream, Arc::clone(&activity)), Scheme::Https),
                Ok(Err(_)) => return CloseReason::HandshakeFailed,
                Err(_) => return CloseReason::HandshakeTimeout,
            }
        }
    };
    activity.restart(Instant::now());
    let service = ConnectionService {
        inner: service,
        config: Arc::clone(&shared.config),
        counters: Arc::clone(&shared.counters),
        activity: Arc::clone(&activity),
        phases: phases.clone(),
        peer,
        scheme,
    };
    let connection = pin!(shared.http.serve_connection(TokioIo::new(stream), service));
    drive(connection, auto::Connection::graceful_shutdown, &activity, &shared.config, phases).await
}

enum Event {
    Ended(CloseReason),
    CheckDue,
    Entered(Phase),
}

/// Polls a connection until it ends or has to be closed.
async fn drive<C, E>(
    mut connection: Pin<&mut C>,
    finish: impl Fn(Pin<&mut C>),
    activity: &Activity,
    config: &ServeConfig,
    mut phases: PhaseWatch,
) -> CloseReason
where
    C: Future<Output = Result<(), E>>,
{
    let mut timer = pin!(sleep_until(activity.next_check(Instant::now())));
    let mut graceful_close_until = None;
    loop {
        let event = {
            let mut phase = pin!(phases.next());
            poll_fn(|cx| {
                if let Poll::Ready(outcome) = connection.as_mut().poll(cx) {
                    let reason = if outcome.is_ok() { CloseReason::Finished } else { CloseReason::Failed };
                    return Poll::Ready(Event::Ended(reason));
                }
                if let Poll::Ready(phase) = phase.as_mut().poll(cx) {
                    return Poll::Ready(Event::Entered(phase));
                }
                let check = activity.next_check(Instant::now());
                let check = graceful_close_until.map_or(check, |until| check.max(until));
                poll_timer(timer.as_mut(), check, cx).map(|()| Event::CheckDue)
            })
            .await
        };
        match event {
            Event::Ended(_) if graceful_close_until.is_some() => return CloseReason::Idle,
            Event::Ended(reason) => return reason,
            Event::Entered(Phase::Cutting) => return CloseReason::Cut,
            Event::Entered(Phase::Running) => {}
            Event::Entered(Phase::Draining) => finish(connection.as_mut()),
            Event::CheckDue => {
                let now = Instant::now();
                match activity.verdict(now) {
                    Verdict::KeepUntil(next) => timer.as_mut().reset(next),
                    Verdict::Close(CloseReason::Idle) if graceful_close_until.is_none() => {
                        finish(connection.as_mut());
                        let until = after(now, config.linger_timeout);
                        graceful_close_until = Some(until);
                        timer.as_mut().reset(until);
                    }
                    Verdict::Close(reason) => return reason,
                }
            }
        }
    }
}

/// Polls a timer that fires at `deadline` or earlier. Firing early causes a check, which sets the next deadline: so a
/// busy connection does not reset its timer at every poll.
fn poll_timer(mut timer: Pin<&mut Sleep>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
    if deadline < timer.deadline() {
        timer.as_mut().reset(deadline);
    }
    timer.poll(cx)
}
