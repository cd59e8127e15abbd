//! Merging chunks and unpacked locations into one history, which is passed to a sink while it is read.

use std::vec::IntoIter;

use perigee_core::locations::location::{HistoryCursor, Order, StoredLocation};
use perigee_core::store::{LocationSink, Next};

use super::chunk::{LocationKey, key_of};
use super::reads::window::Window;
use crate::codec::{ChunkReader, CodecError, Point};

/// A history that is being passed to a sink.
pub(super) struct Merge<'s> {
    window: Window,
    /// The unpacked locations, in the requested order.
    recent: IntoIter<Point>,
    sink: &'s mut dyn LocationSink,
    next: Next,
    left: usize,
    last: Option<LocationKey>,
    more: bool,
}

impl<'s> Merge<'s> {
    pub(super) fn new(window: Window, recent: Vec<Point>, sink: &'s mut dyn LocationSink) -> Self {
        Self {
            window,
            recent: recent.into_iter(),
            sink,
            next: Next::More,
            left: window.limit,
            last: None,
            more: false,
        }
    }

    /// Whether the sink takes locations of further chunks.
    pub(super) fn takes_more(&self) -> bool {
        self.next == Next::More
    }

    /// Passes on the requested part of the next chunk, and what comes before it. Fails if the chunk is damaged.
    pub(super) fn pass_chunk(&mut self, bytes: &[u8]) -> std::result::Result<(), CodecError> {
        let chunk = ChunkReader::open(bytes)?;
        let mut rows = chunk.rows(self.window.times())?;
        match self.window.order {
            Order::Ascending => {
                while !self.is_done()
                    && let Some(stored) = rows.next()?
                {
                    self.pass_packed(stored);
                }
            }
            Order::Descending => {
                let mut points = Vec::with_capacity(chunk.summary().count);
                while let Some(stored) = rows.next()? {
                    points.push(stored.clone());
                }
                for stored in points.iter().rev() {
                    if self.is_done() {
                        break;
                    }
                    self.pass_packed(stored);
                }
            }
        }
        Ok(())
    }

    /// Passes on the rest when no chunk is left; returns the cursor to continue from if there may be more.
    pub(super) fn finish(mut self, chunks_are_left: bool) -> Option<HistoryCursor> {
        self.more |= chunks_are_left;
        while !self.more
            && let Some(point) = self.recent.next()
        {
            self.pass_point(&point);
        }
        let cursor = |(time, number)| HistoryCursor { time, number };
        self.last.filter(|_| self.more).map(cursor)
    }

    fn is_done(&self) -> bool {
        self.next == Next::Stop
    }

    /// Passes on a location of a chunk, after the unpacked ones that come before it.
    fn pass_packed(&mut self, stored: &StoredLocation) {
        let key = key_of(stored);
        if !self.window.contains(key) {
            return;
        }
        while let Some(recent) = self.next_recent()
            && !self.window.precedes(key, recent)
        {
            // A location that was packed meanwhile is in both.
            let Some(point) = self.recent.next().filter(|_| recent != key) else { continue };
            self.pass_point(&point);
            if self.is_done() {
                return;
            }
        }
        self.pass(stored);
    }

    fn next_recent(&self) -> Option<LocationKey> {
        self.recent.as_slice().first().map(Point::key)
    }

    /// Passes on an unpacked location. Its readings were checked when it was read from the log.
    fn pass_point(&mut self, point: &Point) {
        if let Ok(stored) = point.unpack() {
            self.pass(&stored);
        }
    }

    fn pass(&mut self, stored: &StoredLocation) {
        if self.left == 0 {
            self.next = Next::Stop;
        } else {
            self.left -= 1;
            self.last = Some(key_of(stored));
            self.next = self.sink.take(stored);
        }
        self.more |= self.is_done();
    }
}
