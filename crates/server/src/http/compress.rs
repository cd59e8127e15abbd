//! Compressed answers, for those who take them.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::{Either, MapOk, TryFutureExt as _};
use http::{HeaderValue, header};
use tower::Service;
use tower_http::CompressionLevel;
use tower_http::compression::predicate::{And, DefaultPredicate, Predicate as _, SizeAbove};
use tower_http::compression::{Compression, CompressionBody, ResponseFuture};

type Worthwhile = And<SizeAbove, DefaultPredicate>;

/// A service whose answers are compressed when that is worth it.
#[derive(Clone)]
pub struct Compressing<S> {
    plain: S,
    compressed: Compression<S, Worthwhile>,
}

fn worthwhile() -> Worthwhile {
    const LEAST_BYTES: u64 = 1024;
    SizeAbove::new(LEAST_BYTES).and(DefaultPredicate::new())
}

/// Compresses what is worth it. A client waits longer for slow compression than for some bytes more, and many
/// answers may be under way at once.
pub fn compressing<S: Clone>(service: S) -> Compressing<S> {
    let compressed =
        Compression::new(service.clone()).quality(CompressionLevel::Fastest).compress_when(worthwhile());
    Compressing { plain: service, compressed }
}

type Plain = fn(Response) -> Response;
type Boxed = fn(Response<CompressionBody<Body>>) -> Response;

impl<S> Service<Request> for Compressing<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<MapOk<S::Future, Plain>, MapOk<ResponseFuture<S::Future, Worthwhile>, Boxed>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.plain.poll_ready(context)
    }

    /// Whoever does not ask for compression, as trackers do not, is not charged for its buffers.
    fn call(&mut self, request: Request) -> Self::Future {
        if request.headers().contains_key(header::ACCEPT_ENCODING) {
            Either::Right(self.compressed.call(request).map_ok(|answer| answer.map(Body::new)))
        } else {
            Either::Left(self.plain.call(request).map_ok(vary))
        }
    }
}

/// Says of an answer that it would have been compressed for others, so that caches keep the two apart.
fn vary(mut answer: Response) -> Response {
    let headers = answer.headers();
    let is_final =
        headers.contains_key(header::CONTENT_ENCODING) || headers.contains_key(header::CONTENT_RANGE);
    let told = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"accept-encoding");
    if !is_final && !headers.get_all(header::VARY).iter().any(told) && worthwhile().should_compress(&answer) {
        answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    async fn answered(length: usize, accept: Option<&str>) -> (Vec<String>, bool) {
        let service = compressing(service_fn(move |_request: Request| async move {
            let headers = [(header::VARY, "accept"), (header::CONTENT_TYPE, "application/json")];
            Ok::<_, Infallible>((headers, "x".repeat(length)).into_response())
        }));
        let mut request = Request::new(Body::empty());
        if let Some(accept) = accept {
            request.headers_mut().insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
        }
        let answer = service.oneshot(request).await.unwrap();
        let vary = answer.headers().get_all(header::VARY).iter();
        let vary = vary.map(|value| value.to_str().unwrap().to_owned()).collect();
        (vary, answer.headers().contains_key(header::CONTENT_ENCODING))
    }

    #[tokio::test]
    async fn only_those_who_ask_get_it_and_caches_are_told() {
        let both = vec!["accept".to_owned(), "accept-encoding".to_owned()];
        assert_eq!(answered(5_000, Some("gzip")).await, (both.clone(), true));
        assert_eq!(answered(5_000, Some("identity")).await, (both.clone(), false));
        assert_eq!(answered(5_000, None).await, (both, false));
        assert_eq!(answered(100, None).await, (vec!["accept".to_owned()], false));
        assert_eq!(answered(100, Some("gzip")).await, (vec!["accept".to_owned()], false));
    }
}
