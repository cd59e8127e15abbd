//! The bytes of a connection that are not a frame yet.

use std::borrow::Cow;

use crate::framer::{Framer, Step};

/// Collects what arrives and gives frames. Keeps at most one unfinished frame.
pub struct FrameBuffer {
    framer: Box<dyn Framer>,
    bytes: Vec<u8>,
    max_frame: usize,
    skipped: u64,
}

impl std::fmt::Debug for FrameBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameBuffer").field("waiting", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl FrameBuffer {
    /// An empty buffer. `max_frame` bounds what is kept while a frame is unfinished.
    pub const fn new(framer: Box<dyn Framer>, max_frame: usize) -> Self {
        Self { framer, bytes: Vec::new(), max_frame, skipped: 0 }
    }

    /// Adds what arrived and hands over each frame it completes.
    pub fn push(&mut self, arrived: &[u8], mut take: impl FnMut(&[u8])) {
        self.bytes.extend_from_slice(arrived);
        let mut done = 0;
        while let Some(rest) = self.bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match self.framer.step(rest) {
                Step::Frame { consumed, frame } => {
                    take(match &frame {
                        Cow::Borrowed(bytes) => bytes,
                        Cow::Owned(bytes) => bytes,
                    });
                    done += consumed.max(1);
                }
                Step::Skip(count) => {
                    let count = count.clamp(1, rest.len());
                    self.skipped += u64::try_from(count).unwrap_or(u64::MAX);
                    done += count;
                }
                // A framer that waits for more than any frame has is wrong about the front.
                Step::Wait if rest.len() > self.max_frame => {
                    self.skipped += 1;
                    done += 1;
                }
                Step::Wait => break,
            }
        }
        self.bytes.drain(..done.min(self.bytes.len()));
        if self.bytes.is_empty() {
            // Idle connections keep no memory.
            self.bytes = Vec::new();
        }
    }

    /// Whether what waits is a whole frame if nothing follows it.
    pub fn may_end(&self) -> bool {
        self.framer.end(&self.bytes).is_some()
    }

    /// Hands over what waits as a frame, if it is a whole one. To be called when nothing more comes: at the end of a
    /// stream, or after a pause that no sender makes within a frame.
    pub fn end(&mut self, mut take: impl FnMut(&[u8])) {
        let Some(frame) = self.framer.end(&self.bytes).and_then(|length| self.bytes.get(..length)) else {
            return;
        };
        take(frame);
        let length = frame.len();
        self.bytes.drain(..length);
    }

    /// The beginning of a frame whose rest has not arrived.
    pub fn unfinished(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that were part of no frame so far.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }
}
