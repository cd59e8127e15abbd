//! The service as one connection calls it: adds the client's address to requests, limits how slowly their bodies may
//! arrive, and tracks how much of each answer the client has received.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Request, StatusCode, Version, header};
use http_body::Body as _;
use hyper::body::Incoming;
use tower::{Service, ServiceExt};

use super::activity::Activity;
use super::config::ServeConfig;
use super::counters::Counters;
use super::proxy::{Scheme, identify};
use super::shutdown::PhaseWatch;
use super::slow_body::PacedBody;
use super::slow_reader::{AnswerBody, LongLived};

/// The service as one connection calls it.
#[derive(Debug)]
pub(super) struct ConnectionService<S> {
    pub(super) inner: S,
    pub(super) config: Arc<ServeConfig>,
    pub(super) counters: Arc<Counters>,
    pub(super) activity: Arc<Activity>,
    pub(super) phases: PhaseWatch,
    pub(super) peer: SocketAddr,
    pub(super) scheme: Scheme,
}

impl<S> hyper::service::Service<Request<Incoming>> for ConnectionService<S>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = http::Response<AnswerBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let exchange = self.activity.begin();
        let config = &self.config;
        identify(&mut request, self.peer, self.scheme, &config.trusted_proxies, config.forwarded_header);
        let version = request.version();
        let slow_body = Arc::new(AtomicBool::new(false));
        let request = request.map(|incoming| self.paced(incoming, &slow_body));
        let inner = self.inner.clone();
        let counters = Arc::clone(&self.counters);
        let phases = self.phases.clone();
        Box::pin(async move {
            let Ok(mut answer) = inner.oneshot(request).await;
            if slow_body.load(Ordering::Relaxed) {
                counters.slow_body();
                answer = as_timeout(answer, version);
            }
            let is_long_lived = answer.extensions().get::<LongLived>().is_some();
            Ok(answer.map(|body| {
                if is_long_lived {
                    AnswerBody::long_lived(body, exchange, phases.draining())
                } else {
                    AnswerBody::ordinary(body, exchange)
                }
            }))
        })
    }
}

impl<S> ConnectionService<S> {
    fn paced(&self, incoming: Incoming, slow: &Arc<AtomicBool>) -> Body {
        if incoming.is_end_stream() {
            return Body::empty();
        }
        let limit = self.config.pace_limit();
        Body::new(PacedBody::new(incoming, limit, Arc::clone(&self.activity), Arc::clone(slow)))
    }
}

/// The answer to a request whose body arrived too slowly. An answer that is not an error is not replaced: the handler
/// did not need the rest of the body.
fn as_timeout(answer: Response, version: Version) -> Response {
    let status = answer.status();
    if !status.is_client_error() && !status.is_server_error() {
        return answer;
    }
    let mut answer = if status == StatusCode::REQUEST_TIMEOUT {
        answer
    } else {
        (StatusCode::REQUEST_TIMEOUT, "The request body was not received in time. Send the request again.\n")
            .into_response()
    };
    if version < Version::HTTP_2 {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(answer: Response) -> String {
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_slow_body_turns_errors_into_408_and_nothing_else() {
        let own = (StatusCode::REQUEST_TIMEOUT, "own words").into_response();
        for (answer, status, words) in [
            ((StatusCode::ACCEPTED, "enough").into_response(), 202, "enough"),
            (
                (StatusCode::BAD_REQUEST, "broken").into_response(),
                408,
                "The request body was not received in time.",
            ),
            (
                (StatusCode::INTERNAL_SERVER_ERROR, "").into_response(),
                408,
                "The request body was not received in time.",
            ),
            (own, 408, "own words"),
        ] {
            let answer = as_timeout(answer, Version::HTTP_11);
            assert_eq!(answer.status(), status);
            assert_eq!(answer.headers().contains_key(header::CONNECTION), status == 408);
            let text = text(answer).await;
            assert!(text.starts_with(words), "{text}");
        }
    }

    #[test]
    fn http2_has_no_connection_header() {
        let answer = as_timeout(StatusCode::BAD_REQUEST.into_response(), Version::HTTP_2);
        assert!(answer.headers().get(header::CONNECTION).is_none());
    }
}
