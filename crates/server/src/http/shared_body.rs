//! A response body made of several buffers, of which large ones are shared by many answers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, header};
use http_body::{Body as HttpBody, Frame, SizeHint};

/// Bytes passed on per poll, so that compressing a large answer does not block other connections of the thread.
const PIECE: usize = 64 * 1024;

/// The buffers that were not sent yet.
struct Parts(VecDeque<Bytes>);

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(first) = self.0.front_mut() else { return Poll::Ready(None) };
        let piece = first.split_to(first.len().min(PIECE));
        if first.is_empty() {
            self.0.pop_front();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let bytes: usize = self.0.iter().map(Bytes::len).sum();
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// A JSON answer of these buffers, concatenated.
pub fn json_of_buffers(parts: impl IntoIterator<Item = Bytes>) -> Response {
    let parts = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut response = Response::new(Body::new(Parts(parts)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn parts_come_whole_and_in_order() {
        let large = Bytes::from(vec![b'x'; 3 * PIECE + 1]);
        let response = json_of_buffers([Bytes::from("{"), Bytes::new(), large.clone(), Bytes::from("}")]);
        let length = large.len() + 2;
        assert_eq!(response.body().size_hint().exact(), u64::try_from(length).ok());
        let read = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(read.len(), length);
        assert_eq!(
            (&read[..1], &read[1..=large.len()], &read[length - 1..]),
            (&b"{"[..], &large[..], &b"}"[..])
        );
    }
}
