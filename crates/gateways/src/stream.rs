//! The bytes of a connection that do not form a frame yet.

use std::borrow::Cow;

use crate::framer::{Framer, Step};

/// Collects received bytes and returns frames. Keeps at most one incomplete frame.
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
    /// An empty buffer. `max_frame` limits the bytes that are kept for an incomplete frame.
    pub const fn new(framer: Box<dyn Framer>, max_frame: usize) -> Self {
        Self { framer, bytes: Vec::new(), max_frame, skipped: 0 }
    }

    /// Adds received bytes and passes on each frame that they complete.
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
                // If a framer waits for more bytes than a frame may have, the first byte is not the start of a frame.
                Step::Wait if rest.len() > self.max_frame => {
                    self.skipped += 1;
                    done += 1;
                }
                Step::Wait => break,
            }
        }
        self.bytes.drain(..done.min(self.bytes.len()));
        if self.bytes.is_empty() {
            // Idle connections use no memory.
            self.bytes = Vec::new();
        }
    }

    /// Whether the waiting bytes form a complete frame if nothing follows them.
    pub fn may_end(&self) -> bool {
        self.framer.end(&self.bytes).is_some()
    }

    /// Passes on the waiting bytes as a frame, if they form a complete one. Call it if no more bytes are expected: at
    /// the end of a stream, or after a longer pause than a sender makes within a frame.
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

    /// Bytes that were not part of a frame so far.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }
}
