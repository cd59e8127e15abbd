//! Compression of answers for clients that accept it.

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

use crate::http::encoding::content_encoding::ContentEncoding;

type Worthwhile = And<SizeAbove, DefaultPredicate>;

/// A service that compresses its answers when they are large enough.
#[derive(Clone)]
pub struct Compressing<S> {
    plain: S,
    compressed: Compression<S, Worthwhile>,
}

fn worthwhile() -> Worthwhile {
    const LEAST_BYTES: u64 = 1024;
    SizeAbove::new(LEAST_BYTES).and(DefaultPredicate::new())
}

/// Compresses answers at the fastest level: slower levels take more time than they save in transfer, and many
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

    /// Requests without `Accept-Encoding`, such as those of trackers, skip the compression layer and its buffers.
    fn call(&mut self, mut request: Request) -> Self::Future {
        if !request.headers().contains_key(header::ACCEPT_ENCODING) {
            return Either::Left(self.plain.call(request).map_ok(vary));
        }
        // The layer would answer 406, after the work is done, to a client that also refuses `identity`; send plain
        // bytes instead.
        if ContentEncoding::refuses_plain(request.headers()) {
            match ContentEncoding::accepted(request.headers()).first().and_then(|encoding| encoding.header())
            {
                Some(encoding) => drop(request.headers_mut().insert(header::ACCEPT_ENCODING, encoding)),
                None => return Either::Left(self.plain.call(request).map_ok(vary)),
            }
        }
        Either::Right(self.compressed.call(request).map_ok(|answer| tag_coding(answer.map(Body::new))))
    }
}

/// Gives a compressed answer its own entity tag: a strong tag belongs to one sequence of bytes.
fn tag_coding(mut answer: Response) -> Response {
    let headers = answer.headers();
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|encoding| encoding.to_str().ok());
    let suffix = encoding.and_then(ContentEncoding::tag_suffix);
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    if let (Some(suffix), Some(tag)) = (suffix, tag)
        && let Some(inner) = tag.strip_suffix('"').filter(|inner| !inner.ends_with(suffix))
        && let Ok(tag) = HeaderValue::from_str(&format!("{inner}{suffix}\""))
    {
        answer.headers_mut().insert(header::ETAG, tag);
    }
    answer
}

/// Adds `Vary: Accept-Encoding` to an uncompressed answer that could have been compressed, for caches.
fn vary(mut answer: Response) -> Response {
    let headers = answer.headers();
    let is_final =
        headers.contains_key(header::CONTENT_ENCODING) || headers.contains_key(header::CONTENT_RANGE);
    let lists_encoding = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"accept-encoding");
    if !is_final
        && !headers.get_all(header::VARY).iter().any(lists_encoding)
        && worthwhile().should_compress(&answer)
    {
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
    async fn only_accepted_encodings_are_used_and_vary_is_set() {
        let both = vec!["accept".to_owned(), "accept-encoding".to_owned()];
        assert_eq!(answered(5_000, Some("gzip")).await, (both.clone(), true));
        assert_eq!(answered(5_000, Some("identity")).await, (both.clone(), false));
        assert_eq!(answered(5_000, None).await, (both, false));
        assert_eq!(answered(100, None).await, (vec!["accept".to_owned()], false));
        assert_eq!(answered(100, Some("gzip")).await, (vec!["accept".to_owned()], false));
    }

    #[tokio::test]
    async fn no_client_gets_406_for_its_encodings() {
        let service = compressing(service_fn(|_request: Request| async {
            let headers = [(header::CONTENT_TYPE, "application/json"), (header::ETAG, "\"r1\"")];
            Ok::<_, Infallible>((headers, "x".repeat(5_000)).into_response())
        }));
        for (accept, encoding, tag) in [
            ("identity;q=0", None, "\"r1\""),
            ("*;q=0", None, "\"r1\""),
            ("zstd, identity;q=0", None, "\"r1\""),
            ("identity;q=0, gzip;q=0.5", Some("gzip"), "\"r1-gz\""),
            ("*;q=0, br", Some("br"), "\"r1-br\""),
            ("gzip", Some("gzip"), "\"r1-gz\""),
        ] {
            let mut request = Request::new(Body::empty());
            request.headers_mut().insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
            let answer = service.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), 200, "{accept}");
            let found =
                answer.headers().get(header::CONTENT_ENCODING).map(|encoding| encoding.to_str().unwrap());
            assert_eq!(
                (found, answer.headers()[header::ETAG].to_str().unwrap()),
                (encoding, tag),
                "{accept}"
            );
        }
    }
}
