//! Answer bodies that report how much of them the client has read.
//!
//! The socket alone does not show it: an HTTP/2 client may read its socket and still keep an answer
//! waiting by opening no window for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body as AxumBody;
use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};

use super::activity::{AnswerKind, Exchange};
use super::shutdown::Draining;

/// Marks an answer, in its extensions, as a stream that may stay open and quiet for ever, such
/// as Server-Sent Events.
///
/// It is exempt from the rate limit but not from the stall limit, and it is ended when the
/// server shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongLived;

/// Bytes of an answer, as sent, after which the other connections of the thread have their turn. Compressing this much
/// takes milliseconds, and a client that reads fast would otherwise block the thread.
const TURN_BYTES: usize = 32 * 1024;

/// An answer body on its way to the client.
pub(super) struct AnswerBody {
    inner: AxumBody,
    exchange: Arc<Exchange>,
    draining: Option<Draining>,
    /// Bytes produced since the other connections last had their turn.
    made: usize,
    ended: bool,
}

impl AnswerBody {
    /// The body of an ordinary answer.
    pub(super) fn ordinary(inner: AxumBody, exchange: Arc<Exchange>) -> Self {
        exchange.answered(AnswerKind::Ordinary);
        Self { inner, exchange, draining: None, made: 0, ended: false }
    }

    /// The body of a [`LongLived`] answer, which ends when the server drains.
    pub(super) fn long_lived(inner: AxumBody, exchange: Arc<Exchange>, draining: Draining) -> Self {
        exchange.answered(AnswerKind::LongLived);
        Self { inner, exchange, draining: Some(draining), made: 0, ended: false }
    }

    fn server_drains(&mut self, cx: &mut Context<'_>) -> bool {
        self.draining.as_mut().is_some_and(|draining| draining.as_mut().poll(cx).is_ready())
    }
}

impl Body for AnswerBody {
    type Data = AnswerBytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<AnswerBytes>, axum::Error>>> {
        if self.ended || self.server_drains(cx) {
            self.ended = true;
            self.exchange.producing();
            return Poll::Ready(None);
        }
        if self.made >= TURN_BYTES {
            self.made = 0;
            self.exchange.producing();
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if !matches!(polled, Poll::Ready(Some(Ok(_)))) {
            self.exchange.producing();
        }
        let Some(frame) = ready!(polled) else {
            self.ended = true;
            return Poll::Ready(None);
        };
        let frame = frame?;
        self.made += frame.data_ref().map_or(0, Bytes::len);
        let frame = frame.map_data(|bytes| AnswerBytes::new(bytes, Arc::clone(&self.exchange)));
        if self.inner.is_end_stream() {
            self.exchange.producing();
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A piece of an answer that reports every byte written of it.
#[derive(Debug)]
pub(super) struct AnswerBytes {
    bytes: Bytes,
    exchange: Arc<Exchange>,
}

impl AnswerBytes {
    fn new(bytes: Bytes, exchange: Arc<Exchange>) -> Self {
        exchange.handed_over(bytes.len());
        Self { bytes, exchange }
    }
}

impl Buf for AnswerBytes {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.exchange.taken(count);
    }

    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        let copied = self.bytes.copy_to_bytes(len);
        self.exchange.taken(len);
        copied
    }
}

impl Drop for AnswerBytes {
    fn drop(&mut self) {
        if self.bytes.has_remaining() {
            self.exchange.taken(self.bytes.remaining());
        }
    }
}
