//! A server on a free port with routes that show one behaviour each.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use perigee_server::serve::{
    ClientAddress, CloseReason, Listener, LongLived, PublicOrigin, ServeConfig, ShutdownReport, Tls, serve,
};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

pub(crate) const NEVER: Duration = Duration::from_hours(1);

/// Limits so short that a test can wait for them, each of them only a few hundred milliseconds.
pub(crate) fn quick() -> ServeConfig {
    ServeConfig {
        head_timeout: Duration::from_millis(200),
        tls_handshake_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(300),
        rate_window: Duration::from_millis(400),
        stall_timeout: Duration::from_millis(800),
        linger_timeout: Duration::from_millis(300),
        shutdown_timeout: Duration::from_secs(5),
        certificate_check_interval: Duration::from_millis(20),
        ..ServeConfig::default()
    }
}

/// The same without any limit on time.
pub(crate) fn patient() -> ServeConfig {
    ServeConfig {
        head_timeout: NEVER,
        tls_handshake_timeout: NEVER,
        idle_timeout: NEVER,
        rate_window: NEVER,
        stall_timeout: NEVER,
        ..quick()
    }
}

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) signals: Signals,
    stop: oneshot::Sender<()>,
    task: JoinHandle<ShutdownReport>,
}

/// The test's ends of what the handlers send and wait for.
pub(crate) struct Signals {
    /// A handler was reached.
    pub(crate) arrived: mpsc::UnboundedReceiver<()>,
    /// An answer body was dropped by the server.
    pub(crate) answer_dropped: mpsc::UnboundedReceiver<()>,
    /// Lets the next `/wait` answer.
    pub(crate) release: mpsc::UnboundedSender<()>,
    /// Sends an event on `/events`.
    pub(crate) events: mpsc::UnboundedSender<Bytes>,
}

struct HandlerEnds {
    arrived: mpsc::UnboundedSender<()>,
    answer_dropped: mpsc::UnboundedSender<()>,
    release: Mutex<mpsc::UnboundedReceiver<()>>,
    events: Mutex<Option<mpsc::UnboundedReceiver<Bytes>>>,
}

type Ends = Arc<HandlerEnds>;

impl TestServer {
    pub(crate) async fn start(config: ServeConfig) -> Self {
        Self::start_with(config, None).await
    }

    pub(crate) async fn start_with(config: ServeConfig, tls: Option<Tls>) -> Self {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr();
        let (signals, ends) = signals();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(serve(listener, tls, router(ends), config, shutdown));
        Self { address, signals, stop, task }
    }

    /// Begins the shutdown and returns the report to wait for.
    pub(crate) fn begin_stop(self) -> (JoinHandle<ShutdownReport>, Signals) {
        self.stop.send(()).unwrap();
        (self.task, self.signals)
    }

    pub(crate) async fn stop(self) -> ShutdownReport {
        self.begin_stop().0.await.unwrap()
    }

    /// Drops the server where it stands.
    pub(crate) fn abort(&self) {
        self.task.abort();
    }

    /// Stops and checks that exactly `count` connections were closed for `reason`.
    pub(crate) async fn expect_closed(self, reason: CloseReason, count: u64) {
        let report = self.stop().await;
        assert_eq!(report.closed(reason), count, "{reason:?} in {report:?}");
    }
}

fn signals() -> (Signals, Ends) {
    let (arrived_in, arrived) = mpsc::unbounded_channel();
    let (dropped_in, answer_dropped) = mpsc::unbounded_channel();
    let (release, release_out) = mpsc::unbounded_channel();
    let (events, events_out) = mpsc::unbounded_channel();
    let ends = HandlerEnds {
        arrived: arrived_in,
        answer_dropped: dropped_in,
        release: Mutex::new(release_out),
        events: Mutex::new(Some(events_out)),
    };
    (Signals { arrived, answer_dropped, release, events }, Arc::new(ends))
}

fn router(ends: Ends) -> Router {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/count", post(count))
        .route("/refuse", post(|| async { StatusCode::PAYLOAD_TOO_LARGE }))
        .route("/whoami", get(whoami))
        .route("/wait", get(wait))
        .route("/big", get(big))
        .route("/big-stream", get(|ends| async { (Extension(LongLived), big(ends).await) }))
        .route("/events", get(events))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(ends)
}

async fn count(body: Body) -> Response {
    match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes.len().to_string().into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn whoami(
    Extension(client): Extension<ClientAddress>,
    Extension(origin): Extension<PublicOrigin>,
) -> String {
    format!("{} {}://{}", client.0, origin.scheme.as_str(), origin.host.unwrap_or_default())
}

async fn wait(State(ends): State<Ends>) -> &'static str {
    ends.arrived.send(()).unwrap();
    ends.release.lock().await.recv().await;
    "released"
}

async fn big(State(ends): State<Ends>) -> Body {
    const CHUNKS: usize = 512;
    let body =
        BigBody { chunks: CHUNKS, chunk: vec![b'x'; 64 * 1024].into(), dropped: ends.answer_dropped.clone() };
    Body::new(body)
}

async fn events(State(ends): State<Ends>) -> (Extension<LongLived>, Body) {
    let events = ends.events.lock().await.take().expect("one client of /events");
    (Extension(LongLived), Body::new(EventBody(events)))
}

/// 32 MiB, saying when it is dropped.
struct BigBody {
    chunks: usize,
    chunk: Bytes,
    dropped: mpsc::UnboundedSender<()>,
}

impl HttpBody for BigBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.chunks == 0 {
            return Poll::Ready(None);
        }
        self.chunks -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.chunk.clone()))))
    }
}

impl Drop for BigBody {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

struct EventBody(mpsc::UnboundedReceiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}
