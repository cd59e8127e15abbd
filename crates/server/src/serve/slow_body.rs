//! Request bodies that fail when the client sends them too slowly.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::activity::Activity;
use super::config::after;
use super::pace::{Pace, PaceLimit};

/// The error a handler sees when the client sends the body of its request too slowly.
///
/// If the handler then answers with an error, the client gets 408 instead.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the request body arrived too slowly")]
pub struct SlowBody;

/// Why a request body failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error(transparent)]
    Slow(#[from] SlowBody),
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

/// A request body that must arrive at a minimum rate.
#[derive(Debug)]
pub(super) struct PacedBody {
    incoming: Incoming,
    activity: Arc<Activity>,
    timed_out: Arc<AtomicBool>,
    pace: Pace,
    /// Created when the body is first waited for, because most bodies arrive together with their head and need none.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether the body was read to its end, or failed.
    ended: bool,
}

impl PacedBody {
    /// A body that sets `timed_out` when it fails because it is too slow.
    pub(super) fn new(
        incoming: Incoming,
        limit: PaceLimit,
        activity: Arc<Activity>,
        timed_out: Arc<AtomicBool>,
    ) -> Self {
        Self { incoming, activity, timed_out, pace: Pace::new(limit), timer: None, ended: false }
    }

    /// Ready with the error as soon as the client is too slow; called while there is nothing to read.
    fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        loop {
            let now = Instant::now();
            self.pace.wait(now);
            if self.pace.is_too_slow(now) {
                self.timed_out.store(true, Ordering::Relaxed);
                return Poll::Ready(SlowBody.into());
            }
            let deadline = after(now, self.pace.next_verdict_in());
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            if timer.deadline() != deadline {
                timer.as_mut().reset(deadline);
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Body for PacedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let now = Instant::now();
                self.pace.moved(frame.data_ref().map_or(0, Bytes::len), now);
                self.pace.stop_waiting(now);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.ended = true;
                Poll::Ready(Some(Err(error.into())))
            }
            Poll::Ready(None) => {
                self.ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => self.poll_too_slow(cx).map(|error| Some(Err(error))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        if !self.ended && !self.incoming.is_end_stream() {
            self.activity.body_left_unread();
        }
    }
}
